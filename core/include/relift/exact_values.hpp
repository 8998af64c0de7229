// A float as an exact rational, and its image in the field mod p = 2^61 - 1.
//
// Reading::bits takes the binary value m 2^e: multiplication by 2^e is a rotation of 61 bits.
// Reading::decimal takes the shortest decimal m 10^k that rounds to the float, so that .1 + .2 = .3 holds for the
// images. At most 17 digits are needed, hence m < 10^17 < p, and no nonzero float has the image 0.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "field.hpp"

namespace relift {

enum class Reading { decimal, bits };

inline u64 bits_of(double x) {
    x += 0.0;  // -0.0 becomes 0.0
    u64 word;
    std::memcpy(&word, &x, sizeof word);
    return word;
}

// 10^k mod p for -400 <= k <= 400.
class PowersOfTen {
public:
    static u64 at(int exponent);

private:
    static const PowersOfTen powers_;
    PowersOfTen() {
        const u64 tenth = field_inverse(10);
        table_[400] = 1;
        for (int k = 1; k <= 400; ++k) {
            table_[400 + k] = field_multiply(table_[399 + k], 10);
            table_[400 - k] = field_multiply(table_[401 - k], tenth);
        }
    }
    std::array<u64, 801> table_;
};
inline const PowersOfTen PowersOfTen::powers_;
inline u64 PowersOfTen::at(int exponent) { return powers_.table_[exponent + 400]; }

// |x| = m 2^e with a 53-bit integer m.
inline u64 magnitude_by_bits(double x) {
    const u64 word = bits_of(x);
    const int biased = int(word >> 52 & 2047);
    const u64 fraction = word & ((u64(1) << 52) - 1);
    const u64 m = biased ? fraction | u64(1) << 52 : fraction;
    int shift = ((biased ? biased : 1) - 1075) % 61;
    if (shift < 0) shift += 61;
    return field_reduce(shift ? ((m << shift) & modulus) + (m >> (61 - shift)) : m);
}

// By the digits that std::to_chars prints: the shortest ones that read back as x.
inline u64 magnitude_by_printing(double x) {
    char text[40];
    const char* end = std::to_chars(text, text + sizeof text, std::fabs(x), std::chars_format::scientific).ptr;
    const char* at = text;
    u64 digits = 0;
    int exponent = 0;
    bool after_point = false;
    for (; at < end && *at != 'e'; ++at) {
        if (*at == '.') { after_point = true; continue; }
        digits = digits * 10 + u64(*at - '0');
        exponent -= after_point;
    }
    if (at < end) {
        const bool negative = *++at == '-';
        int printed = 0;
        for (++at; at < end; ++at) printed = printed * 10 + (*at - '0');
        exponent += negative ? -printed : printed;
    }
    return field_multiply(digits, PowersOfTen::at(exponent));
}

// The same digits by integers, for most 2^-32 <= |x| < 2^52; returns false where it does not apply.
//
// x = m 2^-s stands for all reals between (2m - 1) 2^-(s+1) and (2m + 1) 2^-(s+1). With
// the smallest k for which 10^k 2^-s is at least 1, the multiples of 10^-k in that interval are between one and ten, so
// that at most one of them is a multiple of ten times that: it is the shortest decimal; if there is none, the multiple
// nearest to x is. Everything is counted in units of 10^-k 2^-f with f = s + 1 - k, in which x is 2m 5^k and half of the
// interval is 5^k; that multiples of ten are found or not is as good as random, so nothing branches on it.
inline bool magnitude_by_integers(double x, u64& magnitude) {
    static constexpr std::array<u64, 27> powers_of_five = [] {
        std::array<u64, 27> powers{1};
        for (int k = 1; k < 27; ++k) powers[k] = 5 * powers[k - 1];
        return powers;
    }();
    const u64 word = bits_of(x);
    const int s = 1075 - int(word >> 52 & 2047);
    const u64 fraction = word & ((u64(1) << 52) - 1), m = fraction | u64(1) << 52;
    if (s < 1 || s > 84 || fraction == 0) return false;  // a power of two has halves that are not equal
    const int k = ((s * 78913) >> 18) + 1;               // 78913 / 2^18 = log10(2)
    const int f = s + 1 - k;                             // at most 59
    const u64 half_gap = powers_of_five[k], one = u64(1) << f;
    const u128 middle = wide_product(half_gap, 2 * m);
    const u64 floor = u64(middle >> f), rest = u64(middle) & (one - 1), tens = floor / 10 * 10;
    const u64 above_tens = (floor - tens) * one + rest, below_next = 10 * one - above_tens;
    if (2 * rest == one) return false;  // a tie
    // Distances are even and 5^k is odd: nothing stands at an end of the interval.
    const u64 nearest = floor + (rest > one / 2), is_tens = above_tens < half_gap, is_next = below_next < half_gap;
    const u64 by_tens = tens + 10 * is_next, chosen = u64(0) - (is_tens | is_next);  // all bits, or none
    magnitude = field_multiply((by_tens & chosen) | (nearest & ~chosen), PowersOfTen::at(-k));
    return true;
}

// A decimal m 10^-3 of at most 15 digits that rounds to x is the only such one, so it is the shortest: keep it if
// it survives the (correctly rounded) division.
inline u64 magnitude_by_decimal(double x) {
    x = std::fabs(x);
    const double scaled = x * 1e3;
    if (scaled < 1e15) {
        const i64 rounded = i64(scaled + 0.5);
        if (rounded != 0 && double(rounded) / 1e3 == x) return field_multiply(u64(rounded), PowersOfTen::at(-3));
    }
    u64 magnitude;
    return magnitude_by_integers(x, magnitude) ? magnitude : magnitude_by_printing(x);
}

// The image of a float; throws std::invalid_argument for NaN.
inline u64 image_of(double x, Reading reading) {
    if (std::isnan(x)) throw std::invalid_argument("a value is NaN");
    if (std::isinf(x)) return x > 0 ? plus_infinity : minus_infinity;
    const double size = std::fabs(x);
    u64 magnitude;
    if (size < 9007199254740992.0 && size == double(i64(size)))
        magnitude = u64(i64(size));
    else
        magnitude = reading == Reading::bits ? magnitude_by_bits(x) : magnitude_by_decimal(x);
    const u64 is_negative = bits_of(x) >> 63;  // signs are as good as random: no branch; a magnitude of 0 has none
    return (magnitude ^ (u64(0) - is_negative)) + is_negative * (modulus + 1);
}

// Images of many values, most of which were seen before: a direct-mapped cache in front of image_of, larger where there
// are many values to be read.
class ValueReader {
public:
    explicit ValueReader(Reading reading, u64 n_values = 0)
        : reading_(reading), shift_(n_values < 1 << 16 ? 64 - 9 : 64 - 12),
          slots_(u64(1) << (64 - shift_), Slot{0, 0}) {}  // the image of 0.0 is 0
    u64 operator()(double x) {
        const u64 bits = bits_of(x);
        Slot& slot = slots_[bits * 0x9E3779B97F4A7C15u >> shift_];
        if (slot.bits != bits) slot = {bits, image_of(x, reading_)};
        return slot.image;
    }
    // Reads many at once. Where next to none of a block were seen before, those after it are read without a look.
    void read(const double* values, u64 size, u64* images) {
        constexpr u64 block = 512, blocks_without_a_look = 15;
        for (u64 first = 0; first < size;) {
            u64 last = std::min(first + block, size), n_new = 0;
            for (u64 i = first; i < last; ++i) {
                const u64 bits = bits_of(values[i]);
                Slot& slot = slots_[bits * 0x9E3779B97F4A7C15u >> shift_];
                if (slot.bits != bits) {
                    slot = {bits, image_of(values[i], reading_)};
                    ++n_new;
                }
                images[i] = slot.image;
            }
            first = last;
            if (8 * n_new < 7 * block) continue;
            last = std::min(first + blocks_without_a_look * block, size);
            for (u64 i = first; i < last; ++i) images[i] = image_of(values[i], reading_);
            first = last;
        }
    }

private:
    struct Slot { u64 bits, image; };
    Reading reading_;
    int shift_;
    std::vector<Slot> slots_;
};

}  // namespace relift
