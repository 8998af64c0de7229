// Whether nothing can be equivalent up to size, unit and sign: rounds of refinement in floats, without any exact number.
//
// Members of a class have equal colours in every round of an exact refinement (hash_rounds.hpp, multipliers.hpp). The same
// rounds are made here with colours that depend continuously on the numbers, so that colours of one class agree but for
// rounding, also where numbers are in proportion but for rounding. Once no two variables have colours nearer to each other
// than that, and none rests, every variable is alone; and so is every row, if none is empty or a multiple of another. To
// read all values exactly costs more than these rounds; where they tell nothing, or not all, the exact refinement follows.
//
// A sum of which next to nothing is left beside the errors of its terms counts as 0. That is so for all members of a class
// whose terms are equal, and for the others but by chance; if it went wrong, two members of a class would be told apart.
//
// Where sums of the first colours tell all rows apart, variables are alone as soon as no two stand in the same rows
// (supports.hpp): no colours of theirs are needed for that.
//
// After a round or two few variables are left that agree with another one, mostly by chance or for want of one more round.
// They go on by themselves: in rounds over their columns alone, in which all other colours stay as they are.
//
// Where errors overtake the colours of what is left, nothing is counted, but rounds go on while they part what is left: an
// exact search among a few is quicker than one among all.
#pragma once
#include "distinct_words.hpp"
#include "float_colours.hpp"
#include "masses_in_floats.hpp"
#include "supports.hpp"

namespace relift {

// What is asked: the settings of the search, and whether members count by size and price.
struct ApartQuestion {
    bool sizes = true, signs = true, scales_rows = true, has_masses = false;
    double may_stay = 0;  // the share of variables and of rows that need not be apart; 0 asks for a proof of all
    bool looks = false;                   // first, at whether a search with masses may find more than one without
    ConicNumbers conic = ConicNumbers();  // then A is by rows, and a column for each cone comes last
    u32 n_threads = 1;                    // the most that may be used; nothing depends on it but the time
};

// About how many kinds of variables and of rows there are, when rounds ended; all, where each is alone, or where masses
// were looked at and are idle, and none where errors were too large to count them.
struct FloatKinds {
    bool are_all_apart = false;
    u64 variables = 0, rows = 0;
    bool masses_are_idle = false;
    bool are_few_left = false;               // where all are asked for, and it is not proved that all are alone
    Array<u32> variables_left = {}, rows_left = {};  // then those; all others are, if no row is empty or a multiple
};

template <class Index>
class ToldApart {
public:
    ToldApart(const Problem<Index>& problem, const passes::GivenNumbers& variables, const passes::GivenNumbers& rows,
              const ApartQuestion& question)
        : problem_(problem), given_(variables), given_rows_(rows), question_(question),
          n_variables_(problem.n_variables - question.conic.n_cones),
          variables_(n_variables_, true, question.conic.n_cones), rows_(problem.n_rows, false),
          sums_(problem.has_P() ? std::max(problem.A.n_minor, problem.n_variables) : problem.A.n_minor) {}

