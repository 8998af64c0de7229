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
#include <utility>
#include <vector>

#include "field.hpp"
#include "portable.hpp"

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

// For x = m 2^-s, 1 <= s <= 84, and the smallest k with 10^k 2^-s >= 1: 5^k 2^(59-f), with f = s + 1 - k <= 59, which is
// below 2^62, and 10^-k in the field.
class TenthsOfPowers {
public:
    struct Entry { u64 scaled_five, tenth; };
    static constexpr u32 most = 84;
    static const Entry& at(u32 s);

private:
    static const TenthsOfPowers tenths_;
    TenthsOfPowers() {
        for (int s = 1; s <= int(most); ++s) {
            const int k = ((s * 78913) >> 18) + 1;  // 78913 / 2^18 = log10(2)
            u64 power_of_five = 1;
            for (int i = 0; i < k; ++i) power_of_five *= 5;
            table_[s] = {power_of_five << (59 - (s + 1 - k)), PowersOfTen::at(-k)};
        }
    }
    std::array<Entry, most + 1> table_{};
};
inline const TenthsOfPowers TenthsOfPowers::tenths_;
inline const TenthsOfPowers::Entry& TenthsOfPowers::at(u32 s) { return tenths_.table_[s]; }

// The same digits by integers, for most 2^-32 <= |x| < 2^52; returns false where it does not apply.
//
// x = m 2^-s stands for all reals between (2m - 1) 2^-(s+1) and (2m + 1) 2^-(s+1). With
// the smallest k for which 10^k 2^-s is at least 1, the multiples of 10^-k in that interval are between one and ten, so
// that at most one of them is a multiple of ten times that: it is the shortest decimal; if there is none, the multiple
// nearest to x is. Everything is counted in units of 10^-k 2^-59, in which x is 2m g with g = 5^k 2^(59-f) and half of the
// interval is g; 32 times that is a product of two words, whose upper one is x 10^k rounded down. That multiples of ten
// are found or not is as good as random, so nothing branches on it.
inline bool magnitude_by_integers(double x, u64& magnitude) {
    constexpr u64 one = u64(1) << 59;
    u64 word;
    std::memcpy(&word, &x, sizeof word);
    const u32 s = 1075 - u32(word >> 52 & 2047);
    const u64 fraction = word & ((u64(1) << 52) - 1), m = fraction | u64(1) << 52;
    if (s - 1 >= TenthsOfPowers::most || fraction == 0) return false;  // a power of two has halves that are not equal
    const TenthsOfPowers::Entry entry = TenthsOfPowers::at(s);
    const u64 half_gap = entry.scaled_five;
    const u128 middle = wide_product(half_gap, m << 6);
    const u64 floor = u64(middle >> 64), rest = u64(middle), tens = floor / 10 * 10;
    if (rest == u64(1) << 63) return false;  // a tie
    const u64 above_tens = (floor - tens) * one + (rest >> 5), below_next = 10 * one - above_tens;
    // Distances are even multiples of 2^(59-f) and half_gap is an odd one: nothing stands at an end of the interval.
    const u64 nearest = floor + (rest >> 63), is_tens = above_tens < half_gap, is_next = below_next < half_gap;
    const u64 by_tens = tens + 10 * is_next, chosen = u64(0) - (is_tens | is_next);  // all bits, or none
    magnitude = field_multiply((by_tens & chosen) | (nearest & ~chosen), entry.tenth);
    return true;
}

// A decimal m 10^-3 of at most 15 digits that rounds to x > 0 is the only such one, so it is the shortest: it is one if
// it survives the (correctly rounded) division.
inline bool has_three_places(double x, u64& thousandths) {
    const double scaled = x * 1e3;
    if (!(scaled < 1e15)) return false;
    const i64 rounded = i64(scaled + 0.5);
    thousandths = u64(rounded);
    return rounded != 0 && double(rounded) / 1e3 == x;
}

inline u64 magnitude_by_decimal(double x) {
    x = std::fabs(x);
    u64 magnitude;
    if (has_three_places(x, magnitude)) return field_multiply(magnitude, PowersOfTen::at(-3));
    return magnitude_by_integers(x, magnitude) ? magnitude : magnitude_by_printing(x);
}

// Signs are as good as random: no branch. A magnitude of 0 has none.
inline u64 with_sign(u64 magnitude, u64 is_negative) {
    return (magnitude ^ (u64(0) - is_negative)) + is_negative * (modulus + 1);
}

// Whether a number is whole, and no rounding has a part in it.
inline bool is_whole(double size) { return size < 9007199254740992.0 && size == double(i64(size)); }

// The image of a float; throws std::invalid_argument for NaN.
inline u64 image_of(double x, Reading reading) {
    if (std::isnan(x)) throw std::invalid_argument("a value is NaN");
    if (std::isinf(x)) return x > 0 ? plus_infinity : minus_infinity;
    const double size = std::fabs(x);
    u64 magnitude;
    if (is_whole(size))
        magnitude = u64(i64(size));
    else
        magnitude = reading == Reading::bits ? magnitude_by_bits(x) : magnitude_by_decimal(x);
    return with_sign(magnitude, bits_of(x) >> 63);
}

RELIFT_NOINLINE inline u64 image_by_decimal(double x) { return image_of(x, Reading::decimal); }

// The same for Reading::decimal, quicker where most numbers have many digits and slower where few have.
inline u64 image_of_long(double x) {
    u64 magnitude;
    if (!magnitude_by_integers(x, magnitude)) return image_by_decimal(x);
    return with_sign(magnitude, bits_of(x) >> 63);
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
            const u64 looked_at = std::exchange(first, last);
            if (8 * n_new < 7 * block) continue;
            const bool are_long = reading_ == Reading::decimal && most_are_long(values + looked_at, first - looked_at);
            last = std::min(first + blocks_without_a_look * block, size);
            if (are_long)
                for (u64 i = first; i < last; ++i) images[i] = image_of_long(values[i]);
            else
                for (u64 i = first; i < last; ++i) images[i] = image_of(values[i], reading_);
            first = last;
        }
    }

private:
    // Whether most of a few numbers are neither whole nor have three places.
    static bool most_are_long(const double* values, u64 size) {
        constexpr u64 n_looked_at = 32;
        const u64 n = std::min(size, n_looked_at);
        u64 n_long = 0;
        for (u64 i = 0; i < n; ++i) {
            const double size_ = std::fabs(values[i]);
            u64 magnitude;
            n_long += !is_whole(size_) && !has_three_places(size_, magnitude);
        }
        return 2 * n_long > n;
    }

    struct Slot { u64 bits, image; };
    Reading reading_;
    int shift_;
    std::vector<Slot> slots_;
};

}  // namespace relift
