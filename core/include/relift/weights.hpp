// The values of a matrix as words that are added up, encoded once.
//
// Three forms, so that the loops over entries read as little as they can: no words at all where all values are
// equal (sums are then as good as counts), one byte for each entry where there are at most 256 values, else 64
// bits. The word 0 stands for an entry that counts as absent: an explicit zero, say.
#pragma once
#include "counted_memory.hpp"
#include "exact_values.hpp"
#include "portable.hpp"
#include "threads.hpp"

namespace relift {

enum class WeightKind { unit, table, words };

struct Weights {
    WeightKind kind = WeightKind::unit;
    Array<u8> ids;      // table: the number of the value of each entry
    Array<u64> table;   // table: the word of each value, always 256 of them
    Array<u64> keys;    // table: the keys of the values, by which they were told apart, as many as there are
    Array<u64> words;   // words: the word of each entry
};

// What the loops over entries read.
struct UnitWeight {
    static constexpr bool is_unit = true;
    u64 operator()(u64) const { return 1; }
};
struct TableWeight {
    static constexpr bool is_unit = false;
    const u8* ids;
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
        case WeightKind::table: work(TableWeight{weights.ids.data(), weights.table.data()}); break;
        case WeightKind::words: work(WordWeight{weights.words.data()}); break;
    }
}

// Numbers at most 256 distinct keys in order of appearance, by a small open table.
class KeyNumbers {
public:
    static constexpr u32 none = ~u32(0);
    static constexpr u64 no_key = ~u64(0);  // neither a field element nor the bits of a number
    KeyNumbers() { std::fill(std::begin(slots_), std::end(slots_), Slot{no_key, none}); }
    // The number of a key, or none if it would be the 257th.
    u32 number(u64 key) {
        const Slot& first = slots_[key * 0x9E3779B97F4A7C15u >> 54];
        return first.key == key ? first.number : number_beyond(u32(&first - slots_), key);
    }
    // The number of a key that has one, or none; several threads may ask.
    u32 known(u64 key) const {
        u32 at = u32(key * 0x9E3779B97F4A7C15u >> 54);
        while (slots_[at].key != no_key && slots_[at].key != key) at = (at + 1) & 1023;
        return slots_[at].number;
    }
    u32 size() const { return size_; }

private:
    struct Slot { u64 key; u32 number; };
    RELIFT_NOINLINE u32 number_beyond(u32 at, u64 key) {
        while (slots_[at].key != no_key && slots_[at].key != key) at = (at + 1) & 1023;
        if (slots_[at].key == no_key) {
            if (size_ == 256) return none;
            slots_[at] = {key, size_++};
        }
        return slots_[at].number;
    }
    Slot slots_[1024];
    u32 size_ = 0;
};

// Sums of small integers need no field: a table of such elements can be written mod 2^64. Small, so that differences
// of sums have few factors 2, each of which would double the chance of a collision.
constexpr u64 largest_small_integer = 16;

inline bool are_small_integers(const Weights& weights) {
    return weights.kind != WeightKind::words &&
           std::all_of(weights.table.begin(), weights.table.end(), [](u64 word) {
               return word <= largest_small_integer || word >= modulus - largest_small_integer;
           });
}

inline void take_as_integers(Weights& weights) {
    for (u64& word : weights.table)
        if (word > largest_small_integer) word -= modulus;
}

// Encodes entries 0 .. n_entries-1 in the order in which for_each_key(visit) gives their keys; word_of(key) is
// the word of a key. visit returns whether to go on. write_words(words) writes the words of all entries.
template <class ForEachKey, class WordOf, class WriteWords>
Weights encode(u64 n_entries, ForEachKey&& for_each_key, WordOf&& word_of, WriteWords&& write_words) {
    Weights weights;
    if (n_entries == 0) return weights;
    weights.ids.resize(n_entries);
    weights.table.assign(256, 0);
    KeyNumbers numbers;
    u8* id = weights.ids.data();
    u32 n_known = 0;
    for_each_key([&](u64 key) {
        const u32 number = numbers.number(key);
        if (number >= n_known) {  // new, or one too many
            if (number == KeyNumbers::none) return false;
            weights.table[n_known++] = word_of(key);
            weights.keys.push_back(key);
        }
        *id++ = u8(number);
        return true;
    });
    u64 entry = u64(id - weights.ids.data());
    if (entry == n_entries) {
        const bool is_unit = numbers.size() == 1 && weights.table[0] != 0;
        weights.kind = is_unit ? WeightKind::unit : WeightKind::table;
        if (is_unit) release(weights.ids);
        return weights;
    }
    release(weights.ids);
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

// The values of a matrix by several threads: word_of(key) is the word of the bits of a value, and
// write_words(first, last, words) writes those of some entries, for several threads at a time.
// Values are numbered by the first entries and, where a block meets another one, when all blocks have come to rest.
template <class WordOf, class WriteWords>
Weights encode_by_blocks(const double* values, u64 n_entries, WordOf&& word_of, WriteWords&& write_words,
                         u32 n_threads) {
    constexpr u64 n_first = 1 << 14;
    Weights weights;
    weights.table.assign(256, 0);
    KeyNumbers numbers;
    const auto is_numbered = [&](u64 entry) {
        const u64 key = bits_of(values[entry]);
        const u32 n_known = numbers.size(), number = numbers.number(key);
        if (number == n_known) {
            weights.table[number] = word_of(key);
            weights.keys.push_back(key);
        }
        return number != KeyNumbers::none;
    };
    bool has_room = true;
    for (u64 entry = 0; has_room && entry < std::min(n_first, n_entries); ++entry) has_room = is_numbered(entry);
    if (has_room) weights.ids.resize(n_entries);
    std::vector<u64> next(n_threads);
    for (u32 k = 0; k < n_threads; ++k) next[k] = part_of(n_entries, k, n_threads);
    for (bool is_done = false; has_room && !is_done;) {
        in_parallel(n_threads, [&](u32 k) {
            u64 entry = next[k];
            for (const u64 end = part_of(n_entries, k + 1, n_threads); entry < end; ++entry) {
                const u32 number = numbers.known(bits_of(values[entry]));
                if (number == KeyNumbers::none) break;
                weights.ids[entry] = u8(number);
            }
            next[k] = entry;
        });
        is_done = true;
        for (u32 k = 0; has_room && k < n_threads; ++k)
            if (next[k] < part_of(n_entries, k + 1, n_threads)) {
                is_done = false;
                has_room = is_numbered(next[k]);
            }
    }
    if (has_room) {
        weights.kind = WeightKind::table;
        return weights;
    }
    release(weights.ids);
    weights.kind = WeightKind::words;
    weights.words.resize(n_entries);
    over_range(n_entries, n_threads,
               [&](u64 first, u64 last) { write_words(first, last, weights.words.data() + first); });
    return weights;
}

}  // namespace relift