    // That all are apart presumes that no ordinary row is a multiple of another.
    FloatKinds run() {
        const u64 n = n_variables_;
        FloatKinds kinds{false, 1, 1};
        if (n < 2 || (problem_.n_rows == 0 && !problem_.has_P())) return kinds;
        if (question_.has_masses) {
            MassesInFloats found(problem_, given_, given_rows_, question_.conic, question_.n_threads);
            if (question_.looks && !found.speak()) return {false, n, rows_.size(), true};
            masses_ = std::move(found.variables);
            row_masses_ = std::move(found.rows);
        }
        variables_.begin(given_, question_.sizes, question_.signs, masses_.size() ? masses_.data() : nullptr,
                         ConicNumbers(), question_.n_threads);
        rows_.begin(given_rows_, question_.scales_rows, question_.signs, row_masses_.size() ? row_masses_.data() : nullptr,
                    question_.conic, question_.n_threads);
        recolour_rows();
        if (rows_tell_all_apart()) return {true, n, rows_.size()};
        u64 n_left_before = n;  // when some went on by themselves
        u64 n_woken_before = 0;
        bool are_overtaken = false;  // by errors: then nothing is said of all
        for (u32 round = 0; round < most_rounds; ++round) {
            const u64 n_resting = variables_.n_resting + rows_.n_resting, n_before = kinds.variables;
            recolour_variables();
            if (variables_.are_lost() || rows_.are_lost()) return FloatKinds();
            if (!left_.is_known) kinds.variables = count_kinds(variables_);
            const bool are_awake = variables_.n_resting == 0 && rows_.n_without_terms == 0;
            if (are_enough(kinds.variables)) break;
            if (left_.is_known || is_worth_a_look(kinds.variables, are_awake)) {
                const u64 n_vague = variables_.n_vague, n_left = left_.is_known ? left_.those.size() : n;
                left_.look_at(variables_, question_.n_threads);
                kinds.variables = n - left_.those.size();
                // Errors have overtaken what is left, and will not become smaller.
                are_overtaken |= 4 * n_vague > n_left || (8 * n_vague > n_left && 10 * left_.those.size() > 9 * n_left);
                if (are_overtaken && !parts_much_of(n_left)) return what_errors_leave(kinds);
                if (are_awake && left_.those.empty() && !has_cones() && !are_overtaken) return {true, n, rows_.size()};
                if (are_enough(kinds.variables)) break;
            }
            recolour_rows();
            if (left_.is_known) {
                if (has_cones() || rows_left_.is_known || rows_.errors_are_large()) rows_left_.look_at(rows_, question_.n_threads);
                const u64 n_left = left_.those.size();
                bool are_apart = n_left == 0 && are_awake;
                if (are_overtaken) continue;
                if (question_.may_stay == 0 && are_awake && 0 < n_left && 2 * n_left <= n_left_before) {
                    n_left_before = n_left;
                    are_apart = are_parted_by_themselves(left_.those);
                }
                if (are_apart && conic_rows_are_apart()) return {true, n, rows_.size()};
            }
            if (!left_.is_known && (8 * variables_.n_vague > n || 4 * rows_.n_vague > rows_.size())) return FloatKinds();
            const u64 n_woken = n_resting - (variables_.n_resting + rows_.n_resting);
            if (round > 0 && !will_all_wake(n_woken, n_woken_before, most_rounds - 1 - round)) break;
            n_woken_before = n_woken;
            const bool has_woken = n_woken > 0;
            const bool are_few = double(kinds.variables) < share_that_repeats * double(n);
            const bool grew_little = double(kinds.variables) < least_growth * double(n_before);
            const bool is_ending = double(n - kinds.variables) < share_that_stays * double(n - n_before);
            if (!has_woken && !is_ending && (are_few || grew_little)) break;
        }
        if (are_overtaken) return what_errors_leave(kinds);
        kinds.rows = count_rows();
        if (is_enough(kinds.variables, n) && !is_enough(kinds.rows, rows_.size())) {  // they are a step behind
            recolour_rows();
            kinds.rows = count_rows();
        }
        tell_what_is_left(kinds);
        return kinds;
    }

private:
    // Those that rest, or agreed with another one each time they were looked at: what once did not is alone for good.
    struct Left {
        Array<u32> those;
        bool is_known = false;
        void look_at(FloatColours& colours, u32 n_threads) {
            find(colours, n_threads);
            colours.settle_all_but(those, n_threads);
        }
        void find(const FloatColours& colours, u32 n_threads) {
            Array<u32> before = std::move(those);
            those = those_that_agree(colours, is_known ? &before : nullptr, n_threads);
            if (colours.n_resting) add_those_at_rest(before, colours);
            is_known = true;
        }

