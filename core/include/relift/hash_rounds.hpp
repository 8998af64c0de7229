// Rounds of colour refinement on 64-bit colours, without keeping a partition.
//
// A round gives every row the new colour mix(old colour, sum_j colour_j a_ij) and then every variable
// mix(old colour, sum_i colour_i a_ij + sum_k colour_k P_kj): equal colours mean equal sums into every class, but
// for collisions. A matrix is used in the orientation in which it is given; sums along its majors are gathered,
// the others scattered. Vertices that are compared up to a factor have their sums, and their colours, multiplied by it
// once for each vertex; those that rest are woken by their first sum that is not 0 (multipliers.hpp). Threads take
// blocks of majors; each that scatters has sums of its own, which are added up at the end: exactly, so in any order.
//
// A round costs a few nanoseconds for each entry, a worklist several times as much before it has split anything; so
// rounds go on while they split much, or are about to end (RoundsToGo below), or wake many vertices. They end when
//   stable    the (exactly counted) number of classes stays: nothing splits any more;
//   discrete  all variables have distinct colours: only rows are left to be told apart;
//   apart     all rows have, and no column is a multiple of another: nothing is left;
//   many      there are clearly more classes than are of use;
//   known     masses are in proportion to others in every class: what there is to find is known (equal_in_classes.hpp);
//   slow      the number of classes grows too slowly: a worklist does the rest.
#pragma once
#include <cmath>
#include <utility>

#include "algebra.hpp"
#include "distinct_words.hpp"
#include "equal_in_classes.hpp"
#include "monitor.hpp"
#include "multipliers.hpp"
#include "portable.hpp"
#include "problem.hpp"
#include "proportions.hpp"
#include "threads.hpp"
#include "weights.hpp"

namespace relift {

// The words that sources add to the sums: their colours, or no words at all if all have the same (its multiple is
// then taken once for each sum).
struct Source {
    const u64* words;
    bool is_uniform;
};

// How the loops below work, chosen once for each pass.
template <class Algebra_, bool uniform_, bool prefetch_>
struct Pass {
    using Algebra = Algebra_;
    static constexpr bool uniform = uniform_, prefetch = prefetch_;
};

// Calls take(major, sum over its entries of source[minor] * weight) for a block of majors.
template <class Pass, class Index, class Weight, class Take>
void gather_entries(const SparseView<Index>& matrix, Weight weight, const u64* source, Take&& take, u32 first_major,
                    u32 last_major) {
    using Algebra = typename Pass::Algebra;
    const Index* const indices = matrix.indices;
    const u64 last = matrix.n_entries() - 1;
    const auto add_entries = [&](typename Algebra::Accumulator& sum, u64 e, u64 end) {
        for (; e < end; ++e) {
            if (Pass::prefetch) RELIFT_PREFETCH(&source[indices[std::min(e + prefetch_distance, last)]]);
            if constexpr (Pass::uniform) Algebra::add(sum, weight(e));
            else if constexpr (Weight::is_unit) Algebra::add(sum, source[indices[e]]);
            else Algebra::add_product(sum, source[indices[e]], weight(e));
        }
    };
    for (u32 major = first_major; major < last_major; ++major) {
        typename Algebra::Accumulator sum = 0;
        u64 e = u64(matrix.offsets[major]);
        const u64 end = u64(matrix.offsets[major + 1]);
        if (Pass::uniform && Weight::is_unit) {
            sum = end - e;
        } else {
            for (; end - e > Algebra::products_between_folds; e += Algebra::products_between_folds) {
                add_entries(sum, e, e + Algebra::products_between_folds);
                Algebra::fold(sum);
            }
            add_entries(sum, e, end);
        }
        u64 value = Algebra::value(sum);
        if (Pass::uniform) value = Algebra::multiply(value, source[0]);
        take(major, value);
    }
}

// sums[minor] = sum over its entries in a block of majors of source[major] * weight, not yet tight.
template <class Pass, class Index, class Weight>
void scatter_entries(const SparseView<Index>& matrix, Weight weight, const u64* source, u64* sums, u32 first_major,
                     u32 last_major) {
    using Algebra = typename Pass::Algebra;
    const Index* const indices = matrix.indices;
    const u64 last = matrix.n_entries() - 1;
    std::fill_n(sums, matrix.n_minor, 0);
    for (u32 major = first_major; major < last_major; ++major) {
        const u64 word = Pass::uniform ? 1 : source[major];
        for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
            if (Pass::prefetch) RELIFT_PREFETCH_TO_WRITE(&sums[indices[std::min(e + prefetch_distance, last)]]);
            u64& sum = sums[indices[e]];
            if constexpr (Pass::uniform) sum = Algebra::loose_add(sum, weight(e));
            else if constexpr (Weight::is_unit) sum = Algebra::loose_add(sum, word);
            else sum = Algebra::loose_add_product(sum, word, weight(e));
        }
    }
}

