// What each row is divided by, so that rows that say the same look the same (2x <= 2 and x <= 1).
//
// The scale of row i is T_i = sum_j a_ij w_j with small positive integers w_j that depend on the initial colour of
// variable j alone, or are all 1 where no two entries have different signs. T is constant on the row classes of every equitable partition, so division by it merges
// classes and splits none (division by the largest entry would split mixtures of permutation matrices). Where T
// vanishes, or is lost in cancellation, the finite bound of largest size takes its place, or 1; it fixes the sign too.
#pragma once
#include <array>

#include "algebra.hpp"
#include "counted_memory.hpp"
#include "problem.hpp"
#include "threads.hpp"

namespace relift {

// Of the sum of |a_ij| w_j: a smaller |T_i| counts as cancelled.
constexpr double smallest_share = 1e-6;

// Whether no two entries have different signs: then no sum of them cancels.
template <class Index>
bool have_one_sign(const SparseView<Index>& matrix) {
    const u64 n_entries = matrix.n_entries();
    u64 n_above = 0, n_below = 0;
    for (u64 first = 0; first < n_entries && !(n_above && n_below); first += 4096)
        for (u64 e = first; e < std::min(first + 4096, n_entries); ++e) {
            n_above += matrix.values[e] > 0;
            n_below += matrix.values[e] < 0;
        }
    return !(n_above && n_below);
}

// In 1 .. 2^20. Equal weights where they cannot cancel: more rows then have the same scale, and need no division.
template <class Index>
Array<u32> variable_weights(const Problem<Index>& problem) {
    if (have_one_sign(problem.A)) return Array<u32>(problem.n_variables, 1);
    Array<u32> weights(problem.n_variables);
    for (u32 j = 0; j < problem.n_variables; ++j) {
        u64 mixed = 0;
        for (const Words& words : problem.variable_images) mixed = mix(mixed ^ words[j]);
        weights[j] = u32(mixed >> 44) + 1;
    }
    return weights;
}

// T in floats, and the sum of |a_ij| w_j.
struct RowTotal {
    double total, size;
    void add(double term) {
        total += term;
        size += std::fabs(term);
    }
    bool is_cancelled_below(double share) const { return std::fabs(total) < share * size; }
};

// T of all rows, exactly (not yet tight) and in floats; image_at(entry) is the image of an entry of A, which several
// threads may ask for. Floats are added in the order of the entries, however many threads there are: one of them adds
// the floats, another the exact numbers, where rows cannot be shared out.
template <class Index, class ImageAt>
Array<RowTotal> row_totals(const Problem<Index>& problem, const Array<u32>& weights, ImageAt&& image_at, u64* exact,
                           u32 n_threads) {
    Array<RowTotal> totals(problem.n_rows, RowTotal{0, 0});
    const auto& A = problem.A;
    std::fill_n(exact, problem.n_rows, 0);
    const auto add_float = [&](u32 row, u32 column, u64 e) {
        totals[row].add(A.values[e] * double(i64(weights[column])));
    };
    const auto add_exact = [&](u32 row, u32 column, u64 e) {
        exact[row] = FieldAlgebra::loose_add_product(exact[row], image_at(e), weights[column]);
    };
    const auto add_both = [&](u32 row, u32 column, u64 e) {
        add_float(row, column, e);
        add_exact(row, column, e);
    };
    const auto walk = [&](u32 first, u32 last, auto&& visit) {
        for (u32 major = first; major < last; ++major)
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                visit(major, u32(A.indices[e]), e);
    };
    n_threads = threads_for(A.n_entries(), n_threads);
    if (problem.A_is_by_rows)
        over_majors(A, n_threads, [&](u32 first, u32 last) { walk(first, last, add_both); });
    else if (n_threads == 1)
        walk(0, A.n_major, [&](u32 column, u32 row, u64 e) { add_both(row, column, e); });
    else
        in_parallel(2, [&](u32 k) {
            if (k == 0) walk(0, A.n_major, [&](u32 column, u32 row, u64 e) { add_float(row, column, e); });
            else walk(0, A.n_major, [&](u32 column, u32 row, u64 e) { add_exact(row, column, e); });
        });
    return totals;
}

// Adds the floats of rows with cancellation again, in more digits.
template <class Index>
void sharpen(const Problem<Index>& problem, const Array<u32>& weights, Array<RowTotal>& totals) {
    constexpr u32 none = ~u32(0);
    Array<u32> place(problem.n_rows, none), poor_rows;
    for (u32 i = 0; i < problem.n_rows; ++i)
        if (totals[i].is_cancelled_below(0.01)) {
            place[i] = u32(poor_rows.size());
            poor_rows.push_back(i);
        }
    if (poor_rows.empty()) return;
    struct Sharp { long double total, size; };
    Array<Sharp> sharp(poor_rows.size(), Sharp{0, 0});
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 entry) {
        if (place[row] == none) return;
        const long double term = (long double)(problem.A.values[entry]) * weights[column];
        sharp[place[row]].total += term;
        sharp[place[row]].size += std::fabs(term);
    });
    for (u32 k = 0; k < poor_rows.size(); ++k) {
        totals[poor_rows[k]].total = double(sharp[k].total);
        totals[poor_rows[k]].size = double(sharp[k].size);
    }
}

