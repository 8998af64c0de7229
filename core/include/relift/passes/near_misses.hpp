// Whether numbers of an array differ in their last bits only; some are looked at where there are many.
#pragma once
#include <algorithm>

#include "../distinct_words.hpp"
#include "../exact_values.hpp"

namespace relift {
namespace passes {

struct LookAtBits {
    u64 most;       // numbers that are looked at; of more, so many are drawn
    u64 slice;      // different values, about, that are compared
    int last_bits;  // those that count as rounding
};

struct BitCounts {
    u64 numbers = 0, keys = 0;  // distinct ones, and distinct ones without their last bits
};

inline BitCounts count_near_misses(const double* values, u64 size, const LookAtBits& look) {
    const u64 count = std::min(size, look.most), n_slices = count > 2 * look.slice ? count / look.slice : 1;
    const auto key_of = [&](u64 bits) { return (bits + (u64(1) << (look.last_bits - 1))) >> look.last_bits; };
    const auto below = [](u64 word, u64 bound) { return (word >> 32) * bound >> 32; };  // a number below the bound
    Array<u64> numbers, keys;  // mixed
    u64 last = ~u64(0);
    for (u64 k = 0; k < count; ++k) {
        // At random: what is nearly equal may lie at regular distances.
        const u64 bits = bits_of(std::fabs(values[size > look.most ? below(mix(k), size) : k]));
        if (bits == last) continue;
        last = bits;
        const u64 key = mix(key_of(bits));
        if (n_slices > 1 && below(key, n_slices)) continue;  // all numbers of one key are chosen, or none of them
        numbers.push_back(mix(bits));
        keys.push_back(key);
    }
    Array<u64> table;
    return {count_mixed(numbers, table), count_mixed(keys, table)};
}

}  // namespace passes
}  // namespace relift
