// Equal words: classes numbered by smallest member, and how many kinds of variables there are before any sum is taken.
#pragma once
#include "../distinct_words.hpp"

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

}  // namespace passes
}  // namespace relift