    private:
        void add_those_at_rest(const Array<u32>& before, const FloatColours& colours) {
            const u64 n_before = is_known ? before.size() : colours.size();
            for (u64 place = 0; place < n_before; ++place) {
                const u32 k = is_known ? before[place] : u32(place);
                if (colours.rests_at(k)) those.push_back(k);
            }
            std::sort(those.begin(), those.end());
            those.erase(std::unique(those.begin(), those.end()), those.end());
        }
    };

    // To see which are alone: where all may be, or where many are, and errors will soon hide others.
    bool is_worth_a_look(u64 n_kinds, bool are_awake) const {
        const double n = double(n_variables_), n_vague = double(variables_.n_vague);
        if (question_.may_stay == 0 && are_awake && n - double(n_kinds) <= share_that_goes_on * n) return true;
        const bool is_late = question_.may_stay == 0 ? variables_.errors_are_large() : 4.0 * n_vague > question_.may_stay * n;
        return is_late && double(n_kinds) >= share_that_is_looked_at * n;
    }

    // Whether a round has parted a fifth of so many, and what is left is still too much for a search among a few.
    bool parts_much_of(u64 n_left) const {
        const u64 n = left_.those.size();
        return 5 * n <= 4 * n_left && double(n) > share_that_goes_on * double(n_variables_) && is_proof_wanted();
    }
    bool is_proof_wanted() const { return question_.may_stay == 0 && !has_cones(); }
    FloatKinds what_errors_leave(FloatKinds kinds) const {
        tell_what_is_left(kinds);
        kinds.variables = kinds.rows = 0;
        return kinds;
    }

    // What may be equivalent to another one, where that is little. Of a matrix with cones nothing is told.
    void tell_what_is_left(FloatKinds& kinds) const {
        const auto are_few = [](const Array<u32>& some, u64 of) { return double(some.size()) <= share_that_goes_on * double(of); };
        const double most_left = share_that_goes_on * double(n_variables_);
        if (!is_proof_wanted() || double(n_variables_ - kinds.variables) > most_left) return;
        Left variables = left_, rows = rows_left_;
        if (!variables.is_known) variables.find(variables_, question_.n_threads);
        if (!are_few(variables.those, n_variables_)) return;
        rows.find(rows_, question_.n_threads);
        keep_rows_of(variables.those, rows.those);
        if (!are_few(rows.those, rows_.size())) return;
        kinds.are_few_left = true;
        kinds.variables_left = std::move(variables.those);
        kinds.rows_left = std::move(rows.those);
        for (Array<u32>* const some : {&kinds.variables_left, &kinds.rows_left}) std::sort(some->begin(), some->end());
    }

    // Of some rows, those that some variables stand in: others that are no multiples of each other are alone where all other
    // variables are.
    void keep_rows_of(const Array<u32>& variables, Array<u32>& rows) const {
        const auto& A = problem_.A;
        Array<u8> meets(A.n_minor, 0);
        const auto meets_a_minor = [&](u32 major) {
            bool meets_one = false;
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                meets_one |= meets[A.indices[e]] && A.values[e] != 0;
            return meets_one;
        };
        if (problem_.A_is_by_rows) {
            for (const u32 column : variables) meets[column] = 1;
        } else {
            for (const u32 column : variables)
                for (u64 e = u64(A.offsets[column]), end = u64(A.offsets[column + 1]); e < end; ++e)
                    meets[A.indices[e]] |= A.values[e] != 0;
        }
        const auto is_of_others = [&](u32 row) { return problem_.A_is_by_rows ? !meets_a_minor(row) : !meets[row]; };
        rows.erase(std::remove_if(rows.begin(), rows.end(), is_of_others), rows.end());
    }

    // Whether half of those at rest will be awake after some more rounds, if each wakes as much more than the one before as
    // this one did. A wave through a long chain or a grid comes too late.
    bool will_all_wake(u64 n_woken, u64 n_woken_before, u32 n_rounds) const {
        if (n_woken == 0 || n_woken_before == 0) return true;
        const double growth = double(n_woken) / double(n_woken_before);
        double n_awake = 0, n_next = double(n_woken);
        for (u32 round = 0; round < n_rounds; ++round) n_awake += n_next *= growth;
        return 2.0 * n_awake >= double(variables_.n_resting + rows_.n_resting);
    }

