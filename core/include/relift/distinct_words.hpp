// How many distinct words an array holds, whether all are distinct, and which are equal.
#pragma once
#include <atomic>

#include "counted_memory.hpp"
#include "portable.hpp"
#include "repeated_words.hpp"
#include "threads.hpp"

namespace relift {

inline u32 power_of_two_above(u64 n) {
    u32 power = 64;
    while (power < n) power *= 2;
    return power;
}

// A number of distinct words: exact up to some thousands of them or an eighth of all, beyond that estimated.
// Which of some parts of hash space a hash belongs to.
inline u32 part_of_hash(u64 hash, u32 n_parts) { return u32((hash >> 32) * n_parts >> 32); }

struct DistinctCount {
    u64 number;
    bool is_exact;
};

class DistinctCounter {
public:
    static constexpr u32 least_exact = 4096, most_exact = 65536;

    // Counts never fall from round to round: once estimated, always estimated (skip_exact).
    DistinctCount count(const u64* words, u32 size, bool skip_exact = false, u32 n_threads = 1) {
        return count_by_parts(words, size, skip_exact, threads_for(size, n_threads));
    }

    // The same by so many threads; what is counted does not depend on them.
    DistinctCount count_by_parts(const u64* words, u32 size, bool skip_exact, u32 n_parts) {
        u64 number = 0;
        if (!skip_exact && looks_distinct(words, size)) {  // to count up to the limit costs more than to estimate
            number = n_parts > 1 ? estimate_by_parts(words, size, n_parts) : estimate(words, size);
            if (number > u64(most_counted(size)) * 2) return {number, false};
        }
        if (!skip_exact) {
            const bool is_exact = n_parts > 1 ? count_exactly_by_parts(words, size, number, n_parts)
                                              : count_exactly(words, size, number);
            if (is_exact) return {number, true};
        }
        return {n_parts > 1 ? estimate_by_parts(words, size, n_parts) : estimate(words, size), false};
    }

private:
    // Whether most of the first words are distinct, where a small part of all is.
    bool looks_distinct(const u64* words, u32 size) {
        if (size < 16 * least_exact) return false;
        clear(size);
        return !add_distinct(words, least_exact, least_exact / 2);
    }
    static u32 most_counted(u32 size) { return std::min(std::max(least_exact, size / 8), most_exact); }

    // Each thread counts some of the words; what they have found is then counted together. All end as soon as one of them
    // has found too many.
    static bool count_exactly_by_parts(const u64* words, u32 size, u64& number, u32 n_parts) {
        const u32 limit = most_counted(size);
        std::vector<DistinctCounter> counters(n_parts);
        std::vector<u64> numbers(n_parts, 0);
        std::atomic<bool> are_few{true};
        in_parallel(n_parts, [&](u32 k) {
            constexpr u64 block = 1 << 16;
            const u64 first = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts);
            counters[k].clear(size);
            for (u64 at = first; at < last && are_few; at += block)
                if (!counters[k].add_distinct(words + at, std::min(block, last - at), limit)) are_few = false;
        });
        if (!are_few) return false;
        for (u32 k = 1; k < n_parts; ++k)
            if (!counters[0].add_distinct_of(counters[k], limit)) return false;
        number = counters[0].number_;
        return true;
    }

