// Words: classes of equal ones, how many kinds of variables there are before any sum is taken, and sums in the field.
#pragma once
#include "../distinct_words.hpp"
#include "../field.hpp"

namespace relift {
namespace passes {

// Words of variables, of all or of some of them: as they are given, and with own scales divided out.
struct KindWords {
    const u64 *given[3];          // cost, lower and upper bound
    const u64 *low, *high, *cost; // the same up to units and signs
    u64 size;
};

struct KindCounts {
    u64 given = 0, up_to_units = 0, up_to_sizes = 0;
};

inline KindCounts count_kinds(const KindWords& words) {
    const auto absorb = [](u64 word, u64 next) { return mix(word * 0xD6E8FEB86659FD93u ^ mix(next)); };
    const u32 size = u32(words.size);
    Array<u64> mixed(size);
    Array<i64> labels(size);
    const auto distinct = [&] { return u64(group(mixed.data(), size, 16, labels.data()).n_classes()); };
    KindCounts counts;
    for (u32 k = 0; k < size; ++k)
        mixed[k] = absorb(absorb(absorb(0, words.given[0][k]), words.given[1][k]), words.given[2][k]);
    counts.given = distinct();
    for (u32 k = 0; k < size; ++k) mixed[k] = absorb(absorb(absorb(0, words.low[k]), words.high[k]), words.cost[k]);
    counts.up_to_units = distinct();
    for (u32 k = 0; k < size; ++k)
        mixed[k] = absorb(absorb(absorb(0, words.low[k]), words.high[k]), words.cost[k] != 0);
    counts.up_to_sizes = distinct();
    return counts;
}

// sums[target[k]] += terms[k] in the field, from 0; terms are below the modulus. False if a target lies outside.
inline bool add_by_target(const i64* target, const u64* terms, u64 count, u64* sums, u64 size) {
    std::fill_n(sums, size, 0);
    for (u64 k = 0; k < count; ++k) {
        if (target[k] < 0 || u64(target[k]) >= size) return false;
        u64& sum = sums[target[k]];
        sum = field_add(sum, terms[k]);
    }
    return true;
}

}  // namespace passes
}  // namespace relift