    // Whether next to all are apart, where that is asked; what rests, or may be empty, does not count.
    bool are_enough(u64 n_kinds) const {
        const u64 n_open = variables_.n_resting + rows_.n_without_terms;
        return question_.may_stay > 0 && is_enough(n_kinds - std::min(n_kinds, n_open), n_variables_);
    }
    bool is_enough(u64 n_kinds, u64 n) const { return double(n_kinds) >= (1.0 - question_.may_stay) * double(n); }

    // Whether all rows are alone, and no two variables stand in the same ones. It is asked once, where it saves a round, and
    // only where columns are short: later, or where they are long, another round costs as little.
    bool rows_tell_all_apart() const {
        if (problem_.A.n_entries() > longest_columns * n_variables_) return false;
        if (rows_.n_resting || rows_.n_without_terms || rows_.are_lost() || count_kinds(rows_) < rows_.size()) return false;
        return those_that_agree(rows_, nullptr, question_.n_threads).empty() &&
               supports_are_distinct(problem_, n_variables_, question_.n_threads);
    }

    // ------------------------------------------------------------------------------------ cones
    bool has_cones() const { return question_.conic.n_cones > 0; }

    // Where all variables are apart, ordinary rows are; conic rows may be multiples of each other, so that they are compared.
    bool conic_rows_are_apart() const {
        return std::none_of(rows_left_.those.begin(), rows_left_.those.end(),
                            [&](u32 row) { return row >= question_.conic.first_row; });
    }

    // ------------------------------------------------------------------------------------ rounds
    void recolour_rows() {
        rows_.n_without_terms = 0;
        if (problem_.A_is_by_rows) {
            gather_and_recolour(rows_, rows_left_, variables_.words.data());
        } else {
            scatter(variables_.words.data());
            recolour_by_sums(rows_, rows_left_);
        }
        if (has_cones()) rows_.recolour_by_cones(question_.conic);
    }

    void recolour_by_sums(FloatColours& colours, const Left& left) {
        colours.choose_unit([&](u64 k) { return sums_[k]; });
        if (left.is_known) colours.recolour_some(left.those, sums_.data());
        else colours.recolour(sums_.data(), question_.n_threads);
    }

    void recolour_variables() {
        if (problem_.A_is_by_rows) scatter(rows_.words.data());
        else if (!problem_.has_P()) return gather_and_recolour(variables_, left_, rows_.words.data());
        if (problem_.has_P())
            over_majors(problem_.P, threads_for(problem_.P.n_entries(), question_.n_threads), [&](u32 first, u32 last) {
                for (u32 j = first; j < last; ++j) {  // by colours of all as they were
                    if (!problem_.A_is_by_rows) sums_[j] = SumOfTerms();
                    add_major(problem_.P, j, variables_.words.data(), sums_[j]);
                    if (!problem_.A_is_by_rows) add_major(problem_.A, j, rows_.words.data(), sums_[j]);
                }
            });
        recolour_by_sums(variables_, left_);
    }

    // Two sums at a time: an addition need not wait for the one before.
    static void add_major(const SparseView<Index>& matrix, u32 major, const FloatWord* words, SumOfTerms& sum) {
        SumOfTerms other;
        u64 e = u64(matrix.offsets[major]);
        const u64 end = u64(matrix.offsets[major + 1]);
        for (; e + 1 < end; e += 2) {
            sum.add(matrix.values[e], words[matrix.indices[e]]);
            other.add_beside(matrix.values[e + 1], words[matrix.indices[e + 1]]);
        }
        if (e < end) sum.add(matrix.values[e], words[matrix.indices[e]]);
        sum.add(other);
    }

