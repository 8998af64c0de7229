// Ratios that several pairs of different numbers have in common, but for rounding, seen in one pass over a sample.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../own_scales.hpp"
#include "fractions.hpp"

namespace relift::passes {

// Ratios seen so far, and for each one of its numerators. Two that are equal but for rounding may lie on two sides of an
// edge and be missed: one pair in ten, and what is looked for shows many.
class SharedRatios {
public:
    SharedRatios(u64 most, double different, double largest, double rounding)
        : slots_(power_of_two_above(2 * most + 2)), different_(different), largest_(largest), rounding_(rounding) {}

    // Whether a pair of another numerator had this ratio, which is not a simple fraction. Kinds are kept apart.
    bool is_shared(u64 kind, double numerator, double denominator) {
        const double ratio = numerator / denominator;
        if (!(ratio > 0) || !std::isfinite(ratio)) return false;
        u64 bits;
        std::memcpy(&bits, &ratio, sizeof bits);
        const u64 key = (((bits + 16) >> 5) * 4 + kind) | u64(1) << 63;  // never 0
        u64 at = mix(key) & (slots_.size() - 1);
        while (slots_[at].key && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        if (!slots_[at].key) {
            slots_[at] = {key, numerator};
            return false;
        }
        return std::fabs(numerator - slots_[at].numerator) > different_ * numerator &&
               simple_fraction(ratio, largest_, rounding_).numerator == 0;
    }

private:
    struct Slot {
        u64 key = 0;
        double numerator = 0;
    };
    Array<Slot> slots_;
    double different_, largest_, rounding_;
};

struct SharedCount {
    u64 number = 0, shared = 0;
};

// Of the entries of A, one of `step`: how many there are, and how many shared ratios of sizes they show: those of variable
// and row, directly and times the entry, and of the shorter sides to the longer ones. A row without a size has that of
// its largest term. The twin of shared_ratios_slowly in relift/symmetry/proportional_bounds.py.
template <class Index>
SharedCount count_shared_ratios(const SparseView<Index>& A, bool is_by_rows, const OwnNumbers& variables,
                                const OwnNumbers& rows, u64 step, double different, double largest, double rounding) {
    const auto side = [](double value, u64 image) { return is_size(value, image) ? std::fabs(value) : 0.0; };
    const auto longer = [&](const OwnNumbers& of, u64 k) {
        return std::max(side(of.low[k], of.low_image[k]), side(of.high[k], of.high_image[k]));
    };
    const auto shorter = [&](const OwnNumbers& of, u64 k) {
        return std::min(side(of.low[k], of.low_image[k]), side(of.high[k], of.high_image[k]));
    };
    const auto term = [&](u64 e, u64 j) { return std::fabs(A.values[e]) * longer(variables, j); };
    const u64 n_entries = A.n_entries();
    Array<double> terms;  // the largest ones of all rows, where they do not lie together
    const auto fill_terms = [&] {
        terms.assign(rows.size, 0.0);
        require_inside(A, 0, n_entries);
        for (u64 j = 0; j < A.n_major; ++j) {
            const double w = longer(variables, j);
            for (u64 e = u64(A.offsets[j]); w > 0 && e < u64(A.offsets[j + 1]); ++e) {
                double& largest_term = terms[u64(A.indices[e])];
                largest_term = std::max(largest_term, std::fabs(A.values[e]) * w);
            }
        }
    };
    u64 last_row = ~u64(0);
    double last_term = 0;
    const auto largest_term = [&](u64 i) {
        if (!is_by_rows) {
            if (terms.empty()) fill_terms();
            return terms[i];
        }
        if (i != last_row) {
            last_row = i, last_term = 0;
            require_inside(A, u64(A.offsets[i]), u64(A.offsets[i + 1]));
            for (u64 e = u64(A.offsets[i]); e < u64(A.offsets[i + 1]); ++e)
                last_term = std::max(last_term, term(e, u64(A.indices[e])));
        }
        return last_term;
    };
    SharedCount count;
    SharedRatios seen(4 * (n_entries / step + 1), different, largest, rounding);
    for (u64 e = 0, major = 0; e < n_entries; e += step) {
        while (u64(A.offsets[major + 1]) <= e) ++major;
        require_inside(A, e, e + 1);
        ++count.number;
        const u64 minor = u64(A.indices[e]), i = is_by_rows ? major : minor, j = is_by_rows ? minor : major;
        const double entry = std::fabs(A.values[e]), w = longer(variables, j), own = longer(rows, i);
        if (w > 0 && entry > 0) {
            const double v = own > 0 ? own : largest_term(i);
            count.shared += seen.is_shared(0, w, v) || (entry != 1 && seen.is_shared(1, entry * w, v));
        }
        const double low_w = shorter(variables, j), low_v = shorter(rows, i);
        count.shared += low_w > 0 && low_w < w && seen.is_shared(2, low_w, w);
        count.shared += low_v > 0 && low_v < own && seen.is_shared(3, low_v, own);
    }
    return count;
}

}  // namespace relift::passes
