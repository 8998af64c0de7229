// What presolve must know of the rows of a matrix: how many entries each has, and which may be multiples of another.
//
// Rows that are multiples of each other have the same columns, so equal sums of random words of their columns; and the
// sum of g_j |a_ij| over the first |a_ij|, with random g_j > 0, is the same for them up to rounding, which is far below
// the tolerance here since no term cancels. The filter never loses a multiple; what passes is compared exactly
// afterwards. Entries that are 0 count as absent.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

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

// Marks the rows whose word occurs twice or more, by a table of open addresses.
inline std::vector<char> with_repeated_words(const std::vector<RowPrint>& prints) {
    size_t room = 16;
    while (room < 2 * prints.size()) room *= 2;
    constexpr u32 nobody = ~u32(0);
    std::vector<u32> table(room, nobody);
    std::vector<char> repeated(prints.size(), 0);
    for (size_t i = 0; i < prints.size(); ++i) {
        if (prints[i].columns == 0) continue;
        size_t at = size_t(prints[i].columns * 0x9E3779B97F4A7C15ull >> 20) & (room - 1);
        while (table[at] != nobody && prints[table[at]].columns != prints[i].columns) at = (at + 1) & (room - 1);
        if (table[at] == nobody) table[at] = u32(i);
        else repeated[i] = repeated[table[at]] = 1;
    }
    return repeated;
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
    const std::vector<char> repeated = with_repeated_words(prints);
    std::vector<RowPrint> alike;
    for (size_t i = 0; i < m; ++i)
        if (repeated[i]) alike.push_back(prints[i]), alike.back().sum /= prints[i].first;
    std::sort(alike.begin(), alike.end(), [](const RowPrint& a, const RowPrint& b) {
        return a.columns != b.columns ? a.columns < b.columns : a.sum < b.sum;
    });
    const auto are_close = [](const RowPrint& a, const RowPrint& b) {
        return a.columns == b.columns && !(b.sum - a.sum > close * b.sum);  // sums that overflowed say nothing
    };
    std::vector<long long> found;
    for (size_t k = 0; k < alike.size(); ++k)
        if ((k > 0 && are_close(alike[k - 1], alike[k])) ||
            (k + 1 < alike.size() && are_close(alike[k], alike[k + 1])))
            found.push_back(alike[k].row);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace relift::passes
