// What each row is divided by, so that rows that say the same look the same (2x <= 2 and x <= 1).
//
// The scale of row i is T_i = sum_j a_ij w_j with small positive integers w_j that depend on the initial colour of
// variable j alone, or are all 1 where no two entries have different signs. T is constant on the row classes of every equitable partition, so division by it merges
// classes and splits none (division by the largest entry would split mixtures of permutation matrices). Where T
// vanishes, or is lost in cancellation, the finite bound of largest size takes its place, or 1; it fixes the sign too.
#pragma once
#include <array>
#include <atomic>

#include "algebra.hpp"
#include "counted_memory.hpp"
#include "inverses.hpp"
#include "portable.hpp"
#include "problem.hpp"
#include "rows_apart.hpp"
#include "threads.hpp"

namespace relift {

// Of the sum of |a_ij| w_j: a smaller |T_i| counts as cancelled.
constexpr double smallest_share = 1e-6;

// Whether no two of some values have different signs: then no sum of them cancels.
inline bool have_one_sign(const double* values, u64 n_values) {
    u64 n_above = 0, n_below = 0;
    for (u64 first = 0; first < n_values && !(n_above && n_below); first += 4096)
        for (u64 e = first; e < std::min(first + 4096, n_values); ++e) {
            n_above += values[e] > 0;
            n_below += values[e] < 0;
        }
    return !(n_above && n_below);
}

// The w_j, in 1 .. 2^20. All are 1 where terms cannot cancel: more rows then have the same scale, and need no division.
class VariableWeights {
public:
    template <class Index>
    VariableWeights(const Problem<Index>& problem, bool have_one_sign, u32 n_threads)
        : words_(have_one_sign ? 1 : problem.n_variables, 1), mask_(have_one_sign ? 0 : ~u32(0)) {
        if (have_one_sign) return;
        over_range(problem.n_variables, threads_for(problem.n_variables, n_threads), [&](u64 first, u64 last) {
            for (u64 j = first; j < last; ++j) {
                bool is_as_before = j > first;  // variables of one kind often follow each other
                for (const Words& words : problem.variable_images)
                    is_as_before = is_as_before && words[j] == words[j - 1];
                if (is_as_before) {
                    words_[j] = words_[j - 1];
                    continue;
                }
                u64 mixed = 0;
                for (const Words& words : problem.variable_images) mixed = mix(mixed ^ words[j]);
                words_[j] = u32(mixed >> 44) + 1;
            }
        });
    }
    bool are_all_one() const { return mask_ == 0; }
    i64 operator[](u32 j) const { return i64(words_[j & mask_]); }

private:
    Array<u32> words_;
    const u32 mask_;  // 0 where one word stands for all
};

// T in floats, and the sum of |a_ij| w_j.
struct RowTotal {
    double total, size;
    void add(double term) {
        total += term;
        size += std::fabs(term);
    }
    bool is_cancelled_below(double share) const { return std::fabs(total) < share * size; }
};

// Calls visit(major, minor, entry) for the entries of some majors, and fetch(minor) some entries ahead where what it
// fetches does not stay near the processor.
template <class Index, class Fetch, class Visit>
void walk_majors(const SparseView<Index>& matrix, u32 first, u32 last, bool is_far, Fetch&& fetch, Visit&& visit) {
    const u64 last_entry = matrix.n_entries() - 1;
    const auto walk = [&](auto&& before) {
        for (u32 major = first; major < last; ++major)
            for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
                before(e);
                visit(major, u32(matrix.indices[e]), e);
            }
    };
    if (is_far) walk([&](u64 e) { fetch(u32(matrix.indices[std::min(e + prefetch_distance, last_entry)])); });
    else walk([](u64) {});
}

constexpr u32 least_long = 64;

// Whether minors can be shared out among threads, each of which finds its part of every major and adds the floats of a
// minor in the order of the entries: nearly all of these stand in long majors, whose minors ascend.
template <class Index>
bool can_share_minors(const SparseView<Index>& matrix, u32 n_threads) {
    if (threads_for(matrix.n_entries(), n_threads) == 1) return false;
    u64 n_long = 0;
    for (u32 major = 0; major < matrix.n_major; ++major) {
        const u64 length = u64(matrix.offsets[major + 1]) - u64(matrix.offsets[major]);
        n_long += length < least_long ? 0 : length;
    }
    return n_long > matrix.n_entries() / 4 * 3 && are_ascending(matrix, n_threads);
}

