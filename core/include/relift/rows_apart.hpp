// Whether no row is a multiple of another: then rows are told apart as soon as all variables are, whatever their scales.
//
// It is told by the columns of the rows, and by sums of floats where these agree (passes/row_scan.hpp): no value is read
// exactly. It is never said of rows that are multiples; where it is not said, rows may differ all the same.
#pragma once
#include <atomic>
#include <cstring>

#include "passes/row_scan.hpp"
#include "problem.hpp"

namespace relift {

// Whether the indices of every major ascend, and none stands twice: entries are added up where some do.
template <class Index>
bool are_ascending(const SparseView<Index>& matrix, u32 n_threads) {
    std::atomic<bool> all{true};
    over_majors(matrix, threads_for(matrix.n_entries(), n_threads), [&](u32 first_major, u32 last_major) {
        bool ascend = true;
        for (u32 major = first_major; major < last_major && ascend; ++major) {
            const u64 first = u64(matrix.offsets[major]), last = u64(matrix.offsets[major + 1]);
            for (u64 e = first + 1; e < last; ++e) ascend &= matrix.indices[e - 1] < matrix.indices[e];
        }
        if (!ascend) all = false;
    });
    return all;
}

// Whether all values are finite; others are refused where they are read.
template <class Index>
bool are_finite(const SparseView<Index>& matrix, u32 n_threads) {
    std::atomic<bool> all{true};
    over_range(matrix.n_entries(), threads_for(matrix.n_entries(), n_threads), [&](u64 first, u64 last) {
        constexpr u64 exponent = u64(2047) << 52, lowest_bit = u64(1) << 52;
        u64 carries = 0;  // into the sign bit, where an exponent has all bits set
        for (u64 e = first; e < last; ++e) {
            u64 word;
            std::memcpy(&word, &matrix.values[e], sizeof word);
            carries |= (word & exponent) + lowest_bit;
        }
        if (carries >> 63) all = false;
    });
    return all;
}

// is_known: the caller has looked at rows without double entries.
template <class Index>
bool rows_are_apart(const Problem<Index>& problem, bool is_known, u32 n_threads) {
    if (problem.n_rows < 2) return true;
    if (!are_ascending(problem.A, n_threads)) return false;
    if (is_known) return true;
    Array<u32> counts(problem.n_rows);
    if (!passes::scan_rows(problem.A, problem.A_is_by_rows, 1, counts.data(), n_threads).empty()) return false;
    return std::count(counts.begin(), counts.end(), 0u) < 2;
}

}  // namespace relift
