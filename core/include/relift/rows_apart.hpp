// Whether no row is a multiple of another: then rows are told apart as soon as all variables are, whatever their scales.
//
// It is told by the columns of the rows, and by sums of floats where these agree (passes/row_scan.hpp): no value is read
// exactly. It is never said of rows that are multiples; where it is not said, rows may differ all the same.
#pragma once
#include "passes/row_scan.hpp"
#include "problem.hpp"

namespace relift {

// Whether the indices of every major ascend, and none stands twice: entries are added up where some do.
template <class Index>
bool are_ascending(const SparseView<Index>& matrix) {
    for (u32 major = 0; major < matrix.n_major; ++major) {
        const u64 first = u64(matrix.offsets[major]), last = u64(matrix.offsets[major + 1]);
        bool ascend = true;
        for (u64 e = first + 1; e < last; ++e) ascend &= matrix.indices[e - 1] < matrix.indices[e];
        if (!ascend) return false;
    }
    return true;
}

template <class Index>
bool rows_are_apart(const Problem<Index>& problem, u32 n_threads) {
    if (problem.n_rows < 2) return true;
    if (!are_ascending(problem.A)) return false;
    Array<u32> counts(problem.n_rows);
    if (!passes::scan_rows(problem.A, problem.A_is_by_rows, 1, counts.data(), n_threads).empty()) return false;
    return std::count(counts.begin(), counts.end(), 0u) < 2;
}

}  // namespace relift