// Adds up what the blocks have scattered.
template <class Pass>
void add_parts(u64* sums, const Array<u64>& parts, u32 n_parts, u64 n_minor, const u64* source, u64 first, u64 last) {
    using Algebra = typename Pass::Algebra;
    for (u64 minor = first; minor < last; ++minor) {
        u64 sum = sums[minor];
        for (u32 part = 0; part < n_parts; ++part) sum = Algebra::loose_add(sum, parts[part * n_minor + minor]);
        sum = Algebra::tight(sum);
        sums[minor] = Pass::uniform ? Algebra::multiply(sum, source[0]) : sum;
    }
}

// Calls work(pass, weight) with the loops that fit the matrix and the source.
template <class Algebra, bool scatters, class Index, class Work>
void with_pass(const SparseView<Index>& matrix, const Weights& weights, bool is_uniform, Work&& work) {
    const bool prefetch = u64(matrix.n_minor) * sizeof(u64) > bytes_that_stay_in_cache;
    with_weight(weights, [&](auto weight) {
        if (is_uniform && prefetch) work(Pass<Algebra, true, scatters>(), weight);  // who gathers reads no source
        else if (is_uniform) work(Pass<Algebra, true, false>(), weight);
        else if (prefetch) work(Pass<Algebra, false, true>(), weight);
        else work(Pass<Algebra, false, false>(), weight);
    });
}

// take(major, sum) is called by several threads, and may not change the source.
template <class Algebra, class Index, class Take>
void gather(const SparseView<Index>& matrix, const Weights& weights, Source source, u32 n_threads, Take&& take) {
    with_pass<Algebra, false>(matrix, weights, source.is_uniform, [&](auto pass, auto weight) {
        over_majors(matrix, threads_for(matrix.n_entries(), n_threads), [&](u32 first, u32 last) {
            gather_entries<decltype(pass)>(matrix, weight, source.words, take, first, last);
        });
    });
}

// parts has room for the sums of all threads but one.
template <class Algebra, class Index>
void scatter(const SparseView<Index>& matrix, const Weights& weights, Source source, u64* sums, Array<u64>& parts,
             u32 n_threads) {
    n_threads = scattering_threads(matrix, n_threads);
    const u64 n_minor = matrix.n_minor;
    with_pass<Algebra, true>(matrix, weights, source.is_uniform, [&](auto pass, auto weight) {
        using Pass = decltype(pass);
        in_parallel(n_threads, [&](u32 k) {
            u64* const own = k ? &parts[(k - 1) * n_minor] : sums;
            scatter_entries<Pass>(matrix, weight, source.words, own, first_major_of(matrix, k, n_threads),
                                  first_major_of(matrix, k + 1, n_threads));
        });
        over_range(n_minor, threads_for(n_minor, n_threads), [&](u64 first, u64 last) {
            add_parts<Pass>(sums, parts, n_threads - 1, n_minor, source.words, first, last);
        });
    });
}

