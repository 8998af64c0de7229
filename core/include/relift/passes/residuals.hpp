// The residuals of a point and its dual values, in two passes over A and one over P.
//
// The formulas are those of relift/program/formulas.py; relift/lifting/residuals_reference.py puts them together slowly
// and obviously, and tests compare the two. What quadratic constraints and cones add is handed in.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "../threads.hpp"

namespace relift::passes {

constexpr double dust = 1e-9, rounded = 1e-14, noise = 1e-2;  // those of formulas.py
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_double = std::numeric_limits<double>::max();

// The larger of two numbers; one that is not a number gets lost, so that none may be in what is compared.
inline double larger(double most, double value) { return value > most ? value : most; }
inline double with_nan_as_infinity(double value) { return value != value ? infinity : value; }
inline double or_nothing(double bound) { return std::isfinite(bound) ? std::fabs(bound) : 0.0; }

struct Vectors {
    size_t n, m;
    const double *q, *l, *u, *lb, *ub;
    double r;
    const double *x, *y, *w;                             // y and w may be null: then only the point is looked at
    const double *more_natural, *more_terms, *more_rho;  // of quadratic constraints and cones; may be null
    double *Ax, *sizes;                                  // results, of m and n entries
};

struct Residuals {
    bool is_finite = true;    // whether the point and its products are
    bool is_in_range = true;  // whether the scale of the objective is finite; if not, nothing else is set
    bool duals_are_finite = true;
    bool asks = false;  // whether a gradient leads to where no own bound is
    double common = 1, scale = 1;
    double primal = 0, dual = infinity, gap = 0, fall = 0;
};

template <class Index> struct Matrix {
    SparseView<Index> view;
    bool is_by_rows = false;
};

// What the first pass over A finds out about a column: the sum of a_ij y_i and the largest |a_ij y_i|; later the whole
// gradient, and its largest term.
struct Column {
    double rho = 0, term = 0;
};

// What majors gather from the point and the duals; a thread takes a block of them.
template <class Index>
void gather_first(const Matrix<Index>& A, const Vectors& of, const double* y, const double* sides, Column* columns,
                  size_t first, size_t last) {
    const SparseView<Index>& view = A.view;
    for (size_t major = first; major < last; ++major) {
        const size_t begin = size_t(view.offsets[major]), end = size_t(view.offsets[major + 1]);
        if (A.is_by_rows) {
            double sum = 0;
            for (size_t e = begin; e < end; ++e) sum += view.values[e] * of.x[view.indices[e]];
            of.Ax[major] = sum;
            continue;
        }
        Column column;
        double ratio = 0;
        for (size_t e = begin; e < end; ++e) {
            const double value = view.values[e];
            const size_t i = size_t(view.indices[e]);
            if (y) {
                column.rho += value * y[i];
                column.term = larger(column.term, std::fabs(value) * std::fabs(y[i]));
            }
            if (value != 0) ratio = larger(ratio, sides[i] / std::fabs(value));
        }
        if (y) columns[major] = column;
        of.sizes[major] = ratio;
    }
}

// What a block of majors scatters.
template <class Index>
void scatter_first(const Matrix<Index>& A, const Vectors& of, const double* y, const double* sides, Column* columns,
                   size_t first, size_t last) {
    const SparseView<Index>& view = A.view;
    double* ratios = of.sizes;
    for (size_t major = first; major < last; ++major) {
        const size_t begin = size_t(view.offsets[major]), end = size_t(view.offsets[major + 1]);
        if (!A.is_by_rows) {
            const double at = of.x[major];
            for (size_t e = begin; e < end; ++e) of.Ax[view.indices[e]] += view.values[e] * at;
            continue;
        }
        const double price = y ? y[major] : 0.0, side = sides[major];
        for (size_t e = begin; e < end; ++e) {
            const double value = view.values[e];
            const size_t j = size_t(view.indices[e]);
            if (y) {
                columns[j].rho += value * price;
                columns[j].term = larger(columns[j].term, std::fabs(value) * std::fabs(price));
            }
            if (value != 0) ratios[j] = larger(ratios[j], side / std::fabs(value));
        }
    }
}

template <class Index>
void first_pass(const Matrix<Index>& A, const Vectors& of, const double* y, const double* sides, Column* columns,
                u32 n_threads) {
    for (size_t i = 0; i < of.m; ++i) of.Ax[i] = 0;
    for (size_t j = 0; j < of.n; ++j) of.sizes[j] = 0;
    scatter_beside_gather(
        A.view, n_threads,
        [&](u32 first, u32 last) { scatter_first(A, of, y, sides, columns, first, last); },
        [&](u32 first, u32 last) { gather_first(A, of, y, sides, columns, first, last); });
}

// The largest |a_ij| size_j of each row; sizes are finite. Where a thread cannot have rows of its own it has numbers of
// its own, of which the largest is taken.
template <class Index>
void largest_products(const Matrix<Index>& A, const double* sizes, size_t m, double* products, u32 n_threads) {
    const SparseView<Index>& view = A.view;
    n_threads = threads_for(view.n_entries(), n_threads);
    if (A.is_by_rows) {
        over_majors(view, n_threads, [&](size_t first, size_t last) {
            for (size_t i = first; i < last; ++i) {
                double most = 0;
                for (size_t e = size_t(view.offsets[i]), end = size_t(view.offsets[i + 1]); e < end; ++e)
                    most = larger(most, std::fabs(view.values[e]) * sizes[view.indices[e]]);
                products[i] = most;
            }
        });
        return;
    }
    n_threads = std::min<u32>(n_threads, 2);  // more numbers would cost more than they save
    std::vector<double> more(n_threads > 1 ? m : 0);
    in_parallel(n_threads, [&](u32 k) {
        double* const own = k ? more.data() : products;
        for (size_t i = 0; i < m; ++i) own[i] = 0;
        for (size_t j = first_major_of(view, k, n_threads), last = first_major_of(view, k + 1, n_threads); j < last; ++j)
            for (size_t e = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]); e < end; ++e) {
                double& most = own[view.indices[e]];
                most = larger(most, std::fabs(view.values[e]) * sizes[j]);
            }
    });
    for (size_t i = 0; i < more.size(); ++i) products[i] = larger(products[i], more[i]);
}

