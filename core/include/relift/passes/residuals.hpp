// The residuals of a point and its dual values, in two passes over A and one over P.
//
// The formulas are those of relift/program/formulas.py; relift/lifting/residuals_reference.py puts them together slowly
// and obviously, and tests compare the two. What quadratic constraints and cones add is handed in.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../threads.hpp"

// Compiled twice, for processors with vectors of 256 bits and for all, where compiler and loader can choose between the
// two. Results are the same: nothing is added in another order, and no product is fused with a sum.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RELIFT_WITH_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define RELIFT_WITH_WIDE_VECTORS
#endif

namespace relift::passes {

constexpr double dust = 1e-9, rounded = 1e-14, noise = 1e-2;  // those of formulas.py
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_double = std::numeric_limits<double>::max();

// The larger of two numbers; one that is not a number gets lost, so that none may be in what is compared.
RELIFT_ALWAYS_INLINE inline double larger(double most, double value) { return value > most ? value : most; }
RELIFT_ALWAYS_INLINE inline double with_nan_as_infinity(double value) { return value != value ? infinity : value; }
RELIFT_ALWAYS_INLINE inline double or_nothing(double bound) { return std::isfinite(bound) ? std::fabs(bound) : 0.0; }

// Whether all numbers are finite; without a branch, so that compilers make vector instructions of it.
RELIFT_WITH_WIDE_VECTORS inline bool are_finite_numbers(const double* numbers, size_t size) {
    u64 others = 0;
    for (size_t k = 0; k < size; ++k) others |= u64(!(std::fabs(numbers[k]) <= largest_double));
    return others == 0;
}

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
    bool some_cost_is_open = false;  // whether a variable has no own bound in the direction in which its cost falls
    double common = 1, scale = 1;
    double primal = 0, dual = infinity, gap = 0, fall = 0;
};

template <class Index> struct Matrix {
    SparseView<Index> view;
    bool is_by_rows = false;
};

// What the first pass over A finds out about a column: the sum of a_ij y_i and the largest |a_ij y_i|; later the whole
// gradient, and what the objective may fall along it up to the own bound of the variable.
struct Column {
    double rho, term;
};

// Which bound of a variable a gradient asks for, where it leads to where no own bound is.
constexpr u8 asks_nothing = 0, asks_lower = 1, asks_upper = 2, is_answered = 4;

// The size of a variable that its own bounds, quadratic constraints and cones give.
inline double own_natural(const Vectors& of, size_t j) {
    const double natural = larger(or_nothing(of.lb[j]), or_nothing(of.ub[j]));
    return of.more_natural ? larger(natural, of.more_natural[j]) : natural;
}

// The largest side over the size of an entry in a column, or something from 1 on where that is so large: units end at 1,
// and most columns show it without a division.
template <class Index>
double largest_ratio(const SparseView<Index>& view, const double* sides, size_t begin, size_t end) {
    bool is_large = false;
    for (size_t e = begin; e < end; ++e) {
        const double size = std::fabs(view.values[e]);
        is_large |= (size > 0) & (sides[view.indices[e]] >= size);
    }
    if (is_large) return 1;
    double ratio = 0;
    for (size_t e = begin; e < end; ++e)
        if (view.values[e] != 0) ratio = larger(ratio, sides[view.indices[e]] / std::fabs(view.values[e]));
    return ratio;
}

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
        if (y) {
            Column column{0, 0};
            for (size_t e = begin; e < end; ++e) {
                const double product = view.values[e] * y[view.indices[e]];
                column.rho += product;
                column.term = larger(column.term, std::fabs(product));
            }
            columns[major] = column;
        }
        const double natural = own_natural(of, major);
        of.sizes[major] = natural < 1 ? larger(natural, largest_ratio(view, sides, begin, end)) : natural;
    }
}

// What a block of majors scatters.
template <class Index>
void scatter_first(const Matrix<Index>& A, const Vectors& of, const double* y, const double* sides, bool some_are_small,
                   Column* columns, size_t first, size_t last) {
    const SparseView<Index>& view = A.view;
    for (size_t major = first; major < last; ++major) {
        const size_t begin = size_t(view.offsets[major]), end = size_t(view.offsets[major + 1]);
        if (!A.is_by_rows) {
            const double at = of.x[major];
            for (size_t e = begin; e < end; ++e) of.Ax[view.indices[e]] += view.values[e] * at;
            continue;
        }
        const double price = y ? y[major] : 0.0, side = sides[major];
        if (price != 0)  // most rows of a solution have none, and zeros add nothing
            for (size_t e = begin; e < end; ++e) {
                const double product = view.values[e] * price;
                Column& column = columns[view.indices[e]];
                column.rho += product;
                column.term = larger(column.term, std::fabs(product));
            }
        if (some_are_small && side > 0)
            for (size_t e = begin; e < end; ++e) {  // which are small is as good as random: nothing branches on it
                double& natural = of.sizes[view.indices[e]];
                const double ratio = side / std::fabs(view.values[e]);
                natural = larger(natural, ratio <= largest_double ? ratio : view.values[e] == 0 ? 0.0 : infinity);
            }
    }
}

