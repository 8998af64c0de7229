// The conic form Kx + s = b of rows l <= Ax <= u and bounds lb <= x <= ub, in two passes over A as it is.
//
// Rows of K: equalities, then upper sides, then lower sides with their sign changed; in each part the rows of A first,
// then the bounds of variables. Entries of a column stand in ascending order where those of A do.
#pragma once
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../threads.hpp"
#include "numbers.hpp"

namespace relift::passes {

constexpr int32_t absent = -1;

// The places of the sides of a row or variable among the rows of K, absent where there is none.
struct Place {
    int32_t first;  // of an equality or an upper side: a row has not both
    int32_t lower;
};

struct CountsOfSides {
    size_t equal = 0, upper = 0, lower = 0;

    void count(const double* lower_ends, const double* upper_ends, size_t size) {
        size_t n_equal = 0, n_upper = 0, n_lower = 0;
        for (size_t k = 0; k < size; ++k) {
            const bool is_equal = lower_ends[k] == upper_ends[k];
            n_equal += is_equal;
            n_upper += !is_equal & (std::fabs(upper_ends[k]) < infinite_side);
            n_lower += !is_equal & (std::fabs(lower_ends[k]) < infinite_side);
        }
        equal += n_equal, upper += n_upper, lower += n_lower;
    }
    static constexpr double infinite_side = std::numeric_limits<double>::infinity();
};

// The places of rows of A, then of variables.
struct Places {
    Array<Place> of;
    CountsOfSides counts;

