// Coordinate descent for quadratic functions with an absolute value in each coordinate, as in the lasso [1].
//
//   by_matrix:   minimise 1/2 w'Gw - c'w + sum_j l1_j |w_j|, for a dense G;
//   by_columns:  minimise 1/2 sum_i h_i (z_i - b - (Xw)_i)^2 + sum_j (1/2 l2_j w_j^2 + l1_j |w_j|), for sparse columns of
//                X, where the intercept b is either 0 or always the best one.
//
// With `is_positive` all w_j >= 0. A pass over all coordinates alternates with passes over those that are not 0, until
// what the last pass over all found is below the tolerance.
//
// [1] Friedman, Hastie, Tibshirani: Regularization Paths for Generalized Linear Models via Coordinate Descent, 2010.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace relift::linear {

using std::int32_t;
using std::int64_t;
using std::size_t;

struct Passes {
    int64_t passes = 0;
    double violation = 0;  // the largest distance of a slope from the set where it should lie
};

// The minimiser of 1/2 a w^2 - s w + l1 |w|.
inline double shrunk(double s, double a, double l1, bool is_positive) {
    if (s > l1) return (s - l1) / a;
    if (s < -l1 && !is_positive) return (s + l1) / a;
    return 0;
}

// How far the slope g of the smooth part at w is from where it should lie.
inline double violation_of(double w, double g, double l1, bool is_positive) {
    if (w > 0) return std::abs(g + l1);
    if (w < 0) return std::abs(g - l1);
    const double below = -g - l1, above = is_positive ? 0 : g - l1;
    return below > above ? (below > 0 ? below : 0) : (above > 0 ? above : 0);
}

// Runs `visit(j)`, which moves coordinate j and returns its violation before, in passes as described above.
template <class Visit, class IsZero>
Passes passes_over(size_t n, double tolerance, int64_t most, Visit&& visit, IsZero&& is_zero) {
    Passes result;
    std::vector<size_t> active;
    while (result.passes < most) {
        result.violation = 0;
        active.clear();
        for (size_t j = 0; j < n; ++j) {
            const double found = visit(j);
            if (!(found <= result.violation)) result.violation = found;
            if (!is_zero(j)) active.push_back(j);
        }
        ++result.passes;
        if (!(result.violation > tolerance)) break;
        const double enough = 0.1 * result.violation > tolerance ? 0.1 * result.violation : 0.5 * tolerance;
        for (double largest = result.violation; largest > enough && result.passes < most; ++result.passes) {
            largest = 0;
            for (const size_t j : active) {
                const double found = visit(j);
                if (!(found <= largest)) largest = found;
            }
        }
    }
    return result;
}

// g = Gw - c is kept along.
inline Passes by_matrix(const double* G, const double* l1, size_t n, bool is_positive, double* w, double* g,
                        double tolerance, int64_t most) {
    const auto visit = [&](size_t j) {
        const double* row = G + j * n;
        const double a = row[j], violation = violation_of(w[j], g[j], l1[j], is_positive);
        if (!(a > 0) || violation == 0) return a > 0 ? violation : 0;
        const double moved = shrunk(a * w[j] - g[j], a, l1[j], is_positive) - w[j];
        if (moved != 0) {
            w[j] += moved;
            for (size_t k = 0; k < n; ++k) g[k] += moved * row[k];
        }
        return violation;
    };
    return passes_over(n, tolerance, most, visit, [&](size_t j) { return w[j] == 0; });
}

// r = z - Xw is kept along; `intercept` receives the best b if there is one.
inline Passes by_columns(const int32_t* starts, const int32_t* rows, const double* values, size_t n, const double* h,
                         size_t m, const double* l1, const double* l2, bool has_intercept, bool is_positive, double* w,
                         double* r, double* intercept, double tolerance, int64_t most) {
    std::vector<double> mean(n, 0), curvature(n, 0);
    double total = 0, shift = 0;
    for (size_t i = 0; i < m; ++i) total += h[i];
    for (size_t j = 0; j < n; ++j) {
        for (int32_t k = starts[j]; k < starts[j + 1]; ++k) {
            const double weighted = h[rows[k]] * values[k];
            mean[j] += weighted;
            curvature[j] += weighted * values[k];
        }
        if (has_intercept) {
            const double left = curvature[j] - mean[j] * mean[j] / total;
            curvature[j] = left > 1e-13 * curvature[j] ? left : 0;  // a constant column is the intercept's
        }
    }
    if (has_intercept) {
        for (size_t i = 0; i < m; ++i) shift += h[i] * r[i];
        shift /= total;
    }
    const auto visit = [&](size_t j) {
        const double a = curvature[j] + l2[j];
        if (!(a > 0)) return 0.0;
        double s = has_intercept ? -shift * mean[j] : 0;
        for (int32_t k = starts[j]; k < starts[j + 1]; ++k) s += h[rows[k]] * values[k] * r[rows[k]];
        const double violation = violation_of(w[j], l2[j] * w[j] - s, l1[j], is_positive);
        if (violation == 0) return 0.0;
        const double moved = shrunk(s + curvature[j] * w[j], a, l1[j], is_positive) - w[j];
        if (moved != 0) {
            w[j] += moved;
            for (int32_t k = starts[j]; k < starts[j + 1]; ++k) r[rows[k]] -= moved * values[k];
            if (has_intercept) shift -= moved * mean[j] / total;
        }
        return violation;
    };
    const Passes result = passes_over(n, tolerance, most, visit, [&](size_t j) { return w[j] == 0; });
    *intercept = shift;
    return result;
}

}  // namespace relift::linear
