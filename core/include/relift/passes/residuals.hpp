// The residuals of a point and its dual values: a pass over A, one over P, one over variables and one over rows.
//
// relift/lifting/residuals_reference.py puts the formulas together slowly and obviously, and tests compare the two. What
// quadratic constraints and cones add is handed in.
#pragma once
#include <algorithm>

#include "first_products.hpp"
#include "implied_bounds.hpp"
#include "variables_at_point.hpp"

namespace relift::passes {

// Whether all numbers are finite; without a branch, so that compilers make vector instructions of it.
RELIFT_WITH_WIDE_VECTORS inline bool are_finite_numbers(const double* numbers, size_t size) {
    u64 others = 0;
    for (size_t k = 0; k < size; ++k) others |= u64(!(std::fabs(numbers[k]) <= largest_double));
    return others == 0;
}

// The products of fixed variables alone are found for fixed ones alone: nobody asks for others.
template <class Index>
Curved pass_over_P(const SparseView<Index>& P, const Vectors& of, u32 n_threads) {
    Curved found;
    for (auto* part : {&found.product, &found.fixed, &found.term, &found.curvature}) part->resize(of.n);
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
            if (of.lb[j] == of.ub[j])
                for (size_t e = begin; e < end; ++e) {
                    const size_t i = size_t(P.indices[e]);
                    if (of.lb[i] == of.ub[i]) fixed += P.values[e] * of.x[i];
                }
            found.product[j] = product, found.fixed[j] = fixed, found.term[j] = term, found.curvature[j] = curvature;
        }
    });
    return found;
}

// The common unit of the variables (relift/program/units.py), from what bounds and, if they do, rows tell of them.
inline double common_unit(const Vectors& of, const double* told) {
    double common = 0;
    for (size_t j = 0; j < of.n && common < 1; ++j)
        common = larger(common, told ? larger(own_natural(of, j), told[j]) : own_natural(of, j));
    return common > 0 ? (common < 1 ? common : 1.0) : 1.0;
}

// The units of all variables, in the memory of their sizes.
RELIFT_WITH_WIDE_VECTORS inline void fill_units(const Vectors& of, const double* told, double common) {
    for (size_t j = 0; j < of.n; ++j)
        of.sizes[j] = unit_of(larger(own_natural(of, j), told ? told[j] : 0.0), common);
}

// What rows add to the primal residual and, where there are dual values, to the gap; whether their products are finite.
struct FromRows {
    double primal = 0, gap = 0;
    bool are_finite = true;
};

// Of a block of rows: their products, whether some break their sides, and what admissible dual values add to the gap, row
// by row.
struct BlockOfRows {
    bool are_finite = true, are_broken = false, are_loose = false;
    double Ax[size_of_block], products[size_of_block], slack[size_of_block];
};

RELIFT_WITH_WIDE_VECTORS inline void look_at_block_of_rows(const Vectors& of, const Row* rows, const double* y, size_t first,
                                                           size_t count, BlockOfRows& block) {
    const double *const l = of.l + first, *const u = of.u + first;
    u64 others = 0, are_broken = 0, are_loose = 0;
    for (size_t k = 0; k < count; ++k) block.Ax[k] = rows[first + k].Ax, block.products[k] = rows[first + k].product;
    for (size_t k = 0; k < count; ++k) {
        const double value = block.Ax[k];
        others |= u64(!is_finite(value));
        are_broken |= u64(value < l[k]) | u64(value > u[k]);
    }
    for (size_t k = 0; k < count && y; ++k) {
        const double low = l[k], high = u[k];
        const double slack = slack_of(admissible(y[first + k], low, high), block.Ax[k], low, high);
        block.slack[k] = slack;
        are_loose |= u64(slack != 0);
    }
    block.are_finite = others == 0, block.are_broken = are_broken != 0, block.are_loose = are_loose != 0;
}

// How many rows are broken.
RELIFT_WITH_WIDE_VECTORS inline size_t count_broken(const Vectors& of, const Row* rows) {
    u64 n_broken = 0;
    for (size_t i = 0; i < of.m; ++i) n_broken += u64(rows[i].Ax < of.l[i]) | u64(rows[i].Ax > of.u[i]);
    return size_t(n_broken);
}