    void gather_and_recolour(FloatColours& colours, const Left& left, const FloatWord* words) {
        colours.choose_unit([&](u64 major) {
            SumOfTerms sum;
            add_major(problem_.A, u32(major), words, sum);
            return sum;
        });
        colours.begin_round();
        const u32 n_parts = left.is_known ? 1 : threads_for(problem_.A.n_entries(), question_.n_threads);
        std::vector<RoundTally> tallies(n_parts);
        if (left.is_known) {
            for (const u32 major : left.those) {
                SumOfTerms sum;
                add_major(problem_.A, major, words, sum);
                colours.recolour_one(major, sum, tallies[0]);
            }
        } else {
            in_parallel(n_parts, [&](u32 k) {
                gather_part(colours, words, first_major_of(problem_.A, k, n_parts), first_major_of(problem_.A, k + 1, n_parts),
                            tallies[k]);
            });
        }
        for (const RoundTally& tally : tallies) colours.take(tally);
    }

    void gather_part(FloatColours& colours, const FloatWord* words, u32 first_major, u32 last_major, RoundTally& tally) const {
        constexpr u32 block = 256;
        SumOfTerms sums[block];
        for (u32 first = first_major; first < last_major; first += block) {
            const u32 last = std::min(first + block, last_major);
            for (u32 major = first; major < last; ++major) {
                sums[major - first] = SumOfTerms();
                add_major(problem_.A, major, words, sums[major - first]);
            }
            colours.recolour_part(first, last, sums, tally);
        }
    }

    // In blocks of majors, each with sums of its own: as many as the sizes of the matrix say, and added up in their order, so
    // that rounding does not depend on the number of threads.
    void scatter(const FloatWord* words) {
        const auto& A = problem_.A;
        const u32 n_blocks = scattering_threads(A, most_blocks, sizeof(SumOfTerms));
        const u32 n_threads = std::min(n_blocks, threads_for(A.n_entries(), question_.n_threads));
        block_sums_.resize(n_blocks - 1);
        in_parallel(n_threads, [&](u32 k) {
            for (u32 block = k; block < n_blocks; block += n_threads) {
                if (block) block_sums_[block - 1].resize(A.n_minor);
                scatter_block(words, (block ? block_sums_[block - 1] : sums_).data(), first_major_of(A, block, n_blocks),
                              first_major_of(A, block + 1, n_blocks));
            }
        });
        if (n_blocks == 1) return;
        over_range(A.n_minor, threads_for(A.n_minor, n_threads), [&](u64 first, u64 last) {
            for (const Array<SumOfTerms>& sums : block_sums_)
                for (u64 minor = first; minor < last; ++minor) sums_[minor].add(sums[minor]);
        });
    }

    void scatter_block(const FloatWord* words, SumOfTerms* sums, u32 first_major, u32 last_major) const {
        const auto& A = problem_.A;
        std::fill_n(sums, A.n_minor, SumOfTerms());
        for (u32 major = first_major; major < last_major; ++major) {
            const FloatWord word = words[major];
            u64 e = u64(A.offsets[major]);
            const u64 end = u64(A.offsets[major + 1]);
            for (; e + 1 < end; e += 2) {  // two at a time: one by one they take half as long again
                sums[A.indices[e]].add(A.values[e], word);
                sums[A.indices[e + 1]].add(A.values[e + 1], word);
            }
            if (e < end) sums[A.indices[e]].add(A.values[e], word);
        }
    }

    // ------------------------------------------------------------------------------------ how many there are
    u64 count_rows() const { return rows_left_.is_known ? rows_.size() - rows_left_.those.size() : count_kinds(rows_); }