    // Each thread looks at some of the words; what they have seen is then counted together.
    u64 estimate_by_parts(const u64* words, u32 size, u32 n_parts) {
        const Slice slice(size);
        release(table_);
        std::vector<Array<u64>> seen(n_parts);
        in_parallel(n_parts, [&](u32 k) {
            Array<u64> slots(slice.capacity, 0);
            const u64 first = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts);
            slice.count(words + first, last - first, slots);
            seen[k].swap(slots);
        });
        u64 number = 0;
        Array<u64> slots(slice.capacity, 0);
        for (const Array<u64>& hashes : seen)
            for (u64 hash : hashes)
                if (hash && number <= slice.most()) number += slice.add(hash, slots);
        return slice.scaled(number);
    }
    bool count_exactly(const u64* words, u32 size, u64& number) {
        clear(size);
        const bool are_few = add_distinct(words, size, most_counted(size));
        number = number_;
        return are_few;
    }
    void clear(u32 size) {
        table_.assign(power_of_two_above(2 * std::min<u64>(size, least_exact)), 0);
        number_ = 0;
        zero_seen_ = false;
    }
    // Adds words to those seen so far; returns false when these are more than the limit.
    bool add_distinct(const u64* words, u64 size, u64 limit) {
        u64 number = number_, capacity = table_.size();
        int shift = 64 - trailing_zeros(u32(capacity));
        u64 last = size ? ~words[0] : 0;
        for (u64 i = 0; i < size; ++i) {
            const u64 word = words[i];
            if (word == last) continue;
            last = word;
            if (word == 0) { number += !zero_seen_; zero_seen_ = true; continue; }
            u64 at = spread(word) >> shift;
            while (table_[at] && table_[at] != word) at = (at + 1) & (capacity - 1);
            if (table_[at]) continue;
            table_[at] = word;
            if (++number > limit) return false;
            if (2 * number <= capacity) continue;
            enlarge_table();
            capacity = table_.size();
            shift = 64 - trailing_zeros(u32(capacity));
        }
        number_ = number;
        return number <= limit;
    }
    bool add_distinct_of(const DistinctCounter& other, u64 limit) {
        u64 some[512], n_some = other.zero_seen_;  // many at a time, the first of which may be 0
        some[0] = 0;
        for (const u64 word : other.table_) {
            some[n_some] = word;
            n_some += word != 0;
            if (n_some < 512) continue;
            if (!add_distinct(some, n_some, limit)) return false;
            n_some = 0;
        }
        return add_distinct(some, n_some, limit);
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
    // A slice of hash space that holds about 2048 of the words if all are distinct, and the table in which they are
    // counted, up to three quarters of it.
    struct Slice {
        u32 size, capacity;
        int halvings = 0;
        u64 outside;
        explicit Slice(u32 n_words) : size(n_words) {
            while (size >> halvings > 2048) ++halvings;
            outside = halvings ? ~u64(0) << (64 - halvings) : 0;
            capacity = power_of_two_above(3 * u64(size >> halvings));
        }
        u64 most() const { return 3 * u64(capacity) / 4; }
        u64 scaled(u64 number) const { return std::min<u64>(number << halvings, size); }
        // Whether the hash is new; its last bit does not count.
        bool add(u64 hash, Array<u64>& slots) const {
            u64 at = hash >> 8 & (capacity - 1);
            while (slots[at] && slots[at] != (hash | 1)) at = (at + 1) & (capacity - 1);
            const bool is_new = !slots[at];
            slots[at] = hash | 1;
            return is_new;
        }
        u64 count(const u64* words, u64 n_words, Array<u64>& slots) const {
            u64 number = 0;
            for (u64 i = 0; i < n_words && number <= most(); ++i) {
                const u64 hash = spread(words[i]);
                if (!(hash & outside)) number += add(hash, slots);
            }
            return number;
        }
    };

    u64 estimate(const u64* words, u32 size) {
        const Slice slice(size);
        release(table_);  // the exact count has ended: its table goes before this one comes
        Array<u64> slots(slice.capacity, 0);
        return slice.scaled(slice.count(words, size, slots));
    }
    Array<u64> table_;
    u64 number_ = 0;
    bool zero_seen_ = false;
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

// Whether all words are distinct, by one table of 31 bits of each: where these agree, the words are compared. word(i) is
// asked several times.
template <class Word>
bool all_distinct_by_marks(Word&& word, u32 size) {
    constexpr u32 ahead = 16;
    const u32 capacity = power_of_two_above(2 * u64(size));
    const int log_capacity = trailing_zeros(capacity), shift = 64 - log_capacity;
    Array<u32> marks(capacity, 0);
    const auto was_there = [&](u32 i) {
        for (u32 k = 0; k < i; ++k)
            if (word(k) == word(i)) return true;
        return false;
    };
    for (u32 i = 0; i < size; ++i) {
        if (i + ahead < size) RELIFT_PREFETCH_TO_WRITE(&marks[spread(word(i + ahead)) >> shift]);
        const u64 hash = spread(word(i));
        const u32 mark = u32(hash << log_capacity >> 32) | 1;
        u32 at = u32(hash >> shift);
        for (; marks[at]; at = (at + 1) & (capacity - 1))
            if (marks[at] == mark && was_there(i)) return false;
        marks[at] = mark;
    }
    return true;
}

// Whether all words are distinct: spread over buckets that fit the cache, each tested by a small table. Threads take
// some buckets each, and read all words.
inline bool all_distinct(const u64* words, u32 size, u32 n_threads) {
    const auto word = [words](u32 i) { return words[i]; };
    constexpr u32 n_first = 1 << 14;  // where some are equal, a few hundredths of all mostly show it by a small table
    if (size >= 16 * n_first && !all_distinct_by_marks(word, n_first)) return false;
    if (size > 1 && size <= most_marks) return all_distinct_by_marks(word, size);  // threads would gain nothing
    int log_buckets = 0;
    while (size >> log_buckets > 1024 && log_buckets < 12) ++log_buckets;
    const u32 n_buckets = 1u << log_buckets;
    const auto bucket_of = [&](u64 word) { return log_buckets ? u32(spread(word) >> (64 - log_buckets)) : 0; };
    const u32 n_parts = threads_for(size, n_threads);
    Array<u32> counts(u64(n_parts) * n_buckets, 0), start(n_buckets + 1, 0);
    in_parallel(n_parts, [&](u32 k) {
        u32* const own = counts.data() + u64(k) * n_buckets;
        for (u64 i = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts); i < last; ++i)
            ++own[bucket_of(words[i])];
    });
    for (u64 at = 0; at < counts.size(); ++at) start[(at & (n_buckets - 1)) + 1] += counts[at];
    u32 largest = 0;
    for (u32 b = 0; b < n_buckets; ++b) {
        largest = std::max(largest, start[b + 1]);
        start[b + 1] += start[b];
    }
    u32 n_slices = 2;  // half of the buckets at a time, to save memory; or as many parts as there are threads
    while (n_slices < n_parts) n_slices *= 2;
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
    in_parallel(n_parts, [&](u32 k) {
        for (u32 first = k * slice; first < n_buckets && are_all; first += n_parts * slice)
            if (!are_distinct_from(first)) are_all = false;
    });
    return are_all;
}