inline double violation(double value, double lower, double upper, double products) {
    if (value >= lower && value <= upper) return 0;
    const double bound = value < lower ? lower : upper;
    return with_nan_as_infinity(std::fabs(value - bound) / larger(std::fabs(bound), products));
}

inline double admissible(double dual, double lower, double upper) {
    return (dual > 0 && !std::isfinite(upper)) || (dual < 0 && !std::isfinite(lower)) ? 0.0 : dual;
}

inline double slackness(double dual, double value, double lower, double upper) {
    if (dual == 0) return 0;
    return with_nan_as_infinity(std::fabs(dual * (value - (dual > 0 ? upper : lower))));
}

// What P adds: the products with the point, and with its fixed part alone, and the largest terms of both kinds.
struct Curved {
    std::vector<double> product, fixed, term, curvature;
};

template <class Index>
Curved pass_over_P(const SparseView<Index>& P, const Vectors& of, u32 n_threads) {
    Curved found;
    for (auto* part : {&found.product, &found.fixed, &found.term, &found.curvature}) part->assign(of.n, 0.0);
    over_majors(P, threads_for(P.n_entries(), n_threads), [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) {  // columns serve as rows: P is symmetric
            double product = 0, fixed = 0, term = 0, curvature = 0;
            for (size_t e = size_t(P.offsets[j]), end = size_t(P.offsets[j + 1]); e < end; ++e) {
                const size_t i = size_t(P.indices[e]);
                const double value = P.values[e], size = std::fabs(value), part = value * of.x[i];
                product += part;
                if (of.lb[i] == of.ub[i]) fixed += part;
                term = larger(term, size * std::fabs(of.x[i]));
                curvature = larger(curvature, size * of.sizes[i]);
            }
            found.product[j] = product, found.fixed[j] = fixed, found.term[j] = term, found.curvature[j] = curvature;
        }
    });
    return found;
}

// The unit of each variable (relift/program/units.py) in place of its ratio, and the common one.
inline double find_units(const Vectors& of) {
    double largest = 0, *units = of.sizes;
    for (size_t j = 0; j < of.n; ++j) {
        double natural = larger(larger(or_nothing(of.lb[j]), or_nothing(of.ub[j])), units[j]);
        if (of.more_natural) natural = larger(natural, of.more_natural[j]);
        units[j] = natural;
        largest = larger(largest, natural);
    }
    const double common = largest > 0 ? (largest < 1 ? largest : 1.0) : 1.0;
    for (size_t j = 0; j < of.n; ++j) units[j] = units[j] <= dust * common ? common : (units[j] < 1 ? units[j] : 1.0);
    return common;
}