    // About how many kinds there are, by those in a slice of hash space; all of them, if none of these is there twice.
    // Vague ones do not count.
    u64 count_kinds(const FloatColours& colours) const {
        constexpr double cells = 0x1p34;  // next to no keys are as near to each other by chance
        const Array<double>& keys = colours.keys;
        int halvings = 0;
        while (keys.size() >> halvings > most_counted) ++halvings;
        const u64 outside = halvings ? ~u64(0) << (64 - halvings) : 0;
        const u32 n_parts = threads_for(keys.size(), question_.n_threads);
        std::vector<Array<u64>> parts(n_parts);
        in_parallel(n_parts, [&](u32 k) {
            const double* const key_of = keys.data();
            constexpr u64 block = 512;
            u64 some[block];  // whether a word is in the slice is as good as random: nothing branches on it
            for (u64 first = part_of(keys.size(), k, n_parts), end = part_of(keys.size(), k + 1, n_parts); first < end; first += block) {
                u64 count = 0;
                for (u64 i = first, last = std::min(first + block, end); i < last; ++i) {
                    some[count] = spread(cell_of(key_of[i], cells));
                    count += !(some[count] & outside);
                }
                parts[k].insert(parts[k].end(), some, some + count);
            }
        });
        Array<u64> words = joined(std::move(parts)), table;
        const auto clear_ones = [&](u64 n_kinds) { return std::max<u64>(n_kinds, colours.n_vague + 1) - colours.n_vague; };
        const u64 n_seen = words.size(), n_different = count_mixed(words, table);
        const double by_slices = std::ldexp(double(n_different), halvings);
        const double expected = std::ldexp(double(keys.size()), -halvings);
        if (halvings && double(n_seen) < expected - 4.0 * std::sqrt(expected))  // kinds of many members lie outside
            return clear_ones(u64(std::min(by_slices, double(keys.size()))));
        if (n_seen == n_different) return clear_ones(keys.size());
        return clear_ones(u64(double(keys.size()) * double(n_different) / double(n_seen)));
    }

    static u64 cell_of(double key, double cells) { return u64(floor_of(key * cells)); }

    // Those whose keys agree with that of another one but for rounding, among some, or among all where null is given. Two keys
    // that are clear are then in one cell, or on both sides of an end of a cell: these are put into both. A bit for each of
    // many cells shows which are there again. What agrees with a vague key is in one of the wider cells that this one
    // reaches. Where there are many, a few more are among them, whose bits are those of others by chance.
    static Array<u32> those_that_agree(const FloatColours& colours, const Array<u32>* among, u32 n_threads) {
        const Array<double>& keys = colours.keys;
        const u32 n = u32(among ? among->size() : keys.size());
        const auto member = [among](u32 place) { return among ? (*among)[place] : place; };
        const double largest = FloatColours::many_errors * std::sqrt(colours.largest_square);
        constexpr double least_reach = 0x1p-60;  // where keys have no error at all
        const double reach = std::max(std::min(largest, FloatColours::reach_of_clear(n)), least_reach), cells = 0x1p-4 / reach;
        const double wide_cells = std::min(cells, 1.0 / largest);
        int log_bits = 10;
        while (u64(1) << log_bits < u64(24) * n) ++log_bits;
        const auto bit_of = [log_bits](u64 cell) { return spread(cell ^ cell >> 32) >> (64 - log_bits); };
        const u32 n_parts = threads_for(n, n_threads);
        const auto over_parts = [&](auto&& work) {
            in_parallel(n_parts, [&](u32 k) { work(k, u32(part_of(n, k, n_parts)), u32(part_of(n, k + 1, n_parts))); });
        };
        struct Bits { Array<u64> there, again, reached; };
        std::vector<Bits> bits(n_parts);
        const auto is_in = [](const u64* bits, u64 bit) { return bits[bit >> 6] >> (bit & 63) & 1; };
        const auto put_into = [](u64* bits, u64 bit) { bits[bit >> 6] |= u64(1) << (bit & 63); };
        const auto visit_cells = [=](double key, auto&& visit) {
            const u64 cell = cell_of(key, cells), next = cell_of(key + 2.0 * reach, cells);
            visit(bit_of(cell));
            if (next != cell) visit(bit_of(next));
        };
        over_parts([&](u32 k, u32 begin, u32 end) {
            const u64 n_words = (u64(1) << log_bits) / 64;
            for (Array<u64>* const some : {&bits[k].there, &bits[k].again}) some->assign(n_words, 0);
            u64 *const there = bits[k].there.data(), *const again = bits[k].again.data();
            for (u32 place = begin; place < end; ++place)
                visit_cells(keys[member(place)], [&](u64 bit) {
                    again[bit >> 6] |= there[bit >> 6] & u64(1) << (bit & 63);
                    put_into(there, bit);
                });
            if (reach >= largest) return;
            bits[k].reached.assign(n_words, 0);
            for (u32 place = begin; place < end; ++place) {
                const double key = keys[member(place)], error = FloatColours::many_errors * colours.error(member(place));
                if (error <= reach) continue;
                const u64 first = cell_of(key - error - reach, wide_cells), last = cell_of(key + error + reach, wide_cells);
                for (u64 cell = first; i64(cell - last) <= 0; ++cell) put_into(bits[k].reached.data(), bit_of(cell));
            }
        });
        Bits& all = bits[0];
        over_range(n_parts > 1 ? all.there.size() : 0, n_parts, [&](u64 first, u64 last) {
            for (u32 k = 1; k < n_parts; ++k)
                for (u64 word = first; word < last; ++word) {
                    all.again[word] |= bits[k].again[word] | (all.there[word] & bits[k].there[word]);
                    all.there[word] |= bits[k].there[word];
                    if (reach < largest) all.reached[word] |= bits[k].reached[word];
                }
        });
        const u64 *const again = all.again.data(), *const reached = reach < largest ? all.reached.data() : nullptr;
        const double* const key_of = keys.data();
        Array<u32> some = those_of_which(n, n_threads, [=](u64 place) {
            const double key = key_of[member(u32(place))];
            bool may_agree = reached && is_in(reached, bit_of(cell_of(key, wide_cells)));
            visit_cells(key, [&](u64 bit) { may_agree |= is_in(again, bit); });
            return may_agree;
        });
        for (u32& k : some) k = member(k);
        const bool are_many = double(some.size()) > share_that_goes_on * double(keys.size());
        return are_many ? some : near_ones(some, colours);
    }

