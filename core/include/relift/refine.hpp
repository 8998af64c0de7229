// Colour refinement of a program: encode the values, make hash rounds, finish by a worklist where needed.
//
// The result is the coarsest partition of variables and rows that refines their initial colours and in which, within
// each class, the sums (counting: multisets) of entries into every class agree. It does not depend on the seed, on
// the order of entries or on the orientation of A, but for collisions of random words, which callers must rule out.
#pragma once
#include <memory>
#include <numeric>

#include "both_sides.hpp"
#include "equal_numbers.hpp"
#include "hash_rounds.hpp"
#include "proportions.hpp"
#include "row_scales.hpp"
#include "worklist.hpp"

namespace relift {

// The values of the matrices of one program as words that are added up, kept from one refinement to the next: to read
// them costs as much as some passes. Counting has other words.
struct KeptWeights {
    Weights P, A;
    bool has_P = false, has_A = false;
    KnownProportions proportions;
};

template <class Index>
class Refiner {
public:
    Refiner(const Problem<Index>& problem, const Options& options, const Output& output, Monitor& monitor,
            KeptWeights* kept)
        : problem_(problem), options_(options), output_(output), monitor_(monitor),
          proportions_(problem, options.n_threads, kept ? &kept->proportions : nullptr),
          kept_(options.counting ? nullptr : kept) {}

    // Multipliers of variables and rows are given, or found on the way; rows are not scaled besides.
    Statistics run_with(const MultiplierArrays& arrays) {
        check_size();
        multipliers_ = std::make_unique<Multipliers<Index>>(problem_, arrays);
        columns_are_compared_ = !arrays.links;
        if (options_.rows_are_apart) proportions_.know_rows_apart();
        encode_matrices();
        if (arrays.links) {
            if (!problem_.A_is_by_rows) throw std::invalid_argument("links are given, and A is not by rows");
            take_words(A_weights_);
            multipliers_->write_links_to(&A_weights_);
        }
        refine<FieldAlgebra>();
        statistics_.rows_without_total = multipliers_->n_lost();
        statistics_.peak_bytes = memory_count().peak;
        if (arrays.links)  // as they were
            for (u32 i = 0; i < problem_.n_rows; ++i)
                if (arrays.links[i] >= 0) A_weights_.words[u64(arrays.links[i])] = 1;
        keep_weights();
        return statistics_;
    }

    Statistics run() {
        check_size();
        if (problem_.has_P() && options_.counting) take_diagonal();
        variables_are_distinct_ = !options_.some_start_alike && variables_start_distinct();
        const u32 n_threads = options_.n_threads;
        if (variables_are_distinct_ && are_finite(problem_.A, n_threads) &&
            rows_are_apart(problem_, options_.rows_are_apart, n_threads)) {  // nothing is left to compare
            statistics_.all_are_apart = true;
            statistics_.peak_bytes = memory_count().peak;
            return statistics_;
        }
        encode_matrices();
        if (options_.needs_scales && statistics_.rows_without_total) {
            label_alone(output_.variable_labels, problem_.n_variables);
            label_alone(output_.row_labels, problem_.n_rows);
            keep_weights();
        } else if (options_.counting || sums_are_small_integers()) {
            refine<WrappingAlgebra>();
        } else {
            refine<FieldAlgebra>();
            keep_weights();
        }
        statistics_.peak_bytes = memory_count().peak;
        return statistics_;
    }

private:
    void check_size() const {
        memory_count() = MemoryCount();
        if (u64(problem_.n_variables) + problem_.n_rows >= most_vertices)
            throw std::invalid_argument("there are 2^30 variables and rows or more");
    }

    // ------------------------------------------------------------------------------------ values
    void encode_matrices() {
        if (problem_.has_P() && !variables_are_distinct_) {
            if (kept_ && std::exchange(kept_->has_P, false)) P_weights_ = taken(kept_->P);
            else P_weights_ = encode_values(problem_.P, !diagonal_.empty());
        }
        if (kept_ && std::exchange(kept_->has_A, false)) A_weights_ = taken(kept_->A);
        else A_weights_ = encode_values(problem_.A, false);
        if (!options_.scale_rows || problem_.n_rows == 0) return take_rows_as_they_are();

        find_scales();
        scales_are_totals_ = statistics_.rows_without_total == 0;
        rows_are_divided_ = true;
        if (statistics_.shared_scale.exists) {
            inverse_of_all_ = field_inverse(statistics_.shared_scale.exact);
            return;
        }
        inverse_scales_ = inverses(output_.row_scale_images, problem_.n_rows, options_.n_threads);
        const u64* scales = output_.row_scale_images;
        entries_are_scaled_ = std::any_of(scales, scales + problem_.n_rows, [&](u64 s) { return s != scales[0]; });
        if (options_.counting && entries_are_scaled_) encode_scaled_values();
    }

