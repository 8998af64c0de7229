// Sums over the entries of all matrices of quadratic constraints, each in one pass: entry e stands in the matrix of
// constraint owner[e], at row first[e] and column second[e].
//
// Terms are multiplied and added in the order of relift/program/quadratic_passes_reference.py, so that both give the same
// floats; what is not a number stays one.
#pragma once
#include <cmath>
#include <cstddef>

#include "cones.hpp"

namespace relift::passes {

struct QuadraticEntries {
    size_t n;
    const long long *owner, *first, *second;
    const double* values;
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

}  // namespace relift::passes