// Calls visit(major, minor, entry) for the entries of some minors, in order.
template <class Index, class Visit>
void walk_minors(const SparseView<Index>& matrix, u32 first, u32 last, Visit&& visit) {
    const Index* const indices = matrix.indices;
    for (u32 major = 0; major < matrix.n_major; ++major) {
        u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]);
        if (end - e < least_long) {
            for (; e < end; ++e)
                if (u32(indices[e]) - first < last - first) visit(major, u32(indices[e]), e);
            continue;
        }
        const auto place_of = [&](u32 minor) {
            return u64(std::lower_bound(indices + e, indices + end, minor,
                                        [](Index index, u32 given) { return u32(index) < given; }) - indices);
        };
        const u64 from = place_of(first), to = place_of(last);
        for (u64 at = from; at < to; ++at) visit(major, u32(indices[at]), at);
    }
}

// T of all rows, exactly (not yet tight) and in floats; image_at(entry) is the image of an entry of A, which several
// threads may ask for. Floats are added in the order of the entries, however many threads there are: one of them adds
// the floats, another the exact numbers, where rows cannot be shared out.
template <class Index, class ImageAt>
Array<RowTotal> row_totals(const Problem<Index>& problem, const VariableWeights& weights, ImageAt&& image_at,
                           u64* exact, bool rows_are_shared, u32 n_threads) {
    Array<RowTotal> totals(problem.n_rows);
    const auto& A = problem.A;
    over_range(problem.n_rows, threads_for(problem.n_rows, n_threads), [&](u64 first, u64 last) {
        std::fill(totals.begin() + i64(first), totals.begin() + i64(last), RowTotal{0, 0});
        std::fill(exact + first, exact + last, 0);
    });
    const auto add_float = [&](u32 row, u32 column, u64 e) { totals[row].add(A.values[e] * double(weights[column])); };
    const auto add_exact = [&](u32 row, u32 column, u64 e) {
        exact[row] = FieldAlgebra::loose_add_product(exact[row], image_at(e), u64(weights[column]));
    };
    const auto add_both = [&](u32 row, u32 column, u64 e) {
        add_float(row, column, e);
        add_exact(row, column, e);
    };
    n_threads = threads_for(A.n_entries(), n_threads);
    if (problem.A_is_by_rows) {
        over_majors(A, n_threads, [&](u32 first, u32 last) {
            walk_majors(A, first, last, false, [](u32) {}, add_both);
        });
        return totals;
    }
    if (rows_are_shared) {
        over_range(problem.n_rows, n_threads, [&](u64 first, u64 last) {
            walk_minors(A, u32(first), u32(last), [&](u32 column, u32 row, u64 e) { add_both(row, column, e); });
        });
        return totals;
    }
    const bool is_far = problem.n_rows * sizeof(RowTotal) > bytes_that_stay_in_cache;
    const auto fetch_total = [&](u32 row) { RELIFT_PREFETCH_TO_WRITE(&totals[row]); };
    const auto fetch_exact = [&](u32 row) { RELIFT_PREFETCH_TO_WRITE(&exact[row]); };
    const auto fetch_both = [&](u32 row) {
        fetch_total(row);
        fetch_exact(row);
    };
    const auto walk = [&](auto&& fetch, auto&& add) {
        walk_majors(A, 0, A.n_major, is_far, fetch, [&](u32 column, u32 row, u64 e) { add(row, column, e); });
    };
    if (n_threads == 1) walk(fetch_both, add_both);
    else in_parallel(2, [&](u32 k) { k == 0 ? walk(fetch_total, add_float) : walk(fetch_exact, add_exact); });
    return totals;
}