constexpr u32 n_looked_at = 1024;

// Whether word(0), .., word(size - 1) are distinct. Most that are not show it by the first ones, or by some that are so far
// from each other.
template <class Word>
bool all_words_distinct(Word&& word, u32 size, u32 n_threads) {
    for (const u32 step : {u32(1), size / n_looked_at + 1}) {
        const u32 n_some = std::min(n_looked_at, (size + step - 1) / step);
        if (n_some > 1 && !all_distinct_by_marks([&](u32 k) { return word(k * step); }, n_some)) return false;
        if (n_some == size) return true;
    }
    if (size <= most_marks) {
        const struct {
            Word& word;
            u64 operator[](u64 k) const { return word(u32(k)); }
        } words{word};
        const auto some = maybe_repeated(words, size, true, 1);
        return all_distinct_by_marks([&](u32 k) { return word(some[k]); }, u32(some.size()));
    }
    Array<u64> words(size);
    over_range(size, threads_for(size, n_threads), [&](u64 first, u64 last) {
        for (u64 k = first; k < last; ++k) words[k] = word(u32(k));
    });
    return all_distinct(words.data(), size, n_threads);
}

// Words of the parts of something in one: different ones for different parts, but by chance.
inline u64 joined_word(u64 before, u64 word) { return (before ^ before >> 32) * 0xD6E8FEB86659FD93u + word; }

// From so many words on, of which three quarters are thought to be alone, a filter tells most of these first.
constexpr u32 least_mostly_alone = 4096;

// Classes of equal words, numbered by smallest member.
struct Grouping {
    Array<u32> sizes, representatives;
    u32 n_classes() const { return u32(sizes.size()); }
};

// The same as below where most words are alone: those that are not are few, and looked for among themselves.
inline Grouping group_mostly_alone(const u64* words, u32 size, i64* labels, u32 n_threads) {
    const Array<u32> some = maybe_repeated(words, size, true, n_threads), first = first_of_repeated(words, some);
    Array<u32> later;  // of those, which are not the first of their class
    for (u32 k = 0; k < some.size(); ++k)
        if (first[k] != nobody && first[k] != k) later.push_back(k);
    Grouping grouping;
    grouping.sizes.resize(size - later.size());
    grouping.representatives.resize(size - later.size());
    over_range(size, threads_for(size, n_threads), [&](u64 begin, u64 end) {
        const auto is_before = [&](u32 k, u64 place) { return some[k] < place; };
        u64 n_before = u64(std::lower_bound(later.begin(), later.end(), begin, is_before) - later.begin());
        for (u64 i = begin; i < end; ++i, ++n_before) {  // from one of the later ones to the next
            const u64 next = n_before < later.size() ? std::min<u64>(some[later[n_before]], end) : end;
            for (; i < next; ++i) {
                labels[i] = i64(i - n_before);
                grouping.sizes[i - n_before] = 1;
                grouping.representatives[i - n_before] = u32(i);
            }
        }
    });
    for (const u32 k : later) {
        labels[some[k]] = labels[some[first[k]]];
        ++grouping.sizes[u64(labels[some[k]])];
    }
    return grouping;
}

inline bool are_mostly_alone(u32 size, u64 expected) { return size >= least_mostly_alone && expected > size / 4 * 3; }