    void take_rows_as_they_are() { statistics_.shared_scale = {true, 1.0, 1}; }

    // Their memory counts as that of this refinement.
    static Weights taken(Weights& kept) {
        memory_count().add(kept.ids.n_bytes() + kept.table.capacity() * sizeof(u64) +
                           kept.keys.capacity() * sizeof(u64) + kept.words.capacity() * sizeof(u64));
        return std::move(kept);
    }

    void keep_weights() {
        if (!kept_) return;
        kept_->A = std::move(A_weights_);
        kept_->has_A = true;
        if (!problem_.has_P() || variables_are_distinct_) return;  // those that were kept before have not been taken
        kept_->P = std::move(P_weights_);
        kept_->has_P = true;
    }

    // Whether costs, bounds and the like tell all variables apart: then no sum along P is needed, and P is not read.
    bool variables_start_distinct() const {
        const u32 n = problem_.n_variables;
        if (n > 1 && problem_.variable_images.empty() && diagonal_.empty()) return false;
        return all_words_distinct([this](u32 j) { return variable_key(j); }, n, options_.n_threads) &&
               (!problem_.has_P() || are_finite(problem_.P, options_.n_threads));  // refused later
    }

    // Variables of different keys have different initial colours; those of different colours may have one key by chance.
    u64 variable_key(u64 j) const {
        u64 key = diagonal_.empty() ? 0 : diagonal_[j];
        for (const Words& words : problem_.variable_images)
            if (words.step) key = joined_word(key, words[j]);
        return key;
    }

    // Counting compares diagonals as colours: their entries count as absent.
    void take_diagonal() {
        const auto& P = problem_.P;
        ValueReader image(options_.reading);
        for (u32 j = 0; j < P.n_major; ++j)
            for (u64 e = u64(P.offsets[j]), end = u64(P.offsets[j + 1]); e < end; ++e)
                if (u32(P.indices[e]) == j && P.values[e] != 0) {
                    if (diagonal_.empty()) diagonal_.assign(problem_.n_variables, 0);
                    diagonal_[j] = field_add(diagonal_[j], finite_image(image, P.values[e]));
                }
    }

    static u64 finite_image(ValueReader& image, double value) {
        const u64 word = image(value);
        require_finite(word);
        return word;
    }

    static void require_finite(u64 word) {
        if (word >= modulus) throw std::invalid_argument("an entry of a matrix is infinite");
    }

    u64 value_word(u64 key) const { return key ? mix(key ^ mix(options_.seed + 1)) | 1 : 0; }

    Weights encode_values(const SparseView<Index>& matrix, bool without_diagonal) {
        const u64 n_entries = matrix.n_entries();
        const double* const values = matrix.values;
        auto word_of = [this, image = ValueReader(options_.reading, n_entries)](u64 key) mutable {
            double value;
            std::memcpy(&value, &key, sizeof value);
            const u64 word = finite_image(image, value);
            return options_.counting ? value_word(word) : word;
        };
        if (without_diagonal)
            return encode(n_entries, [&](auto&& visit) {
                for (u32 j = 0; j < matrix.n_major; ++j)
                    for (u64 e = u64(matrix.offsets[j]), end = u64(matrix.offsets[j + 1]); e < end; ++e)
                        if (!visit(u32(matrix.indices[e]) == j ? 0 : bits_of(values[e]))) return;
            }, word_of);
        const u32 n_threads = threads_for(n_entries, options_.n_threads);
        if (n_entries && values[0] != 0 && word_of(bits_of(values[0])) && are_equal(values, n_entries, n_threads))
            return Weights();
        const auto write_words = [&](u64 first, u64 last, u64* words) {
            ValueReader image(options_.reading, n_entries);
            image.read(values + first, last - first, words);
            for (u64 e = 0; e < last - first; ++e) {
                require_finite(words[e]);
                if (options_.counting) words[e] = value_word(words[e]);
            }
        };
        if (n_threads > 1) return encode_by_blocks(values, n_entries, word_of, write_words, n_threads);
        return encode(n_entries, [&](auto&& visit) {
            for (u64 e = 0; e < n_entries; ++e)
                if (!visit(bits_of(values[e]))) return;
        }, word_of, [&](u64* words) { write_words(0, n_entries, words); });
    }

