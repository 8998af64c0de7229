// Looks at the vectors of a program before a search up to size, unit and sign: what kinds of variables there are, whether
// bounds were computed, and whether a reflection would make more equal. Each stops as soon as its answer is known.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "../own_scales.hpp"
#include "digits.hpp"
#include "fractions.hpp"
#include "kinds.hpp"
#include "shared_ratios.hpp"

namespace relift {
namespace passes {

struct Colours {
    KindCounts kinds;
    bool rests = false;       // whether some variable has no cost and may be 0
    bool lacks_size = false;  // whether some has no bound other than 0
};

inline bool admits_zero(double low, double high, u64 low_image, u64 high_image) {
    return (low_image == 0 || low < 0) && (high_image == 0 || high > 0);
}

// The twin of relift/symmetry/likeness.py: scales are divided out of one variable of each kind as given. Of more than
// `most` variables so many are looked at, evenly spread.
inline Colours look_at_colours(const OwnNumbers& given, u64 most, bool sizes, bool signs) {
    Colours found;
    for (u64 k = 0; k < given.size && !found.rests; ++k)
        found.rests = given.cost_image[k] == 0 &&
                      admits_zero(given.low[k], given.high[k], given.low_image[k], given.high_image[k]);
    const u64 n = std::min(given.size, most);
    const auto place = [&](u64 k) { return n == given.size ? k : k * (given.size - 1) / (most - 1); };
    const auto absorb = [](u64 word, u64 next) { return mix(word * 0xD6E8FEB86659FD93u ^ mix(next)); };
    Array<u64> mixed(n);
    Array<i64> labels(n);
    for (u64 k = 0, before = 0; k < n; ++k) {
        const u64 j = place(k);
        const u64 cost = given.cost_image[j], low = given.low_image[j], high = given.high_image[j];
        const bool is_as_before = k && cost == given.cost_image[before] && low == given.low_image[before] &&
                                  high == given.high_image[before];
        found.lacks_size = found.lacks_size || !(is_size(given.low[j], given.low_image[j]) ||
                                                 is_size(given.high[j], given.high_image[j]));
        mixed[k] = is_as_before ? mixed[k - 1] : absorb(absorb(absorb(0, cost), low), high);
        before = j;
    }
    const Grouping kinds = group(mixed.data(), u32(n), n / 2, labels.data());
    const u64 n_kinds = kinds.n_classes();
    found.kinds = {n_kinds, n_kinds, n_kinds};
    if (n_kinds <= 1 || found.rests) return found;  // whatever rests may merge: nobody asks what else does
    Array<double> low(n_kinds), high(n_kinds), cost(n_kinds), floats(n_kinds);
    Array<u64> low_image(n_kinds), high_image(n_kinds), cost_image(n_kinds), images(n_kinds);
    Array<u64> low_word(n_kinds), high_word(n_kinds), cost_word(n_kinds);
    Array<u8> states(n_kinds);
    for (u64 k = 0; k < n_kinds; ++k) {
        const u64 j = place(kinds.representatives[k]);
        low[k] = given.low[j], high[k] = given.high[j], cost[k] = given.cost[j];
        low_image[k] = given.low_image[j], high_image[k] = given.high_image[j], cost_image[k] = given.cost_image[j];
    }
    find_own_scales({low.data(), high.data(), cost.data(), nullptr, low_image.data(), high_image.data(),
                     cost_image.data(), nullptr, n_kinds},
                    sizes, signs,
                    {floats.data(), images.data(), states.data(), low_word.data(), high_word.data(), cost_word.data()});
    const auto distinct = [&](auto&& of_cost) {
        for (u64 k = 0; k < n_kinds; ++k)
            mixed[k] = absorb(absorb(absorb(0, low_word[k]), high_word[k]), of_cost(cost_word[k]));
        return u64(group(mixed.data(), u32(n_kinds), n_kinds / 2, labels.data()).n_classes());
    };
    found.kinds.up_to_units = distinct([](u64 word) { return word; });
    found.kinds.up_to_sizes = distinct([](u64 word) { return u64(word != 0); });
    return found;
}

// Bounds that tell a size: finite, and not 0.
class Sizes {
public:
    Sizes(const double* low, const double* high, u64 size, double smallest)
        : low_(low), high_(high), size_(size), smallest_(smallest) {
        for (u64 k = 0; k < size; ++k) count_ += u64(counts(low[k]) | counts(high[k]));
    }
    u64 number(u64 most) const { return (count_ + stride(most) - 1) / stride(most); }
    // Calls visit(low, high) for about `most` of them, evenly spread, until it returns false; 0 is a side without a size.
    template <class Visit> void for_some(u64 most, Visit&& visit) const {
        const u64 step = stride(most), gap = count_ == size_ ? step : 1;  // to the next place
        for (u64 k = 0, to_go = 1; k < size_; k += gap) {
            const bool low_counts = counts(low_[k]), high_counts = counts(high_[k]);
            if (gap == 1 && (!(low_counts | high_counts) || --to_go)) continue;
            to_go = step;
            if (!visit(low_counts ? low_[k] : 0.0, high_counts ? high_[k] : 0.0)) return;
        }
    }

private:
    bool counts(double value) const {  // both are asked: loops without a branch take several values at once
        const double size = std::fabs(value);
        return (size > smallest_) & (size <= 1.7976931348623157e308);
    }
    u64 stride(u64 most) const { return std::max<u64>(1, count_ / most); }
    const double *low_, *high_;
    u64 size_, count_ = 0;
    double smallest_;
};

// Whether a share of the intervals has a bound of more digits than anyone types; not if no variable has a size.
inline bool look_computed(const Sizes& of_variables, const Sizes& of_rows, u64 most, int digits, double share) {
    const u64 number = of_variables.number(most) + of_rows.number(most);
    if (of_variables.number(most) == 0 || number < 2) return false;
    const double enough = share * double(number);
    u64 n_long = 0;
    double low_before = 0, high_before = 0;
    bool is_long = false;
    for (const Sizes* sizes : {&of_variables, &of_rows})
        sizes->for_some(most, [&](double low, double high) {
            if (low != low_before || high != high_before) {
                is_long = is_longer(low, digits) || (high != low && is_longer(high, digits));
                low_before = low, high_before = high;
            }
            n_long += is_long;
            return double(n_long) < enough;
        });
    return double(n_long) >= enough;
}

// Entries of A whose row and variable have sizes in a simple ratio, directly or times the entry, or whose row has no size;
// of `step` entries one is looked at. The twin of _n_links in relift/symmetry/proportional_bounds.py.
template <class Index>
u64 count_links(const SparseView<Index>& A, bool is_by_rows, const OwnNumbers& variables, const OwnNumbers& rows, u64 step,
                double largest, double rounding) {
    const auto size_in = [](const OwnNumbers& of, u64 k) {
        const double low = is_size(of.low[k], of.low_image[k]) ? std::fabs(of.low[k]) : 0.0;
        return std::max(low, is_size(of.high[k], of.high_image[k]) ? std::fabs(of.high[k]) : 0.0);
    };
    const auto is_simple = [&](double value) { return simple_fraction(value, largest, rounding).numerator > 0; };
    u64 count = 0;
    for (u64 e = 0, major = 0, n_entries = A.n_entries(); e < n_entries; e += step) {
        while (u64(A.offsets[major + 1]) <= e) ++major;
        require_inside(A, e, e + 1);
        const u64 minor = u64(A.indices[e]);
        const double w = size_in(variables, is_by_rows ? minor : major), v = size_in(rows, is_by_rows ? major : minor);
        if (!(w > 0)) continue;
        count += !(v > 0) || is_simple(w / v) || is_simple(std::fabs(A.values[e]) * w / v);
    }
    return count;
}

// Of the entries of A, one of `step`: how many costs of more digits have an entry that tells a size in their column, and
// how many of them are simple fractions of it, or in a ratio to it that others have too. The twin of simple_costs_slowly in relift/symmetry/proportional_costs.py.
struct CostCounts {
    u64 told = 0, simple = 0, shared = 0;
};

template <class Index>
CostCounts count_simple_costs(const SparseView<Index>& A, bool is_by_rows, const double* q, u64 step, int digits,
                              double different, double largest, double rounding) {
    CostCounts counts;
    std::optional<SharedRatios> seen;  // few programs have computed costs
    for (u64 e = 0, major = 0, n_entries = A.n_entries(); e < n_entries; e += step) {
        const double entry = std::fabs(A.values[e]);
        if (!is_by_rows)
            while (u64(A.offsets[major + 1]) <= e) ++major;
        const double cost = q[is_by_rows ? u64(A.indices[e]) : major];
        if (entry == 0 || entry == 1 || !is_longer(cost, digits)) continue;
        ++counts.told;
        const double ratio = std::fabs(cost) / entry;
        const bool is_simple = std::isfinite(ratio) && simple_fraction(ratio, largest, rounding).numerator > 0;
        counts.simple += is_simple;
        if (is_simple) continue;
        if (!seen) seen.emplace(n_entries / step + 1, different, largest, rounding);
        counts.shared += seen->is_shared(0, std::fabs(cost), entry);
    }
    return counts;
}

// Shapes (see count_shapes) counted one by one.
class ShapeCounter {
public:
    explicit ShapeCounter(u64 most) : table_(power_of_two_above(2 * most + 2), 0) {}
    u64 count() const { return count_; }
    void add(double low, double high, double cost) {
        if (has_last_ && low == low_ && high == high_ && cost == cost_) return;
        has_last_ = true, low_ = low, high_ = high, cost_ = cost;
        const Shape shape = shape_of(low, high, cost);
        const u64 word = shape.word | 1;
        u64 at = shape.word >> 1 & (table_.size() - 1);
        while (table_[at] && table_[at] != word) at = (at + 1) & (table_.size() - 1);
        if (!table_[at]) count_ += shape.counts_half ? 1 : 2;
        table_[at] = word;
    }

private:
    Array<u64> table_;
    u64 count_ = 0;
    bool has_last_ = false;
    double low_ = 0, high_ = 0, cost_ = 0;
};

struct ReflectionVectors {
    const double *q, *lb, *ub, *l, *u;
    const u8* is_rigid;  // variables that are not moved; null if none
    u64 n, m;

