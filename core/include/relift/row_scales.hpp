// What each row is divided by, so that rows that say the same look the same (2x <= 2 and x <= 1).
//
// The scale of row i is T_i = sum_j a_ij w_j with small positive integers w_j that depend on the initial colour of
// variable j alone. T is constant on the row classes of every equitable partition, so division by it merges
// classes and splits none (division by the largest entry would split mixtures of permutation matrices). Where T
// vanishes, or is lost in cancellation, |u_i|, |l_i| or 1 takes its place: the first that is finite and nonzero.
#pragma once
#include "counted_memory.hpp"
#include "problem.hpp"

namespace relift {

// Of the sum of |a_ij| w_j: a smaller |T_i| counts as cancelled.
constexpr double smallest_share = 1e-6;

// In 1 .. 2^20.
template <class Index>
Array<u32> variable_weights(const Problem<Index>& problem) {
    Array<u32> weights(problem.n_variables);
    for (u32 j = 0; j < problem.n_variables; ++j) {
        u64 mixed = 0;
        for (const u64* words : problem.variable_images) mixed = mix(mixed ^ words[j]);
        weights[j] = u32(mixed >> 44) + 1;
    }
    return weights;
}

// T and the sum of |a_ij| w_j in floats.
template <class Float> struct RowTotal { Float total, size; };

template <class Float, class Index>
Array<RowTotal<Float>> row_totals(const Problem<Index>& problem, const Array<u32>& weights) {
    Array<RowTotal<Float>> totals(problem.n_rows, RowTotal<Float>{0, 0});
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 entry) {
        const Float term = Float(problem.A.values[entry]) * Float(weights[column]);
        totals[row].total += term;
        totals[row].size += term < 0 ? -term : term;
    });
    return totals;
}

// Writes the scales, exact[i] holding T_i on the way in and the exact scale on the way out.
template <class Float, class Index>
void choose_scales(const Problem<Index>& problem, const Array<RowTotal<Float>>& totals, double* scales, u64* exact) {
    for (u32 i = 0; i < problem.n_rows; ++i) {
        const Float total = totals[i].total, magnitude = total < 0 ? -total : total;
        if (exact[i] != 0 && magnitude >= Float(smallest_share) * totals[i].size) {
            scales[i] = double(total);
            continue;
        }
        const auto take = [&](double bound, u64 image) {
            if (!std::isfinite(bound) || bound == 0 || image == 0 || image >= modulus) return false;
            scales[i] = std::fabs(bound);
            exact[i] = bound < 0 ? field_negate(image) : image;
            return true;
        };
        if (take(problem.u[i], problem.row_upper[i]) || take(problem.l[i], problem.row_lower[i])) continue;
        scales[i] = 1;
        exact[i] = 1;
    }
}

// image_at(entry) is the image of an entry of A.
template <class Index, class ImageAt>
void find_row_scales(const Problem<Index>& problem, ImageAt&& image_at, double* scales, u64* exact) {
    const Array<u32> weights = variable_weights(problem);
    std::fill_n(exact, problem.n_rows, 0);
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 entry) {
        const u128 product = u128(image_at(entry)) * weights[column];
        const u64 sum = exact[row] + (u64(product) & modulus) + u64(product >> 61);
        exact[row] = (sum & modulus) + (sum >> 61);
    });
    for (u32 i = 0; i < problem.n_rows; ++i) exact[i] = field_reduce(exact[i]);

    const auto totals = row_totals<double>(problem, weights);
    bool is_accurate = true;  // without cancellation doubles are good enough
    for (const auto& t : totals) is_accurate &= !(std::fabs(t.total) < 0.01 * t.size);
    if (is_accurate)
        choose_scales(problem, totals, scales, exact);
    else
        choose_scales(problem, row_totals<long double>(problem, weights), scales, exact);
}

// The reciprocals of nonzero field elements: one inversion, three multiplications each.
inline Array<u64> inverses(const u64* values, u32 size) {
    Array<u64> result(size);
    u64 product = 1;
    for (u32 i = 0; i < size; ++i) {
        result[i] = product;
        product = field_multiply(product, values[i]);
    }
    u64 inverse = field_inverse(product);
    for (u32 i = size; i-- > 0;) {
        result[i] = field_multiply(result[i], inverse);
        inverse = field_multiply(inverse, values[i]);
    }
    return result;
}

// The images of l_i and u_i over the scale; a negative scale exchanges the two, and the infinities.
struct ScaledBounds { u64 lower, upper; };

inline u64 scaled_bound(u64 image, u64 inverse_scale, bool is_negative) {
    if (image < modulus) return field_multiply(image, inverse_scale);
    if (!is_negative) return image;
    return image == plus_infinity ? minus_infinity : image == minus_infinity ? plus_infinity : image;
}

inline ScaledBounds scaled_bounds(u64 lower, u64 upper, u64 inverse_scale, bool is_negative) {
    lower = scaled_bound(lower, inverse_scale, is_negative);
    upper = scaled_bound(upper, inverse_scale, is_negative);
    return is_negative ? ScaledBounds{upper, lower} : ScaledBounds{lower, upper};
}

}  // namespace relift
