// A float as an exact rational, and its image in the field mod p = 2^61 - 1.
//
// Reading::bits takes the binary value m 2^e: multiplication by 2^e is a rotation of 61 bits.
// Reading::decimal takes the shortest decimal m 10^k that rounds to the float, so that .1 + .2 = .3 holds for the
// images. At most 17 digits are needed, hence m < 10^17 < p, and no nonzero float has the image 0.
#pragma once
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

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
    static u64 at(int exponent) {
        static const PowersOfTen powers;
        return powers.table_[exponent + 400];
    }

private:
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

// The same digits by 128-bit integers, for 1e-6 <= |x| <= 1e16; returns false where it does not apply.
//
// x = m 2^-s stands for all reals between (2m - 1) 2^-(s+1) and (2m + 1) 2^-(s+1), the ends included if m is even.
// With k such that x 10^k has 17 or 18 digits, the shortest decimal is the multiple n 10^j of the largest power of ten
// among the integers in 10^k times that interval, and of several the one nearest to x.
inline bool magnitude_by_integers(double x, u64& magnitude) {
    static const u128 powers[] = {u128(1u), u128(10u), u128(100u), u128(1000u), u128(10000u), u128(100000u),
                                  u128(1000000u), u128(10000000u), u128(100000000u), u128(1000000000u),
                                  wide_of(1e10), wide_of(1e11), wide_of(1e12), wide_of(1e13), wide_of(1e14),
                                  wide_of(1e15), wide_of(1e16), wide_of(1e17), wide_of(1e18), wide_of(1e19),
                                  wide_of(1e20), wide_of(1e21), wide_of(1e22)};
    const u64 word = bits_of(x);
    const int biased = int(word >> 52 & 2047);
    const u64 fraction = word & ((u64(1) << 52) - 1), m = fraction | u64(1) << 52;
    if (biased < 1023 - 19 || biased > 1023 + 52 || fraction == 0) return false;  // powers of two: unequal halves
    const int shift = 1076 - biased;                                              // s + 1
    const int k = 16 - (((biased - 1023) * 78913) >> 18);                         // 78913 / 2^18 = log10(2)
    const u128 half_gap = powers[k], middle = half_gap * (2 * m), one = u128(1) << shift;
    const u128 low = middle - half_gap, high = middle + half_gap;
    const bool open = m & 1;
    u64 first = u64((low + one - 1) >> shift), last = u64(high >> shift);
    if (open && (low & (one - 1)) == 0) ++first;
    if (open && (high & (one - 1)) == 0) --last;
    u64 step = 1;
    int j = 0;
    const auto coarsen = [&](u64 factor, int zeros) {
        const u64 coarse_first = (first + factor - 1) / factor, coarse_last = last / factor;
        if (coarse_first > coarse_last) return false;
        first = coarse_first;
        last = coarse_last;
        step *= factor;
        j += zeros;
        return true;
    };
    if (coarsen(10, 1) && coarsen(10, 1)) {  // most floats of 16 or 17 digits end here
        coarsen(100000000, 8);
        coarsen(10000, 4);
        coarsen(100, 2);
        coarsen(10, 1);
    }
    const u64 floor = u64(middle >> shift);
    const u64 quotient = step == 1 ? floor : step == 10 ? floor / 10 : floor / step;
    const u128 remainder = (u128(floor - quotient * step) << shift) + (middle & (one - 1));
    const u128 half = u128(step) << (shift - 1);
    if (remainder == half && first != last) return false;  // a tie
    u64 digits = quotient + (remainder > half);
    digits = digits < first ? first : digits > last ? last : digits;
    magnitude = field_multiply(digits, PowersOfTen::at(j - k));
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
    return x < 0 ? field_negate(magnitude) : magnitude;
}

// Images of many values, most of which were seen before: a direct-mapped cache in front of image_of.
class ValueReader {
public:
    explicit ValueReader(Reading reading) : reading_(reading) {
        for (Slot& slot : slots_) slot = {0, 0};  // the image of 0.0 is 0
    }
    u64 operator()(double x) {
        const u64 bits = bits_of(x);
        Slot& slot = slots_[bits * 0x9E3779B97F4A7C15u >> 55];
        if (slot.bits != bits) slot = {bits, image_of(x, reading_)};
        return slot.image;
    }

private:
    struct Slot { u64 bits, image; };
    Reading reading_;
    std::array<Slot, 512> slots_;
};

}  // namespace relift
