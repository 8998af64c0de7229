// Words: classes of equal ones, how many kinds and shapes of variables there are before any sum is taken, and sums in
// the field.
#pragma once
#include <algorithm>
#include <cmath>

#include "../distinct_words.hpp"
#include "../exact_values.hpp"

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

// An interval with a cost up to a factor of either sign, to nine digits.
struct Shape {
    u64 word;
    bool counts_half;  // even, and without a cost
};

inline Shape shape_of(double low, double high, double cost) {
    const auto finite_size = [](double value) { return std::isfinite(value) ? std::fabs(value) : 0.0; };
    const auto word = [](double value) {
        const double sign = value > 0 ? 1.0 : value < 0 ? -1.0 : value;
        return bits_of(std::isfinite(value) ? std::nearbyint(value * 1e9) / 1e9 : sign * 1e300);
    };
    double unit = std::max(finite_size(low), finite_size(high));
    const bool is_by_cost = unit <= 1e-9 && cost != 0;
    if (!(unit > 1e-9)) unit = is_by_cost ? 1.0 / std::fabs(cost) : 1.0;
    const bool is_even = std::isfinite(low) ? std::fabs(low + high) <= 1e-9 * unit : low == -high;
    const bool is_turned = is_even ? cost < 0 : high < -low;
    const double first = (is_turned ? -high : low) / unit, second = (is_turned ? -low : high) / unit;
    const double price = cost * (is_turned ? -1.0 : 1.0) * unit;
    return {mix(mix(mix(word(first)) ^ word(second)) ^ word(price)), is_even && cost == 0};
}

// How many shapes there are; those that count half count 1, others 2. The twin of passes_reference.count_shapes.
inline u64 count_shapes(const double* low, const double* high, const double* cost, u32 size) {
    Array<u64> words(size);
    Array<u8> counts_half(size);
    for (u32 k = 0; k < size; ++k) {
        const Shape shape = shape_of(low[k], high[k], cost[k]);
        words[k] = shape.word;
        counts_half[k] = shape.counts_half;
    }
    Array<i64> labels(size);
    const Grouping shapes = group(words.data(), size, 16, labels.data());
    u64 count = 2 * u64(shapes.n_classes());
    for (const u32 first : shapes.representatives) count -= counts_half[first];
    return count;
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
