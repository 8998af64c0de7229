// Whole numbers of 128 bits: the compiler's own where it has them, two words of 64 bits where not.
//
// RELIFT_OWN_128_BITS asks for the two words in any case; the tests compare both.
#pragma once
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
#include <intrin.h>
#endif

namespace relift {

struct TwoWords {
    std::uint64_t low = 0, high = 0;

    constexpr TwoWords() = default;
    constexpr TwoWords(std::uint64_t low_word) : low(low_word) {}
    constexpr TwoWords(std::uint64_t low_word, std::uint64_t high_word) : low(low_word), high(high_word) {}
    // A whole number below 2^128 that is a float.
    static TwoWords of(double whole) {
        constexpr double two_to_64 = 18446744073709551616.0;
        const std::uint64_t upper = std::uint64_t(whole / two_to_64);
        return {std::uint64_t(whole - double(upper) * two_to_64), upper};
    }
    constexpr explicit operator std::uint64_t() const { return low; }

    // The product of two words.
    static TwoWords product(std::uint64_t a, std::uint64_t b) {
#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
        TwoWords result;
        result.low = _umul128(a, b, &result.high);
        return result;
#else
        constexpr std::uint64_t half = 0xFFFFFFFFu;
        const std::uint64_t a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
        const std::uint64_t lowest = a0 * b0, one = a1 * b0, other = a0 * b1;
        const std::uint64_t middle = (lowest >> 32) + (one & half) + (other & half);
        return {(middle << 32) | (lowest & half), a1 * b1 + (one >> 32) + (other >> 32) + (middle >> 32)};
#endif
    }

    friend constexpr TwoWords operator+(TwoWords a, TwoWords b) {
        const std::uint64_t sum = a.low + b.low;
        return {sum, a.high + b.high + (sum < a.low)};
    }
    friend constexpr TwoWords operator-(TwoWords a, TwoWords b) {
        return {a.low - b.low, a.high - b.high - (a.low < b.low)};
    }
    friend TwoWords operator*(TwoWords a, TwoWords b) {
        TwoWords result = product(a.low, b.low);
        result.high += a.low * b.high + a.high * b.low;
        return result;
    }
    friend constexpr TwoWords operator&(TwoWords a, TwoWords b) { return {a.low & b.low, a.high & b.high}; }
    friend constexpr TwoWords operator~(TwoWords a) { return {~a.low, ~a.high}; }
    friend constexpr TwoWords operator<<(TwoWords a, int by) {
        if (by == 0) return a;
        if (by >= 64) return {0, a.low << (by - 64)};
        return {a.low << by, a.high << by | a.low >> (64 - by)};
    }
    friend constexpr TwoWords operator>>(TwoWords a, int by) {
        if (by == 0) return a;
        if (by >= 64) return {a.high >> (by - 64), 0};
        return {a.low >> by | a.high << (64 - by), a.high >> by};
    }
    friend constexpr bool operator==(TwoWords a, TwoWords b) { return a.low == b.low && a.high == b.high; }
    friend constexpr bool operator>(TwoWords a, TwoWords b) {
        return a.high > b.high || (a.high == b.high && a.low > b.low);
    }
    TwoWords& operator+=(TwoWords b) { return *this = *this + b; }
};

#if defined(__SIZEOF_INT128__) && !defined(RELIFT_OWN_128_BITS)
__extension__ typedef unsigned __int128 u128;
inline u128 wide_product(std::uint64_t a, std::uint64_t b) { return u128(a) * b; }
inline u128 wide_of(double whole) { return u128(whole); }
#else
using u128 = TwoWords;
inline u128 wide_product(std::uint64_t a, std::uint64_t b) { return TwoWords::product(a, b); }
inline u128 wide_of(double whole) { return TwoWords::of(whole); }
#endif

}  // namespace relift