// S, the scale of the objective.
inline double find_scale(const Vectors& of, const Curved& curved) {
    double constant = 0, value = 0, most = 0;
    for (size_t j = 0; j < of.n; ++j) {
        const bool is_curved = !curved.product.empty(), is_fixed = of.lb[j] == of.ub[j];
        const double product = is_curved ? curved.product[j] : 0.0;
        value += of.x[j] * (0.5 * product + of.q[j]);
        if (is_fixed) {
            constant += of.x[j] * (0.5 * (is_curved ? curved.fixed[j] : 0.0) + of.q[j]);
            continue;
        }
        double gradient = larger(std::fabs(of.q[j]), std::fabs(product));
        if (is_curved) gradient = larger(gradient, curved.curvature[j]);
        most = larger(most, gradient * larger(std::fabs(of.x[j]), of.sizes[j]));
    }
    value -= constant;
    constant += of.r;
    const double without = std::fabs(value), with = std::fabs(value + constant);
    return (with < without ? with : without) + (most > 0 ? (most < 1 ? most : 1.0) : 1.0);
}

inline void look_at_duals(const Vectors& of, Column* columns, const Curved& curved, const double* y, Residuals& found) {
    for (size_t j = 0; j < of.n; ++j) {
        const double product = curved.product.empty() ? 0.0 : curved.product[j];
        double w = admissible(of.w[j], of.lb[j], of.ub[j]);
        double terms = larger(larger(std::fabs(of.q[j]), std::fabs(w)), columns[j].term);
        if (!curved.term.empty()) terms = larger(terms, curved.term[j]);
        if (of.more_terms) terms = larger(terms, of.more_terms[j]);
        if (std::fabs(w) <= rounded * terms) w = 0;
        double rho = product + of.q[j] + columns[j].rho + w;
        if (of.more_rho) rho += of.more_rho[j];
        columns[j].rho = rho, columns[j].term = terms;
        if (!(std::isfinite(rho) && std::isfinite(terms))) {
            found.duals_are_finite = false;
            return;
        }
        const double size = of.sizes[j], noticed = noise * found.scale / size;
        found.dual = larger(found.dual, with_nan_as_infinity(std::fabs(rho) / larger(terms, noticed)));
        found.gap += slackness(w, of.x[j], of.lb[j], of.ub[j]);
        if (std::fabs(rho) <= rounded * terms) continue;
        const double end = rho > 0 ? of.lb[j] : of.ub[j];
        if (std::isfinite(end))
            found.fall += with_nan_as_infinity(std::fabs(rho) * std::fabs(of.x[j] - end));
        else
            found.asks = true;
    }
    for (size_t i = 0; i < of.m; ++i) found.gap += slackness(y[i], of.Ax[i], of.l[i], of.u[i]);
}

// Columns, as many as there are variables if there are dual values, hold the gradient afterwards.
template <class Index>
Residuals residuals(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of,
                    std::vector<Column>& columns, u32 n_threads) {
    Residuals found;
    std::vector<double> y, per_row(of.m);
    if (of.y) {
        columns.resize(of.n);
        y.resize(of.m);
        for (size_t i = 0; i < of.m; ++i) {
            found.duals_are_finite &= std::isfinite(of.y[i]);
            y[i] = admissible(of.y[i], of.l[i], of.u[i]);
        }
        for (size_t j = 0; j < of.n; ++j) found.duals_are_finite &= std::isfinite(of.w[j]);
    }
    for (size_t i = 0; i < of.m; ++i) per_row[i] = larger(or_nothing(of.l[i]), or_nothing(of.u[i]));
    first_pass(A, of, of.y ? y.data() : nullptr, per_row.data(), columns.data(), n_threads);
    found.common = find_units(of);
    Curved curved;
    if (P) curved = pass_over_P(*P, of, n_threads);
    for (size_t j = 0; j < of.n; ++j)
        found.is_finite &= std::isfinite(of.x[j]) && (!P || std::isfinite(curved.product[j]));
    for (size_t i = 0; i < of.m; ++i) found.is_finite &= std::isfinite(of.Ax[i]);
    found.scale = find_scale(of, curved);
    found.is_in_range = std::isfinite(found.scale);
    if (!found.is_in_range) return found;
    for (size_t j = 0; j < of.n; ++j) {
        double own = of.sizes[j];
        if (of.w) {
            double cost = std::fabs(of.w[j]);
            cost = cost != cost ? 0.0 : cost < largest_double ? cost : largest_double;
            if (cost * own > found.scale) own = found.scale / (cost > 0 ? cost : 1.0);
        }
        of.sizes[j] = larger(std::fabs(of.x[j]), own);
    }
    if (!found.is_finite) {
        found.primal = found.gap = infinity;
        return found;
    }
    largest_products(A, of.sizes, of.m, per_row.data(), n_threads);
    for (size_t i = 0; i < of.m; ++i) {
        const double products = per_row[i] > 0 ? per_row[i] : found.common;
        found.primal = larger(found.primal, violation(of.Ax[i], of.l[i], of.u[i], products));
    }
    for (size_t j = 0; j < of.n; ++j)
        found.primal = larger(found.primal, violation(of.x[j], of.lb[j], of.ub[j], of.sizes[j]));
    if (of.y && found.duals_are_finite) {
        found.dual = 0;
        look_at_duals(of, columns.data(), curved, y.data(), found);
    }
    if (of.y && !found.duals_are_finite) found.dual = found.gap = infinity;
    return found;
}