// Whether another round pays, by the numbers of classes so far. It does
//   if the last one multiplied the classes by growth_to_go_on, or those of one side, of which there are some by now: what
//   bounds tell of the rows has then just reached the variables, say, and not yet come back;
//   if all vertices would be alone in most_rounds_to_go more of such growth, by half or more;
//   if it made many new classes: each of them has a member that the worklist would have to look around;
//   if it made far fewer of the variables than the one before, and there are rows, for which the worklist would need
//   the entries seen from the other side: the next round may well make none. Estimates may tell so once.
// Growth is counted beyond the largest number so far, so that there are O(log n) rounds in all, whatever is estimated.
class RoundsToGo {
public:
    RoundsToGo(u64 n_vertices, DistinctCount variables, DistinctCount rows, double growth_to_go_on)
        : n_vertices_(double(n_vertices)), growth_to_go_on_(growth_to_go_on),
          most_(double(variables.number + rows.number)), most_variables_(double(variables.number)),
          most_rows_(double(rows.number)), has_rows_(rows.number > 0) {}

    bool pay_after(DistinctCount variables, DistinctCount rows) {
        const double before = most_, variables_before = most_variables_, rows_before = most_rows_;
        const double new_before = new_variables_;
        most_ = std::max(most_, double(variables.number + rows.number));
        most_variables_ = std::max(most_variables_, double(variables.number));
        most_rows_ = std::max(most_rows_, double(rows.number));
        new_variables_ = most_variables_ - variables_before;
        const bool is_first = !std::exchange(has_looked_, true);
        if (most_ >= growth_to_go_on_ * before || most_ - before >= share_that_is_many * n_vertices_) return true;
        if (has_multiplied(variables_before, most_variables_) || has_multiplied(rows_before, most_rows_)) return true;
        const double growth = most_ / before;
        const double rounds_to_go = growth > 1 ? std::log(n_vertices_ / most_) / std::log(growth) : HUGE_VAL;
        if (growth >= least_growth && rounds_to_go <= most_rounds_to_go) return true;
        if (is_first && variables.is_exact && rows.is_exact && split_large_classes(variables_before)) return true;
        const bool is_ending = has_rows_ && new_before > 0 && new_variables_ <= share_that_is_few * new_before;
        return is_ending && (variables.is_exact || !std::exchange(was_ending_, true));
    }

private:
    bool has_multiplied(double before, double now) const {
        return now >= some_classes && now >= growth_to_go_on_ * before;
    }

    // After one round many large classes, told apart by costs or bounds, have mostly found their parts: a second one that
    // tells so costs less than to hand half of the variables to a worklist.
    bool split_large_classes(double variables_before) const {
        return has_rows_ && variables_before >= 16 && 8 * new_variables_ >= variables_before &&
               64 * most_ <= n_vertices_;
    }

    static constexpr double least_growth = 1.5, most_rounds_to_go = 8, some_classes = 64;
    static constexpr double share_that_is_many = 1.0 / 16, share_that_is_few = 1.0 / 3;
    const double n_vertices_, growth_to_go_on_;
    double most_, most_variables_, most_rows_, new_variables_ = 0;
    const bool has_rows_;
    bool was_ending_ = false, has_looked_ = false;
};

template <class Index, class Algebra>
class HashRounds {
public:
    enum class Verdict { stable, discrete, apart, many, known, slow };

    // multipliers is null where nothing rests; factors are then those of the rows alone, or none. Columns are compared
    // if proportions are given.
    HashRounds(const Problem<Index>& problem, const Weights& P_weights, const Weights& A_weights, Factors factors,
               Multipliers<Index>* multipliers, Proportions<Index>* proportions, Monitor& monitor, u32 n_threads)
        : problem_(problem), P_weights_(P_weights), A_weights_(A_weights), factors_(factors),
          multipliers_(multipliers), proportions_(proportions), monitor_(monitor), n_threads_(n_threads),
          variables_(problem.n_variables),
          spare_variables_(problem.n_variables), rows_(problem.n_rows),
          spare_rows_(problem.A_is_by_rows && !factors.row_source && !factors.row_target ? 0 : problem.n_rows),
          products_(multipliers && problem.has_P() ? problem.n_variables : 0),
          parts_(u64(scattering_threads(problem.A, n_threads) - 1) * problem.A.n_minor) {}