    // Those of some whose keys agree with another one's: intervals around them meet.
    static Array<u32> near_ones(const Array<u32>& some, const FloatColours& colours) {
        struct Interval { double low, high; u32 owner; };
        Array<Interval> intervals;
        for (const u32 k : some) {
            const double error = FloatColours::many_errors * colours.error(k);
            intervals.push_back({colours.keys[k] - error, colours.keys[k] + error, k});
        }
        std::sort(intervals.begin(), intervals.end(), [](const auto& one, const auto& other) { return one.low < other.low; });
        Array<u8> meets(intervals.size(), 0);
        for (u64 at = 1, farthest = 0; at < intervals.size(); ++at) {
            if (intervals[at].low <= intervals[farthest].high) meets[at] = meets[farthest] = 1;
            if (intervals[at].high > intervals[farthest].high) farthest = at;
        }
        Array<u32> near;
        for (u64 at = 0; at < intervals.size(); ++at)
            if (meets[at]) near.push_back(intervals[at].owner);
        return near;
    }

    static Array<u32> those_that_agree_among_all(const FloatColours& colours) {
        Array<u32> all(colours.size());
        for (u32 k = 0; k < all.size(); ++k) all[k] = k;
        return near_ones(all, colours);
    }

    // ------------------------------------------------------------------------------------ those that are left
    struct Entry {
        u32 row, place;  // the place among those that are left
        double value;
    };