    // One word for each entry, so that single ones can be changed.
    void take_words(Weights& weights) const {
        const u64 n_entries = problem_.A.n_entries();
        if (weights.kind == WeightKind::words) return;
        Array<u64> words(n_entries);
        ValueReader image(options_.reading);
        for (u64 e = 0; e < n_entries; ++e) words[e] = image(problem_.A.values[e]);
        weights = Weights();
        weights.kind = WeightKind::words;
        weights.words = std::move(words);
    }

    void find_scales() {
        double* const scales = output_.row_scales;
        u64* const exact = output_.row_scale_images;
        ValueReader image(options_.reading);
        const double* const values = problem_.A.values;
        if (options_.counting) {
            statistics_.rows_without_total = find_row_scales(
                problem_, [&](u64 e) { return image(values[e]); }, scales, exact, 1);
        } else if (find_scales_by_integers()) {
            return;
        } else if (A_weights_.kind == WeightKind::unit) {
            const u64 word = problem_.A.n_entries() ? image(values[0]) : 0;
            statistics_.rows_without_total = find_row_scales(
                problem_, [&](u64) { return word; }, scales, exact, options_.n_threads);
        } else {
            with_weight(A_weights_, [&](auto weight) {
                statistics_.rows_without_total =
                    find_row_scales(problem_, weight, scales, exact, options_.n_threads);
            });
        }
    }

    // Where the entries have few values that are whole multiples of one number; false if they have not.
    bool find_scales_by_integers() {
        const u64 n_entries = problem_.A.n_entries();
        const bool is_unit = A_weights_.kind == WeightKind::unit;
        if ((!is_unit && A_weights_.kind != WeightKind::table) || n_entries == 0) return false;
        const u8* const ids = A_weights_.ids.narrow.data();
        std::vector<double> values{problem_.A.values[0]};
        if (!is_unit) {
            values.resize(A_weights_.keys.size());
            std::memcpy(values.data(), A_weights_.keys.data(), values.size() * sizeof(double));
        }
        const auto whole = WholeMultiples::of(values.data(), u32(values.size()), n_entries, options_.reading);
        if (!whole.exist) return false;
        double* const scales = output_.row_scales;
        u64* const exact = output_.row_scale_images;
        const u32 n_threads = options_.n_threads;
        statistics_.rows_without_total =
            is_unit ? find_row_scales(problem_, whole, [](u64) { return u8(0); }, scales, exact, n_threads,
                                      &statistics_.shared_scale)
                    : find_row_scales(problem_, whole, [=](u64 e) { return ids[e]; }, scales, exact, n_threads,
                                      &statistics_.shared_scale);
        return true;
    }

    void encode_scaled_values() {
        const double* const values = problem_.A.values;
        ValueReader image(options_.reading);
        release(A_weights_.words);
        A_weights_ = encode(problem_.A.n_entries(), [&](auto&& visit) {
            bool go_on = true;
            for_each_entry_of_A(problem_, [&](u32 row, u32, u64 entry) {
                go_on = go_on && visit(field_multiply(image(values[entry]), inverse_scales_[row]));
            });
        }, [&](u64 key) { return value_word(key); });
    }

    bool sums_are_small_integers() {
        if (entries_are_scaled_ || !are_small_integers(P_weights_) || !are_small_integers(A_weights_)) return false;
        take_as_integers(P_weights_);
        take_as_integers(A_weights_);
        return true;
    }

    // Multiply the sums of rows, or their colours; null where that is not needed.
    const u64* row_factors() const {
        return !options_.counting && entries_are_scaled_ ? inverse_scales_.data() : nullptr;
    }
    Factors factors() const {
        if (multipliers_) return multipliers_->factors();
        return {nullptr, nullptr, row_factors(), row_factors()};
    }

    // ------------------------------------------------------------------------------------ colours
    static u64 absorb(u64 colour, u64 word) { return mix(colour * 0xD6E8FEB86659FD93u + word); }

