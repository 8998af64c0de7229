// Whether numbers of an array differ in their last bits only; some are looked at where there are many.
#pragma once
#include <algorithm>

#include "../counted_memory.hpp"
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
    Array<u64> chosen;
    u64 last = ~u64(0);
    for (u64 k = 0; k < count; ++k) {
        // At random: what is nearly equal may lie at regular distances.
        const u64 bits = bits_of(std::fabs(values[size > look.most ? mix(k) % size : k]));
        if (bits == last) continue;
        last = bits;
        // All numbers of one key are chosen, or none of them.
        if (n_slices == 1 || mix(key_of(bits)) % n_slices == 0) chosen.push_back(bits);
    }
    std::sort(chosen.begin(), chosen.end());  // and so are the keys
    BitCounts counts;
    for (u64 k = 0; k < chosen.size(); ++k) {
        counts.numbers += k == 0 || chosen[k] != chosen[k - 1];
        counts.keys += k == 0 || key_of(chosen[k]) != key_of(chosen[k - 1]);
    }
    return counts;
}

}  // namespace passes
}  // namespace relift
