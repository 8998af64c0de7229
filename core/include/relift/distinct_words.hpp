// How many distinct words an array holds, whether all are distinct, and which are equal.
#pragma once
#include <atomic>

#include "counted_memory.hpp"
#include "portable.hpp"
#include "threads.hpp"

namespace relift {

inline u32 power_of_two_above(u64 n) {
    u32 power = 64;
    while (power < n) power *= 2;
    return power;
}

inline u64 spread(u64 word) { return word * 0x9E3779B97F4A7C15u; }

// A number of distinct words: exact up to some thousands of them or an eighth of all, beyond that estimated.
struct DistinctCount {
    u64 number;
    bool is_exact;
};

class DistinctCounter {
public:
    static constexpr u32 least_exact = 4096, most_exact = 65536;

    // Counts never fall from round to round: once estimated, always estimated (skip_exact).
    DistinctCount count(const u64* words, u32 size, bool skip_exact = false) {
        u64 number = 0;
        if (!skip_exact && count_exactly(words, size, number)) return {number, true};
        return {estimate(words, size), false};
    }

private:
    bool count_exactly(const u64* words, u32 size, u64& number) {
        const u32 limit = std::min(std::max(least_exact, size / 8), most_exact);
        u32 capacity = power_of_two_above(2 * std::min<u64>(size, least_exact));
        int shift = 64 - trailing_zeros(capacity);
        table_.assign(capacity, 0);
        bool zero_seen = false;
        u64 last = size ? ~words[0] : 0;
        for (u32 i = 0; i < size; ++i) {
            const u64 word = words[i];
            if (word == last) continue;
            last = word;
            if (word == 0) { number += !zero_seen; zero_seen = true; continue; }
            u64 at = spread(word) >> shift;
            while (table_[at] && table_[at] != word) at = (at + 1) & (capacity - 1);
            if (table_[at]) continue;
            table_[at] = word;
            if (++number > limit) return false;
            if (2 * number <= capacity) continue;
            enlarge_table();
            capacity = u32(table_.size());
            shift = 64 - trailing_zeros(capacity);
        }
        return true;
    }
    void enlarge_table() {
        Array<u64> larger(4 * table_.size(), 0);
        const int shift = 64 - trailing_zeros(u32(larger.size()));
        for (u64 word : table_) {
            if (word == 0) continue;
            u64 at = spread(word) >> shift;
            while (larger[at]) at = (at + 1) & (larger.size() - 1);
            larger[at] = word;
        }
        table_.swap(larger);
    }
    // Counts the words in a slice of hash space that holds about 2048 of them if all are distinct.
    u64 estimate(const u64* words, u32 size) {
        int halvings = 0;
        while (size >> halvings > 2048) ++halvings;
        const u64 outside = halvings ? ~u64(0) << (64 - halvings) : 0;
        const u32 capacity = power_of_two_above(3 * u64(size >> halvings));
        Array<u64>().swap(table_);  // the exact count has ended: its table goes before this one comes
        Array<u64> slots(capacity, 0);
        u64 number = 0;
        for (u32 i = 0; i < size; ++i) {
            const u64 hash = spread(words[i]);
            if (hash & outside) continue;
            if (number > 3 * u64(capacity) / 4) break;
            u64 at = hash >> 8 & (capacity - 1);
            while (slots[at] && slots[at] != (hash | 1)) at = (at + 1) & (capacity - 1);
            if (!slots[at]) { slots[at] = hash | 1; ++number; }
        }
        return std::min<u64>(number << halvings, size);
    }
    Array<u64> table_;
};

// How many of some words that look random are distinct; the table is for use again. Words that differ in their last bit
// alone count as one: of random words next to none do.
inline u64 count_mixed(const Array<u64>& words, Array<u64>& table) {
    const u64 capacity = power_of_two_above(2 * words.size());
    table.assign(capacity, 0);
    u64 number = 0;
    for (const u64 word : words) {
        u64 at = word >> 1 & (capacity - 1);
        while (table[at] && table[at] != (word | 1)) at = (at + 1) & (capacity - 1);
        number += !table[at];
        table[at] = word | 1;
    }
    return number;
}

// Whether a few words are distinct, by a table of at least twice the size.
inline bool all_distinct(const u64* words, u32 size, Array<u64>& table) {
    const u32 capacity = power_of_two_above(2 * u64(size));
    std::fill_n(table.begin(), capacity, 0);
    bool zero_seen = false;
    for (u32 i = 0; i < size; ++i) {
        const u64 word = words[i];
        if (word == 0) {
            if (zero_seen) return false;
            zero_seen = true;
            continue;
        }
        u32 at = u32((word * 0xC2B2AE3D27D4EB4Fu) >> 32) & (capacity - 1);
        while (table[at]) {
            if (table[at] == word) return false;
            at = (at + 1) & (capacity - 1);
        }
        table[at] = word;
    }
    return true;
}

constexpr u32 most_marks = 1 << 20;  // beyond, their table does not stay near the processor

// Whether all words are distinct, by one table of 31 bits of each: where these agree, the words are compared.
inline bool all_distinct_by_marks(const u64* words, u32 size) {
    constexpr u32 ahead = 16;
    const u32 capacity = power_of_two_above(2 * u64(size));
    const int log_capacity = trailing_zeros(capacity), shift = 64 - log_capacity;
    Array<u32> marks(capacity, 0);
    for (u32 i = 0; i < size; ++i) {
        if (i + ahead < size) RELIFT_PREFETCH_TO_WRITE(&marks[spread(words[i + ahead]) >> shift]);
        const u64 hash = spread(words[i]);
        const u32 mark = u32(hash << log_capacity >> 32) | 1;
        u32 at = u32(hash >> shift);
        for (; marks[at]; at = (at + 1) & (capacity - 1))
            if (marks[at] == mark && std::find(words, words + i, words[i]) != words + i) return false;
        marks[at] = mark;
    }
    return true;
}

// Whether all words are distinct: spread over buckets that fit the cache, each tested by a small table. Threads take
// some buckets each, and read all words.
inline bool all_distinct(const u64* words, u32 size, u32 n_threads) {
    if (size > 1 && size <= most_marks && threads_for(size, n_threads) == 1) return all_distinct_by_marks(words, size);
    int log_buckets = 0;
    while (size >> log_buckets > 1024 && log_buckets < 12) ++log_buckets;
    const u32 n_buckets = 1u << log_buckets;
    const auto bucket_of = [&](u64 word) { return log_buckets ? u32(spread(word) >> (64 - log_buckets)) : 0; };
    Array<u32> start(n_buckets + 1, 0);
    for (u32 i = 0; i < size; ++i) ++start[bucket_of(words[i]) + 1];
    u32 largest = 0;
    for (u32 b = 0; b < n_buckets; ++b) {
        largest = std::max(largest, start[b + 1]);
        start[b + 1] += start[b];
    }
    u32 n_slices = 2;  // half of the buckets at a time, to save memory; or as many parts as there are threads
    while (n_slices < threads_for(size, n_threads)) n_slices *= 2;
    const u32 slice = std::max(n_buckets / n_slices, 1u);
    const auto are_distinct_from = [&](u32 first) {
        const u32 origin = start[first];
        Array<u64> table(power_of_two_above(2 * u64(largest) + 2)), sorted(start[first + slice] - origin + 1);
        Array<u32> next(slice + 1);  // the last place takes all that belongs to another slice
        for (u32 b = 0; b <= slice; ++b) next[b] = start[first + b] - origin;
        for (u32 i = 0; i < size; ++i) {
            const u32 b = std::min(bucket_of(words[i]) - first, slice);
            sorted[next[b]] = words[i];
            next[b] += b < slice;
        }
        for (u32 b = first; b < first + slice; ++b)
            if (!all_distinct(sorted.data() + (start[b] - origin), start[b + 1] - start[b], table)) return false;
        return true;
    };
    std::atomic<bool> are_all{true};
    const u32 n_parts = threads_for(size, n_threads);
    in_parallel(n_parts, [&](u32 k) {
        for (u32 first = k * slice; first < n_buckets && are_all; first += n_parts * slice)
            if (!are_distinct_from(first)) are_all = false;
    });
    return are_all;
}

// Classes of equal words, numbered by smallest member.
struct Grouping {
    Array<u32> sizes, representatives;
    u32 n_classes() const { return u32(sizes.size()); }
};

// Groups equal words and writes the label of each; expected is a guess at the number of classes.
inline Grouping group(const u64* words, u32 size, u64 expected, i64* labels) {
    struct Slot { u32 mark, label; };  // where marks agree, the words of the representatives are compared
    constexpr u32 none = ~u32(0);
    Grouping grouping;
    for (u32 capacity = power_of_two_above(2 * expected + 16);; capacity *= 4) {
        Array<Slot> table(capacity, Slot{0, none});
        const int shift = 64 - trailing_zeros(capacity);
        const bool prefetch = u64(capacity) * sizeof(Slot) > (u64(1) << 19);
        grouping.sizes.clear();
        grouping.representatives.clear();
        u64 last = size ? ~words[0] : 0;
        u32 label = 0, i = 0;
        for (; i < size; ++i) {
            const u64 word = words[i];
            if (prefetch && i + 12 < size) RELIFT_PREFETCH_TO_WRITE(&table[spread(words[i + 12]) >> shift]);
            if (word != last) {
                last = word;
                const u32 mark = u32(word ^ word >> 32);
                const auto is_other = [&](Slot slot) {
                    return slot.mark != mark || words[grouping.representatives[slot.label]] != word;
                };
                u64 at = spread(word) >> shift;
                while (table[at].label != none && is_other(table[at])) at = (at + 1) & (capacity - 1);
                if (table[at].label == none) {
                    if (u64(grouping.n_classes()) * 4 > u64(capacity) * 3) break;
                    table[at] = {mark, grouping.n_classes()};
                    grouping.sizes.push_back(0);
                    grouping.representatives.push_back(i);
                }
                label = table[at].label;
            }
            labels[i] = label;
            ++grouping.sizes[label];
        }
        if (i == size) return grouping;
    }
}

// The same by several threads, if the classes are few: each groups a part, then classes of the parts are joined, part
// by part, so that their numbers are again those of smallest members.
inline Grouping group(const u64* words, u32 size, u64 expected, i64* labels, u32 n_threads) {
    const u32 n_parts = threads_for(size, n_threads);
    if (n_parts == 1 || expected > size / 16) return group(words, size, expected, labels);
    std::vector<Grouping> parts(n_parts);
    in_parallel(n_parts, [&](u32 k) {
        const u64 first = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts);
        parts[k] = group(words + first, u32(last - first), expected, labels + first);
        for (u32& representative : parts[k].representatives) representative += u32(first);
    });
    Array<u64> firsts;
    for (const Grouping& part : parts)
        for (u32 representative : part.representatives) firsts.push_back(words[representative]);
    Array<i64> joined(firsts.size());
    Grouping whole = group(firsts.data(), u32(firsts.size()), expected, joined.data());
    std::fill(whole.sizes.begin(), whole.sizes.end(), 0);
    Array<u32> representatives(whole.n_classes(), ~u32(0));
    Array<u32> start(n_parts, 0);
    for (u32 k = 0, at = 0; k < n_parts; ++k) {
        start[k] = at;
        for (u32 c = 0; c < parts[k].n_classes(); ++c, ++at) {
            const u32 label = u32(joined[at]);
            whole.sizes[label] += parts[k].sizes[c];
            representatives[label] = std::min(representatives[label], parts[k].representatives[c]);
        }
    }
    whole.representatives.swap(representatives);
    in_parallel(n_parts, [&](u32 k) {
        const i64* const numbers = joined.data() + start[k];
        for (u64 i = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts); i < last; ++i)
            labels[i] = numbers[labels[i]];
    });
    return whole;
}

}  // namespace relift
