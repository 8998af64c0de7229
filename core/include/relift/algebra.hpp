// How words are added up: in the field, or mod 2^64 where only counts matter.
//
// Sums of unequal weights need the field mod p: only there are they exact. Where all weights are equal a sum is a
// count, and where each value has a random word of its own a sum only has to tell multisets apart; for both,
// arithmetic mod 2^64 does, and costs less. Sums in memory are kept "loose" (congruent, not reduced) in the field.
#pragma once
#include "field.hpp"

namespace relift {

struct FieldAlgebra {
    using Accumulator = u128;                    // holds 64 products below 2^122
    static constexpr u32 products_between_folds = 32;
    static void add(Accumulator& sum, u64 word) { sum += word; }
    static void add_product(Accumulator& sum, u64 word, u64 weight) { sum += wide_product(word, weight); }
    static void fold(Accumulator& sum) { sum = (sum & modulus) + (sum >> 61); }
    static u64 value(Accumulator sum) { return field_reduce(sum); }

    static u64 loose_add(u64 loose, u64 word) {  // below 2^61 + 8 again
        loose += word;
        return (loose & modulus) + (loose >> 61);
    }
    static u64 loose_add_product(u64 loose, u64 word, u64 weight) {
        const u128 product = wide_product(word, weight);
        return loose_add(loose, (u64(product) & modulus) + u64(product >> 61));
    }
    static u64 tight(u64 loose) { return field_reduce(loose); }
    static u64 multiply(u64 a, u64 b) { return field_multiply(a, b); }
    static u64 colour(u64 word) { return field_reduce(word); }
};

struct WrappingAlgebra {
    using Accumulator = u64;
    static constexpr u32 products_between_folds = ~u32(0);
    static void add(Accumulator& sum, u64 word) { sum += word; }
    static void add_product(Accumulator& sum, u64 word, u64 weight) { sum += word * weight; }
    static void fold(Accumulator&) {}
    static u64 value(Accumulator sum) { return sum; }

    static u64 loose_add(u64 loose, u64 word) { return loose + word; }
    static u64 loose_add_product(u64 loose, u64 word, u64 weight) { return loose + word * weight; }
    static u64 tight(u64 loose) { return loose; }
    static u64 multiply(u64 a, u64 b) { return a * b; }
    static u64 colour(u64 word) { return word; }
};

}  // namespace relift
