// Which words of an array stand there more than once, where most stand there once.
//
// A filter of bits that stays near the processor leaves out nearly all that do not; the others are looked up.
#pragma once
#include "portable.hpp"
#include "threads.hpp"

namespace relift {

constexpr u32 nobody = ~u32(0);

inline u64 spread(u64 word) { return word * 0x9E3779B97F4A7C15u; }

// Places of words that may be those of another place, ascending: all that are, and about one in eight of the others.
// The word 0 is left out, unless it counts. Two bits for each of eight places a word: whether a word fell there, and
// whether two did. Each thread marks the places of a part of the room, then looks up a part of the words.
template <class Words>
Array<u32> maybe_repeated(const Words& words, size_t n_words, bool zero_counts, u32 n_threads) {
    const u32 n_parts = threads_for(n_words, n_threads);
    size_t room = 64;
    while (room < 8 * n_words) room *= 2;
    Array<u64> bits(room / 32);
    const auto place_of = [=](u64 word) { return size_t(spread(word) >> 24) & (room - 1); };
    const auto counts = [=](u64 word) { return u64((word != 0) | zero_counts); };
    in_parallel(n_parts, [&](u32 k) {
        u64* const cells = bits.data();
        const u64 first_cell = part_of(room / 32, k, n_parts), last_cell = part_of(room / 32, k + 1, n_parts);
        std::fill(cells + first_cell, cells + last_cell, 0);
        // Whether a word is there, and whether it was before, is as good as random: nothing branches on it.
        const auto mark = [=](size_t place, u64 is_there) {
            const size_t bit = 2 * (place % 32);
            u64& cell = cells[place / 32];
            cell |= is_there << (bit + (cell >> bit & 1));
        };
        if (n_parts == 1) {
            for (size_t i = 0; i < n_words; ++i) mark(place_of(words[i]), counts(words[i]));
            return;
        }
        constexpr size_t block = 256;
        size_t own[block];
        for (size_t first = 0; first < n_words; first += block) {
            size_t count = 0;
            for (size_t i = first, last = std::min(first + block, n_words); i < last; ++i) {
                own[count] = place_of(words[i]);
                count += (own[count] / 32 - first_cell < last_cell - first_cell) & counts(words[i]);
            }
            for (size_t i = 0; i < count; ++i) mark(own[i], 1);
        }
    });
    return those_of_which(n_words, n_threads, [=, cells = bits.data()](u64 i) {
        const size_t place = place_of(words[i]);
        return (cells[place / 32] >> (2 * (place % 32) + 1) & 1) & counts(words[i]);
    });
}

// For each of some places which of them is the first with the same word, or nobody if there is no other; by a table of
// open addresses. 32 bits of the words stand in it, so that others are seldom looked up.
inline Array<u32> first_of_repeated(const u64* words, const Array<u32>& places) {
    struct Slot { u32 mark, at; };
    constexpr size_t ahead = 12;
    size_t room = 16;
    while (room < 2 * places.size()) room *= 2;
    Array<Slot> table(room, Slot{0, nobody});
    Array<u32> first(places.size(), nobody);
    const auto place_of = [&](u64 word) { return size_t(spread(word) >> 20) & (room - 1); };
    for (size_t k = 0; k < places.size(); ++k) {
        if (k + ahead < places.size()) RELIFT_PREFETCH_TO_WRITE(&table[place_of(words[places[k + ahead]])]);
        const u64 word = words[places[k]];
        const u32 mark = u32(word >> 32);
        size_t place = place_of(word);
        const auto is_other = [&](const Slot& slot) { return slot.mark != mark || words[places[slot.at]] != word; };
        while (table[place].at != nobody && is_other(table[place])) place = (place + 1) & (room - 1);
        if (table[place].at == nobody) table[place] = {mark, u32(k)};
        else first[k] = first[table[place].at] = table[place].at;
    }
    return first;
}

}  // namespace relift