// Both products, and in place of the sizes what bounds and rows tell of them, exact as far as it is below 1.
template <class Index>
void first_pass(const Matrix<Index>& A, const Vectors& of, const double* y, const double* sides, Column* columns,
                u32 n_threads) {
    bool some_are_small = false;  // for most programs bounds tell enough
    if (!A.is_by_rows) {
        for (size_t i = 0; i < of.m; ++i) of.Ax[i] = 0;
    } else {
        for (size_t j = 0; j < of.n; ++j) {
            of.sizes[j] = own_natural(of, j);
            some_are_small |= of.sizes[j] < 1;
            if (y) columns[j] = {0, 0};
        }
    }
    scatter_beside_gather(
        A.view, n_threads,
        [&](u32 first, u32 last) { scatter_first(A, of, y, sides, some_are_small, columns, first, last); },
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
    Array<double> more(n_threads > 1 ? m : 0);
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

// The larger of a number and a quotient, which is divided out only where it may be that: most are clearly less than
// the largest one so far.
inline double larger_quotient(double most, double part, double whole) {
    if (part < most * whole * (1 - 1e-12)) return most;
    return larger(most, with_nan_as_infinity(part / whole));
}

RELIFT_ALWAYS_INLINE inline double admissible(double dual, double lower, double upper) {
    const bool is_lost = ((dual > 0) & !std::isfinite(upper)) | ((dual < 0) & !std::isfinite(lower));
    return is_lost ? 0.0 : dual;
}

// What P adds: the products with the point, and with its fixed part alone, and the largest terms of both kinds.
struct Curved {
    Array<double> product, fixed, term, curvature;
};

template <class Index>
Curved pass_over_P(const SparseView<Index>& P, const Vectors& of, u32 n_threads) {
    Curved found;
    for (auto* part : {&found.product, &found.fixed, &found.term, &found.curvature}) part->resize(of.n);
    bool some_are_fixed = false;
    for (size_t j = 0; j < of.n; ++j) some_are_fixed |= of.lb[j] == of.ub[j];
    over_majors(P, threads_for(P.n_entries(), n_threads), [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) {  // columns serve as rows: P is symmetric
            const size_t begin = size_t(P.offsets[j]), end = size_t(P.offsets[j + 1]);
            double product = 0, fixed = 0, term = 0, curvature = 0;
            for (size_t e = begin; e < end; ++e) {
                const size_t i = size_t(P.indices[e]);
                const double part = P.values[e] * of.x[i];
                product += part;
                term = larger(term, std::fabs(part));
                curvature = larger(curvature, std::fabs(P.values[e]) * of.sizes[i]);
            }
            if (some_are_fixed)
                for (size_t e = begin; e < end; ++e) {
                    const size_t i = size_t(P.indices[e]);
                    if (of.lb[i] == of.ub[i]) fixed += P.values[e] * of.x[i];
                }
            found.product[j] = product, found.fixed[j] = fixed, found.term[j] = term, found.curvature[j] = curvature;
        }
    });
    return found;
}

// The common unit of the variables (relift/program/units.py), from what bounds and rows tell of them.
inline double common_unit(const Vectors& of) {
    double common = 0;
    for (size_t j = 0; j < of.n && common < 1; ++j) common = larger(common, of.sizes[j]);
    return common > 0 ? (common < 1 ? common : 1.0) : 1.0;
}

// The units of some variables in place of what bounds and rows tell of them; units stay as they are.
RELIFT_WITH_WIDE_VECTORS inline void fill_units(double* sizes, size_t count, double common) {
    for (size_t k = 0; k < count; ++k) {
        const double size = sizes[k], unit = size < 1 ? size : 1.0;
        sizes[k] = size <= dust * common ? common : unit;
    }
}

// Signs of dual values are as good as random, and each branch on them would cost more than all else. So variables and
// rows are looked at in blocks: first each of them by numbers that are chosen, not branched on, which compilers turn into
// vector instructions if nothing is computed in the arms of a choice; then sums and largest numbers are taken in order,
// but of blocks that have only zeros, as of solutions most have.
constexpr size_t size_of_block = 128;

RELIFT_ALWAYS_INLINE inline bool has_only_zeros(const double* numbers, size_t count) {
    u64 bits = 0;
    for (size_t k = 0; k < count; ++k) {
        u64 own;
        std::memcpy(&own, numbers + k, sizeof own);
        bits |= own;
    }
    return bits << 1 == 0;  // whatever their signs
}

// S, the scale of the objective; the units of the variables on the way, and whether the point is finite.
RELIFT_WITH_WIDE_VECTORS inline double find_scale(const Vectors& of, const Curved& curved, double common,
                                                  Residuals& found) {
    double constant = 0, value = 0, most = 0;
    u64 others = 0, are_open = 0;
    const bool is_curved = !curved.product.empty();
    double terms[size_of_block], fixed[size_of_block], reach[size_of_block];
    for (size_t first = 0; first < of.n; first += size_of_block) {
        const size_t count = std::min(size_of_block, of.n - first);
        const double *const q = of.q + first, *const x = of.x + first, *const lb = of.lb + first;
        const double *const ub = of.ub + first;
        double* const sizes = of.sizes + first;
        for (size_t k = 0; k < count; ++k) {
            const double size = sizes[k], unit = size < 1 ? size : 1.0;
            sizes[k] = size <= dust * common ? common : unit;
        }
        for (size_t k = 0; k < count; ++k) {
            const double low = lb[k], high = ub[k], cost = q[k], bound = cost > 0 ? low : high;
            are_open |= u64(!(std::fabs(bound) <= largest_double)) & u64(cost != 0);
            others |= u64(!(std::fabs(x[k]) <= largest_double));
        }
        if (is_curved) {
            const double *const product = curved.product.data() + first, *const part = curved.fixed.data() + first;
            const double* const curvature = curved.curvature.data() + first;
            for (size_t k = 0; k < count; ++k) {
                terms[k] = x[k] * (0.5 * product[k] + q[k]);
                fixed[k] = x[k] * (0.5 * part[k] + q[k]);
                const double gradient = larger(larger(std::fabs(q[k]), std::fabs(product[k])), curvature[k]);
                reach[k] = gradient * larger(std::fabs(x[k]), sizes[k]);
            }
        } else {
            for (size_t k = 0; k < count; ++k) {
                fixed[k] = terms[k] = x[k] * q[k];
                reach[k] = std::fabs(q[k]) * larger(std::fabs(x[k]), sizes[k]);
            }
        }
        for (size_t k = 0; k < count; ++k) {
            const double own = fixed[k], far = reach[k];
            fixed[k] = lb[k] == ub[k] ? own : 0.0;
            reach[k] = lb[k] == ub[k] ? 0.0 : far;
        }
        for (size_t k = 0; k < count; ++k) value += terms[k], most = larger(most, reach[k]);
        if (!has_only_zeros(fixed, count))
            for (size_t k = 0; k < count; ++k) constant += fixed[k];
    }
    found.is_finite = others == 0;
    found.some_cost_is_open = are_open != 0;
    value -= constant;
    constant += of.r;
    const double without = std::fabs(value), with = std::fabs(value + constant);
    return (with < without ? with : without) + (most > 0 ? (most < 1 ? most : 1.0) : 1.0);
}

// The sizes of admissible dual values times the distances of finite numbers from the sides that they press on.
RELIFT_ALWAYS_INLINE inline void fill_slack(const double* duals, const double* values, const double* lower, const double* upper, size_t count,
                       double* slack) {
    double sides[size_of_block];
    for (size_t k = 0; k < count; ++k) {
        const double low = lower[k], high = upper[k];
        sides[k] = duals[k] > 0 ? high : low;
    }
    for (size_t k = 0; k < count; ++k) {
        const double side = sides[k], value = values[k], end = duals[k] == 0 ? value : side;
        slack[k] = std::fabs(duals[k] * (value - end));
    }
}

// The bounds that finite values are nearest to breaking, and by how much they do.
RELIFT_ALWAYS_INLINE inline void fill_excess(const double* values, const double* lower, const double* upper, size_t count, double* bounds,
                        double* excess) {
    for (size_t k = 0; k < count; ++k) {
        const double low = lower[k], high = upper[k];
        bounds[k] = values[k] < low ? low : high;
    }
    for (size_t k = 0; k < count; ++k) {
        const double value = values[k], bound = bounds[k];
        const double end = (value >= lower[k]) & (value <= upper[k]) ? value : bound;
        excess[k] = std::fabs(value - end);
    }
}

// The largest of some numbers and one more, none of which is negative or not a number.
RELIFT_ALWAYS_INLINE inline double largest_of(const double* numbers, size_t count, double most) {
    double lanes[4] = {most, 0, 0, 0};
    size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (size_t lane = 0; lane < 4; ++lane) lanes[lane] = larger(lanes[lane], numbers[k + lane]);
    for (; k < count; ++k) lanes[0] = larger(lanes[0], numbers[k]);
    return larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3]));
}