    double middle(u64 j) const {
        const double value = is_rigid && is_rigid[j] ? 0.0 : 0.5 * (lb[j] + ub[j]);
        return std::isfinite(value) ? value : 0.0;
    }
    u64 first_with_middle() const {
        u64 j = 0;
        while (j < n && middle(j) == 0) ++j;
        return j;
    }
};

// The k-th of `n_some` places of `size`, evenly spread.
inline u64 spread_place(u64 k, u64 n_some, u64 size) {
    if (n_some == size) return k;
    return k + 1 == n_some ? size - 1 : u64(double(k) * (double(size - 1) / double(n_some - 1)));
}

// Whether all rows that are looked at have the same bounds, of which one is infinite: wherever they are moved they have
// at least two shapes, their own and its mirror image.
inline bool rows_are_half_lines(const ReflectionVectors& of, u64 most) {
    if (of.m == 0 || std::isinf(of.l[0]) == std::isinf(of.u[0])) return false;
    const u64 n_some = std::min(of.m, most);
    for (u64 k = 0; k < n_some; ++k) {
        const u64 i = spread_place(k, n_some, of.m);
        if (of.l[i] != of.l[0] || of.u[i] != of.u[0]) return false;
    }
    return true;
}

// Whether costs, or right-hand sides, that differ now would be equal up to sign if variables were measured from the
// middle of their bounds; `most` variables and rows are looked at, evenly spread. P is symmetric.
template <class Index>
bool may_be_reflected(const SparseView<Index>& A, bool is_by_rows, const SparseView<Index>* P,
                      const ReflectionVectors& of, u64 most) {
    const u64 first = of.first_with_middle();
    if (first == of.n) return false;
    const auto product = [&](const SparseView<Index>& matrix, u64 major) {
        double sum[4] = {0, 0, 0, 0};  // so that additions need not wait for each other
        u64 e = u64(matrix.offsets[major]);
        const u64 end = u64(matrix.offsets[major + 1]);
        require_inside(matrix, e, end);
        for (; e + 4 <= end; e += 4)
            for (u32 k = 0; k < 4; ++k) sum[k] += matrix.values[e + k] * of.middle(u64(matrix.indices[e + k]));
        for (; e < end; ++e) sum[0] += matrix.values[e] * of.middle(u64(matrix.indices[e]));
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    };
    // Counts only grow: once there are as many as before, there is nothing to be had.
    const auto would_be_fewer = [&](u64 size, auto&& add_given, auto&& add_moved) {
        const u64 n_some = std::min(size, most);
        const auto place = [&](u64 k) { return spread_place(k, n_some, size); };
        ShapeCounter given(n_some), moved(n_some);
        for (u64 k = 0; k < n_some; ++k) add_given(given, place(k));
        if (given.count() <= 1) return false;
        for (u64 k = 0; k < n_some && moved.count() < given.count(); ++k) add_moved(moved, place(k));
        return moved.count() < given.count();
    };
    const bool of_variables = would_be_fewer(
        of.n, [&](ShapeCounter& to, u64 j) { to.add(of.lb[j], of.ub[j], of.q[j]); },
        [&](ShapeCounter& to, u64 j) {
            const double slope = P ? product(*P, j) : 0.0, centre = of.middle(j);
            to.add(of.lb[j] - centre, of.ub[j] - centre, of.q[j] + slope);
        });
    if (of_variables) return true;
    if (rows_are_half_lines(of, most)) return false;
    Array<double> shift;
    if (!is_by_rows) shift.assign(of.m, 0.0);
    bool has_shift = is_by_rows;
    return would_be_fewer(
        of.m, [&](ShapeCounter& to, u64 i) { to.add(of.l[i], of.u[i], 0.0); },
        [&](ShapeCounter& to, u64 i) {
            if (!has_shift)
                for (u64 j = first; j < of.n; ++j) {
                    const double centre = of.middle(j);
                    const u64 begin = u64(A.offsets[j]), end = centre != 0 ? u64(A.offsets[j + 1]) : begin;
                    require_inside(A, begin, end);
                    for (u64 e = begin; e < end; ++e) shift[A.indices[e]] += A.values[e] * centre;
                }
            has_shift = true;
            const double by = is_by_rows ? product(A, i) : shift[i];
            to.add(of.l[i] - by, of.u[i] - by, 0.0);
        });
}

}  // namespace passes
}  // namespace relift
