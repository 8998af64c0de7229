// What gradients can still gain where they lead to where no own bound is: rows may imply one there.
#pragma once
#include <algorithm>

#include "variables_at_point.hpp"

namespace relift::passes {

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

// What the variables of a block can still gain up to their own bounds; 0 where there is none.
RELIFT_WITH_WIDE_VECTORS inline void fill_falls(const Vectors& of, const Column* columns, size_t first, size_t count,
                                                double* falls) {
    const double *const x = of.x + first, *const lb = of.lb + first, *const ub = of.ub + first;
    columns += first;
    for (size_t k = 0; k < count; ++k) {
        const double rho = columns[k].rho, term = columns[k].term, at = x[k];
        const double side = own_end(rho, term, at, lb[k], ub[k]), end = is_finite(side) ? side : at;
        falls[k] = std::fabs(rho) * std::fabs(at - end);
    }
}

// What all gain, where some lead to where no own bound is: up to what a row implies, and where none does as far as the
// size of the variable allows.
template <class Index>
double possible_fall(const Matrix<Index>& A, const SparseView<Index>* P, const Vectors& of, const Residuals& found,
                     const Array<Column>& columns, const Array<BlockOfVariables>& blocks, Array<u8>& asks,
                     const double* below_marks, const double* above_marks, u32 n_threads) {
    if (found.some_cost_is_open && some_falls_without_end(A, P, of, below_marks, above_marks)) return infinity;
    const ImpliedBounds<Index> bounds(A, of, asks, n_threads);
    double total = 0, falls[size_of_block];
    u32 some[size_of_block];
    for (size_t b = 0; b < blocks.size(); ++b) {
        if (!blocks[b].falls && !blocks[b].asks) continue;
        const size_t first = b * size_of_block, count = std::min(size_of_block, of.n - first);
        fill_falls(of, columns.data(), first, count, falls);
        size_t n_some = 0;
        for (size_t k = 0; k < count && blocks[b].asks; ++k) {
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