// The larger of a number and how far some finite values, at most a block of them, break their bounds; relative to the
// larger of the bound and the product of each, or the common unit where that is 0.
RELIFT_ALWAYS_INLINE inline double larger_violation(double most, const double* values, const double* lower,
                                                        const double* upper, const double* products, double common,
                                                        size_t count) {
    double bounds[size_of_block], excess[size_of_block];
    fill_excess(values, lower, upper, count, bounds, excess);
    if (has_only_zeros(excess, count)) return most;
    for (size_t k = 0; k < count; ++k) {
        const double product = products[k], bound = std::fabs(bounds[k]), part = excess[k];
        const double quotient = part / larger(bound, product > 0 ? product : common);
        bounds[k] = part > 0 ? quotient : 0.0;
    }
    return largest_of(bounds, count, most);
}

// The same where products are asked for one by one, only where they decide: not where the bound alone says enough.
template <class Product>
double larger_violation_of_few(double most, const double* values, const double* lower, const double* upper, double common,
                               size_t count, Product&& product_of) {
    double bounds[size_of_block], excess[size_of_block];
    u32 some[size_of_block];
    fill_excess(values, lower, upper, count, bounds, excess);
    if (has_only_zeros(excess, count)) return most;
    size_t n_some = 0;
    for (size_t k = 0; k < count; ++k) {
        some[n_some] = u32(k);
        n_some += !(excess[k] <= most * std::fabs(bounds[k]) * (1 - 1e-12)) & (excess[k] > 0);
    }
    for (size_t at = 0; at < n_some; ++at) {
        const size_t k = some[at];
        if (excess[k] < most * std::fabs(bounds[k]) * (1 - 1e-12)) continue;
        const double product = product_of(k), room = larger(std::fabs(bounds[k]), product > 0 ? product : common);
        most = larger_quotient(most, excess[k], room);
    }
    return most;
}

