// What presolve must know of the rows of a matrix: how many entries each has, and which may be multiples of another.
//
// Rows that are multiples of each other have the same columns, so equal sums of random words of their columns; and the
// sum of g_j |a_ij| over the first |a_ij|, with random g_j > 0, is the same for them up to rounding, which is far below
// the tolerance here since no term cancels. The filter never loses a multiple; what passes is compared exactly
// afterwards. Entries that are 0 count as absent.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../portable.hpp"
#include "../threads.hpp"

namespace relift::passes {

constexpr double close = 1e-9;

struct RowPrint {
    u64 columns = 0;
    double first = 0, sum = 0;
    u32 row = 0, count = 0;  // how many entries it has
};

inline u64 word_of(u64 column) {  // splitmix64
    u64 z = column + 0x9E3779B97F4A7C15ull * (column + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}

// Columns of each row must come in order, as they do in a matrix by columns and in one by rows with sorted indices.
inline void add_entry(RowPrint& print, u64 word, double value) {
    if (value == 0) return;
    const double size = std::fabs(value), weight = 1.0 + double(word >> 11) * 0x1p-53;
    ++print.count;
    if (print.columns == 0) print.first = size;
    print.columns += word;
    print.sum += weight * size;
}

constexpr u32 nobody = ~u32(0);

// The first row with the same word, or nobody for rows whose word is that of no other; by a table of open addresses. 32
// bits of the words stand in it, so that others are seldom looked up.
inline std::vector<u32> first_of_repeated(const std::vector<RowPrint>& prints) {
    struct Slot { u32 mark, row; };
    constexpr size_t ahead = 12;
    size_t room = 16;
    while (room < 2 * prints.size()) room *= 2;
    std::vector<Slot> table(room, Slot{0, nobody});
    std::vector<u32> first(prints.size(), nobody);
    const auto mixed = [](u64 word) { return word * 0x9E3779B97F4A7C15ull; };
    const auto place_of = [&](u64 word) { return size_t(mixed(word) >> 20) & (room - 1); };
    for (size_t i = 0; i < prints.size(); ++i) {
        if (i + ahead < prints.size()) RELIFT_PREFETCH_TO_WRITE(&table[place_of(prints[i + ahead].columns)]);
        const u64 word = prints[i].columns;
        if (word == 0) continue;
        const u32 mark = u32(word >> 32);
        size_t at = place_of(word);
        const auto is_other = [&](const Slot& slot) { return slot.mark != mark || prints[slot.row].columns != word; };
        while (table[at].row != nobody && is_other(table[at])) at = (at + 1) & (room - 1);
        if (table[at].row == nobody) table[at] = {mark, u32(i)};
        else first[i] = first[table[at].row] = table[at].row;
    }
    return first;
}

// Fills counts (of entries that are not 0), and returns the rows of at least so many entries that may be multiples of
// another one, ascending.
template <class Index>
std::vector<long long> scan_rows(const SparseView<Index>& A, bool is_by_rows, long long least, long long* counts,
                                 u32 n_threads) {
    const size_t m = is_by_rows ? A.n_major : A.n_minor;
    std::vector<RowPrint> prints(m);
    for (size_t i = 0; i < m; ++i) prints[i].row = u32(i);
    const u32 n_blocks = is_by_rows ? threads_for(A.n_entries(), n_threads) : 1;  // floats are added in order
    over_majors(A, n_blocks, [&](size_t first, size_t last) {
        for (size_t major = first; major < last; ++major) {
            const u64 own = is_by_rows ? 0 : word_of(major);
            for (size_t e = size_t(A.offsets[major]), end = size_t(A.offsets[major + 1]); e < end; ++e) {
                const size_t i = is_by_rows ? major : size_t(A.indices[e]);
                add_entry(prints[i], is_by_rows ? word_of(u64(A.indices[e])) : own, A.values[e]);
            }
        }
    });
    for (size_t i = 0; i < m; ++i) {
        counts[i] = prints[i].count;
        if (counts[i] < least) prints[i].columns = 0;
    }
    const std::vector<u32> first = first_of_repeated(prints);
    std::vector<u32> next(m + 1, 0);  // rows of equal words, side by side in the order of the first ones
    for (size_t i = 0; i < m; ++i)
        if (first[i] != nobody) ++next[first[i]];
    u32 start = 0;
    for (u32& place : next) start += std::exchange(place, start);
    std::vector<RowPrint> alike(start);
    for (size_t i = 0; i < m; ++i)
        if (first[i] != nobody) {
            alike[next[first[i]]] = prints[i];
            alike[next[first[i]]++].sum /= prints[i].first;
        }
    const auto are_close = [](const RowPrint& a, const RowPrint& b) {
        return !(b.sum - a.sum > close * b.sum);  // sums that overflowed say nothing
    };
    std::vector<char> is_found(m, 0);
    for (size_t begin = 0, end; begin < alike.size(); begin = end) {
        for (end = begin + 1; end < alike.size() && alike[end].columns == alike[begin].columns;) ++end;
        std::sort(alike.begin() + begin, alike.begin() + end,
                  [](const RowPrint& a, const RowPrint& b) { return a.sum < b.sum; });
        for (size_t k = begin + 1; k < end; ++k)
            if (are_close(alike[k - 1], alike[k])) is_found[alike[k - 1].row] = is_found[alike[k].row] = 1;
    }
    std::vector<long long> found;
    for (size_t i = 0; i < m; ++i)
        if (is_found[i]) found.push_back((long long)i);
    return found;
}

}  // namespace relift::passes
