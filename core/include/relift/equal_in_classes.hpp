// Whether numbers are equal inside classes, which are given by the colours of their members.
//
// With masses that are equal, or in the same proportion to other ones, inside every cell of a refinement up to scale, its
// classes are some for those others too, and no fewer than the coarsest for these (docs/mathematics.md, Masses): if these
// are known, nothing is left to be found. Most often two members that differ are met at once, and the look ends.
#pragma once
#include "counted_memory.hpp"
#include "distinct_words.hpp"

namespace relift {

// expected is a guess at the number of classes.
inline bool are_equal_in_classes(const Array<u64>& colours, const u64* numbers, u64 expected) {
    struct Slot { u32 mark, first; };  // the mark is never 0; where marks agree, the colours are compared
    constexpr u32 ahead = 12;
    const u32 size = u32(colours.size());
    for (u64 room = 2 * expected + 16;; room *= 4) {
        const u32 capacity = power_of_two_above(room);
        Array<Slot> table(capacity, Slot{0, 0});
        const int shift = 64 - trailing_zeros(capacity);
        const bool prefetch = u64(capacity) * sizeof(Slot) > bytes_that_stay_in_cache;
        u32 before = 0, n_classes = 0, i = 0;
        for (; i < size; ++i) {
            if (prefetch && i + ahead < size) RELIFT_PREFETCH_TO_WRITE(&table[spread(colours[i + ahead]) >> shift]);
            if (i && colours[i] == colours[before]) {
                if (numbers[i] != numbers[before]) return false;
                continue;
            }
            const u64 hash = spread(colours[i]);
            const u32 mark = u32(colours[i] ^ colours[i] >> 32) | 1;
            u64 at = hash >> shift;
            while (table[at].mark && (table[at].mark != mark || colours[table[at].first] != colours[i]))
                at = (at + 1) & (capacity - 1);
            if (!table[at].mark) {
                if (u64(++n_classes) * 4 > u64(capacity) * 3) break;
                table[at] = {mark, i};
            } else if (numbers[table[at].first] != numbers[i]) {
                return false;
            }
            before = i;
        }
        if (i == size) return true;
    }
}

}  // namespace relift
