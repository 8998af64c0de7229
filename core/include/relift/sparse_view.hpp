// Compressed matrices as they are given: offsets, indices and values that belong to the caller.
//
// "Major" are the columns of a CSC and the rows of a CSR matrix, "minor" the others. Nothing is sorted or copied.
#pragma once
#include <stdexcept>
#include <type_traits>

#include "field.hpp"

namespace relift {

constexpr u64 most_vertices = u64(1) << 30;
constexpr u64 most_entries = u64(1) << 32;

template <class Index>
struct SparseView {
    u32 n_major = 0, n_minor = 0;
    const Index* offsets = nullptr;  // n_major + 1
    const Index* indices = nullptr;
    const double* values = nullptr;

    u64 n_entries() const { return n_major ? u64(offsets[n_major]) : 0; }
};

// Whether some indices lie inside the matrix.
template <class Index>
bool are_inside(const SparseView<Index>& matrix, u64 first, u64 last) {
    using Unsigned = std::make_unsigned_t<Index>;
    const Unsigned largest = Unsigned(matrix.n_minor) - 1;
    Unsigned signs = 0;  // the sign bit is set where an index, or its distance from the largest one, is negative
    for (u64 e = first; e < last; ++e) signs |= Unsigned(matrix.indices[e]) | (largest - Unsigned(matrix.indices[e]));
    return !(signs >> (8 * sizeof(Index) - 1));
}

template <class Index>
void require_inside(const SparseView<Index>& matrix, u64 first, u64 last) {
    if (!are_inside(matrix, first, last)) throw std::invalid_argument("an index lies outside the matrix");
}

// Throws unless some offsets, from the one before them on, do not decrease.
template <class Index>
void require_rising(const SparseView<Index>& matrix, u64 first, u64 last) {
    using Unsigned = std::make_unsigned_t<Index>;
    Unsigned signs = 0;  // the sign bit is set where an offset, or its distance from the one before, is negative
    for (u64 j = first; j < last; ++j)
        signs |= Unsigned(matrix.offsets[j + 1]) | (Unsigned(matrix.offsets[j + 1]) - Unsigned(matrix.offsets[j]));
    if (signs >> (8 * sizeof(Index) - 1)) throw std::invalid_argument("indptr decreases");
}

// Throws unless the offsets are such that every access to indices and values stays inside these. over(n, work) calls
// work(first, last) for parts of 0 .. n-1 that are all of it.
template <class Index, class Over>
void check_offsets(const SparseView<Index>& matrix, u64 n_offsets, u64 n_indices, u64 n_values, Over&& over) {
    if (n_offsets != u64(matrix.n_major) + 1) throw std::invalid_argument("indptr has a wrong length");
    if (matrix.offsets[0] != 0) throw std::invalid_argument("indptr does not start at 0");
    over(u64(matrix.n_major), [&](u64 first, u64 last) { require_rising(matrix, first, last); });
    const u64 n_entries = u64(matrix.offsets[matrix.n_major]);
    if (n_entries > n_indices || n_entries > n_values)
        throw std::invalid_argument("indptr ends behind the indices or the values");
    if (n_entries >= most_entries) throw std::invalid_argument("the matrix has 2^32 entries or more");
}

template <class Index>
void check_offsets(const SparseView<Index>& matrix, u64 n_offsets, u64 n_indices, u64 n_values) {
    check_offsets(matrix, n_offsets, n_indices, n_values, [](u64 size, auto&& work) { work(u64(0), size); });
}

}  // namespace relift