// From T of all rows, in floats and exactly, to the scales; returns how many rows are not divided by their T.
template <class Index>
u64 scales_of_totals(const Problem<Index>& problem, const Array<RowTotal>& totals, double* scales, u64* exact) {
    u64 n_without_total = 0;
    for (u32 i = 0; i < problem.n_rows; ++i) {
        exact[i] = field_reduce(exact[i]);
        if (exact[i] != 0 && !totals[i].is_cancelled_below(smallest_share)) {
            scales[i] = totals[i].total;
            continue;
        }
        ++n_without_total;
        scales[i] = 1;
        exact[i] = 1;
        double largest = 0;
        const auto offer = [&](double bound, u64 image) {
            if (!std::isfinite(bound) || image == 0 || image >= modulus || std::fabs(bound) <= largest) return;
            largest = std::fabs(bound);
            scales[i] = bound;
            exact[i] = image;
        };
        offer(problem.u[i], problem.row_upper[i]);
        offer(problem.l[i], problem.row_lower[i]);
    }
    return n_without_total;
}

// Few values that are whole multiples of one power of ten: sums of their multiples times w_j are integers of 64 bits,
// which cost less than sums in the field and in floats, and need not be sharpened.
struct WholeMultiples {
    std::array<i64, 256> multiples{};  // in the order of the values
    int n_decimals = 0;
    bool exist = false;

    static constexpr int most_decimals = 6;

    // At most 256 values of so many entries; fractions are read as decimals or not at all.
    static WholeMultiples of(const double* values, u32 n_values, u64 n_entries, Reading reading) {
        WholeMultiples found;
        const double most = double(u64(1) << 42) / double(n_entries + 1);  // sums stay below 2^62
        double power = 1;
        for (int d = 0; d <= (reading == Reading::decimal ? most_decimals : 0); ++d, power *= 10) {
            found.exist = std::all_of(values, values + n_values, [&](double value) {
                const double multiple = std::nearbyint(value * power);
                return std::fabs(multiple) <= most && multiple / power == value;
            });
            if (!found.exist) continue;
            found.n_decimals = d;
            for (u32 k = 0; k < n_values; ++k) found.multiples[k] = i64(std::nearbyint(values[k] * power));
            break;
        }
        return found;
    }
    double power_of_ten() const {
        double power = 1;
        for (int d = 0; d < n_decimals; ++d) power *= 10;
        return power;
    }
};

struct WholeTotal { i64 total, size; };