// What the variables of a block add, one by one: to the gap, to what the objective may fall, and whether they lead to
// where no own bound is (then infinite, else 0).
struct BlockOfDuals {
    double slack[size_of_block], fall[size_of_block], asks[size_of_block];
};

// Fills a block, and the gradients and their largest terms.
RELIFT_ALWAYS_INLINE inline void fill_block(const Vectors& of, Column* columns, const Curved& curved, size_t first, size_t count,
                       BlockOfDuals& block) {
    double product[size_of_block], terms[size_of_block];
    double duals[size_of_block], sides[size_of_block];
    const double *const q = of.q + first, *const x = of.x + first, *const lb = of.lb + first, *const ub = of.ub + first;
    columns += first;
    for (size_t k = 0; k < count; ++k) {
        product[k] = curved.product.empty() ? 0.0 : curved.product[first + k];
        duals[k] = admissible(of.w[first + k], lb[k], ub[k]);
        terms[k] = larger(larger(std::fabs(q[k]), std::fabs(duals[k])), columns[k].term);
    }
    if (!curved.term.empty())
        for (size_t k = 0; k < count; ++k) terms[k] = larger(terms[k], curved.term[first + k]);
    if (of.more_terms)
        for (size_t k = 0; k < count; ++k) terms[k] = larger(terms[k], of.more_terms[first + k]);
    for (size_t k = 0; k < count; ++k) {
        const double dual = duals[k];
        duals[k] = std::fabs(dual) <= rounded * terms[k] ? 0.0 : dual;
    }
    fill_slack(duals, x, lb, ub, count, block.slack);
    for (size_t k = 0; k < count; ++k) {
        columns[k].rho = product[k] + q[k] + columns[k].rho + duals[k];
        columns[k].term = terms[k];
    }
    if (of.more_rho)
        for (size_t k = 0; k < count; ++k) columns[k].rho += of.more_rho[first + k];
    for (size_t k = 0; k < count; ++k) {
        const double low = lb[k], high = ub[k];
        sides[k] = columns[k].rho > 0 ? low : high;
    }
    for (size_t k = 0; k < count; ++k) {
        const double side = sides[k], at = x[k];
        sides[k] = std::fabs(columns[k].rho) <= rounded * terms[k] ? at : side;
    }
    for (size_t k = 0; k < count; ++k) {
        const double side = sides[k], at = x[k], end = std::fabs(side) <= largest_double ? side : at;
        block.fall[k] = std::fabs(columns[k].rho) * std::fabs(at - end);
        block.asks[k] = side - end;
    }
}

