// The decimals of twelve digits in place of floats that came out of a computation, where these are what was meant: where
// they have the image that is known exactly. The twin of sharpened_slowly in relift/symmetry/scaled_refinement_reference.py.
#pragma once
#include <cmath>

#include "exact_values.hpp"
#include "threads.hpp"

namespace relift {

// 10^k as floats, and the least number whose logarithm is taken for k or more, for -most <= k <= most: as NumPy has them,
// since systems round both in different ways, and the last place of a decimal depends on it.
struct FloatPowersOfTen {
    static constexpr int most = 220;
    const double *powers, *least;
    double operator[](int k) const { return powers[most + k]; }
    double least_of(int k) const { return least[most + k]; }
};

// A number rounded to twelve digits; itself where its size leaves no room for the powers of ten.
inline double to_twelve_digits(double value, FloatPowersOfTen ten) {
    constexpr int most_places = 200;
    const double size = std::fabs(value);
    if (!(size >= 1e-200 && size < 1e215)) return value;  // 0, infinite and no number, too
    int exponent = int(std::floor((int(bits_of(size) >> 52) - 1023) * 0.30102999566398120));
    exponent += size >= ten.least_of(exponent + 1);
    const int places = 11 - exponent;
    if (std::abs(places) >= most_places) return value;
    const double power = ten[places];
    return std::nearbyint(value * power) / power;
}

// False if some number that was to be looked at is none.
inline bool sharpen(double* floats, const u64* images, u64 size, FloatPowersOfTen ten, Reading reading, u32 n_threads) {
    const u32 n_parts = threads_for(size, n_threads);
    std::vector<u8> are_numbers(n_parts, 1);
    in_parallel(n_parts, [&](u32 part) {
        constexpr u64 block = 512;
        u64 places[block], words[block];
        double rounded[block];
        ValueReader reader(reading, size);
        bool some_are_none = false;
        for (u64 first = part_of(size, part, n_parts), end = part_of(size, part + 1, n_parts); first < end; first += block) {
            u64 count = 0;
            for (u64 k = first, last = std::min(first + block, end); k < last; ++k) {
                places[count] = k;
                count += images[k] > 1;
            }
            for (u64 i = 0; i < count; ++i) {
                rounded[i] = to_twelve_digits(floats[places[i]], ten);
                some_are_none |= rounded[i] != rounded[i];
            }
            if (some_are_none) break;
            reader.read(rounded, count, words);
            for (u64 i = 0; i < count; ++i)
                if (words[i] == images[places[i]]) floats[places[i]] = rounded[i];
        }
        are_numbers[part] = !some_are_none;
    });
    return std::all_of(are_numbers.begin(), are_numbers.end(), [](u8 are) { return are != 0; });
}

}  // namespace relift