    // Rounds over the columns of those that agree with another one, until none do. All other colours stay as they are, and
    // rows take up only what these columns add, so that rows of a class still have one colour.
    bool are_parted_by_themselves(Array<u32> left) const {
        if (left.empty()) return true;
        if (double(left.size()) > share_that_goes_on * double(variables_.size())) return false;
        Array<u32> touched;
        Array<Entry> entries = entries_of(left, touched);
        FloatColours variables = variables_.of(left), rows = rows_.of(touched);
        Array<SumOfTerms> sums(left.size()), row_sums(touched.size());
        while (true) {
            std::fill(sums.begin(), sums.end(), SumOfTerms());
            for (const Entry& entry : entries) sums[entry.place].add(entry.value, rows.words[entry.row]);
            for (u32 place = 0; problem_.has_P() && place < left.size(); ++place)
                add_major(problem_.P, left[place], variables_.words.data(), sums[place]);
            variables.recolour(sums.data());
            if (variables.are_lost()) return false;
            const Array<u32> together = those_that_agree_among_all(variables);
            if (together.empty()) return true;
            if (together.size() == left.size()) return false;
            keep(together, left, entries);
            variables = variables.of(together);
            sums.resize(left.size());
            std::fill(row_sums.begin(), row_sums.end(), SumOfTerms());
            for (const Entry& entry : entries) row_sums[entry.row].add(entry.value, variables.words[entry.place]);
            rows.recolour_where_sums_count(row_sums.data());
        }
    }

    // Goes on with some of those that were left.
    static void keep(const Array<u32>& some, Array<u32>& left, Array<Entry>& entries) {
        constexpr u32 nowhere = ~u32(0);
        Array<u32> new_place(left.size(), nowhere), kept;
        for (const u32 place : some) {
            new_place[place] = u32(kept.size());
            kept.push_back(left[place]);
        }
        u64 n_entries = 0;
        for (const Entry& entry : entries)
            if (new_place[entry.place] != nowhere) entries[n_entries++] = {entry.row, new_place[entry.place], entry.value};
        entries.resize(n_entries);
        left.swap(kept);
    }

    // Entries of the columns of some variables, with rows numbered as they are met.
    Array<Entry> entries_of(const Array<u32>& some, Array<u32>& rows) const {
        constexpr u32 nowhere = ~u32(0);
        const auto& A = problem_.A;
        Array<Entry> entries;
        Array<u32> place_of_row(problem_.n_rows, nowhere);
        const auto take = [&](u32 row, u32 place, double value) {
            if (place_of_row[row] == nowhere) {
                place_of_row[row] = u32(rows.size());
                rows.push_back(row);
            }
            entries.push_back({place_of_row[row], place, value});
        };
        if (!problem_.A_is_by_rows) {
            for (u32 place = 0; place < some.size(); ++place)
                for (u64 e = u64(A.offsets[some[place]]), end = u64(A.offsets[some[place] + 1]); e < end; ++e)
                    take(u32(A.indices[e]), place, A.values[e]);
            return entries;
        }
        Array<u32> place_of(problem_.n_variables, nowhere);
        for (u32 place = 0; place < some.size(); ++place) place_of[some[place]] = place;
        for (u32 i = 0; i < A.n_major; ++i)
            for (u64 e = u64(A.offsets[i]), end = u64(A.offsets[i + 1]); e < end; ++e)
                if (place_of[A.indices[e]] != nowhere) take(i, place_of[A.indices[e]], A.values[e]);
        return entries;
    }

    static constexpr u32 most_rounds = 16;
    static constexpr u32 most_blocks = 4;  // in which floats are scattered
    static constexpr u64 longest_columns = 8;   // on average, where rows alone are asked
    static constexpr u64 most_counted = 4096;  // of variables or rows, to tell kinds
    static constexpr double share_that_repeats = 0.02, least_growth = 1.5;  // of kinds
    static constexpr double share_that_stays = 0.7;      // of those that are not apart, in a round that is worth another
    static constexpr double share_that_is_looked_at = 0.25;  // of kinds, so that it is seen which are alone
    static constexpr double share_that_goes_on = 0.125;      // by itself, of all variables

    const Problem<Index>& problem_;
    const passes::GivenNumbers &given_, &given_rows_;
    const ApartQuestion question_;
    const u64 n_variables_;  // without columns of cones
    FloatColours variables_, rows_;
    Left left_, rows_left_;  // variables, and conic rows
    Array<SumOfTerms> sums_;
    std::vector<Array<SumOfTerms>> block_sums_;  // of all blocks but the first
    Array<double> masses_, row_masses_;
};

}  // namespace relift