// What variables add to the dual residual and to the gap.
struct FromVariables {
    double gap = 0, fall = 0, dual = 0;
    bool asks = false, is_finite = true;
};

// Which bound is asked for where the way to the end is not 0.
inline u8 who_asks(double way, double rho) {
    return u8(way != 0) * (rho > 0 ? asks_lower : asks_upper);
}

// What a block of finite variables adds; where a dual value or gradient is not finite, nothing more is added.
RELIFT_ALWAYS_INLINE inline void look_at_block(const Vectors& of, Column* columns, u8* asks, const Curved& curved, double noticed,
                          size_t first, size_t count, FromVariables& found) {
    BlockOfDuals block;
    fill_block(of, columns, curved, first, count, block);
    u64 others = 0, larger_ones = 0;
    const double dual = found.dual;
    for (size_t k = 0; k < count; ++k) others |= u64(!(std::fabs(of.w[first + k]) <= largest_double));
    for (size_t k = 0; k < count; ++k) {
        const double size = std::fabs(columns[first + k].rho), terms = columns[first + k].term;
        others |= u64(!(size <= largest_double)) | u64(!(terms <= largest_double));
        larger_ones |= u64(!(size < dual * terms * (1 - 1e-12))) & u64(size != 0);
    }
    found.is_finite = others == 0;
    if (!found.is_finite) return;
    if (!has_only_zeros(block.slack, count) || !has_only_zeros(block.fall, count)) {
        double gap = found.gap, fall = found.fall;
        for (size_t k = 0; k < count; ++k) gap += block.slack[k], fall += block.fall[k];
        found.gap = gap, found.fall = fall;
    }
    const bool do_ask = !has_only_zeros(block.asks, count);
    found.asks |= do_ask;
    if (do_ask)
        for (size_t k = 0; k < count; ++k) asks[first + k] = who_asks(block.asks[k], columns[first + k].rho);
    else
        std::fill_n(asks + first, count, asks_nothing);
    for (size_t k = 0; k < count && larger_ones; ++k) {
        const double size = std::fabs(columns[first + k].rho), terms = columns[first + k].term;
        // Relative to the largest term, or to what S notices if that is more: mostly the term says enough.
        if (size < found.dual * terms * (1 - 1e-12) || size == 0) continue;
        found.dual = larger_quotient(found.dual, size, larger(terms, noticed / of.sizes[first + k]));
    }
    for (size_t k = 0; k < count; ++k) columns[first + k].term = block.fall[k];
}

// The sizes of some variables in place of their units.
RELIFT_ALWAYS_INLINE inline void fill_sizes(const Vectors& of, double scale, size_t first, size_t count) {
    const auto cost_of = [&](size_t j) {
        const double cost = std::fabs(of.w[j]);
        return cost != cost ? 0.0 : cost < largest_double ? cost : largest_double;
    };
    u64 are_dear = 0;
    if (of.w)
        for (size_t j = first; j < first + count; ++j) are_dear |= u64(cost_of(j) * of.sizes[j] > scale);
    for (size_t j = first; j < first + count && are_dear; ++j) {
        const double cost = cost_of(j);
        if (cost * of.sizes[j] > scale) of.sizes[j] = scale / (cost > 0 ? cost : 1.0);
    }
    for (size_t j = first; j < first + count; ++j) of.sizes[j] = larger(std::fabs(of.x[j]), of.sizes[j]);
}

// What variables add to all residuals, block by block, so that a block comes from memory once; their sizes on the way.
RELIFT_WITH_WIDE_VECTORS inline FromVariables look_at_variables(const Vectors& of, Column* columns, u8* asks,
                                                                const Curved& curved, Residuals& found) {
    FromVariables duals;
    const double noticed = noise * found.scale;
    for (size_t first = 0; first < of.n; first += size_of_block) {
        const size_t count = std::min(size_of_block, of.n - first);
        fill_sizes(of, found.scale, first, count);
        found.primal = larger_violation(found.primal, of.x + first, of.lb + first, of.ub + first, of.sizes + first, 0.0,
                                        count);
        if (columns && duals.is_finite) look_at_block(of, columns, asks, curved, noticed, first, count, duals);
    }
    return duals;
}

