// Looks at the vectors of a program before a search up to size, unit and sign: what kinds of variables there are, whether
// bounds were computed, and whether a reflection would make more equal. Each stops as soon as its answer is known, and
// vectors of one number are looked at once.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "../own_scales.hpp"
#include "digits.hpp"
#include "fractions.hpp"
#include "kinds.hpp"
#include "numbers.hpp"
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

// Bounds and costs of variables, and what they tell.
struct VariableNumbers : GivenNumbers {
    bool may_be_zero(u64 k) const { return admits_zero(low[k], high[k], low_image[k], high_image[k]); }
    bool has_size(u64 k) const { return is_size(low[k], low_image[k]) || is_size(high[k], high_image[k]); }
    bool are_one() const { return low_image.is_one() && high_image.is_one() && cost_image.is_one(); }
};

// Whether some variable has no cost and may be 0. Most have a cost: these are passed over in blocks.
inline bool some_rest(const VariableNumbers& given) {
    if (given.cost_image.is_one() && given.cost_image[0] != 0) return false;
    const u64 size = given.are_one() ? std::min<u64>(1, given.size) : given.size;
    constexpr u64 block = 64;
    for (u64 first = 0; first < size; first += block) {
        const u64 last = std::min(first + block, size);
        bool has_free = given.cost_image.is_one();
        if (!has_free && given.cost_image.are_read())
            for (u64 k = first; k < last; ++k) has_free |= given.cost_image.read.first[k] == 0;
        else if (!has_free)
            for (u64 k = first; k < last; ++k) has_free |= given.cost.first[k] == 0;
        for (u64 k = first; has_free && k < last; ++k)
            if (given.cost_image[k] == 0 && given.may_be_zero(k)) return true;
    }
    return false;
}

// Remembers some triples of words, so that the few kinds that most programs have are not hashed over and over.
class RecentTriples {
public:
    bool has(u64 a, u64 b, u64 c) const {
        const auto is_in = [&](const Slot& slot) { return slot.is_used && slot.a == a && slot.b == b && slot.c == c; };
        const u64 at = place(a, b, c);
        return is_in(slots_[at]) || is_in(slots_[at ^ 1]);
    }
    void take(u64 a, u64 b, u64 c) {
        Slot& slot = slots_[place(a, b, c)];
        if (slot.is_used) slots_[place(a, b, c) ^ 1] = slot;  // two that fall on one place are both remembered
        slot = {a, b, c, true};
    }
    // Whether the triple is one of those that are remembered; if not, it is from now on.
    bool has_or_takes(u64 a, u64 b, u64 c) {
        const bool is_known = has(a, b, c);
        if (!is_known) take(a, b, c);
        return is_known;
    }

private:
    struct Slot {
        u64 a, b, c;
        bool is_used;
    };
    static u64 place(u64 a, u64 b, u64 c) {
        return (a * 0x9E3779B97F4A7C15u + b * 0xD6E8FEB86659FD93u + c * 0xC2B2AE3D27D4EB4Fu) >> 59;
    }
    Slot slots_[32] = {};
};

// Calls visit(k, place) for `n_some` of `size` places, evenly spread: the k-th is k (size - 1) / (n_some - 1).
template <class Visit> void for_spread_places(u64 n_some, u64 size, Visit&& visit) {
    const u64 parts = n_some > 1 ? n_some - 1 : 1, whole = (size - 1) / parts, rest = (size - 1) % parts;
    for (u64 k = 0, at = 0, over = 0; k < n_some; ++k) {
        visit(k, at);
        at += whole;
        over += rest;
        if (over >= parts) over -= parts, ++at;
    }
}