    template <class Algebra>
    void colour_variables(Array<u64>& variables) const {
        if (problem_.variable_images.empty() && diagonal_.empty() && !multipliers_)
            over_vertices(problem_.n_variables, [&](u64 first, u64 last) {
                std::fill_n(variables.begin() + i64(first), last - first, Algebra::colour(first_variable()));
            });
        else over_vertices(problem_.n_variables, [&](u64 first, u64 last) {
            for (u64 j = first; j < last; ++j)
                variables[j] = j > first && looks_as_before(j) ? variables[j - 1] : Algebra::colour(variable_colour(j));
        });
    }
    // Whether a variable has the words of the one before: in many programs variables of one kind follow each other.
    bool looks_as_before(u64 j) const {
        if (multipliers_ && multipliers_->state_of(u32(j)) != multipliers_->state_of(u32(j - 1))) return false;
        for (const Words& words : problem_.variable_images)
            if (words[j] != words[j - 1]) return false;
        return diagonal_.empty() || diagonal_[j] == diagonal_[j - 1];
    }
    u64 first_variable() const { return mix(options_.seed ^ 0x76617269); }
    u64 variable_colour(u64 j) const {
        u64 colour = first_variable();
        for (const Words& words : problem_.variable_images) colour = absorb(colour, words[j]);
        if (multipliers_) colour = absorb(colour, multipliers_->state_of(u32(j)));
        return diagonal_.empty() ? colour : absorb(colour, diagonal_[j]);
    }

    template <class Algebra>
    void colour_initially(Array<u64>& variables, Array<u64>& rows) const {
        colour_variables<Algebra>(variables);
        const u64 first_row = mix(options_.seed ^ 0x726F7773);
        over_vertices(problem_.n_rows, [&](u64 first, u64 last) {
            const SharedScale shared = statistics_.shared_scale;
            ScaledBounds before{0, 0};  // rows with equal bounds and scales often follow each other
            u64 inverse_before = 0, colour_before = 0;
            bool was_negative = false;
            for (u64 i = first; i < last; ++i) {
                ScaledBounds bounds{problem_.row_lower[i], problem_.row_upper[i]};
                const u64 inverse = shared.exists ? inverse_of_all_ : inverse_scales_[i];
                const bool is_negative = (shared.exists ? shared.scale : output_.row_scales[i]) < 0;
                if (i == first || bounds.lower != before.lower || bounds.upper != before.upper ||
                    inverse != inverse_before || is_negative != was_negative) {
                    before = bounds;
                    inverse_before = inverse;
                    was_negative = is_negative;
                    if (rows_are_divided_) bounds = scaled_bounds(bounds.lower, bounds.upper, inverse, is_negative);
                    colour_before = absorb(absorb(first_row, bounds.lower), bounds.upper);
                }
                u64 colour = colour_before;
                for (const Words& words : problem_.row_extra) colour = absorb(colour, words[i]);
                if (multipliers_) colour = absorb(colour, multipliers_->state_of(problem_.n_variables + u32(i)));
                rows[i] = Algebra::colour(colour);
            }
        });
    }

    // Each vertex is a class of its own.
    void label_alone(i64* labels, u32 size) const {
        over_vertices(size, [&](u64 first, u64 last) { std::iota(labels + first, labels + last, i64(first)); });
    }

    template <class Work>
    void over_vertices(u64 size, Work&& work) const {
        over_range(size, threads_for(size, options_.n_threads), work);
    }

    // ------------------------------------------------------------------------------------ refinement
    // Rounds first; then the worklist from the cells that may split others; and rounds again when the cells promise to
    // fall apart in a few of them (around one odd vertex of a random graph, say). Rounds are made only while they
    // split much, so there are O(log n) in all.
    template <class Algebra>
    void refine() {
        using Rounds = HashRounds<Index, Algebra>;
        const auto new_rounds = [&] {
            return std::make_unique<Rounds>(problem_, P_weights_, A_weights_, factors(), multipliers_.get(),
                                            columns_are_compared_ ? &proportions_ : nullptr, monitor_,
                                            options_.n_threads);
        };
        std::unique_ptr<Rounds> rounds = new_rounds();
        colour_initially<Algebra>(rounds->variables(), rounds->rows());
        if (!row_factors()) release(inverse_scales_);
        if (sums_are_known(rounds->variables())) rounds->skip_first_rows();
        if (variables_are_distinct_) rounds->know_distinct_variables();
        rounds->end_beyond(options_.most_classes);
        Cells cells;
        if (is_settled(*rounds, rounds->run(growth_to_go_on), cells)) return;
        rounds.reset();

        const u64 n_vertices = u64(problem_.n_variables) + problem_.n_rows;
        BothSides<Index> sides(problem_, P_weights_, A_weights_, factors());
        if (multipliers_) sides.show_columns_to(*multipliers_);
        while (true) {
            auto worklist = std::make_unique<Worklist<Index, Algebra>>(
                problem_.n_variables, problem_.n_rows, sides.within, sides.columns, sides.rows, factors(),
                multipliers_.get(), monitor_);
            const u64 n_cells_for_rounds = std::max<u64>(n_vertices / 16, 2 * cells.sizes.size());
            start(*worklist, cells);
            const bool is_done = worklist->run(n_cells_for_rounds);
            statistics_.splitters += worklist->n_splitters();
            worklist->labels(output_.variable_labels, output_.row_labels);
            if (is_done) return;
            worklist.reset();
            rounds = new_rounds();
            colour_by_labels<Algebra>(rounds->variables(), rounds->rows());
            if (is_settled(*rounds, rounds->run(growth_to_stay), cells)) return;
            rounds.reset();
        }
    }