// How many rows are broken, and whether all products with the point are finite.
RELIFT_WITH_WIDE_VECTORS inline size_t count_broken(const Vectors& of, bool& are_finite) {
    u64 others = 0, n_broken = 0;
    for (size_t i = 0; i < of.m; ++i) {
        others |= u64(!(std::fabs(of.Ax[i]) <= largest_double));
        n_broken += u64(of.Ax[i] < of.l[i]) | u64(of.Ax[i] > of.u[i]);
    }
    are_finite = others == 0;
    return size_t(n_broken);
}

// What rows add to the primal residual and, where there are dual values, to the gap. Of a solution few rows are broken,
// and only these are asked for their products; of a matrix by columns, and on several threads where many are broken, all
// products are found at once. The last vector but one is filled then.
template <class Index>
void look_at_rows(const Matrix<Index>& A, const Vectors& of, const double* y, size_t n_broken, double* products,
                  u32 n_threads, Residuals& found) {
    constexpr size_t few = 8;
    const bool are_many = n_broken > of.m / few && threads_for(A.view.n_entries(), n_threads) > 1;
    const bool are_found = n_broken > 0 && (!A.is_by_rows || are_many);
    if (are_found) largest_products(A, of.sizes, of.m, products, n_threads);
    const SparseView<Index>& view = A.view;
    const auto product_of = [&](size_t i) {
        double largest = 0;
        for (size_t e = size_t(view.offsets[i]), end = size_t(view.offsets[i + 1]); e < end; ++e)
            largest = larger(largest, std::fabs(view.values[e]) * of.sizes[view.indices[e]]);
        return largest;
    };
    double slack[size_of_block], gap = found.gap;
    for (size_t i = 0; i < of.m && (n_broken > 0 || y); i += size_of_block) {
        const size_t count = std::min(size_of_block, of.m - i);
        const double *const Ax = of.Ax + i, *const l = of.l + i, *const u = of.u + i;
        if (are_found)
            found.primal = larger_violation(found.primal, Ax, l, u, products + i, found.common, count);
        else if (n_broken > 0)
            found.primal = larger_violation_of_few(found.primal, Ax, l, u, found.common, count,
                                                   [&](size_t k) { return product_of(i + k); });
        if (!y) continue;
        fill_slack(y + i, Ax, l, u, count, slack);
        if (!has_only_zeros(slack, count))
            for (size_t k = 0; k < count; ++k) gap += slack[k];
    }
    found.gap = gap;
}

// The admissible dual values of rows, and the larger side of each; whether the dual values are finite.
RELIFT_WITH_WIDE_VECTORS inline bool prepare_rows(const Vectors& of, double* y, double* sides) {
    u64 others = 0;
    for (size_t first = 0; first < of.m; first += size_of_block) {
        const size_t last = std::min(first + size_of_block, of.m);
        for (size_t i = first; i < last; ++i) sides[i] = larger(or_nothing(of.l[i]), or_nothing(of.u[i]));
        if (!of.y) continue;
        for (size_t i = first; i < last; ++i) {
            others |= u64(!(std::fabs(of.y[i]) <= largest_double));
            y[i] = admissible(of.y[i], of.l[i], of.u[i]);
        }
    }
    return others == 0;
}

// Columns and asks, as many as there are variables if there are dual values, hold the gradient afterwards, and who asks.
template <class Index>
Residuals residuals(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of, Array<Column>& columns,
                    Array<u8>& asks, u32 n_threads) {
    Residuals found;
    Array<double> y, per_row(of.m);
    if (of.y) {
        columns.resize(of.n), asks.resize(of.n);
        y.resize(of.m + 1);  // not null where there are no rows
    }
    found.duals_are_finite = prepare_rows(of, y.data(), per_row.data());
    first_pass(A, of, of.y ? y.data() : nullptr, per_row.data(), columns.data(), n_threads);
    found.common = common_unit(of);
    Curved curved;
    if (P) {
        fill_units(of.sizes, of.n, found.common);
        curved = pass_over_P(*P, of, n_threads);
    }
    bool are_finite;
    found.scale = find_scale(of, curved, found.common, found);
    const size_t n_broken = count_broken(of, are_finite);
    found.is_finite = found.is_finite && are_finite && are_finite_numbers(curved.product.data(), curved.product.size());
    found.is_in_range = std::isfinite(found.scale);
    if (!found.is_in_range) return found;
    if (!found.is_finite) {
        found.primal = found.gap = infinity;
        return found;
    }
    const bool has_duals = of.y && found.duals_are_finite;
    const FromVariables duals = look_at_variables(of, has_duals ? columns.data() : nullptr, asks.data(), curved, found);
    found.duals_are_finite = found.duals_are_finite && duals.is_finite;
    const bool are_usable = has_duals && duals.is_finite;
    if (are_usable) found.gap = duals.gap, found.fall = duals.fall, found.dual = duals.dual, found.asks = duals.asks;
    look_at_rows(A, of, are_usable ? y.data() : nullptr, n_broken, per_row.data(), n_threads, found);
    if (of.y && !are_usable) found.dual = found.gap = infinity;
    return found;
}

