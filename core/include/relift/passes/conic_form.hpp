// The conic form Kx + s = b of rows l <= Ax <= u and bounds lb <= x <= ub, in two passes over A by columns.
//
// Rows of K: equalities, then upper sides, then lower sides with their sign changed; in each part the rows of A first,
// then the bounds of variables. Entries of a column stand in ascending order where those of A do.
#pragma once
#include <cmath>
#include <vector>

#include "../threads.hpp"

namespace relift::passes {

constexpr int32_t absent = -1;
constexpr size_t most_indices = 0x7FFFFFFF;

// The places of the sides of rows and variables among the rows of K, absent where there is none.
struct Places {
    std::vector<int32_t> equal, upper, lower;  // rows of A, then variables
    size_t n_equal = 0, n_upper = 0, n_lower = 0;

    Places(const double* l, const double* u, size_t m, const double* lb, const double* ub, size_t n)
        : equal(m + n, absent), upper(m + n, absent), lower(m + n, absent) {
        if (m + n > most_indices / 2) throw std::invalid_argument("the conic form has 2^31 rows or more");
        for (size_t k = 0; k < m + n; ++k) {
            const double low = k < m ? l[k] : lb[k - m], high = k < m ? u[k] : ub[k - m];
            if (low == high) {
                equal[k] = int32_t(n_equal++);
                continue;
            }
            if (std::isfinite(high)) upper[k] = int32_t(n_upper++);
            if (std::isfinite(low)) lower[k] = int32_t(n_lower++);
        }
        for (size_t k = 0; k < m + n; ++k) {
            if (upper[k] != absent) upper[k] += int32_t(n_equal);
            if (lower[k] != absent) lower[k] += int32_t(n_equal + n_upper);
        }
    }
    size_t n_rows() const { return n_equal + n_upper + n_lower; }
    size_t sides(size_t k) const {
        return size_t(equal[k] != absent) + size_t(upper[k] != absent) + size_t(lower[k] != absent);
    }
};

// The row of A, or m + the variable, that each row of K stands for; and the right-hand sides.
inline void fill_sides(const Places& places, const double* l, const double* u, size_t m, const double* lb,
                       const double* ub, int32_t* owner, double* b) {
    for (size_t k = 0; k < places.equal.size(); ++k) {
        const double low = k < m ? l[k] : lb[k - m], high = k < m ? u[k] : ub[k - m];
        if (places.equal[k] != absent) owner[places.equal[k]] = int32_t(k), b[places.equal[k]] = high;
        if (places.upper[k] != absent) owner[places.upper[k]] = int32_t(k), b[places.upper[k]] = high;
        if (places.lower[k] != absent) owner[places.lower[k]] = int32_t(k), b[places.lower[k]] = -low;
    }
}

// The number of entries of K; offsets of its columns are filled. More, if given, are rows that follow, by columns.
template <class Index>
size_t count_conic(const SparseView<Index>& A, const Places& places, const SparseView<Index>* more, int32_t* offsets) {
    const size_t n = A.n_major, m = A.n_minor;
    size_t count = 0;
    offsets[0] = 0;
    for (size_t j = 0; j < n; ++j) {
        for (size_t e = size_t(A.offsets[j]), end = size_t(A.offsets[j + 1]); e < end; ++e)
            count += places.sides(size_t(A.indices[e]));
        count += places.sides(m + j);
        if (more) count += size_t(more->offsets[j + 1] - more->offsets[j]);
        if (count > most_indices) throw std::invalid_argument("the conic form has 2^31 entries or more");
        offsets[j + 1] = int32_t(count);
    }
    return count;
}

template <class Index>
void fill_conic(const SparseView<Index>& A, const Places& places, const SparseView<Index>* more,
                const int32_t* offsets, int32_t* indices, double* values, u32 n_threads) {
    const size_t m = A.n_minor;
    const auto fill_column = [&](size_t j) {
        size_t to = size_t(offsets[j]);
        const auto part = [&](const std::vector<int32_t>& place, double sign) {
            for (size_t e = size_t(A.offsets[j]), end = size_t(A.offsets[j + 1]); e < end; ++e) {
                const int32_t row = place[size_t(A.indices[e])];
                if (row != absent) indices[to] = row, values[to++] = sign * A.values[e];
            }
            if (place[m + j] != absent) indices[to] = place[m + j], values[to++] = sign;
        };
        part(places.equal, 1.0);
        part(places.upper, 1.0);
        part(places.lower, -1.0);
        if (!more) return;
        for (size_t e = size_t(more->offsets[j]), end = size_t(more->offsets[j + 1]); e < end; ++e)
            indices[to] = int32_t(places.n_rows()) + int32_t(more->indices[e]), values[to++] = more->values[e];
    };
    over_majors(A, threads_for(A.n_entries(), n_threads), [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) fill_column(j);
    });
}

// Entries of one triangle, the diagonal included, of a matrix by columns.
template <class Index>
size_t count_triangle(const SparseView<Index>& P, bool is_upper, int32_t* offsets) {
    size_t count = 0;
    offsets[0] = 0;
    for (size_t j = 0; j < P.n_major; ++j) {
        for (size_t e = size_t(P.offsets[j]), end = size_t(P.offsets[j + 1]); e < end; ++e)
            count += is_upper ? size_t(P.indices[e]) <= j : size_t(P.indices[e]) >= j;
        if (count > most_indices) throw std::invalid_argument("the triangle has 2^31 entries or more");
        offsets[j + 1] = int32_t(count);
    }
    return count;
}

template <class Index>
void fill_triangle(const SparseView<Index>& P, bool is_upper, int32_t* indices, double* values) {
    size_t to = 0;
    for (size_t j = 0; j < P.n_major; ++j)
        for (size_t e = size_t(P.offsets[j]), end = size_t(P.offsets[j + 1]); e < end; ++e)
            if (is_upper ? size_t(P.indices[e]) <= j : size_t(P.indices[e]) >= j)
                indices[to] = int32_t(P.indices[e]), values[to++] = P.values[e];
}

// Dual values of conic rows, not negative for inequalities, back to rows and bounds: upper sides push up, lower ones down.
inline void expand_duals(const double* values, const int32_t* owner, size_t n, size_t n_first, double* full) {
    for (size_t k = 0; k < n_first; ++k) full[owner[k]] = values[k];
    for (size_t k = n_first; k < n; ++k) full[owner[k]] -= values[k];
}

}  // namespace relift::passes