// The same totals by integers; number_at(entry) is the number of the value of an entry.
template <class Index, class NumberAt>
Array<RowTotal> row_totals(const Problem<Index>& problem, const Array<u32>& weights, const WholeMultiples& whole,
                           NumberAt&& number_at, u64* exact, u32 n_threads) {
    const auto& A = problem.A;
    const u64 n_entries = A.n_entries(), m = problem.n_rows;
    const u64 most_parts = problem.A_is_by_rows || m == 0 ? 1 : 1 + n_entries / (4 * m);  // 4 bytes for each entry
    const u32 n_parts = u32(std::min<u64>(threads_for(n_entries, n_threads), most_parts));
    Array<WholeTotal> sums(n_parts * m, WholeTotal{0, 0});
    const auto walk = [&](u32 first, u32 last, auto&& visit) {
        for (u32 major = first; major < last; ++major)
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                visit(major, u32(A.indices[e]), e);
    };
    const auto add = [&](WholeTotal& sum, u32 column, u64 e) {
        const i64 term = whole.multiples[number_at(e)] * i64(weights[column]);
        sum.total += term;
        sum.size += term < 0 ? -term : term;
    };
    if (problem.A_is_by_rows)
        over_majors(A, threads_for(n_entries, n_threads), [&](u32 first, u32 last) {
            walk(first, last, [&](u32 row, u32 column, u64 e) { add(sums[row], column, e); });
        });
    else
        in_parallel(n_parts, [&](u32 k) {
            WholeTotal* const own = sums.data() + k * m;
            walk(first_major_of(A, k, n_parts), first_major_of(A, k + 1, n_parts),
                 [&](u32 column, u32 row, u64 e) { add(own[row], column, e); });
        });
    for (u64 i = 0, part = m; part < sums.size(); ++part, i = i + 1 < m ? i + 1 : 0) {
        sums[i].total += sums[part].total;
        sums[i].size += sums[part].size;
    }
    const u64 unit = PowersOfTen::at(-whole.n_decimals);
    const double power = whole.power_of_ten();
    Array<RowTotal> totals(problem.n_rows);
    for (u32 i = 0; i < problem.n_rows; ++i) {
        const i64 total = sums[i].total;
        const u64 magnitude = field_reduce(u64(total < 0 ? -total : total));
        exact[i] = field_multiply(total < 0 ? field_negate(magnitude) : magnitude, unit);
        totals[i] = {double(total) / power, double(sums[i].size) / power};
    }
    return totals;
}

// Writes the scales; returns how many rows are not divided by their T.
template <class Index, class ImageAt>
u64 find_row_scales(const Problem<Index>& problem, ImageAt&& image_at, double* scales, u64* exact, u32 n_threads) {
    const Array<u32> weights = variable_weights(problem);
    Array<RowTotal> totals = row_totals(problem, weights, image_at, exact, n_threads);
    sharpen(problem, weights, totals);
    return scales_of_totals(problem, totals, scales, exact);
}

// The same of whole multiples.
template <class Index, class NumberAt>
u64 find_row_scales(const Problem<Index>& problem, const WholeMultiples& whole, NumberAt&& number_at, double* scales,
                    u64* exact, u32 n_threads) {
    const Array<RowTotal> totals = row_totals(problem, variable_weights(problem), whole, number_at, exact, n_threads);
    return scales_of_totals(problem, totals, scales, exact);
}

// The reciprocals of nonzero field elements: one inversion, three multiplications each. Four chains of products are
// made side by side, since each product waits for the one before it.
inline Array<u64> inverses(const u64* values, u32 size) {
    constexpr u32 n_chains = 4;
    Array<u64> result(size);
    u64 product[n_chains] = {1, 1, 1, 1};
    const u32 whole = size - size % n_chains;
    for (u32 i = 0; i < whole; i += n_chains)
        for (u32 k = 0; k < n_chains; ++k) {
            result[i + k] = product[k];
            product[k] = field_multiply(product[k], values[i + k]);
        }
    for (u32 i = whole; i < size; ++i) {
        result[i] = product[i - whole];
        product[i - whole] = field_multiply(product[i - whole], values[i]);
    }
    const u64 first = field_multiply(product[0], product[1]), last = field_multiply(product[2], product[3]);
    const u64 of_all = field_inverse(field_multiply(first, last));
    const u64 of_first = field_multiply(of_all, last), of_last = field_multiply(of_all, first);
    u64 inverse[n_chains] = {field_multiply(of_first, product[1]), field_multiply(of_first, product[0]),
                             field_multiply(of_last, product[3]), field_multiply(of_last, product[2])};
    for (u32 i = size; i-- > whole;) {
        result[i] = field_multiply(result[i], inverse[i - whole]);
        inverse[i - whole] = field_multiply(inverse[i - whole], values[i]);
    }
    for (u32 i = whole; i > 0;) {
        i -= n_chains;
        for (u32 k = 0; k < n_chains; ++k) {
            result[i + k] = field_multiply(result[i + k], inverse[k]);
            inverse[k] = field_multiply(inverse[k], values[i + k]);
        }
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