    // The current colours, to be filled with the initial ones; after a round also those before it.
    Array<u64>& variables() { return variables_; }
    Array<u64>& rows() { return rows_; }
    const Array<u64>& variables_before() const { return spare_variables_; }
    // Whether the last round woke anything: one sum tells the multiplier of the woken, and nothing else about them.
    bool has_woken() const { return has_woken_; }
    // The same colours in other words, so that sums are other ones.
    void renew_variables() {
        over_vertices(problem_.n_variables, [&](u64 j) { variables_[j] = next_colour(variables_[j], 1); });
    }

    // There are no more rounds: what only they need goes.
    void release_sums() {
        release(spare_rows_);
        release(products_);
        release(parts_);
        release(woken_);
    }

    // More classes than so many are of no use.
    void end_beyond(u64 most_classes) { most_classes_ = most_classes; }

    // How often all entries were gone through.
    u64 n_passes() const { return n_passes_; }
    // The next round need not look at the rows: they would learn nothing.
    void skip_first_rows() { skips_first_rows_ = true; }
    // All variables have different colours.
    void know_distinct_variables() { has_distinct_variables_ = true; }
    // Guesses at the numbers of classes.
    u64 expected_variable_classes() const { return n_variable_classes_.number; }
    u64 expected_row_classes() const { return n_row_classes_.number; }
    u64 n_classes() const { return n_variable_classes_.number + n_row_classes_.number; }

    Verdict run(double growth_to_go_on) {
        if (has_distinct_variables_) return Verdict::discrete;
        n_variable_classes_ = counted(variables_);
        n_row_classes_ = counted(rows_);
        const u64 n_vertices = u64(problem_.n_variables) + problem_.n_rows, n_entries = problem_.A.n_entries();
        if (!some_variable_rests() && are_distinct(variables_, n_variable_classes_)) return Verdict::discrete;
        if (all_are_apart()) return Verdict::apart;
        if (is_known()) return Verdict::known;
        RoundsToGo rounds_to_go(n_vertices, n_variable_classes_, n_row_classes_, growth_to_go_on);
        for (bool is_first = true;; is_first = false) {
            const DistinctCount variables_before = n_variable_classes_, rows_before = n_row_classes_;
            const bool had_woken = has_woken_;
            has_woken_ = false;
            n_woken_ = n_woken_entries_ = 0;
            if (!(is_first && skips_first_rows_)) colour_rows();
            n_row_classes_ = counted(rows_, !rows_before.is_exact);
            if (are_many()) return Verdict::many;
            if (all_are_apart()) return Verdict::apart;
            // The variables are stable under the rows as they were, unless they woke: if those have not changed, all is
            // done.
            if (!is_first && !problem_.has_P() && stayed(rows_before, n_row_classes_) && !has_woken_ && !had_woken)
                return Verdict::stable;
            colour_variables();
            n_variable_classes_ = counted(variables_, !variables_before.is_exact);
            if (are_many()) return Verdict::many;
            monitor_.did(u64(1) << 17, "rounds", (n_passes_ + 1) / 2, n_classes());
            // The rows are stable under the variables as they were.
            if (stayed(variables_before, n_variable_classes_) && !has_woken_) return Verdict::stable;
            if (!some_variable_rests() && are_distinct(variables_, n_variable_classes_)) return Verdict::discrete;
            // Under rows that are all told apart, variables of equal colours have equal entries.
            if (!problem_.has_P() && !multipliers_ && are_distinct(rows_, n_row_classes_)) return Verdict::stable;
            if (is_known()) return Verdict::known;
            const bool pays = rounds_to_go.pay_after(n_variable_classes_, n_row_classes_);
            const bool was_half = is_first && skips_first_rows_;
            // A wave goes through: all that it reached must be compared once more, by a worklist too.
            if (n_woken_ > n_vertices / 64 || n_woken_entries_ > n_entries / 16) continue;
            if (!was_half && !pays) return Verdict::slow;
        }
    }