// The sum of the largest, or of the smallest, products of a row with variables between their bounds.
struct Reach {
    double total = 0;
    u32 n_missing = 0;  // how many are not finite
    void add(double product) {  // which are finite is as good as random: nothing branches on it
        const bool is_finite = std::fabs(product) <= largest_double;
        total += is_finite ? product : 0.0;
        n_missing += !is_finite;
    }
};

// The bounds up to which variables may go where a gradient asks for them: what one row and the bounds of the others in
// it imply. Who is answered is marked.
template <class Index>
class ImpliedBounds {
public:
    ImpliedBounds(const Matrix<Index>& A, const Vectors& of, Array<u8>& asks, u32 n_threads)
        : A_(A), of_(of), asks_(asks), ends_(of.n) {
        if (A.is_by_rows) look_by_rows();
        else look_by_columns(threads_for(A.view.n_entries(), n_threads));
    }

    double end(size_t j) const { return ends_[j]; }

private:
    // The side of a variable at which its product with an entry is largest, and smallest: the array is chosen, so that
    // signs, which are as good as random, are not branched on.
    double largest(double entry, size_t j) const { return entry * (entry > 0 ? of_.ub : of_.lb)[j]; }
    double smallest(double entry, size_t j) const { return entry * (entry > 0 ? of_.lb : of_.ub)[j]; }

    // A row that the largest products of the others keep above its lower bound, or the smallest below its upper one.
    void look(double entry, size_t j, double l, double u, const Reach& most, const Reach& least) {
        const bool is_upper = asks_[j] & asks_upper, by_upper = is_upper == (entry > 0);
        const double side = by_upper ? u : l, own = entry * (is_upper ? of_.lb[j] : of_.ub[j]);
        const Reach& reach = by_upper ? least : most;
        const bool is_finite = std::isfinite(own);
        if (entry == 0 || !std::isfinite(side) || reach.n_missing > u32(!is_finite)) return;
        const double bound = (side - (reach.total - (is_finite ? own : 0.0))) / entry;
        if (!std::isfinite(bound)) return;
        const double before = asks_[j] & is_answered ? ends_[j] : bound;
        ends_[j] = is_upper ? std::min(before, bound) : std::max(before, bound);
        asks_[j] |= is_answered;
    }

    // Rows in which nobody asks, and those that tell nothing since too many of the others are unbounded, are left early.
    void look_by_rows() {
        const SparseView<Index>& view = A_.view;
        constexpr size_t block = 256;
        u32 some[block];
        for (size_t i = 0; i < of_.m; ++i) {
            const double l = of_.l[i], u = of_.u[i];
            const size_t begin = size_t(view.offsets[i]), end = size_t(view.offsets[i + 1]);
            Reach most, least;
            most.n_missing = std::isfinite(l) ? 0 : 2;
            least.n_missing = std::isfinite(u) ? 0 : 2;
            for (size_t e = begin; e < end && most.n_missing < 2; ++e)
                most.add(largest(view.values[e], size_t(view.indices[e])));
            for (size_t e = begin; e < end && least.n_missing < 2; ++e)
                least.add(smallest(view.values[e], size_t(view.indices[e])));
            if (most.n_missing > 1 && least.n_missing > 1) continue;
            for (size_t first = begin; first < end; first += block) {
                size_t count = 0;  // who asks is as good as random: nothing branches on it
                for (size_t k = 0, in_block = std::min(block, end - first); k < in_block; ++k) {
                    some[count] = u32(k);
                    count += asks_[view.indices[first + k]] != 0;
                }
                for (size_t k = 0; k < count; ++k)
                    look(view.values[first + some[k]], size_t(view.indices[first + some[k]]), l, u, most, least);
            }
        }
    }