// The sums of the largest and of the smallest products of a row with variables between their bounds.
struct Reach {
    double largest = 0, smallest = 0;
    u32 largest_missing = 0, smallest_missing = 0;  // how many are not finite
};

// What a gradient can still gain, where some of it leads to where no own bound is: rows may imply one there.
// The marks, if given, are positive for variables that quadratic constraints or cones hold on that side.
template <class Index>
double possible_fall(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of,
                     const std::vector<Column>& columns, const double* below_marks, const double* above_marks) {
    const SparseView<Index>& view = A.view;
    const auto extreme = [&](double entry, size_t j, double& largest, double& smallest) {
        const double at_upper = entry * of.ub[j], at_lower = entry * of.lb[j];
        largest = entry > 0 ? at_upper : at_lower, smallest = entry > 0 ? at_lower : at_upper;
    };
    const auto each_entry = [&](auto&& work) {
        for (size_t major = 0; major < view.n_major; ++major)
            for (size_t e = size_t(view.offsets[major]), end = size_t(view.offsets[major + 1]); e < end; ++e) {
                const size_t minor = size_t(view.indices[e]);
                work(A.is_by_rows ? major : minor, A.is_by_rows ? minor : major, view.values[e]);
            }
    };
    std::vector<Reach> rows(of.m);
    each_entry([&](size_t i, size_t j, double entry) {
        double largest, smallest;
        extreme(entry, j, largest, smallest);
        if (std::isfinite(largest)) rows[i].largest += largest;
        else ++rows[i].largest_missing;
        if (std::isfinite(smallest)) rows[i].smallest += smallest;
        else ++rows[i].smallest_missing;
    });
    std::vector<double> lower(of.lb, of.lb + of.n), upper(of.ub, of.ub + of.n);
    std::vector<char> below(of.n), above(of.n);
    for (size_t j = 0; j < of.n; ++j) {
        const bool is_curved = [&] {
            if (!P) return false;
            for (size_t e = size_t(P->offsets[j]), end = size_t(P->offsets[j + 1]); e < end; ++e)
                if (P->values[e] != 0) return true;
            return false;
        }();
        below[j] = is_curved || std::isfinite(of.lb[j]) || (below_marks && below_marks[j] > 0);
        above[j] = is_curved || std::isfinite(of.ub[j]) || (above_marks && above_marks[j] > 0);
    }
    const auto asks = [&](size_t j) {
        const Column& column = columns[j];
        return std::isinf(column.rho > 0 ? of.lb[j] : of.ub[j]) && std::fabs(column.rho) > rounded * column.term;
    };
    const auto implied = [&](double entry, double side, double own, double total, u32 missing, size_t j, bool is_lower) {
        const bool is_finite = std::isfinite(own);
        if (!std::isfinite(side) || missing > u32(!is_finite)) return;
        const double bound = (side - (total - (is_finite ? own : 0.0))) / entry;
        if (!std::isfinite(bound)) return;
        if (is_lower) lower[j] = bound > lower[j] ? bound : lower[j];
        else upper[j] = bound < upper[j] ? bound : upper[j];
    };
    each_entry([&](size_t i, size_t j, double entry) {
        if (entry == 0) return;
        const bool has_lower = std::isfinite(of.l[i]), has_upper = std::isfinite(of.u[i]);
        below[j] |= entry > 0 ? has_lower : has_upper;
        above[j] |= entry > 0 ? has_upper : has_lower;
        if (!asks(j)) return;
        double largest, smallest;
        extreme(entry, j, largest, smallest);
        implied(entry, of.l[i], largest, rows[i].largest, rows[i].largest_missing, j, entry > 0);
        implied(entry, of.u[i], smallest, rows[i].smallest, rows[i].smallest_missing, j, entry < 0);
    });
    double total = 0;
    for (size_t j = 0; j < of.n; ++j) {
        if ((of.q[j] > 0 && !below[j]) || (of.q[j] < 0 && !above[j])) return infinity;
        const double rho = columns[j].rho;
        if (std::fabs(rho) <= rounded * columns[j].term) continue;
        const double end = rho > 0 ? lower[j] : upper[j];
        total += with_nan_as_infinity(std::fabs(rho) * (std::isfinite(end) ? std::fabs(of.x[j] - end) : of.sizes[j]));
    }
    return total;
}

}  // namespace relift::passes
