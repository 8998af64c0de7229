// The first pass over A: the products with the point and with the dual values, and what rows tell of the sizes of
// variables (relift/program/units.py).
#pragma once
#include <algorithm>

#include "point.hpp"

namespace relift::passes {

constexpr size_t few_entries_of_a_row = 16;

// What the pass leaves beside products, columns and sizes.
struct FirstPass {
    bool duals_are_finite = true;  // those of rows
    bool rows_tell = false;        // whether sizes are what rows tell of them; if not, bounds tell enough
    bool has_products = false;     // whether the largest products of rows have been found, with units of 1 in common
};

// Whether bounds tell of some variable that it may be less than 1.
inline bool some_are_small(const Vectors& of) {
    bool are_small = false;
    for (size_t first = 0; first < of.n && !are_small; first += size_of_block)
        for (size_t j = first, last = std::min(first + size_of_block, of.n); j < last; ++j)
            are_small |= own_natural(of, j) < 1;
    return are_small;
}

// The admissible dual values of rows, and the larger side of each; whether the dual values are finite.
RELIFT_ALWAYS_INLINE inline bool prepare_some_rows(const Vectors& of, double* y, double* sides, size_t first,
                                                   size_t last) {
    u64 others = 0;
    for (size_t i = first; i < last; ++i) sides[i - first] = larger(or_nothing(of.l[i]), or_nothing(of.u[i]));
    if (!of.y) return true;
    for (size_t i = first; i < last; ++i) {
        others |= u64(!is_finite(of.y[i]));
        y[i - first] = admissible(of.y[i], of.l[i], of.u[i]);
    }
    return others == 0;
}

RELIFT_WITH_WIDE_VECTORS inline bool prepare_rows(const Vectors& of, double* y, double* sides, size_t first,
                                                  size_t last) {
    return prepare_some_rows(of, y, sides, first, last);
}

// Whether a side is at least as large as each entry of a row: then it tells of all variables in it that they reach 1,
// where units end, without a division.
template <class Index>
bool reaches_all(const SparseView<Index>& view, double side, size_t begin, size_t end) {
    u64 are_larger = 0;
    for (size_t e = begin; e < end; ++e) are_larger |= u64(!(std::fabs(view.values[e]) <= side));
    return are_larger == 0;
}

// What a block of rows gives to columns: their entries times their prices, and what these tell of sizes; columns or told may
// be null. One loop does both for a row: its length is as good as random, and the end of each loop is a surprise.
template <class Index>
void scatter_rows(const SparseView<Index>& view, const double* y, const double* sides, Column* columns, double* told,
                  size_t first, size_t last) {
    constexpr size_t few = 8;  // entries, of which to divide costs less than to ask
    u32 some[size_of_block];
    size_t n_some = 0;
    for (size_t k = 0; k < last - first; ++k) {  // which give something is as good as random
        some[n_some] = u32(k);
        n_some += (columns && y[k] != 0) | (told && sides[k] > 0);  // most rows of a solution have no price
    }
    for (size_t at = 0; at < n_some; ++at) {
        const size_t k = some[at], begin = size_t(view.offsets[first + k]), end = size_t(view.offsets[first + k + 1]);
        const double side = sides[k], price = columns ? y[k] : 0.0;
        const auto add = [&](size_t e) {  // zeros add nothing
            const double product = view.values[e] * price;
            Column& column = columns[view.indices[e]];
            column.rho += product;
            column.term = larger(column.term, std::fabs(product));
        };
        const auto tell = [&](size_t e) {
            double& natural = told[view.indices[e]];
            const double ratio = side / std::fabs(view.values[e]);
            natural = larger(natural, ratio <= largest_double ? ratio : view.values[e] == 0 ? 0.0 : infinity);
        };
        const auto tell_one = [&](size_t e) {
            double& natural = told[view.indices[e]];
            if (natural < 1 && view.values[e] != 0) natural = 1;  // mostly known by then, and not written again
        };
        if (!told || !(side > 0))
            for (size_t e = begin; e < end; ++e) add(e);
        else if (!columns)
            for (size_t e = begin; e < end; ++e) tell(e);
        else if (end - begin > few && reaches_all(view, side, begin, end))
            for (size_t e = begin; e < end; ++e) add(e), tell_one(e);
        else
            for (size_t e = begin; e < end; ++e) add(e), tell(e);
    }
}

// The products of a block of rows with the point.
template <class Index>
void gather_rows(const SparseView<Index>& view, const Vectors& of, Row* rows, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
        double sum = 0;
        for (size_t e = size_t(view.offsets[i]), end = size_t(view.offsets[i + 1]); e < end; ++e)
            sum += view.values[e] * of.x[view.indices[e]];
        rows[i] = {sum, 0};
    }
}

