// A point of a program with its dual values, what is found out about it, and what its formulas share: those of
// relift/program/formulas.py.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

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
RELIFT_ALWAYS_INLINE inline bool is_finite(double value) { return std::fabs(value) <= largest_double; }
RELIFT_ALWAYS_INLINE inline double or_nothing(double bound) {
    const double size = std::fabs(bound);
    return size <= largest_double ? size : 0.0;
}

// One of two numbers, both of which are computed: compilers would move what a choice needs in one case alone into a branch
// of its own, and make no vector instructions of it then.
RELIFT_ALWAYS_INLINE inline double chosen(bool is_first, double first, double second) {
    u64 one, other;
    std::memcpy(&one, &first, sizeof one);
    std::memcpy(&other, &second, sizeof other);
    const u64 mask = is_first ? ~u64(0) : u64(0), bits = (one & mask) | (other & ~mask);
    double found;
    std::memcpy(&found, &bits, sizeof found);
    return found;
}

struct Vectors {
    size_t n, m;
    const double *q, *l, *u, *lb, *ub;
    double r;
    const double *x, *y, *w;                             // y and w may be null: then only the point is looked at
    const double *more_natural, *more_terms, *more_rho;  // of quadratic constraints and cones; may be null
    double *sizes, *Px;                                  // results, of n entries; Px may be null
};

struct Residuals {
    bool is_finite = true;    // whether the point and its products are
    bool is_in_range = true;  // whether the scale of the objective is finite; if not, nothing else is set
    bool duals_are_finite = true;
    bool asks = false;  // whether a gradient leads to where no own bound is
    bool some_cost_is_open = false;  // whether a variable may be held by nothing in the direction in which its cost falls
    double common = 1, scale = 1;
    double primal = 0, dual = infinity, gap = 0, fall = 0;
};

template <class Index> struct Matrix {
    SparseView<Index> view;
    bool is_by_rows = false;
};

// What the first pass over A finds out about a column: the sum of a_ij y_i and the largest |a_ij y_i|; later the whole
// gradient, and the largest term of it.
struct Column {
    double rho, term;
};

// What passes over A find out about a row: its product with the point, and, where that is asked for, the largest
// |a_ij| size_j.
struct Row {
    double Ax, product;
};

// Which bound of a variable a gradient asks for, where it leads to where no own bound is.
constexpr u8 asks_nothing = 0, asks_lower = 1, asks_upper = 2, is_answered = 4;

// The size of a variable that its own bounds, quadratic constraints and cones give.
RELIFT_ALWAYS_INLINE inline double own_natural(const Vectors& of, size_t j) {
    const double natural = larger(or_nothing(of.lb[j]), or_nothing(of.ub[j]));
    return of.more_natural ? larger(natural, of.more_natural[j]) : natural;
}

// The unit of a variable, from what bounds and rows tell of it (relift/program/units.py); the unit of a unit is the same.
RELIFT_ALWAYS_INLINE inline double unit_of(double natural, double common) {
    const double unit = natural < 1 ? natural : 1.0;
    return natural <= dust * common ? common : unit;
}

RELIFT_ALWAYS_INLINE inline double admissible(double dual, double lower, double upper) {
    const bool is_lost = ((dual > 0) & !is_finite(upper)) | ((dual < 0) & !is_finite(lower));
    return chosen(is_lost, 0.0, dual);
}