// The twin of relift/symmetry/likeness.py: scales are divided out of one variable of each kind as given. Of more than
// `most` variables so many are looked at, evenly spread. What was not read exactly is read of these.
inline Colours look_at_colours(const VariableNumbers& given, u64 most, Reading reading, bool sizes, bool signs) {
    Colours found;
    found.rests = some_rest(given);
    if (given.size && given.are_one()) {
        found.kinds = {1, 1, 1};
        found.lacks_size = !given.has_size(0);
        return found;
    }
    const u64 n = std::min(given.size, most);
    const auto absorb = [](u64 word, u64 next) { return mix(word * 0xD6E8FEB86659FD93u ^ mix(next)); };
    Array<u64> mixed;  // of those that are not remembered, and where they stand
    Array<u32> places;
    RecentTriples recent;
    const auto word = [](const Images& images, u64 j) { return images.are_read() ? images[j] : bits_of(images.given[j]); };
    const auto image = [&](const Images& images, u64 j) {
        return images.are_read() ? images[j] : image_of(images.given[j], reading);
    };
    for_spread_places(n, given.size, [&](u64, u64 j) {
        const u64 cost = word(given.cost_image, j), low = word(given.low_image, j), high = word(given.high_image, j);
        found.lacks_size = found.lacks_size || !given.has_size(j);
        if (recent.has_or_takes(cost, low, high)) return;
        mixed.push_back(absorb(absorb(absorb(0, cost), low), high));
        places.push_back(u32(j));
    });
    Array<i64> labels(mixed.size());
    const Grouping kinds = group(mixed.data(), u32(mixed.size()), mixed.size() / 2, labels.data());
    const u64 n_kinds = kinds.n_classes();
    found.kinds = {n_kinds, n_kinds, n_kinds};
    if (n_kinds <= 1 || found.rests) return found;  // whatever rests may merge: nobody asks what else does
    Array<double> low(n_kinds), high(n_kinds), cost(n_kinds), floats(n_kinds);
    Array<u64> low_image(n_kinds), high_image(n_kinds), cost_image(n_kinds), images(n_kinds);
    Array<u64> low_word(n_kinds), high_word(n_kinds), cost_word(n_kinds);
    Array<u8> states(n_kinds);
    for (u64 k = 0; k < n_kinds; ++k) {
        const u64 j = places[kinds.representatives[k]];
        low[k] = given.low[j], high[k] = given.high[j], cost[k] = given.cost[j];
        low_image[k] = image(given.low_image, j), high_image[k] = image(given.high_image, j);
        cost_image[k] = image(given.cost_image, j);
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

// The twin of only_moves in relift/symmetry/centres.py: whether each variable with two finite bounds has 0 as one of them
// and a cost, all of the same sign relative to it, and no other variable has a bound that is finite and not 0.
inline bool only_moves(const VariableNumbers& given) {
    bool some_rise = false, some_fall = false;
    for (u64 k = 0; k < given.size; ++k) {
        const u64 low = given.low_image[k], high = given.high_image[k];
        if (low >= modulus || high >= modulus) {
            if (given.has_size(k)) return false;
            continue;
        }
        if ((low == 0) == (high == 0)) return false;
        const double side = low == 0 ? given.cost[k] : -given.cost[k];
        some_rise |= side > 0, some_fall |= side < 0;
        if (side == 0 || (some_rise && some_fall)) return false;
    }
    return true;
}

// Bounds that tell a size: finite, and not 0.
class Sizes {
public:
    Sizes(const Sides& sides, double smallest) : sides_(sides), smallest_(smallest) {
        const Numbers<double>&low = sides.low, &high = sides.high;
        const bool low_is_none = low.is_one() && !counts(low[0]), high_is_none = high.is_one() && !counts(high[0]);
        if ((low.is_one() && !low_is_none) || (high.is_one() && !high_is_none)) {
            count_ = sides.size;
        } else if (low_is_none || high_is_none) {
            const double* const side = (low_is_none ? high : low).first;
            for (u64 k = 0; k < sides.size && !(low_is_none && high_is_none); ++k) count_ += counts(side[k]);
        } else {
            for (u64 k = 0; k < sides.size; ++k) count_ += u64(counts(low.first[k]) | counts(high.first[k]));
        }
    }
    bool are_one() const { return sides_.are_one(); }
    u64 number(u64 most) const { return (count_ + stride(most) - 1) / stride(most); }
    // Calls visit(low, high) for about `most` of them, evenly spread, until it returns false; 0 is a side without a size.
    template <class Visit> void for_some(u64 most, Visit&& visit) const {
        const u64 step = stride(most), gap = count_ == sides_.size ? step : 1;  // to the next place
        for (u64 k = 0, to_go = 1; k < sides_.size; k += gap) {
            const double low = sides_.low[k], high = sides_.high[k];
            const bool low_counts = counts(low), high_counts = counts(high);
            if (gap == 1 && (!(low_counts | high_counts) || --to_go)) continue;
            to_go = step;
            if (!visit(low_counts ? low : 0.0, high_counts ? high : 0.0)) return;
        }
    }

private:
    bool counts(double value) const {  // both are asked: loops without a branch take several values at once
        const double size = std::fabs(value);
        return (size > smallest_) & (size <= 1.7976931348623157e308);
    }
    u64 stride(u64 most) const { return std::max<u64>(1, count_ / most); }
    Sides sides_;
    u64 count_ = 0;
    double smallest_;
};

// Whether a share of the intervals has a bound of more digits than anyone types; not if no variable has a size.
inline bool look_computed(const Sizes& of_variables, const Sizes& of_rows, u64 most, int digits, double share) {
    const u64 number = of_variables.number(most) + of_rows.number(most);
    if (of_variables.number(most) == 0 || number < 2) return false;
    const double enough = share * double(number);
    u64 n_long = 0;
    RecentTriples short_ones;
    u64 low_before = 0, high_before = 0;  // of the last one that was short: most are like their neighbours
    for (const Sizes* sizes : {&of_variables, &of_rows}) {
        if (sizes->number(most) == 0) continue;
        sizes->for_some(most, [&](double low, double high) {
            const u64 low_word = bits_of(low), high_word = bits_of(high);
            if ((low_word != low_before || high_word != high_before) && !short_ones.has(low_word, high_word, 0)) {
                if (is_longer(low, digits) || (high != low && is_longer(high, digits))) {
                    n_long += sizes->are_one() ? sizes->number(most) : 1;
                    return !sizes->are_one() && double(n_long) < enough;
                }
                short_ones.take(low_word, high_word, 0);
            }
            low_before = low_word, high_before = high_word;
            return !sizes->are_one();
        });
    }
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
        if (recent_.has_or_takes(bits_of(low), bits_of(high), bits_of(cost))) return;
        const Shape shape = shape_of(low, high, cost);
        const u64 word = shape.word | 1;
        u64 at = shape.word >> 1 & (table_.size() - 1);
        while (table_[at] && table_[at] != word) at = (at + 1) & (table_.size() - 1);
        if (!table_[at]) count_ += shape.counts_half ? 1 : 2;
        table_[at] = word;
    }

private:
    Array<u64> table_;
    RecentTriples recent_;
    u64 count_ = 0;
};

struct ReflectionVectors {
    Numbers<double> q;
    Sides bounds, rows;
    const u8* is_rigid;  // variables that are not moved; null if none
    u64 n, m;

    double middle(u64 j) const {
        const double value = is_rigid && is_rigid[j] ? 0.0 : 0.5 * (bounds.low[j] + bounds.high[j]);
        return std::isfinite(value) ? value : 0.0;
    }
    u64 first_with_middle() const {
        for (const Numbers<double>& side : {bounds.low, bounds.high})
            if (side.is_one() && std::isinf(side[0])) return n;
        if (bounds.are_one() && !is_rigid) return n && middle(0) != 0 ? 0 : n;
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
    const Numbers<double>&l = of.rows.low, &u = of.rows.high;
    if (of.m == 0 || std::isinf(l[0]) == std::isinf(u[0])) return false;
    const u64 n_some = of.rows.are_one() ? 1 : std::min(of.m, most);
    for (u64 k = 0; k < n_some; ++k) {
        const u64 i = spread_place(k, n_some, of.m);
        if (l[i] != l[0] || u[i] != u[0]) return false;
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
        of.n, [&](ShapeCounter& to, u64 j) { to.add(of.bounds.low[j], of.bounds.high[j], of.q[j]); },
        [&](ShapeCounter& to, u64 j) {
            const double slope = P ? product(*P, j) : 0.0, centre = of.middle(j);
            to.add(of.bounds.low[j] - centre, of.bounds.high[j] - centre, of.q[j] + slope);
        });
    if (of_variables) return true;
    if (rows_are_half_lines(of, most)) return false;
    Array<double> shift;
    if (!is_by_rows) shift.assign(of.m, 0.0);
    bool has_shift = is_by_rows;
    return would_be_fewer(
        of.m, [&](ShapeCounter& to, u64 i) { to.add(of.rows.low[i], of.rows.high[i], 0.0); },
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
            to.add(of.rows.low[i] - by, of.rows.high[i] - by, 0.0);
        });
}

}  // namespace passes
}  // namespace relift
