// What variables add to the residuals of a point: one pass over them, and a look back at the few blocks that decide
// once the scale of the objective is known.
#pragma once
#include <algorithm>

#include "point.hpp"

namespace relift::passes {

// What P adds: the products with the point, and with its fixed part alone, and the largest terms of both kinds.
struct Curved {
    Array<double> product, fixed, term, curvature;
};

// What is kept of a block: how large its part of the dual residual may be, and which of its numbers are not all 0.
struct BlockOfVariables {
    double steepest = 0;  // the largest |rho| over the largest term of it
    double pull = 0;      // the largest |rho| times the size of the variable
    bool breaks_bounds = false, falls = false, asks = false;
};

// What the pass finds out about all.
struct FromVariables {
    double value = 0, constant = 0;  // the sums of terms of the objective, and of those of fixed variables
    double most = 0;                 // the largest term that it could have
    double dearest = 0;              // the largest cost of a unit
    double gap = 0, fall = 0;
    bool are_finite = true, duals_are_finite = true, some_cost_is_open = false, asks = false;
};

// What is read in place of vectors that are not there, so that no loop asks.
inline constexpr double only_zeros[size_of_block] = {};

// What a unit of a variable costs at most; nothing where that is not a number.
RELIFT_ALWAYS_INLINE inline double price_of(double dual) {
    const double cost = std::fabs(dual);
    const double known = cost != cost ? 0.0 : cost;
    return known < largest_double ? known : largest_double;
}

// The own bound, finite or not, to which the objective falls along a gradient; the point where that is but rounding.
RELIFT_ALWAYS_INLINE inline double own_end(double rho, double term, double at, double low, double high) {
    return chosen(std::fabs(rho) <= rounded * term, at, rho > 0 ? low : high);
}

// Which bound is asked for where the way to the end is not 0.
inline u8 who_asks(double way, double rho) {
    return u8(way != 0) * (rho > 0 ? asks_lower : asks_upper);
}

// One block of the pass. Units, or what scattered rows tell of them, become sizes; sums of columns become gradients.
RELIFT_ALWAYS_INLINE inline void look_at_block(const Vectors& of, const double* told, Column* columns, u8* asks,
                                               const Curved& curved, double common, size_t first, size_t count,
                                               BlockOfVariables& block, FromVariables& found) {
    const double *const q = of.q + first, *const x = of.x + first, *const lb = of.lb + first, *const ub = of.ub + first;
    const bool is_curved = !curved.product.empty();
    const double* const product = is_curved ? curved.product.data() + first : only_zeros;
    const double* const fixed_part = is_curved ? curved.fixed.data() + first : only_zeros;
    const double* const curvature = is_curved ? curved.curvature.data() + first : only_zeros;
    const double* const more_natural = of.more_natural ? of.more_natural + first : only_zeros;
    const double* const w = of.w ? of.w + first : only_zeros;
    double units[size_of_block], sizes[size_of_block], terms[size_of_block], fixed[size_of_block];
    double reach[size_of_block], prices[size_of_block];
    u64 others = 0, are_broken = 0, some_are_fixed = 0;
    told = told ? told + first : only_zeros;
    for (size_t k = 0; k < count; ++k) {
        const double natural = larger(larger(or_nothing(lb[k]), or_nothing(ub[k])), more_natural[k]);
        units[k] = unit_of(larger(natural, told[k]), common);
    }
    for (size_t k = 0; k < count; ++k) {
        const double low = lb[k], high = ub[k], at = x[k], cost = q[k], unit = units[k];
        others |= u64(!is_finite(at));
        are_broken |= u64(at < low) | u64(at > high);
        some_are_fixed |= u64(low == high);
        const double size = larger(std::fabs(at), unit), gradient = larger(std::fabs(cost), std::fabs(product[k]));
        const double far = larger(gradient, curvature[k]) * size, own = at * (0.5 * fixed_part[k] + cost);
        terms[k] = at * (0.5 * product[k] + cost);
        fixed[k] = chosen(low == high, own, 0.0);
        reach[k] = chosen(low == high, 0.0, far);
        sizes[k] = size;
        prices[k] = price_of(w[k]) * unit;
    }
    found.are_finite &= others == 0;
    block.breaks_bounds = are_broken != 0;
    for (size_t k = count; k < size_of_block; ++k) reach[k] = prices[k] = 0;
    if (found.most < 1) found.most = larger(found.most, largest_of_block(reach));  // from 1 on it does not matter
    if (of.w) found.dearest = larger(found.dearest, largest_of_block(prices));
    std::copy_n(sizes, count, of.sizes + first);
    if (some_are_fixed)
        for (size_t k = 0; k < count; ++k) found.constant += fixed[k];
    if (!columns) {
        for (size_t k = 0; k < count; ++k) found.value += terms[k];
        return;
    }

    double slack[size_of_block], falls[size_of_block], ways[size_of_block], rhos[size_of_block], most[size_of_block];
    double steep[size_of_block], pull[size_of_block], extra[size_of_block];
    const double* extra_terms = is_curved ? curved.term.data() + first : only_zeros;
    if (of.more_terms) {
        for (size_t k = 0; k < count; ++k) extra[k] = larger(extra_terms[k], of.more_terms[first + k]);
        extra_terms = extra;
    }
    const double* const more_rho = of.more_rho ? of.more_rho + first : only_zeros;
    columns += first;
    for (size_t k = 0; k < count; ++k) ways[k] = q[k] * columns[k].rho;
    u64 others_of_duals = 0, some_fall = 0, some_ask = 0, are_open = 0;
    for (size_t k = 0; k < count; ++k) {  // where admissible dual values press against the cost, some row holds the variable
        const double low = lb[k], high = ub[k], cost = q[k], way = ways[k], bound = cost > 0 ? low : high;
        are_open |= u64(!is_finite(bound)) & u64(cost != 0) & u64(!(way < 0));
    }
    for (size_t k = 0; k < count; ++k) {
        const double low = lb[k], high = ub[k], at = x[k], cost = q[k], given = w[k];
        const double dual = admissible(given, low, high);
        const double term = larger(larger(larger(std::fabs(cost), std::fabs(dual)), columns[k].term), extra_terms[k]);
        const double kept = chosen(std::fabs(dual) <= rounded * term, 0.0, dual);
        const double rho = product[k] + cost + columns[k].rho + kept + more_rho[k];
        const double side = own_end(rho, term, at, low, high), end = chosen(is_finite(side), side, at);
        const double steepness = std::fabs(rho), over = chosen(term > 0, term, 1.0);
        slack[k] = slack_of(kept, at, low, high);
        falls[k] = steepness * std::fabs(at - end);
        ways[k] = side - end;
        rhos[k] = rho, most[k] = term;
        steep[k] = steepness / over;
        pull[k] = steepness * sizes[k];
        others_of_duals |= u64(!is_finite(given)) | u64(!is_finite(rho)) | u64(!is_finite(term));
        some_fall |= u64(falls[k] != 0) | u64(slack[k] != 0);
        some_ask |= u64(ways[k] != 0);
    }
    for (size_t k = 0; k < count; ++k) columns[k] = {rhos[k], most[k]};
    found.duals_are_finite &= others_of_duals == 0;
    found.some_cost_is_open |= are_open != 0;
    double value = found.value, gap = found.gap, fall = found.fall;
    if (some_fall)
        for (size_t k = 0; k < count; ++k) value += terms[k], gap += slack[k], fall += falls[k];
    else
        for (size_t k = 0; k < count; ++k) value += terms[k];
    found.value = value, found.gap = gap, found.fall = fall;
    block.falls = some_fall != 0, block.asks = some_ask != 0;
    found.asks |= block.asks;
    if (block.asks)
        for (size_t k = 0; k < count; ++k) asks[first + k] = who_asks(ways[k], rhos[k]);
    else
        std::fill_n(asks + first, count, asks_nothing);
    for (size_t k = count; k < size_of_block; ++k) steep[k] = pull[k] = 0;
    block.steepest = largest_of_block(steep), block.pull = largest_of_block(pull);
}

// The pass. What rows tell of sizes may be null, or the memory of the sizes; without columns only what the point alone
// tells is found out.
RELIFT_WITH_WIDE_VECTORS inline FromVariables look_at_variables(const Vectors& of, const double* told, Column* columns,
                                                                u8* asks, const Curved& curved, double common,
                                                                BlockOfVariables* blocks) {
    FromVariables found;
    for (size_t first = 0; first < of.n; first += size_of_block)
        look_at_block(of, told, columns, asks, curved, common, first, std::min(size_of_block, of.n - first),
                      blocks[first / size_of_block], found);
    return found;
}

// S, the scale of the objective.
inline double scale_of(const FromVariables& found, double r) {
    const double value = found.value - found.constant, constant = found.constant + r, most = found.most;
    const double without = std::fabs(value), with = std::fabs(value + constant);
    return (with < without ? with : without) + (most > 0 ? (most < 1 ? most : 1.0) : 1.0);
}

// The sizes of variables of which a unit costs more than S.
RELIFT_WITH_WIDE_VECTORS inline void shrink_dear(const Vectors& of, double scale) {
    for (size_t j = 0; j < of.n; ++j) {
        const double price = price_of(of.w[j]), size = of.sizes[j], over = chosen(price > 0, price, 1.0);
        const double less = larger(std::fabs(of.x[j]), scale / over);
        of.sizes[j] = chosen(price * size > scale, less, size);
    }
}

// How far variables break their bounds, relative to their sizes.
RELIFT_WITH_WIDE_VECTORS inline double worst_of_bounds(const Vectors& of, const Array<BlockOfVariables>& blocks) {
    double most = 0;
    for (size_t b = 0, first = 0; b < blocks.size(); ++b, first += size_of_block)
        if (blocks[b].breaks_bounds)
            most = larger_violation(most, of.x + first, of.lb + first, of.ub + first, of.sizes + first, 0.0,
                                    std::min(size_of_block, of.n - first));
    return most;
}

// Whether a gradient of a block may be more than a number, relative to its largest term or to what S notices.
RELIFT_WITH_WIDE_VECTORS inline bool some_may_be_steeper(const double* sizes, const Column* columns, size_t count,
                                                         double most, double noticed) {
    const double other = most * noticed, far = other > 1e-280 ? other * (1 - 1e-12) : 0.0;  // unless products are too small
    u64 some = 0;
    for (size_t k = 0; k < count; ++k) {
        const double rho = std::fabs(columns[k].rho), term = columns[k].term, pull = rho * sizes[k];
        some |= u64(!(rho < most * term * (1 - 1e-12))) & u64(!(pull < far)) & u64(rho != 0);
    }
    return some != 0;
}

// The largest gradient relative to its largest term, or to what S notices if that is more. Only blocks that may have it
// are looked at, the one that promises most first.
inline double worst_gradient(const Vectors& of, const Column* columns, const Array<BlockOfVariables>& blocks,
                             double scale) {
    const double noticed = noise * scale, least = 1e-300;  // far above what is lost where products are too small
    const auto at_most = [&](const BlockOfVariables& block) {
        return std::min(block.steepest + least, (block.pull + least) / noticed) * (1 + 1e-12);
    };
    double most = 0;
    const auto look = [&](size_t b) {
        const size_t first = b * size_of_block, last = std::min(first + size_of_block, of.n);
        if (!some_may_be_steeper(of.sizes + first, columns + first, last - first, most, noticed)) return;
        for (size_t j = first; j < last; ++j) {
            const double size = std::fabs(columns[j].rho), term = columns[j].term;
            if (size < most * term * (1 - 1e-12) || size == 0) continue;
            most = larger_quotient(most, size, larger(term, noticed / of.sizes[j]));
        }
    };
    size_t steepest = 0;
    for (size_t b = 1; b < blocks.size(); ++b)
        if (at_most(blocks[b]) > at_most(blocks[steepest])) steepest = b;
    if (!blocks.empty()) look(steepest);
    for (size_t b = 0; b < blocks.size(); ++b)
        if (b != steepest && !(at_most(blocks[b]) < most)) look(b);
    return most;
}

}  // namespace relift::passes
