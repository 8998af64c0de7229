// What dual values have to do with a proof that rows and bounds of a program cannot be met: relift/lifting/ray_residuals.py
// has the formulas, and does the same in NumPy, adding in the same order, so that both give the same floats.
#pragma once
#include <cmath>
#include <cstddef>

#include "../sparse_view.hpp"
#include "cones.hpp"
#include "residuals.hpp"

namespace relift::passes {

// Visits the entries in the order in which they are stored: visit(row, column, value).
template <class Index, class Visit> void each_entry(const SparseView<Index>& A, bool is_by_rows, Visit&& visit) {
    for (u32 major = 0; major < A.n_major; ++major)
        for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e) {
            const size_t minor = size_t(A.indices[e]);
            visit(is_by_rows ? size_t(major) : minor, is_by_rows ? minor : size_t(major), A.values[e]);
        }
}

// The largest entry of each row, 1 where there is none; and of each column, with rows divided by that.
template <class Index>
void ray_measures(const SparseView<Index>& A, bool is_by_rows, size_t m, size_t n, double* rows, double* columns) {
    for (size_t i = 0; i < m; ++i) rows[i] = 0;
    for (size_t j = 0; j < n; ++j) columns[j] = 0;
    each_entry(A, is_by_rows,
               [&](size_t i, size_t, double value) { rows[i] = larger_or_nan(std::fabs(value), rows[i]); });
    for (size_t i = 0; i < m; ++i)
        if (!(rows[i] > 0)) rows[i] = 1;
    each_entry(A, is_by_rows, [&](size_t i, size_t j, double value) {
        columns[j] = larger_or_nan(std::fabs(value) * (1.0 / rows[i]), columns[j]);
    });
}

// The product of an admissible dual value with its active bound.
inline double support(double dual, double lower, double upper) {
    return dual * (dual > 0 ? upper : dual < 0 ? lower : 0.0);
}

struct RayOf {
    size_t m, n;
    const double *l, *u, *lb, *ub;
    const double *rows, *columns;  // as measured above
};

struct RayTerms {
    double remainder, ratio;  // what duals of bounds could not take, and that relative to the largest products
};

// Fills what rows, then bounds prove; `slope` is room for one number for each variable.
template <class Index>
RayTerms ray_terms(const SparseView<Index>& A, bool is_by_rows, const RayOf& of, const double* y, double* terms,
                   double* slope) {
    double largest = 0;
    for (size_t j = 0; j < of.n; ++j) slope[j] = 0;
    for (size_t i = 0; i < of.m; ++i) {
        const double dual = admissible(y[i], of.l[i], of.u[i]);
        terms[i] = dual;
        largest = larger_or_nan(std::fabs(dual * of.rows[i]), largest);
    }
    each_entry(A, is_by_rows, [&](size_t i, size_t j, double value) { slope[j] += value * terms[i]; });
    for (size_t i = 0; i < of.m; ++i) terms[i] = support(terms[i], of.l[i], of.u[i]);
    RayTerms found{0, 0};
    for (size_t j = 0; j < of.n; ++j) {
        const double wanted = -slope[j], w = admissible(wanted, of.lb[j], of.ub[j]);
        const double remainder = std::fabs(wanted - w), product = of.columns[j] * largest;
        found.remainder = larger_or_nan(remainder, found.remainder);
        if (remainder > 0) found.ratio = larger_or_nan(product > 0 ? remainder / product : INFINITY, found.ratio);
        terms[of.m + j] = support(w, of.lb[j], of.ub[j]);
    }
    return found;
}

}  // namespace relift::passes