// Groups equal words and writes the label of each; expected is a guess at the number of classes.
inline Grouping group(const u64* words, u32 size, u64 expected, i64* labels) {
    if (are_mostly_alone(size, expected)) return group_mostly_alone(words, size, labels, 1);
    struct Slot { u32 mark, label; };  // where marks agree, the words of the representatives are compared
    constexpr u32 none = ~u32(0);
    Grouping grouping;
    const u32 largest = power_of_two_above(u64(size) + size / 3 + 2);  // full by three quarters if all are distinct
    for (u32 capacity = power_of_two_above(2 * expected + 16);; capacity = u32(std::min<u64>(4 * u64(capacity), largest))) {
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

// The same by several threads, each of which groups the words of a part of hash space, so that no class has words in two
// parts. The first member of a class stands in `labels` until they are numbered, block by block: that of the first member
// itself as its complement, until all others have read it.
inline Grouping group_by_hash(const u64* words, u32 size, u64 expected, i64* labels, u32 n_parts) {
    struct Slot { u32 mark, first, n_members; };
    constexpr u32 ahead = 12, block = 512;
    std::vector<Array<Slot>> tables(n_parts);
    in_parallel(n_parts, [&](u32 k) {
        for (u64 capacity = power_of_two_above(2 * expected / n_parts + 16);; capacity *= 4) {
            Array<Slot> table(capacity, Slot{0, 0, 0});
            const u64 mask = capacity - 1;
            u64 n_classes = 0;
            bool has_room = true;
            for (u32 from = 0; from < size && has_room; from += block) {
                // That a word belongs to this part is as good as random: nothing branches on it.
                u32 own[block], n_own = 0;
                for (u32 i = from, end = u32(std::min<u64>(size, u64(from) + block)); i < end; ++i) {
                    const u64 hash = spread(words[i]);
                    own[n_own] = i;
                    const bool is_own = part_of_hash(hash, n_parts) == k;
                    n_own += is_own;
                }
                for (u32 j = 0; j < n_own && has_room; ++j) {
                    if (j + ahead < n_own) RELIFT_PREFETCH_TO_WRITE(&table[spread(words[own[j + ahead]]) >> 16 & mask]);
                    const u32 i = own[j], mark = u32(words[i] ^ words[i] >> 32);
                    u64 at = spread(words[i]) >> 16 & mask;
                    while (table[at].n_members && (table[at].mark != mark || words[table[at].first] != words[i]))
                        at = (at + 1) & mask;
                    if (!table[at].n_members) {
                        table[at] = {mark, i, 0};
                        has_room = ++n_classes * 4 <= capacity * 3;
                    }
                    ++table[at].n_members;
                    labels[i] = table[at].first;
                }
            }
            if (!has_room) continue;
            tables[k].swap(table);
            return;
        }
    });
    Array<u32> n_before(n_parts + 1, 0);
    in_parallel(n_parts, [&](u32 k) {
        u32 n_firsts = 0;
        for (u64 i = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts); i < last; ++i)
            n_firsts += labels[i] == i64(i);
        n_before[k + 1] = n_firsts;
    });
    for (u32 k = 0; k < n_parts; ++k) n_before[k + 1] += n_before[k];
    Grouping grouping;
    grouping.sizes.resize(n_before[n_parts]);
    grouping.representatives.resize(n_before[n_parts]);
    in_parallel(n_parts, [&](u32 k) {
        u32 label = n_before[k];
        for (u64 i = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts); i < last; ++i) {
            if (labels[i] != i64(i)) continue;
            grouping.representatives[label] = u32(i);
            labels[i] = ~i64(label++);
        }
    });
    in_parallel(n_parts, [&](u32 k) {
        for (const Slot& slot : tables[k])
            if (slot.n_members) grouping.sizes[u64(~labels[slot.first])] = slot.n_members;
        for (u64 i = part_of(size, k, n_parts), last = part_of(size, k + 1, n_parts); i < last; ++i)
            if (labels[i] >= 0) labels[i] = ~labels[labels[i]];
    });
    over_range(grouping.n_classes(), n_parts, [&](u64 first, u64 last) {
        for (u64 label = first; label < last; ++label) labels[grouping.representatives[label]] = i64(label);
    });
    return grouping;
}

// The same by several threads: by hash, or, if the classes are few, each thread groups a part of the words, then classes
// of the parts are joined, part by part, so that their numbers are again those of smallest members.
inline Grouping group(const u64* words, u32 size, u64 expected, i64* labels, u32 n_threads) {
    const u32 n_parts = threads_for(size, n_threads);
    if (n_parts == 1) return group(words, size, expected, labels);
    if (are_mostly_alone(size, expected)) return group_mostly_alone(words, size, labels, n_threads);
    if (expected > size / 16) return group_by_hash(words, size, expected, labels, n_parts);
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
