// The values of a matrix as words that are added up, encoded once.
//
// Four forms, so that the loops over entries read as little as they can: no words at all where all values are
// equal (sums are then as good as counts), one byte for each entry where there are at most 256 values, two where there
// are some two thousand, else 64 bits. The word 0 stands for an entry that counts as absent: an explicit zero, say.
#pragma once
#include <atomic>
#include <memory>

#include "counted_memory.hpp"
#include "exact_values.hpp"
#include "portable.hpp"
#include "threads.hpp"

namespace relift {

enum class WeightKind { unit, table, wide_table, words };

// The number of the value of each entry, in one byte or in two.
struct ValueNumbers {
    Array<u8> narrow;
    Array<u16> wide;
    u32 operator[](u64 entry) const { return wide.empty() ? narrow[entry] : wide[entry]; }
    u64 n_bytes() const { return narrow.capacity() * sizeof(u8) + wide.capacity() * sizeof(u16); }
};

struct Weights {
    WeightKind kind = WeightKind::unit;
    ValueNumbers ids;   // tables: the number of the value of each entry
    Array<u64> table;   // tables: the word of each value, 256 of them where one byte tells which
    Array<u64> keys;    // tables: the keys of the values, by which they were told apart, as many as there are
    Array<u64> words;   // words: the word of each entry
};

// What the loops over entries read.
struct UnitWeight {
    static constexpr bool is_unit = true;
    u64 operator()(u64) const { return 1; }
};
template <class Id>
struct TableWeight {
    static constexpr bool is_unit = false;
    const Id* ids;
    const u64* table;
    u64 operator()(u64 entry) const { return table[ids[entry]]; }
};
struct WordWeight {
    static constexpr bool is_unit = false;
    const u64* words;
    u64 operator()(u64 entry) const { return words[entry]; }
};

// Calls work(weight) with the form at hand.
template <class Work>
void with_weight(const Weights& weights, Work&& work) {
    switch (weights.kind) {
        case WeightKind::unit: work(UnitWeight{}); break;
        case WeightKind::table: work(TableWeight<u8>{weights.ids.narrow.data(), weights.table.data()}); break;
        case WeightKind::wide_table: work(TableWeight<u16>{weights.ids.wide.data(), weights.table.data()}); break;
        case WeightKind::words: work(WordWeight{weights.words.data()}); break;
    }
}

// Numbers distinct keys in order of appearance, at most as many as Id tells apart and the table has room for.
template <class Id>
class KeyNumbers {
    static constexpr int log_slots = sizeof(Id) == 1 ? 10 : 14;
    static constexpr u32 n_slots = 1u << log_slots;

public:
    // Of many values: so few that, where there are more, the first entries mostly show it.
    static constexpr u32 most = sizeof(Id) == 1 ? n_slots / 4 : n_slots / 8;
    static constexpr u32 none = ~u32(0);
    static constexpr u64 no_key = ~u64(0);  // neither a field element nor the bits of a number
    KeyNumbers() { std::fill(std::begin(slots_), std::end(slots_), Slot{no_key, none}); }
    // The number of a key, or none if it would be one too many.
    u32 number(u64 key) {
        const u32 first = first_of(key);
        return slots_[first].key == key ? slots_[first].number : number_beyond(first, key);
    }
    u32 size() const { return size_; }

private:
    struct Slot { u64 key; u32 number; };
    static u32 first_of(u64 key) { return u32(key * 0x9E3779B97F4A7C15u >> (64 - log_slots)); }
    RELIFT_NOINLINE u32 number_beyond(u32 at, u64 key) {
        while (slots_[at].key != no_key && slots_[at].key != key) at = (at + 1) & (n_slots - 1);
        if (slots_[at].key == no_key) {
            if (size_ == most) return none;
            slots_[at] = {key, size_++};
        }
        return slots_[at].number;
    }
    Slot slots_[n_slots];
    u32 size_ = 0;
};

// So many entries for each value of a table at least: below, words are as good as their numbers and the table.
constexpr u64 entries_of_a_value = 16;

template <class Id> Array<Id>& ids_of(Weights& weights) {
    if constexpr (sizeof(Id) == 1) return weights.ids.narrow;
    else return weights.ids.wide;
}

// Sums of small integers need no field: a table of such elements can be written mod 2^64. Small, so that differences
// of sums have few factors 2, each of which would double the chance of a collision.
constexpr u64 largest_small_integer = 16;

inline bool are_small_integers(const Weights& weights) {
    return (weights.kind == WeightKind::unit || weights.kind == WeightKind::table) &&
           std::all_of(weights.table.begin(), weights.table.end(), [](u64 word) {
               return word <= largest_small_integer || word >= modulus - largest_small_integer;
           });
}

inline void take_as_integers(Weights& weights) {
    for (u64& word : weights.table)
        if (word > largest_small_integer) word -= modulus;
}

// Numbers the values of all entries, and keeps the word of each value; false if there are too many of them.
template <class Id, class ForEachKey, class WordOf>
bool number_values(u64 n_entries, ForEachKey&& for_each_key, WordOf&& word_of, Weights& weights) {
    Array<Id>& ids = ids_of<Id>(weights);
    ids.resize(n_entries);
    weights.table.assign(KeyNumbers<Id>::most, 0);
    weights.keys.clear();
    const auto held = std::make_unique<KeyNumbers<Id>>();  // too large for the stacks of some threads
    KeyNumbers<Id>& numbers = *held;
    Id* id = ids.data();
    u32 n_known = 0;
    for_each_key([&](u64 key) {
        const u32 number = numbers.number(key);
        if (number >= n_known) {  // new, or one too many
            if (number == KeyNumbers<Id>::none) return false;
            weights.table[n_known++] = word_of(key);
            weights.keys.push_back(key);
        }
        *id++ = Id(number);
        return true;
    });
    if (u64(id - ids.data()) == n_entries) return true;
    release(ids);
    return false;
}

// Encodes entries 0 .. n_entries-1 in the order in which for_each_key(visit) gives their keys; word_of(key) is
// the word of a key. visit returns whether to go on. write_words(words) writes the words of all entries.
template <class ForEachKey, class WordOf, class WriteWords>
Weights encode(u64 n_entries, ForEachKey&& for_each_key, WordOf&& word_of, WriteWords&& write_words) {
    Weights weights;
    if (n_entries == 0) return weights;
    if (number_values<u8>(n_entries, for_each_key, word_of, weights)) {
        const bool is_unit = weights.keys.size() == 1 && weights.table[0] != 0;
        weights.kind = is_unit ? WeightKind::unit : WeightKind::table;
        if (is_unit) release(weights.ids.narrow);
        return weights;
    }
    if (n_entries >= entries_of_a_value * KeyNumbers<u16>::most &&
        number_values<u16>(n_entries, for_each_key, word_of, weights)) {
        weights.kind = WeightKind::wide_table;
        return weights;
    }
    release(weights.table);
    release(weights.keys);
    weights.kind = WeightKind::words;
    weights.words.resize(n_entries);
    write_words(weights.words.data());
    return weights;
}

template <class ForEachKey, class WordOf>
Weights encode(u64 n_entries, ForEachKey&& for_each_key, WordOf&& word_of) {
    return encode(n_entries, for_each_key, word_of, [&](u64* words) {
        for_each_key([&](u64 key) {
            *words++ = word_of(key);
            return true;
        });
    });
}

// The same by several threads, with the same numbers: those of the first entries are known to all. What a block meets beyond
// them it numbers by itself, from there on, and is told other numbers where blocks before it have met more or the same.
template <class Id, class WordOf>
bool number_values_by_blocks(const double* values, u64 n_entries, WordOf&& word_of, u32 n_threads, Weights& weights) {
    constexpr u64 n_first = 1 << 14, turn = 1 << 12;
    weights.table.assign(KeyNumbers<Id>::most, 0);
    weights.keys.clear();
    const auto held = std::make_unique<KeyNumbers<Id>>();
    KeyNumbers<Id>& numbers = *held;
    const auto number_of = [&](u64 key) {
        const u32 n_known = numbers.size(), number = numbers.number(key);
        if (number == n_known) {
            weights.table[number] = word_of(key);
            weights.keys.push_back(key);
        }
        return number;
    };
    for (u64 entry = 0; entry < std::min(n_first, n_entries); ++entry)
        if (number_of(bits_of(values[entry])) == KeyNumbers<Id>::none) return false;
    const u32 n_common = numbers.size();
    Array<Id>& ids = ids_of<Id>(weights);
    ids.resize(n_entries);
    std::vector<Array<u64>> met(n_threads);  // beyond the common ones
    std::atomic<bool> has_room{true};
    in_parallel(n_threads, [&](u32 k) {
        const auto own = std::make_unique<KeyNumbers<Id>>(*held);
        u32 n_known = n_common;
        Id* const id = ids.data();
        const u64 last = part_of(n_entries, k + 1, n_threads);
        for (u64 entry = part_of(n_entries, k, n_threads); entry < last && has_room.load(std::memory_order_relaxed);) {
            for (const u64 end = std::min(entry + turn, last); entry < end; ++entry) {
                const u64 key = bits_of(values[entry]);
                const u32 number = own->number(key);
                if (number == KeyNumbers<Id>::none) {
                    has_room = false;
                    break;
                }
                if (number == n_known) {
                    met[k].push_back(key);
                    ++n_known;
                }
                id[entry] = Id(number);
            }
        }
    });
    std::vector<Array<Id>> told(n_threads);
    bool some_differ = false;
    for (u32 k = 0; has_room && k < n_threads; ++k)
        for (const u64 key : met[k]) {
            const u32 number = number_of(key);
            if (number == KeyNumbers<Id>::none) {
                has_room = false;
                break;
            }
            some_differ |= number != n_common + told[k].size();
            told[k].push_back(Id(number));
        }
    if (!has_room) {
        release(ids);
        return false;
    }
    if (!some_differ) return true;
    in_parallel(n_threads, [&](u32 k) {
        Id* const id = ids.data();
        const Id* const other = told[k].data();
        for (u64 entry = part_of(n_entries, k, n_threads), end = part_of(n_entries, k + 1, n_threads); entry < end; ++entry)
            if (id[entry] >= n_common) id[entry] = other[id[entry] - n_common];
    });
    return true;
}

// The values of a matrix by several threads: word_of(key) is the word of the bits of a value, and
// write_words(first, last, words) writes those of some entries, for several threads at a time.
template <class WordOf, class WriteWords>
Weights encode_by_blocks(const double* values, u64 n_entries, WordOf&& word_of, WriteWords&& write_words,
                         u32 n_threads) {
    Weights weights;
    if (number_values_by_blocks<u8>(values, n_entries, word_of, n_threads, weights)) {
        weights.kind = WeightKind::table;
        return weights;
    }
    if (number_values_by_blocks<u16>(values, n_entries, word_of, n_threads, weights)) {
        weights.kind = WeightKind::wide_table;
        return weights;
    }
    release(weights.table);
    release(weights.keys);
    weights.kind = WeightKind::words;
    weights.words.resize(n_entries);
    over_range(n_entries, n_threads,
               [&](u64 first, u64 last) { write_words(first, last, weights.words.data() + first); });
    return weights;
}

}  // namespace relift
