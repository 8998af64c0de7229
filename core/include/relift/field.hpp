// The field of p = 2^61 - 1 elements, in which coefficients are added exactly.
//
// Because 2^61 = 1 mod p, a number is reduced by adding its upper bits to its lower 61; a product of two elements
// has 122 bits and takes one 64 x 64 -> 128 bit multiplication and one such fold.
#pragma once
#include <cstdint>

#include "wide.hpp"

namespace relift {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr u64 modulus = (u64(1) << 61) - 1;

// Infinities are no field elements: two words that no sum or product yields.
constexpr u64 plus_infinity = modulus + 1;
constexpr u64 minus_infinity = modulus + 2;

// Any 64-bit word mod p.
inline u64 field_reduce(u64 x) {
    x = (x & modulus) + (x >> 61);
    return x >= modulus ? x - modulus : x;
}

// Any 128-bit word mod p.
inline u64 field_reduce(u128 x) {
    x = (x & modulus) + (x >> 61);              // below 2^67 + 2^61
    return field_reduce(u64(x & modulus) + u64(x >> 61));
}

inline u64 field_add(u64 a, u64 b) {
    const u64 sum = a + b;
    return sum >= modulus ? sum - modulus : sum;
}

inline u64 field_negate(u64 a) { return a ? modulus - a : 0; }

inline u64 field_multiply(u64 a, u64 b) {
    const u128 product = wide_product(a, b);
    const u64 sum = (u64(product) & modulus) + u64(product >> 61);
    return sum >= modulus ? sum - modulus : sum;
}

inline u64 field_power(u64 base, u64 exponent) {
    u64 result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = field_multiply(result, base);
        base = field_multiply(base, base);
    }
    return result;
}

// a^(2^n), by n squarings.
inline u64 field_squared(u64 a, int n) {
    for (; n > 0; --n) a = field_multiply(a, a);
    return a;
}

// 2^exponent: since 2^61 = 1, a single bit.
inline u64 field_power_of_two(int exponent) {
    exponent %= 61;
    return u64(1) << (exponent < 0 ? exponent + 61 : exponent);
}

// The reciprocal by Fermat, a^(p-2); 0 gives 0. The exponent 2^61 - 3 is 2^59 - 1 ones and 01, and a^(2^n - 1) comes of
// doubling n, so that 60 squarings and 8 products are enough. Most numbers that are inverted one by one are 1 or -1.
inline u64 field_inverse(u64 a) {
    if (a <= 1 || a == modulus - 1) return a;
    const auto joined = [](u64 x, int n, u64 y) { return field_multiply(field_squared(x, n), y); };
    const u64 ones_2 = joined(a, 1, a), ones_3 = joined(ones_2, 1, a), ones_6 = joined(ones_3, 3, ones_3);
    const u64 ones_7 = joined(ones_6, 1, a), ones_14 = joined(ones_7, 7, ones_7);
    const u64 ones_28 = joined(ones_14, 14, ones_14), ones_29 = joined(ones_28, 1, a);
    const u64 ones_58 = joined(ones_29, 29, ones_29), ones_59 = joined(ones_58, 1, a);
    return joined(ones_59, 2, a);
}

// The finaliser of splitmix64: a bijection of 64-bit words that looks random.
inline u64 mix(u64 x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace relift
