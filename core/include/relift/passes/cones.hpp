// What conic rows b - Cx add to the residuals of a point, C by rows: one pass before those of the other rows, one after.
#pragma once
#include <algorithm>
#include <cmath>

#include "../sparse_view.hpp"

namespace relift::passes {

// The larger one; not a number if one of them is not.
inline double larger_or_nan(double one, double other) {
    if (other != other) return other;
    return one <= other ? other : one;
}

// Of each variable: the largest |b_i| / |c_ij|, the largest |c_ij v_i|, the sum of c_ij v_i, and 1 if it is in some row.
template <class Index>
void sums_of_columns(const SparseView<Index>& C, const double* b, const double* v, double* natural, double* terms,
                     double* sums, double* marks) {
    for (u32 j = 0; j < C.n_minor; ++j) natural[j] = terms[j] = sums[j] = marks[j] = 0;
    for (u32 i = 0; i < C.n_major; ++i) {
        const double side = std::fabs(b[i]), dual = v ? v[i] : 0.0, size = std::fabs(dual);
        for (u64 e = u64(C.offsets[i]), end = u64(C.offsets[i + 1]); e < end; ++e) {
            const size_t j = size_t(C.indices[e]);
            const double value = C.values[e];
            marks[j] = 1;
            if (value != 0) natural[j] = larger_or_nan(side / std::fabs(value), natural[j]);
            if (!v) continue;
            terms[j] = larger_or_nan(std::fabs(value) * size, terms[j]);
            sums[j] += value * dual;
        }
    }
}

// b - Cx, and what each entry of it is measured by: the largest product or right-hand side of the row, else of its cone,
// else `common`. The rows of cone k begin at starts[k].
template <class Index>
void slack_and_rooms(const SparseView<Index>& C, const double* b, const double* x, const double* sizes,
                     const long long* starts, size_t n_cones, double common, double* slack, double* rooms) {
    for (size_t k = 0; k < n_cones; ++k) {
        const size_t first = size_t(starts[k]), last = k + 1 < n_cones ? size_t(starts[k + 1]) : size_t(C.n_major);
        double of_cone = 0;
        for (size_t i = first; i < last; ++i) {
            double sum = 0, largest = 0;
            for (u64 e = u64(C.offsets[i]), end = u64(C.offsets[i + 1]); e < end; ++e) {
                const size_t j = size_t(C.indices[e]);
                sum += C.values[e] * x[j];
                largest = larger_or_nan(std::fabs(C.values[e]) * sizes[j], largest);
            }
            slack[i] = b[i] - sum;
            rooms[i] = larger_or_nan(std::fabs(b[i]), largest);
            of_cone = larger_or_nan(rooms[i], of_cone);
        }
        for (size_t i = first; i < last; ++i)
            if (!(rooms[i] > 0)) rooms[i] = of_cone > 0 ? of_cone : common;
    }
}

// How far the heads of second-order cones must be pushed, relative to the largest room of the cone; moves them in s.
// Squares are of numbers relative to the largest, so that they neither overflow nor vanish.
inline void push_heads(const long long* heads, const long long* lengths, size_t n_cones, const double* room, double* s,
                       double* push) {
    for (size_t k = 0; k < n_cones; ++k) {
        const size_t first = size_t(heads[k]), last = first + size_t(lengths[k]);
        double size = 0, most_room = 0, squares = 0;
        for (size_t i = first; i < last; ++i) {
            size = larger_or_nan(std::fabs(s[i]), size);
            most_room = larger_or_nan(std::fabs(room[i]), most_room);
        }
        if (!(size > 0)) size = 1;
        for (size_t i = first + 1; i < last; ++i) squares += (s[i] / size) * (s[i] / size);
        const double excess = larger_or_nan(size * std::sqrt(squares) - s[first], 0.0);
        push[k] = excess / most_room;
        s[first] += excess;
    }
}

struct ConeTerms {
    double push, dual_push, gap;
};

// What second-order cones, of which every row is in one, add to the residuals of a point: how far slack and dual values
// must be pushed, and the gap, |v's| of each cone and the price of both pushes. NaN where a number is none.
inline ConeTerms terms_of_second_order(const long long* heads, const long long* lengths, size_t n_cones,
                                       const double* slack, const double* rooms, const double* v, double scale,
                                       double* room, double* moved) {
    ConeTerms terms{0, 0, 0};
    for (size_t k = 0; k < n_cones; ++k) {
        const size_t first = size_t(heads[k]), last = first + size_t(lengths[k]);
        const long long from_first = 0;
        double push = 0, dual_push = 0, product = 0;
        std::copy(slack + first, slack + last, moved);
        push_heads(&from_first, lengths + k, 1, rooms + first, moved, &push);
        const double kept = moved[0];
        for (size_t i = first; i < last; ++i) {
            room[i - first] = larger_or_nan(scale / rooms[i], std::fabs(v[i]));
            product += v[i] * slack[i];
        }
        std::copy(v + first, v + last, moved);
        push_heads(&from_first, lengths + k, 1, room, moved, &dual_push);
        terms.push = larger_or_nan(push, terms.push);
        terms.dual_push = larger_or_nan(dual_push, terms.dual_push);
        // Heads alone are moved.
        terms.gap += std::fabs(product) + std::fabs(v[first]) * std::fabs(kept - slack[first]) +
                     std::fabs(slack[first]) * std::fabs(moved[0] - v[first]);
    }
    return terms;
}

}  // namespace relift::passes