    bool rows_are_distinct() { return are_distinct(rows_, counted(rows_)); }

    void colour_rows() {
        if (problem_.n_rows == 0) return;
        ++n_passes_;
        Source source{variables_.data(), is_one_class(n_variable_classes_)};
        if (factors_.variable_source)  // the colours before are not needed any more
            source = multiplied(variables_, factors_.variable_source, spare_variables_);
        u64 *const sums = spare_rows_.data(), *const rows = rows_.data();
        if (problem_.A_is_by_rows && !factors_.row_target)  // each sum is used where it is found
            return gather<Algebra>(problem_.A, A_weights_, source, n_threads_,
                                   [=](u32 i, u64 sum) { rows[i] = next_colour(rows[i], sum); });
        const auto write = [=](u32 i, u64 sum) { sums[i] = sum; };
        if (problem_.A_is_by_rows) gather<Algebra>(problem_.A, A_weights_, source, n_threads_, write);
        else scatter<Algebra>(problem_.A, A_weights_, source, sums, parts_, n_threads_);
        multiply_sums(problem_.n_variables, problem_.n_rows, factors_.row_target, sums);
        over_vertices(problem_.n_rows, [&](u64 i) { rows[i] = next_colour(rows[i], sums[i]); });
    }

    void colour_variables() {
        u64 *const sums = spare_variables_.data(), *const variables = variables_.data();
        const auto write = [=](u32 j, u64 sum) { sums[j] = sum; };
        const auto add = [=](u32 j, u64 sum) { sums[j] = Algebra::tight(Algebra::loose_add(sums[j], sum)); };
        ++n_passes_;
        bool has_sums = false;
        if (problem_.n_rows) {
            Source source{rows_.data(), is_one_class(n_row_classes_)};
            if (factors_.row_source) source = multiplied(rows_, factors_.row_source, spare_rows_);
            if (!problem_.A_is_by_rows && !problem_.has_P() && !factors_.variable_target) {  // as above
                gather<Algebra>(problem_.A, A_weights_, source, n_threads_,
                                [=](u32 j, u64 sum) { sums[j] = next_colour(variables[j], sum); });
                return variables_.swap(spare_variables_);
            }
            if (problem_.A_is_by_rows) scatter<Algebra>(problem_.A, A_weights_, source, sums, parts_, n_threads_);
            else gather<Algebra>(problem_.A, A_weights_, source, n_threads_, write);
            has_sums = true;
        }
        if (problem_.has_P()) {
            Source source{variables_.data(), is_one_class(n_variable_classes_)};
            if (factors_.variable_source) source = multiplied(variables_, factors_.variable_source, products_);
            if (has_sums) gather<Algebra>(problem_.P, P_weights_, source, n_threads_, add);
            else gather<Algebra>(problem_.P, P_weights_, source, n_threads_, write);
            has_sums = true;
        }
        if (!has_sums) std::fill_n(sums, problem_.n_variables, 0);
        multiply_sums(0, problem_.n_variables, factors_.variable_target, sums);
        over_vertices(problem_.n_variables, [&](u64 j) { sums[j] = next_colour(variables[j], sums[j]); });
        variables_.swap(spare_variables_);
    }

private:
    DistinctCount counted(const Array<u64>& colours, bool skip_exact = false) {
        return counter_.count(colours.data(), u32(colours.size()), skip_exact, n_threads_);
    }

    // Calls work(v) for the vertices of one side, which it must not connect.
    template <class Work>
    void over_vertices(u64 size, Work&& work) const {
        over_range(size, threads_for(size, n_threads_), [&](u64 first, u64 last) {
            for (u64 v = first; v < last; ++v) work(v);
        });
    }