    // Cells of the partition whose labels are in the output: those of the variables first, and which may split others.
    struct Cells {
        Array<u32> sizes, splitters;
        u32 n_variable_cells = 0;
    };

    // Writes the labels that the rounds have found; returns whether they are final, and the cells if not.
    template <class Rounds>
    bool is_settled(Rounds& rounds, typename Rounds::Verdict verdict, Cells& cells) {
        const u32 n = problem_.n_variables, m = problem_.n_rows;
        if (verdict == Rounds::Verdict::known || verdict == Rounds::Verdict::many) {
            if (multipliers_) multipliers_->wake_all();
            label_alone(output_.variable_labels, n);
            label_alone(output_.row_labels, m);
            statistics_.passes += rounds.n_passes();
            return true;
        }
        if (verdict == Rounds::Verdict::discrete || verdict == Rounds::Verdict::apart) {
            label_alone(output_.variable_labels, n);
            const bool is_apart = verdict == Rounds::Verdict::apart || rows_must_be_apart(rounds);
            if (is_apart && multipliers_) multipliers_->wake_all();
            if (is_apart || rows_get_distinct(rounds))
                label_alone(output_.row_labels, m);
            else
                group(rounds.rows().data(), m, m, output_.row_labels, options_.n_threads);
            statistics_.passes += rounds.n_passes();
            return true;
        }
        statistics_.passes += rounds.n_passes();
        rounds.release_sums();
        if (multipliers_) multipliers_->end_rounds();
        Grouping variables = group(rounds.variables().data(), n, rounds.expected_variable_classes(),
                                   output_.variable_labels, options_.n_threads);
        const Grouping rows =
            group(rounds.rows().data(), m, rounds.expected_row_classes(), output_.row_labels, options_.n_threads);
        const bool none_rests = !multipliers_ || (multipliers_->n_resting() == 0 && !rounds.has_woken());
        if (verdict == Rounds::Verdict::stable || (rows.n_classes() == m && !problem_.has_P() && none_rests)) return true;
        cells.splitters = rounds.has_woken() ? cells_awake(variables, rows)
                                             : new_cells_but_the_largest(variables, rounds.variables_before());
        cells.n_variable_cells = variables.n_classes();
        cells.sizes = std::move(variables.sizes);
        cells.sizes.insert(cells.sizes.end(), rows.sizes.begin(), rows.sizes.end());
        return cells.splitters.empty();
    }

    // Whether rows are told apart by variables that all are, since none is a multiple of another; what stays at rest is
    // a row of zeros. Where rows need not be woken they are compared by a pass, which costs no more than to find out.
    template <class Rounds>
    bool rows_must_be_apart(Rounds& rounds) {
        if (!columns_are_compared_) return false;
        if (proportions_.know_rows()) return proportions_.rows_are_apart();
        if (multipliers_->n_resting_rows() == 0 && rounds.rows_are_distinct()) return true;
        return proportions_.rows_are_apart();
    }

    // Whether all rows have different colours, once they have been compared by all variables, each with its own.
    template <class Rounds>
    bool rows_get_distinct(Rounds& rounds) const {
        const bool some_rest = multipliers_ && multipliers_->n_resting_rows();
        if (some_rest) rounds.colour_rows();  // they wake here: the sum tells their multiplier, and nothing else
        else if (rounds.rows_are_distinct()) return true;
        if (multipliers_) rounds.renew_variables();
        rounds.colour_rows();
        return rounds.rows_are_distinct();
    }

