// A compressed matrix in the other order, and rows of a program with those of its cones below them.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "../sparse_view.hpp"

namespace relift::passes {

// By minors what was by majors; inside each, majors ascend. There are n_minor + 1 offsets.
template <class Index>
void transpose(const SparseView<Index>& M, Index* offsets, Index* indices, double* values) {
    std::fill_n(offsets, size_t(M.n_minor) + 1, Index(0));
    const u64 n_entries = M.n_entries();
    for (u64 e = 0; e < n_entries; ++e) ++offsets[M.indices[e]];
    Index start = 0;
    for (size_t k = 0; k <= M.n_minor; ++k) start += std::exchange(offsets[k], start);
    for (u32 major = 0; major < M.n_major; ++major)
        for (u64 e = u64(M.offsets[major]), end = u64(M.offsets[major + 1]); e < end; ++e) {
            const size_t to = size_t(offsets[M.indices[e]]++);
            indices[to] = Index(major), values[to] = M.values[e];
        }
    for (size_t k = M.n_minor; k > 0; --k) offsets[k] = offsets[k - 1];  // ends to starts
    offsets[0] = 0;
}

// Rows of `above`, then those of `below`, each with an entry 1 in the column n + its owner, which comes last.
template <class Index>
void stack(const SparseView<Index>& above, const SparseView<Index>& below, size_t n, const long long* owner,
           Index* offsets, Index* indices, double* values) {
    size_t to = size_t(above.n_entries());
    std::copy_n(above.offsets, size_t(above.n_major) + 1, offsets);
    std::copy_n(above.indices, to, indices);
    std::copy_n(above.values, to, values);
    for (u32 i = 0; i < below.n_major; ++i) {
        const size_t first = size_t(below.offsets[i]), count = size_t(below.offsets[i + 1]) - first;
        std::copy_n(below.indices + first, count, indices + to);
        std::copy_n(below.values + first, count, values + to);
        to += count;
        indices[to] = Index(n + size_t(owner[i])), values[to++] = 1.0;
        offsets[size_t(above.n_major) + i + 1] = Index(to);
    }
}

}  // namespace relift::passes