    static u64 next_colour(u64 colour, u64 sum) {
        return Algebra::colour(mix(colour * 0xD6E8FEB86659FD93u + (sum ^ (sum >> 29)) * 0xFF51AFD7ED558CCDu));
    }
    static bool is_one_class(DistinctCount count) { return count.is_exact && count.number == 1; }
    static bool stayed(DistinctCount before, DistinctCount now) {
        return before.is_exact && now.is_exact && before.number == now.number;
    }
    bool are_distinct(const Array<u64>& colours, DistinctCount count) const {
        const u64 size = colours.size();
        if (count.is_exact) return count.number == size;
        return double(count.number) > 0.95 * double(size) && all_distinct(colours.data(), u32(size), n_threads_);
    }

    // Under rows that are all told apart, and awake, the columns of a class are multiples of each other, and what stays
    // at rest has a column of zeros.
    bool all_are_apart() const {
        return proportions_ && problem_.n_rows && !some_row_rests() && are_distinct(rows_, n_row_classes_) &&
               proportions_->columns_are_apart();
    }

    // Classes are never fewer later on; where their numbers are estimated, these may be some hundredths too large.
    bool are_many() const { return n_classes() / 5 * 4 > most_classes_; }

    // Whether no two members of a class have different masses, relative to those of classes that are known.
    bool is_known() const {
        const u64* const masses = multipliers_ ? multipliers_->relative_masses() : nullptr;
        return masses && are_equal_in_classes(variables_, masses, n_variable_classes_.number) &&
               are_equal_in_classes(rows_, masses + problem_.n_variables, n_row_classes_.number);
    }

    Source multiplied(const Array<u64>& colours, const u64* factors, Array<u64>& products) const {
        over_vertices(colours.size(), [&](u64 k) { products[k] = Algebra::multiply(colours[k], factors[k]); });
        return {products.data(), false};
    }

    // Multiplies the sums of a side by their factors, after those that they wake have found theirs.
    void multiply_sums(u32 first, u32 size, const u64* factors, u64* sums) {
        woken_.clear();
        if (!factors) return;
        const bool some_rest = first ? some_row_rests() : some_variable_rests();
        if (some_rest)
            for (u32 k = 0; k < size; ++k)
                if (sums[k] && multipliers_->rests_at(first + k)) woken_.push_back(first + k);
        if (woken_.empty()) {
            over_vertices(size, [&](u64 k) { sums[k] = Algebra::multiply(sums[k], factors[k]); });
            return;
        }
        const u32 n = problem_.n_variables;
        u32 next = 0;
        for (u32 k = 0; k < size; ++k)
            if (next < woken_.size() && woken_[next] == first + k) ++next;
            else sums[k] = Algebra::multiply(sums[k], factors[k]);
        has_woken_ = true;
        n_woken_ += woken_.size();
        if ((first == 0) != problem_.A_is_by_rows)  // those of the majors are known without a count
            for (u32 v : woken_)
                n_woken_entries_ += u64(problem_.A.offsets[v - first + 1]) - u64(problem_.A.offsets[v - first]);
        multipliers_->wake(woken_, [&](u32 v) -> u64& { return sums[v - first]; },
                           [&](u32 v) { return number_of(v < n ? variables_[v] : rows_[v - n]); }, true);
    }

    // A colour as a number in [1, 2).
    static double number_of(u64 colour) { return 1.0 + double(mix(colour) >> 12) * 0x1p-52; }

    bool some_variable_rests() const { return multipliers_ && multipliers_->n_resting_variables(); }
    bool some_row_rests() const { return multipliers_ && multipliers_->n_resting_rows(); }

    const Problem<Index>& problem_;
    const Weights &P_weights_, &A_weights_;
    const Factors factors_;
    Multipliers<Index>* const multipliers_;
    Proportions<Index>* const proportions_;
    Monitor& monitor_;
    const u32 n_threads_;
    DistinctCounter counter_;
    Array<u64> variables_, spare_variables_, rows_, spare_rows_, products_, parts_;
    Array<u32> woken_;
    DistinctCount n_variable_classes_{0, true}, n_row_classes_{0, true};
    u64 most_classes_ = ~u64(0), n_passes_ = 0, n_woken_ = 0, n_woken_entries_ = 0;
    bool skips_first_rows_ = false, has_woken_ = false, has_distinct_variables_ = false;
};

}  // namespace relift