// All rows, which add to the gap that there is. Of a solution few are broken, and only these are asked for their products;
// of a matrix by columns, and on several threads where many are broken, all products are found at once.
template <class Index>
FromRows look_at_rows(const Matrix<Index>& A, const Vectors& of, bool has_products, Row* rows, double common, bool has_duals,
                      double gap, u32 n_threads) {
    constexpr size_t few = 8;
    if (!has_products && (!A.is_by_rows || threads_for(A.view.n_entries(), n_threads) > 1)) {
        const size_t n_broken = count_broken(of, rows);
        has_products = A.is_by_rows ? n_broken > of.m / few : n_broken > 0;
        if (has_products) largest_products(A, of.sizes, of.m, rows, n_threads);
    }
    const auto largest_product = [&](size_t i) {
        double largest = 0;
        for (size_t e = size_t(A.view.offsets[i]), end = size_t(A.view.offsets[i + 1]); e < end; ++e)
            largest = larger(largest, std::fabs(A.view.values[e]) * of.sizes[A.view.indices[e]]);
        return largest;
    };
    FromRows found;
    BlockOfRows block;
    for (size_t first = 0; first < of.m; first += size_of_block) {
        const size_t count = std::min(size_of_block, of.m - first);
        look_at_block_of_rows(of, rows, has_duals ? of.y : nullptr, first, count, block);
        found.are_finite &= block.are_finite;
        const double *const l = of.l + first, *const u = of.u + first;
        if (block.are_broken && has_products)
            found.primal = larger_violation(found.primal, block.Ax, l, u, block.products, common, count);
        else if (block.are_broken)
            found.primal = larger_violation_of_few(found.primal, block.Ax, l, u, common, count,
                                                   [&](size_t k) { return largest_product(first + k); });
        for (size_t k = 0; k < count && block.are_loose; ++k) gap += block.slack[k];
    }
    found.gap = gap;
    return found;
}

// What the residuals leave for a look at the bounds that rows imply: gradients, who asks, and which blocks do.
struct AtVariables {
    Array<Column> columns;
    Array<u8> asks;
    Array<BlockOfVariables> blocks;
};

template <class Index>
Residuals residuals(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of, AtVariables& at, u32 n_threads) {
    Residuals found;
    Array<Row> rows(of.m);
    if (of.y) at.columns.resize(of.n), at.asks.resize(of.n);
    at.blocks.resize((of.n + size_of_block - 1) / size_of_block);
    Column* const columns = of.y ? at.columns.data() : nullptr;
    FirstPass first;
    if (A.is_by_rows) {
        first = first_pass_by_rows(A.view, of, rows.data(), columns, n_threads);
    } else {
        Array<double> y(of.m), sides(of.m);
        const bool are_finite = prepare_rows(of, y.data(), sides.data(), 0, of.m);
        first = first_pass_by_columns(A.view, of, y.data(), sides.data(), rows.data(), columns, n_threads);
        first.duals_are_finite = are_finite;
    }
    const double* told = first.rows_tell ? of.sizes : nullptr;
    found.common = common_unit(of, told);
    Curved curved;
    if (P) {
        fill_units(of, told, found.common);
        told = of.sizes;
        curved = pass_over_P(*P, of, n_threads);
        if (of.Px) std::copy_n(curved.product.data(), of.n, of.Px);
    }
    const bool has_duals = of.y && first.duals_are_finite;
    const FromVariables variables = look_at_variables(of, told, has_duals ? at.columns.data() : nullptr, at.asks.data(),
                                                      curved, found.common, at.blocks.data());
    found.scale = scale_of(variables, of.r);
    found.some_cost_is_open = variables.some_cost_is_open;
    found.is_in_range = std::isfinite(found.scale);
    if (!found.is_in_range) return found;
    const bool some_are_dear = variables.dearest > found.scale;
    if (some_are_dear) shrink_dear(of, found.scale);
    const bool are_usable = has_duals && variables.duals_are_finite;
    const bool has_products = first.has_products && found.common == 1 && !some_are_dear;
    const FromRows sums = look_at_rows(A, of, has_products, rows.data(), found.common, are_usable, variables.gap, n_threads);
    found.duals_are_finite = first.duals_are_finite && variables.duals_are_finite;
    found.is_finite = variables.are_finite && sums.are_finite &&
                      are_finite_numbers(curved.product.data(), curved.product.size());
    if (!found.is_finite) {
        found.primal = found.gap = infinity;
        return found;
    }
    found.primal = larger(worst_of_bounds(of, at.blocks), sums.primal);
    if (are_usable) {
        found.gap = sums.gap, found.fall = variables.fall, found.asks = variables.asks;
        found.dual = worst_gradient(of, at.columns.data(), at.blocks, found.scale);
    } else if (of.y) {
        found.dual = found.gap = infinity;
    }
    return found;
}

}  // namespace relift::passes