// Adds the floats of rows with cancellation again, in more digits. Their sizes do not cancel.
template <class Index>
void sharpen(const Problem<Index>& problem, const VariableWeights& weights, Array<RowTotal>& totals,
             bool rows_are_shared, u32 n_threads) {
    constexpr u32 none = ~u32(0);
    const auto& A = problem.A;
    Array<u32> place(problem.n_rows, none), poor_rows;
    for (u32 i = 0; i < problem.n_rows; ++i)
        if (totals[i].is_cancelled_below(0.01)) {
            place[i] = u32(poor_rows.size());
            poor_rows.push_back(i);
        }
    if (poor_rows.empty()) return;
    Array<long double> sharp(poor_rows.size(), 0);
    const auto add = [&](u32 row, u32 column, u64 e) {
        if (place[row] != none) sharp[place[row]] += (long double)(A.values[e]) * (long double)(weights[column]);
    };
    const auto add_by_column = [&](u32 column, u32 row, u64 e) { add(row, column, e); };
    n_threads = threads_for(A.n_entries(), n_threads);
    if (problem.A_is_by_rows)
        over_majors(A, n_threads, [&](u32 first, u32 last) { walk_majors(A, first, last, false, [](u32) {}, add); });
    else if (rows_are_shared)
        over_range(problem.n_rows, n_threads,
                   [&](u64 first, u64 last) { walk_minors(A, u32(first), u32(last), add_by_column); });
    else
        walk_majors(A, 0, A.n_major, problem.n_rows * sizeof(u32) > bytes_that_stay_in_cache,
                    [&](u32 row) { RELIFT_PREFETCH(&place[row]); }, add_by_column);
    for (u32 k = 0; k < poor_rows.size(); ++k) totals[poor_rows[k]].total = double(sharp[k]);
}

// The scale of a row, from its T in floats and exactly (exact[i], not yet tight); returns whether it is that.
template <class Index>
bool is_scaled_by_total(const Problem<Index>& problem, u64 i, RowTotal total, double* scales, u64* exact) {
    exact[i] = field_reduce(exact[i]);
    if (exact[i] != 0 && !total.is_cancelled_below(smallest_share)) {
        scales[i] = total.total;
        return true;
    }
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
    return false;
}

// Writes the scales of all rows, with total_of(i) in floats; returns how many are not divided by their T.
template <class Index, class TotalOf>
u64 write_scales(const Problem<Index>& problem, TotalOf&& total_of, double* scales, u64* exact, u32 n_threads) {
    std::atomic<u64> n_without_total{0};
    over_range(problem.n_rows, threads_for(problem.n_rows, n_threads), [&](u64 first, u64 last) {
        u64 n_without = 0;
        for (u64 i = first; i < last; ++i) n_without += !is_scaled_by_total(problem, i, total_of(i), scales, exact);
        n_without_total += n_without;
    });
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
    bool have_one_sign() const {
        return std::all_of(multiples.begin(), multiples.end(), [](i64 multiple) { return multiple >= 0; }) ||
               std::all_of(multiples.begin(), multiples.end(), [](i64 multiple) { return multiple <= 0; });
    }
    double power_of_ten() const {
        double power = 1;
        for (int d = 0; d < n_decimals; ++d) power *= 10;
        return power;
    }
};

// Sums of multiples, and of their sizes; these are the same where no two have different signs.
struct WholeTotal {
    i64 total, size;
    void add(i64 term) {
        total += term;
        size += term < 0 ? -term : term;
    }
    void add(WholeTotal other) {
        total += other.total;
        size += other.size;
    }
    i64 sum_of_sizes() const { return size; }
};
struct WholeTotalOfOneSign {
    i64 total;
    void add(i64 term) { total += term; }
    void add(WholeTotalOfOneSign other) { total += other.total; }
    i64 sum_of_sizes() const { return total < 0 ? -total : total; }
};

