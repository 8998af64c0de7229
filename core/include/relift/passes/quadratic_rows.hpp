// Sums over the entries of all matrices of quadratic constraints, each in one pass: entry e stands in the matrix of
// constraint owner[e], at row first[e] and column second[e].
//
// Terms are multiplied and added in the order of relift/program/quadratic_passes_reference.py, so that both give the same
// floats; what is not a number stays one.
#pragma once
#include <cmath>
#include <cstddef>

#include "../sparse_view.hpp"
#include "cones.hpp"

namespace relift::passes {

struct QuadraticEntries {
    size_t n;
    const long long *owner, *first, *second;
    const double* values;
};

// All constraints x'P_kx / 2 + q_k'x <= r_k; the q_k are the rows of a matrix.
template <class Index> struct QuadraticConstraints {
    QuadraticEntries P;
    SparseView<Index> q;
    const double* r;

    size_t n_variables() const { return q.n_minor; }
    size_t size() const { return q.n_major; }
};

// For each constraint the sum of p_ij x_i x_j.
inline void quadratic_values(const QuadraticEntries& of, const double* x, double* sums) {
    for (size_t e = 0; e < of.n; ++e) sums[of.owner[e]] += of.values[e] * x[of.first[e]] * x[of.second[e]];
}

// For each constraint the largest |p_ij| s_i s_j / 2.
inline void quadratic_largest(const QuadraticEntries& of, const double* sizes, double* largest) {
    for (size_t e = 0; e < of.n; ++e) {
        const double product = 0.5 * std::fabs(of.values[e]) * sizes[of.first[e]] * sizes[of.second[e]];
        largest[of.owner[e]] = larger_or_nan(largest[of.owner[e]], product);
    }
}

// For each variable the sum of z_k p_ij x_j, and the largest of its terms.
inline void quadratic_gradient(const QuadraticEntries& of, const double* x, const double* z, double* sums,
                               double* largest) {
    for (size_t e = 0; e < of.n; ++e) {
        const double term = z[of.owner[e]] * of.values[e] * x[of.second[e]];
        sums[of.first[e]] += term;
        largest[of.first[e]] = larger_or_nan(largest[of.first[e]], std::fabs(term));
    }
}

// For each constraint f_k(x) - r_k. The sums of products are added first, then the halves of them to the slopes.
template <class Index> void quadratic_over(const QuadraticConstraints<Index>& of, const double* x, double* over) {
    for (size_t k = 0; k < of.size(); ++k) over[k] = 0;
    quadratic_values(of.P, x, over);
    for (size_t k = 0; k < of.size(); ++k) {
        double slope = 0;
        for (u64 e = u64(of.q.offsets[k]), end = u64(of.q.offsets[k + 1]); e < end; ++e)
            slope += of.q.values[e] * x[of.q.indices[e]];
        over[k] = 0.5 * over[k] + slope - of.r[k];
    }
}

// What quadratic constraints say about each variable, on top of what the arrays have of cones: the largest level at which
// they notice it, with dual values the largest term of the gradient and the gradient, and 1 where they hold it on the way
// down and on the way up. Without dual values the first alone.
template <class Index>
void quadratic_columns(const QuadraticConstraints<Index>& of, const double* x, const double* z, double* natural,
                       double* terms, double* sums, double* below, double* above, double* curved, double* straight) {
    const size_t n = of.n_variables();
    for (size_t e = 0; e < of.P.n; ++e) {
        const size_t j = size_t(of.P.first[e]);
        if (of.P.values[e] == 0 || of.P.first[e] != of.P.second[e]) continue;
        const double level = 2.0 * std::fabs(of.r[of.P.owner[e]]);
        natural[j] = larger_or_nan(std::sqrt(level / std::fabs(of.P.values[e])), natural[j]);
    }
    for (size_t k = 0; k < of.size(); ++k)
        for (u64 e = u64(of.q.offsets[k]), end = u64(of.q.offsets[k + 1]); e < end; ++e)
            if (of.q.values[e] != 0) {
                const size_t j = size_t(of.q.indices[e]);
                natural[j] = larger_or_nan(std::fabs(of.r[k]) / std::fabs(of.q.values[e]), natural[j]);
            }
    if (!z) return;
    for (size_t j = 0; j < n; ++j) curved[j] = straight[j] = 0;
    quadratic_gradient(of.P, x, z, curved, terms);
    for (size_t e = 0; e < of.P.n; ++e)
        if (of.P.values[e] != 0) below[of.P.first[e]] = above[of.P.first[e]] = 1;
    for (size_t k = 0; k < of.size(); ++k)
        for (u64 e = u64(of.q.offsets[k]), end = u64(of.q.offsets[k + 1]); e < end; ++e) {
            const size_t j = size_t(of.q.indices[e]);
            const double value = of.q.values[e];
            straight[j] += value * z[k];
            terms[j] = larger_or_nan(std::fabs(value) * z[k], terms[j]);
            if (value > 0) above[j] = 1;
            if (value < 0) below[j] = 1;
        }
    for (size_t j = 0; j < n; ++j) sums[j] = curved[j] + straight[j] + sums[j];
}

// How far constraints are broken, relative to the largest product or right-hand side of each; fills by how much each one
// is above its right-hand side.
template <class Index>
double quadratic_excess(const QuadraticConstraints<Index>& of, const double* x, const double* sizes, double common,
                        double* over, double* largest) {
    for (size_t k = 0; k < of.size(); ++k) largest[k] = 0;
    quadratic_largest(of.P, sizes, largest);
    quadratic_over(of, x, over);
    double worst = 0;
    for (size_t k = 0; k < of.size(); ++k) {
        double size = largest[k];
        for (u64 e = u64(of.q.offsets[k]), end = u64(of.q.offsets[k + 1]); e < end; ++e)
            size = larger_or_nan(std::fabs(of.q.values[e]) * sizes[of.q.indices[e]], size);
        if (!(size > 0)) size = common;
        worst = larger_or_nan(larger_or_nan(over[k], 0.0) / larger_or_nan(std::fabs(of.r[k]), size), worst);
    }
    return worst;
}

}  // namespace relift::passes