// The larger of a number and a quotient, which is divided out only where it may be that: most are clearly less than
// the largest one so far.
RELIFT_ALWAYS_INLINE inline double larger_quotient(double most, double part, double whole) {
    if (part < most * whole * (1 - 1e-12)) return most;
    return larger(most, with_nan_as_infinity(part / whole));
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

// The largest of a whole block of numbers, none of which is negative; the block is used up.
RELIFT_ALWAYS_INLINE inline double largest_of_block(double* numbers) {
    for (size_t half = size_of_block / 2; half > 4; half /= 2)
        for (size_t k = 0; k < half; ++k) numbers[k] = larger(numbers[k], numbers[k + half]);
    double most = numbers[0];
    for (size_t k = 1; k < 8; ++k) most = larger(most, numbers[k]);
    return most;
}

// The sizes of admissible dual values times the distances of finite numbers from the sides that they press on.
RELIFT_ALWAYS_INLINE inline double slack_of(double dual, double value, double lower, double upper) {
    const double end = chosen(dual == 0, value, dual > 0 ? upper : lower);
    return std::fabs(dual * (value - end));
}

// The sizes of the bounds that finite values are nearest to breaking, and by how much they do; whether some do.
RELIFT_ALWAYS_INLINE inline bool fill_excess(const double* values, const double* lower, const double* upper, size_t count,
                                             double* bounds, double* excess) {
    u64 are_broken = 0;
    for (size_t k = 0; k < count; ++k) {
        const double value = values[k], low = lower[k], high = upper[k];
        const double bound = value < low ? low : high, end = chosen((value >= low) & (value <= high), value, bound);
        bounds[k] = std::fabs(bound);
        excess[k] = std::fabs(value - end);
        are_broken |= u64(excess[k] != 0);
    }
    return are_broken != 0;
}

// The larger of a number and how far some finite values, at most a block of them, break their bounds; relative to the
// larger of the bound and the product of each, or the common unit where that is 0. Only what may be larger is divided.
RELIFT_WITH_WIDE_VECTORS inline double larger_violation(double most, const double* values, const double* lower,
                                                        const double* upper, const double* products, double common,
                                                        size_t count) {
    double rooms[size_of_block], excess[size_of_block];
    u32 some[size_of_block];
    if (!fill_excess(values, lower, upper, count, rooms, excess)) return most;
    u64 may_be_larger = 0;
    for (size_t k = 0; k < count; ++k) {
        const double product = products[k], other = product > 0 ? product : common, room = larger(rooms[k], other);
        rooms[k] = room;
        may_be_larger |= u64(!(excess[k] < most * room * (1 - 1e-12))) & u64(excess[k] > 0);
    }
    if (!may_be_larger) return most;
    size_t n_some = 0;
    for (size_t k = 0; k < count; ++k) {
        some[n_some] = u32(k);
        n_some += !(excess[k] < most * rooms[k] * (1 - 1e-12)) & (excess[k] > 0);
    }
    for (size_t at = 0; at < n_some; ++at) most = larger_quotient(most, excess[some[at]], rooms[some[at]]);
    return most;
}

// Those of a block of finite values that break their bounds by more than a part of these: where they are, by how much,
// and the sizes of their bounds.
struct Violations {
    double bounds[size_of_block], excess[size_of_block];
    u32 places[size_of_block];
    size_t count = 0;
};

RELIFT_WITH_WIDE_VECTORS inline void find_violations(double most, const double* values, const double* lower,
                                                     const double* upper, size_t count, Violations& found) {
    found.count = 0;
    if (!fill_excess(values, lower, upper, count, found.bounds, found.excess)) return;
    for (size_t k = 0; k < count; ++k) {
        found.places[found.count] = u32(k);
        found.count += !(found.excess[k] <= most * found.bounds[k] * (1 - 1e-12)) & (found.excess[k] > 0);
    }
}

// The same as above where products are asked for one by one, only where they decide: not where the bound alone says
// enough.
template <class Product>
double larger_violation_of_few(double most, const double* values, const double* lower, const double* upper, double common,
                               size_t count, Product&& product_of) {
    Violations found;
    find_violations(most, values, lower, upper, count, found);
    for (size_t at = 0; at < found.count; ++at) {
        const size_t k = found.places[at];
        if (found.excess[k] < most * found.bounds[k] * (1 - 1e-12)) continue;
        const double product = product_of(k), room = larger(found.bounds[k], product > 0 ? product : common);
        most = larger_quotient(most, found.excess[k], room);
    }
    return most;
}

}  // namespace relift::passes