    // Where sums are too many for any cache, two threads add them up: the largest products one and the smallest the other,
    // each in order and in memory of its own. Then columns are looked at in blocks.
    void look_by_columns(u32 n_threads) {
        const SparseView<Index>& view = A_.view;
        Array<Reach> reaches(2 * of_.m);
        const bool are_apart = n_threads > 1 && of_.m > most_rows_together;
        const size_t step = are_apart ? 1 : 2;
        Reach *const most = reaches.data(), *const least = reaches.data() + (are_apart ? of_.m : 1);
        const auto each_entry = [&](size_t j, auto&& work) {
            for (size_t e = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]); e < end; ++e)
                work(size_t(view.indices[e]), view.values[e]);
        };
        const auto add_all = [&](Reach* reach, auto&& product) {
            for (size_t j = 0; j < of_.n; ++j)
                each_entry(j, [&](size_t i, double entry) { reach[i].add(product(entry, j)); });
        };
        if (are_apart) {
            in_parallel(2, [&](u32 k) {
                if (k) add_all(least, [this](double entry, size_t j) { return smallest(entry, j); });
                else add_all(most, [this](double entry, size_t j) { return largest(entry, j); });
            });
        } else {
            for (size_t j = 0; j < of_.n; ++j)
                each_entry(j, [&](size_t i, double entry) {
                    most[2 * i].add(largest(entry, j));
                    least[2 * i].add(smallest(entry, j));
                });
        }
        over_majors(view, n_threads, [&](size_t first, size_t last) {
            for (size_t j = first; j < last; ++j) {
                if (!asks_[j]) continue;
                each_entry(j, [&](size_t i, double entry) {
                    look(entry, j, of_.l[i], of_.u[i], most[step * i], least[step * i]);
                });
            }
        });
    }

    static constexpr size_t most_rows_together = size_t(1) << 19;
    const Matrix<Index>& A_;
    const Vectors& of_;
    Array<u8>& asks_;
    Array<double> ends_;  // of those that are answered
};

// Whether some variable is held by nothing in the direction in which its cost falls: not by a bound, P, a row, or, where
// marks are positive, by quadratic constraints or cones.
template <class Index>
bool some_falls_without_end(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of,
                            const double* below_marks, const double* above_marks) {
    const auto is_curved = [&](size_t j) {
        if (P)
            for (size_t e = size_t(P->offsets[j]), end = size_t(P->offsets[j + 1]); e < end; ++e)
                if (P->values[e] != 0) return true;
        return false;
    };
    Array<u8> open(of.n);
    size_t n_open = 0;
    for (size_t j = 0; j < of.n; ++j) {
        const double cost = of.q[j], bound = cost > 0 ? of.lb[j] : of.ub[j];
        const double* marks = cost > 0 ? below_marks : above_marks;
        open[j] = cost != 0 && !std::isfinite(bound) && !(marks && marks[j] > 0) && !is_curved(j);
        n_open += open[j];
    }
    const SparseView<Index>& view = A.view;
    for (size_t major = 0; major < view.n_major && n_open > 0; ++major) {
        if (!A.is_by_rows && !open[major]) continue;
        for (size_t e = size_t(view.offsets[major]), end = size_t(view.offsets[major + 1]); e < end; ++e) {
            const size_t minor = size_t(view.indices[e]), i = A.is_by_rows ? major : minor;
            const size_t j = A.is_by_rows ? minor : major;
            if (!open[j] || view.values[e] == 0) continue;
            const bool by_lower = (of.q[j] > 0) == (view.values[e] > 0);
            if (!std::isfinite(by_lower ? of.l[i] : of.u[i])) continue;
            open[j] = 0;
            --n_open;
        }
    }
    return n_open > 0;
}

// What a gradient can still gain, where some of it leads to where no own bound is: rows may imply one there, and where
// they do not it is what the size of the variable allows.
template <class Index>
double possible_fall(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of, const Residuals& found,
                     const Array<Column>& columns, Array<u8>& asks, const double* below_marks, const double* above_marks,
                     u32 n_threads) {
    if (found.some_cost_is_open && some_falls_without_end(A, P, of, below_marks, above_marks)) return infinity;
    const ImpliedBounds<Index> bounds(A, of, asks, n_threads);
    double total = 0, falls[size_of_block];
    u32 some[size_of_block];
    for (size_t first = 0; first < of.n; first += size_of_block) {
        const size_t count = std::min(size_of_block, of.n - first);
        size_t n_some = 0;
        for (size_t k = 0; k < count; ++k) {
            falls[k] = columns[first + k].term;
            some[n_some] = u32(k);
            n_some += asks[first + k] != asks_nothing;
        }
        for (size_t at = 0; at < n_some; ++at) {
            const size_t j = first + some[at];
            const double distance = asks[j] & is_answered ? std::fabs(of.x[j] - bounds.end(j)) : of.sizes[j];
            falls[some[at]] = with_nan_as_infinity(std::fabs(columns[j].rho) * distance);
        }
        for (size_t k = 0; k < count; ++k) total += falls[k];
    }
    return total;
}

}  // namespace relift::passes