// Of a matrix by rows. One thread prepares and scatters all of them.
template <class Index>
FirstPass first_pass_by_rows(const SparseView<Index>& view, const Vectors& of, Row* rows, Column* columns,
                             u32 n_threads) {
    FirstPass found;
    found.rows_tell = some_are_small(of);
    double* const told = found.rows_tell ? of.sizes : nullptr;
    if (told) std::fill_n(told, of.n, 0.0);
    if (columns) std::fill_n(columns, of.n, Column{0, 0});
    const auto scatter = [&](size_t begin, size_t end) {
        double y[size_of_block], sides[size_of_block];
        for (size_t first = begin; first < end && (columns || told); first += size_of_block) {
            const size_t last = std::min(first + size_of_block, end);
            found.duals_are_finite &= prepare_rows(of, y, sides, first, last);
            scatter_rows(view, y, sides, columns, told, first, last);
        }
    };
    const auto gather = [&](size_t first, size_t last) { gather_rows(view, of, rows, first, last); };
    if (threads_for(view.n_entries(), n_threads) > 1 || view.n_entries() > few_entries_of_a_row * of.m) {
        scatter_beside_gather(view, n_threads, scatter, gather);
        return found;
    }
    for (size_t first = 0; first < of.m; first += size_of_block) {  // short rows, of which more stay near the processor
        const size_t last = std::min(first + size_of_block, of.m);
        scatter(first, last);
        gather(first, last);
    }
    return found;
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

// What a block of columns gathers.
template <class Index>
void gather_columns(const SparseView<Index>& view, const Vectors& of, const double* y, const double* sides,
                    Column* columns, size_t first, size_t last) {
    for (size_t j = first; j < last; ++j) {
        const size_t begin = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]);
        if (columns) {
            Column column{0, 0};
            for (size_t e = begin; e < end; ++e) {
                const double product = view.values[e] * y[view.indices[e]];
                column.rho += product;
                column.term = larger(column.term, std::fabs(product));
            }
            columns[j] = column;
        }
        const double natural = own_natural(of, j);
        of.sizes[j] = natural < 1 ? larger(natural, largest_ratio(view, sides, begin, end)) : natural;
    }
}

// What a block of columns adds to the products of rows with the point.
template <class Index>
void scatter_columns(const SparseView<Index>& view, const Vectors& of, Row* rows, size_t first, size_t last) {
    for (size_t j = first; j < last; ++j) {
        const double at = of.x[j];
        for (size_t e = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]); e < end; ++e)
            rows[view.indices[e]].Ax += view.values[e] * at;
    }
}

// The same, and the largest products with sizes, as they are where the common unit is 1 and no variable is dear.
template <class Index>
void scatter_columns_and_products(const SparseView<Index>& view, const Vectors& of, Row* rows, size_t first,
                                  size_t last) {
    for (size_t j = first; j < last; ++j) {
        const double at = of.x[j], size = larger(std::fabs(at), unit_of(of.sizes[j], 1.0));
        for (size_t e = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]); e < end; ++e) {
            Row& row = rows[view.indices[e]];
            row.Ax += view.values[e] * at;
            row.product = larger(row.product, std::fabs(view.values[e]) * size);
        }
    }
}

// Of a matrix by columns. One thread alone has the sizes of columns at hand when it scatters, and finds the largest
// products of rows with them on the way.
template <class Index>
FirstPass first_pass_by_columns(const SparseView<Index>& view, const Vectors& of, const double* y, const double* sides,
                                Row* rows, Column* columns, u32 n_threads) {
    FirstPass found;
    found.rows_tell = true;
    std::fill_n(rows, of.m, Row{0, 0});
    const auto gather = [&](size_t first, size_t last) { gather_columns(view, of, y, sides, columns, first, last); };
    if (threads_for(view.n_entries(), n_threads) > 1) {
        scatter_beside_gather(view, n_threads, [&](size_t first, size_t last) { scatter_columns(view, of, rows, first, last); },
                              gather);
        return found;
    }
    found.has_products = true;
    constexpr size_t columns_in_a_turn = 16;
    for (size_t first = 0; first < of.n; first += columns_in_a_turn) {
        const size_t last = std::min(first + columns_in_a_turn, of.n);
        gather(first, last);
        scatter_columns_and_products(view, of, rows, first, last);
    }
    return found;
}

// The largest |a_ij| size_j of each row; sizes are finite. Where a thread cannot have rows of its own it has numbers of
// its own, of which the largest is taken.
template <class Index>
void largest_products(const Matrix<Index>& A, const double* sizes, size_t m, Row* rows, u32 n_threads) {
    const SparseView<Index>& view = A.view;
    n_threads = threads_for(view.n_entries(), n_threads);
    if (A.is_by_rows) {
        over_majors(view, n_threads, [&](size_t first, size_t last) {
            for (size_t i = first; i < last; ++i) {
                double most = 0;
                for (size_t e = size_t(view.offsets[i]), end = size_t(view.offsets[i + 1]); e < end; ++e)
                    most = larger(most, std::fabs(view.values[e]) * sizes[view.indices[e]]);
                rows[i].product = most;
            }
        });
        return;
    }
    n_threads = std::min<u32>(n_threads, 2);  // more numbers would cost more than they save
    Array<double> more(n_threads > 1 ? m : 0);
    const auto scatter = [&](u32 k, auto&& most_of) {
        for (size_t i = 0; i < m; ++i) most_of(i) = 0;
        for (size_t j = first_major_of(view, k, n_threads), last = first_major_of(view, k + 1, n_threads); j < last; ++j)
            for (size_t e = size_t(view.offsets[j]), end = size_t(view.offsets[j + 1]); e < end; ++e) {
                double& most = most_of(size_t(view.indices[e]));
                most = larger(most, std::fabs(view.values[e]) * sizes[j]);
            }
    };
    in_parallel(n_threads, [&](u32 k) {
        if (k) scatter(k, [&](size_t i) -> double& { return more[i]; });
        else scatter(k, [&](size_t i) -> double& { return rows[i].product; });
    });
    for (size_t i = 0; i < more.size(); ++i) rows[i].product = larger(rows[i].product, more[i]);
}

}  // namespace relift::passes