    Places(const double* l, const double* u, size_t m, const double* lb, const double* ub, size_t n) : of(m + n) {
        if (m + n > most_indices / 2) throw std::invalid_argument("the conic form has 2^31 rows or more");
        counts.count(l, u, m);
        counts.count(lb, ub, n);
    }
    size_t n_rows() const { return counts.equal + counts.upper + counts.lower; }
    bool is_equal(Place place) const { return size_t(u32(place.first)) < counts.equal; }
    bool is_upper(Place place) const { return place.first >= int32_t(counts.equal); }
    static bool is_lower(Place place) { return place.lower != absent; }
    static int32_t sides(Place place) { return int32_t(place.first != absent) + int32_t(place.lower != absent); }
};

// Fills the places; with them the row of A, or m + the variable, that each row of K stands for, and right-hand sides.
inline void fill_sides(Places& places, const double* l, const double* u, size_t m, const double* lb, const double* ub,
                       int32_t* owner, double* b) {
    size_t equal = 0, upper = places.counts.equal, lower = upper + places.counts.upper;
    const auto fill = [&](const double* low, const double* high, size_t first, size_t last) {
        for (size_t k = first; k < last; ++k) {
            Place place{absent, absent};
            if (low[k - first] == high[k - first]) {
                owner[equal] = int32_t(k), b[equal] = high[k - first];
                place.first = int32_t(equal++);
            } else {
                if (std::isfinite(high[k - first])) {
                    owner[upper] = int32_t(k), b[upper] = high[k - first];
                    place.first = int32_t(upper++);
                }
                if (std::isfinite(low[k - first])) {
                    owner[lower] = int32_t(k), b[lower] = -low[k - first];
                    place.lower = int32_t(lower++);
                }
            }
            places.of[k] = place;
        }
    };
    fill(l, u, 0, m);
    fill(lb, ub, m, places.of.size());
}

inline int32_t checked_count(size_t count) {
    if (count > most_indices) throw std::invalid_argument("the conic form has 2^31 entries or more");
    return int32_t(count);
}

// The number of entries of K; offsets of its columns are filled. More, if given, are rows that follow, by columns.
template <class Index>
size_t count_conic(const SparseView<Index>& A, bool is_by_rows, const Places& places, const SparseView<Index>* more,
                   int32_t* offsets) {
    const size_t m = is_by_rows ? A.n_major : A.n_minor, n = is_by_rows ? A.n_minor : A.n_major;
    const Place* const of = places.of.data();
    size_t count = 0;
    offsets[0] = 0;
    if (!is_by_rows) {
        for (size_t j = 0; j < n; ++j) {
            for (size_t e = size_t(A.offsets[j]), end = size_t(A.offsets[j + 1]); e < end; ++e)
                count += size_t(Places::sides(of[A.indices[e]]));
            count += size_t(Places::sides(of[m + j]));
            if (more) count += size_t(more->offsets[j + 1] - more->offsets[j]);
            offsets[j + 1] = checked_count(count);
        }
        return count;
    }
    for (size_t i = 0; i < m; ++i) count += size_t(A.offsets[i + 1] - A.offsets[i]) * size_t(Places::sides(of[i]));
    checked_count(count);  // so that none of the columns has more
    for (size_t j = 0; j < n; ++j) offsets[j + 1] = Places::sides(of[m + j]);
    for (size_t i = 0; i < m; ++i) {
        const int32_t sides = Places::sides(of[i]);
        if (sides == 0) continue;
        for (size_t e = size_t(A.offsets[i]), end = size_t(A.offsets[i + 1]); e < end; ++e)
            offsets[A.indices[e] + 1] += sides;
    }
    count = 0;
    for (size_t j = 0; j < n; ++j) {
        count += size_t(u32(offsets[j + 1]));
        if (more) count += size_t(more->offsets[j + 1] - more->offsets[j]);
        offsets[j + 1] = checked_count(count);
    }
    return count;
}

// Entries that follow in a column.
template <class Index>
size_t fill_more(const SparseView<Index>& more, size_t n_before, size_t j, size_t to, int32_t* indices,
                 double* values) {
    for (size_t e = size_t(more.offsets[j]), end = size_t(more.offsets[j + 1]); e < end; ++e)
        indices[to] = int32_t(n_before) + int32_t(more.indices[e]), values[to++] = more.values[e];
    return to;
}

template <class Index>
void fill_conic_by_columns(const SparseView<Index>& A, const Places& places, const SparseView<Index>* more,
                           const int32_t* offsets, int32_t* indices, double* values, u32 n_threads) {
    const size_t m = A.n_minor;
    const Place* const of = places.of.data();
    over_majors(A, threads_for(A.n_entries(), n_threads), [&](size_t first, size_t last) {
        // Which rows have a side is as good as random: each entry is written, and the next one over it where it has
        // none. Of the last column, behind which others write, only what there is.
        const auto fill_column = [&](size_t j, auto put) {
            size_t to = size_t(offsets[j]);
            const size_t begin = size_t(A.offsets[j]), end = size_t(A.offsets[j + 1]);
            if (places.counts.equal) {
                for (size_t e = begin; e < end; ++e) {
                    const Place place = of[A.indices[e]];
                    put(to, places.is_equal(place), place.first, A.values[e]);
                }
                put(to, places.is_equal(of[m + j]), of[m + j].first, 1.0);
            }
            if (places.counts.upper) {
                for (size_t e = begin; e < end; ++e) {
                    const Place place = of[A.indices[e]];
                    put(to, places.is_upper(place), place.first, A.values[e]);
                }
                put(to, places.is_upper(of[m + j]), of[m + j].first, 1.0);
            }
            if (places.counts.lower) {
                for (size_t e = begin; e < end; ++e) {
                    const Place place = of[A.indices[e]];
                    put(to, Places::is_lower(place), place.lower, -1.0 * A.values[e]);
                }
                put(to, Places::is_lower(of[m + j]), of[m + j].lower, -1.0);
            }
            if (more) fill_more(*more, places.n_rows(), j, to, indices, values);
        };
        const size_t behind = last > first ? size_t(offsets[last]) : 0;
        size_t j = first;
        for (; j < last && size_t(offsets[j + 1]) < behind; ++j)
            fill_column(j, [&](size_t& to, bool is_there, int32_t row, double value) {
                indices[to] = row, values[to] = value;
                to += is_there;
            });
        for (; j < last; ++j)
            fill_column(j, [&](size_t& to, bool is_there, int32_t row, double value) {
                if (is_there) indices[to] = row, values[to++] = value;
            });
    });
}

// Part by part, each row by row: so that rows ascend in all columns. Next is where each column goes on.
template <class Index>
void fill_conic_by_rows(const SparseView<Index>& A, const Places& places, const SparseView<Index>* more,
                        const int32_t* offsets, int32_t* indices, double* values) {
    const size_t m = A.n_major, n = A.n_minor;
    const Place* const of = places.of.data();
    Array<int32_t> next(offsets, offsets + n);
    const auto part = [&](double sign, auto&& row_of) {
        for (size_t i = 0; i < m; ++i) {
            const int32_t row = row_of(of[i]);
            if (row == absent) continue;
            for (size_t e = size_t(A.offsets[i]), end = size_t(A.offsets[i + 1]); e < end; ++e) {
                const int32_t to = next[A.indices[e]]++;
                indices[to] = row, values[to] = sign * A.values[e];
            }
        }
        for (size_t j = 0; j < n; ++j) {
            const int32_t row = row_of(of[m + j]);
            if (row != absent) indices[next[j]] = row, values[next[j]++] = sign;
        }
    };
    if (places.counts.equal) part(1.0, [&](Place place) { return places.is_equal(place) ? place.first : absent; });
    if (places.counts.upper) part(1.0, [&](Place place) { return places.is_upper(place) ? place.first : absent; });
    if (places.counts.lower) part(-1.0, [&](Place place) { return place.lower; });
    if (more)
        for (size_t j = 0; j < n; ++j) fill_more(*more, places.n_rows(), j, size_t(next[j]), indices, values);
}

template <class Index>
void fill_conic(const SparseView<Index>& A, bool is_by_rows, const Places& places, const SparseView<Index>* more,
                const int32_t* offsets, int32_t* indices, double* values, u32 n_threads) {
    if (is_by_rows) fill_conic_by_rows(A, places, more, offsets, indices, values);
    else fill_conic_by_columns(A, places, more, offsets, indices, values, n_threads);
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