    template <class Algebra>
    void start(Worklist<Index, Algebra>& worklist, Cells& cells) const {
        const i64 *variable_labels = output_.variable_labels, *row_labels = output_.row_labels;
        const u32 n = problem_.n_variables, n_variable_cells = cells.n_variable_cells;
        worklist.start(
            [=](u32 v) { return v < n ? u32(variable_labels[v]) : n_variable_cells + u32(row_labels[v - n]); },
            std::move(cells.sizes), std::move(cells.splitters));
    }

    template <class Algebra>
    void colour_by_labels(Array<u64>& variables, Array<u64>& rows) const {
        const u64 variable_salt = mix(options_.seed ^ 0x6C616265), row_salt = mix(variable_salt);
        over_vertices(problem_.n_variables, [&](u64 first, u64 last) {
            for (u64 j = first; j < last; ++j)
                variables[j] = Algebra::colour(mix(variable_salt ^ u64(output_.variable_labels[j])));
        });
        over_vertices(problem_.n_rows, [&](u64 first, u64 last) {
            for (u64 i = first; i < last; ++i) rows[i] = Algebra::colour(mix(row_salt ^ u64(output_.row_labels[i])));
        });
    }

    // Rows that were divided by their sums have equal sums of equal colours: the first look at them tells nothing.
    bool sums_are_known(const Array<u64>& colours) const {
        return row_factors() && scales_are_totals_ &&
               std::all_of(colours.begin(), colours.end(), [&](u64 colour) { return colour == colours[0]; });
    }

    // All classes are stable under the variable classes before the last round: of the parts of each of these all
    // but the largest may split something; what rests does not.
    Array<u32> new_cells_but_the_largest(const Grouping& classes, const Array<u64>& colours_before) const {
        Array<u64> before(classes.n_classes());
        for (u32 c = 0; c < classes.n_classes(); ++c) before[c] = colours_before[classes.representatives[c]];
        Array<i64> parent(classes.n_classes());
        const Grouping parents = group(before.data(), classes.n_classes(), classes.n_classes() / 2, parent.data());
        Array<u32> largest(parents.representatives);
        for (u32 c = 0; c < classes.n_classes(); ++c)
            if (classes.sizes[c] > classes.sizes[largest[parent[c]]]) largest[parent[c]] = c;
        Array<u32> splitters;
        for (u32 c = 0; c < classes.n_classes(); ++c)
            if (largest[parent[c]] != c && !(multipliers_ && multipliers_->rests_at(classes.representatives[c])))
                splitters.push_back(c);
        return splitters;
    }

    // What woke in the last round has been compared with nothing.
    Array<u32> cells_awake(const Grouping& variables, const Grouping& rows) const {
        Array<u32> splitters;
        for (u32 c = 0; c < variables.n_classes(); ++c)
            if (!multipliers_->rests_at(variables.representatives[c])) splitters.push_back(c);
        for (u32 c = 0; c < rows.n_classes(); ++c)
            if (!multipliers_->rests_at(problem_.n_variables + rows.representatives[c]))
                splitters.push_back(variables.n_classes() + c);
        return splitters;
    }

    static constexpr double growth_to_stay = 2;
    static constexpr double growth_to_go_on = 4;

    const Problem<Index>& problem_;
    const Options& options_;
    const Output& output_;
    Monitor& monitor_;
    Statistics statistics_;
    Weights P_weights_, A_weights_;
    Array<u64> diagonal_;        // counting: images of diag(P); empty if all are zero
    Array<u64> inverse_scales_;  // empty if rows are not scaled, or all by one number
    u64 inverse_of_all_ = 1;
    bool rows_are_divided_ = false, entries_are_scaled_ = false, scales_are_totals_ = false, variables_are_distinct_ = false;
    bool columns_are_compared_ = false;  // where multiples of a column are one class
    std::unique_ptr<Multipliers<Index>> multipliers_;
    Proportions<Index> proportions_;
    KeptWeights* const kept_;
};

// If `kept` is given, weights in it are taken from there and put back, or left out where they were changed.
template <class Index>
Statistics refine(const Problem<Index>& problem, const Options& options, const Output& output, Monitor& monitor,
                  KeptWeights* kept = nullptr) {
    return Refiner<Index>(problem, options, output, monitor, kept).run();
}

// The same up to multipliers of variables and rows, where these are not given they are found.
template <class Index>
Statistics refine_up_to_multipliers(const Problem<Index>& problem, const Options& options, const Output& output,
                                    const MultiplierArrays& multipliers, Monitor& monitor,
                                    KeptWeights* kept = nullptr) {
    return Refiner<Index>(problem, options, output, monitor, kept).run_with(multipliers);
}

}  // namespace relift