// The same scales by integers; number_at(entry) is the number of the value of an entry. Threads that scatter have
// sums of their own. Where all rows have the same scale it is left in `shared`, if that is given, and not written.
template <class Total, class Index, class NumberAt>
u64 find_row_scales_by(const Problem<Index>& problem, const VariableWeights& weights, const WholeMultiples& whole,
                       NumberAt&& number_at, double* scales, u64* exact, u32 n_threads, SharedScale* shared) {
    const auto& A = problem.A;
    const u64 n_entries = A.n_entries(), m = problem.n_rows;
    const u64 most_parts = problem.A_is_by_rows || m == 0 ? 1 : 1 + n_entries / (4 * m);  // 4 bytes for each entry
    const u32 n_walking = threads_for(n_entries, n_threads);
    const u32 n_parts = u32(std::min<u64>(n_walking, most_parts));
    const auto term = [&](u32 column, u64 e) { return whole.multiples[number_at(e)] * weights[column]; };
    const u64 unit = PowersOfTen::at(-whole.n_decimals);
    const double power = whole.power_of_ten();
    const auto exact_of = [&](Total sum) {
        const u64 magnitude = field_reduce(u64(sum.total < 0 ? -sum.total : sum.total));
        return field_multiply(sum.total < 0 ? field_negate(magnitude) : magnitude, unit);
    };
    const auto float_of = [&](Total sum) {
        return RowTotal{double(sum.total) / power, double(sum.sum_of_sizes()) / power};
    };
    // Whether all rows have one sum, and none is lost; most programs show that they have not by their first rows.
    const auto have_one_sum = [&](auto&& sum_of) {
        const auto is_lost = [&](Total sum) {
            return exact_of(sum) == 0 || float_of(sum).is_cancelled_below(smallest_share);
        };
        const Total first = sum_of(0);
        if (is_lost(first)) return false;
        for (u64 i = 1; i < m; ++i) {
            const Total sum = sum_of(i);
            if (sum.total != first.total) return false;
            if (sum.sum_of_sizes() != first.sum_of_sizes() && is_lost(sum)) return false;
        }
        *shared = {true, float_of(first).total, exact_of(first)};
        return true;
    };
    const auto sum_of_major = [&](u64 i) {
        Total sum{};
        for (u64 e = u64(A.offsets[i]), end = u64(A.offsets[i + 1]); e < end; ++e) sum.add(term(u32(A.indices[e]), e));
        return sum;
    };
    if (shared && m && problem.A_is_by_rows && have_one_sum(sum_of_major)) return 0;
    Array<Total> sums(n_parts * m);
    if (problem.A_is_by_rows)
        over_majors(A, n_walking, [&](u32 first, u32 last) {
            std::fill(sums.begin() + i64(first), sums.begin() + i64(last), Total());
            walk_majors(A, first, last, false, [](u32) {},
                        [&](u32 row, u32 column, u64 e) { sums[row].add(term(column, e)); });
        });
    else
        in_parallel(n_parts, [&](u32 k) {
            Total* const own = sums.data() + k * m;
            std::fill_n(own, m, Total());
            walk_majors(A, first_major_of(A, k, n_parts), first_major_of(A, k + 1, n_parts),
                        m * sizeof(Total) > bytes_that_stay_in_cache,
                        [&](u32 row) { RELIFT_PREFETCH_TO_WRITE(&own[row]); },
                        [&](u32 column, u32 row, u64 e) { own[row].add(term(column, e)); });
        });
    const auto sum_of = [&](u64 i) {
        Total sum = sums[i];
        for (u32 part = 1; part < n_parts; ++part) sum.add(sums[part * m + i]);
        return sum;
    };
    if (shared && m && !problem.A_is_by_rows && have_one_sum(sum_of)) return 0;
    const auto total_of = [&](u64 i) {
        const Total sum = sum_of(i);
        exact[i] = exact_of(sum);
        return float_of(sum);
    };
    return write_scales(problem, total_of, scales, exact, n_threads);
}

// Writes the scales; returns how many rows are not divided by their T.
template <class Index, class ImageAt>
u64 find_row_scales(const Problem<Index>& problem, ImageAt&& image_at, double* scales, u64* exact, u32 n_threads) {
    const auto& A = problem.A;
    const VariableWeights weights(problem, have_one_sign(A.values, A.n_entries()), n_threads);
    const bool rows_are_shared = !problem.A_is_by_rows && can_share_minors(A, n_threads);
    Array<RowTotal> totals = row_totals(problem, weights, image_at, exact, rows_are_shared, n_threads);
    sharpen(problem, weights, totals, rows_are_shared, n_threads);
    return write_scales(problem, [&](u64 i) { return totals[i]; }, scales, exact, n_threads);
}

// The same of whole multiples.
template <class Index, class NumberAt>
u64 find_row_scales(const Problem<Index>& problem, const WholeMultiples& whole, NumberAt&& number_at, double* scales,
                    u64* exact, u32 n_threads, SharedScale* shared = nullptr) {
    const VariableWeights weights(problem, whole.have_one_sign(), n_threads);
    const auto find = weights.are_all_one() ? find_row_scales_by<WholeTotalOfOneSign, Index, NumberAt>
                                            : find_row_scales_by<WholeTotal, Index, NumberAt>;
    return find(problem, weights, whole, std::forward<NumberAt>(number_at), scales, exact, n_threads, shared);
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
