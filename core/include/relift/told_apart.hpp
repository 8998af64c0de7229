// Whether nothing can be equivalent up to size, unit and sign: rounds of refinement in floats, without any exact number.
//
// Members of a class have equal colours in every round of an exact refinement (hash_rounds.hpp, multipliers.hpp). The same
// rounds are made here with colours that depend continuously on the numbers, so that colours of one class agree but for
// rounding, also where numbers are in proportion but for rounding. Once no two variables have colours nearer to each other
// than that, and none rests, every variable is alone; and so is every row, if none is empty or a multiple of another. To
// read all values exactly costs more than these rounds; where they tell nothing, or not all, the exact refinement follows.
//
// A sum that is next to nothing beside its terms counts as 0. That is so for all members of a class whose terms are equal,
// and for the others but by chance; if it went wrong, two members of a class would be told apart.
#pragma once
#include <cmath>
#include <cstring>

#include "distinct_words.hpp"
#include "masses.hpp"
#include "passes/numbers.hpp"

namespace relift {

// What is asked: the settings of the search, and whether members count by size and price.
struct ApartQuestion {
    bool sizes = true, signs = true, scales_rows = true, has_masses = false;
};

// A key of a number that depends on it continuously, for each sign: the logarithm to the base 2, straight between powers.
inline double log_key(double number) {
    constexpr u64 bits_of_one = u64(1023) << 52;
    u64 bits;
    std::memcpy(&bits, &number, sizeof bits);
    const u64 size = bits & ~(u64(1) << 63);
    const double log = double(i64(size - bits_of_one)) * 0x1p-52;
    return bits >> 63 ? 5.5451774444795623 - 0.8814735870195429 * log : log;
}
// The same with 0 and the infinities.
constexpr double key_of_zero = 3.1447298858494;
inline double key_of(double number) {
    if (number == 0) return key_of_zero;
    if (std::isinf(number)) return number > 0 ? 17.3205080756887 : -11.1803398874989;
    return log_key(number);
}

// Colours of the variables, or of the rows.
struct FloatColours {
    Array<double> keys, keys_before;  // after the last round, and, of variables, after the one before it
    Array<double> scales;             // w of variables, 1/v of rows
    Array<double> words;              // what each adds to sums, 0 while it rests
    Array<u8> states;
    const double* masses = nullptr;   // null where all are 1
    const bool are_variables;
    u64 n_resting = 0, n_without_terms = 0;

    FloatColours(u64 size, bool are_variables_)
        : keys(size), keys_before(are_variables_ ? size : 0), scales(size), words(size), states(size),
          are_variables(are_variables_) {}
    u64 size() const { return keys.size(); }
};

struct SumOfTerms {
    double total = 0, size = 0;
    void add(double term) {
        total += term;
        size += std::fabs(term);
    }
};

template <class Index>
class ToldApart {
public:
    ToldApart(const Problem<Index>& problem, const passes::GivenNumbers& variables, const passes::GivenNumbers& rows,
              const ApartQuestion& question)
        : problem_(problem), given_(variables), given_rows_(rows), question_(question),
          variables_(problem.n_variables, true), rows_(problem.n_rows, false),
          sums_(problem.has_P() ? std::max(problem.A.n_minor, problem.n_variables) : problem.A.n_minor) {}

    // Whether every variable and every row is alone, where no row is a multiple of another.
    bool run() {
        if (problem_.n_variables < 2 || problem_.n_rows == 0) return false;
        if (question_.has_masses) find_masses_in_floats();
        colour_initially(variables_, given_, question_.sizes);
        colour_initially(rows_, given_rows_, question_.scales_rows);
        u64 n_kinds = 0;
        for (u32 round = 0; round < most_rounds; ++round) {
            const u64 n_resting = variables_.n_resting + rows_.n_resting, n_before = n_kinds;
            recolour_rows();
            recolour_variables();
            n_kinds = count_kinds();
            const u64 n = variables_.size();
            const bool may_be_apart = variables_.n_resting == 0 && n_kinds == n;
            if (may_be_apart && rows_.n_without_terms == 0 && are_all_apart()) return true;
            const bool has_woken = variables_.n_resting + rows_.n_resting < n_resting;
            const bool are_few = double(n_kinds) < share_that_repeats * double(n);
            const bool grew_little = double(n_kinds) < least_growth * double(n_before);
            const bool is_ending = 2 * (n - n_kinds) < n - n_before;  // sums that counted as 0 have tied some
            if (!has_woken && !is_ending && !may_be_apart && (are_few || grew_little)) return false;
            rounding_ *= 4;
        }
        return false;
    }

private:
    void find_masses_in_floats() {
        masses_.resize(problem_.n_variables);
        row_masses_.resize(problem_.n_rows);
        find_masses(problem_, given_, given_rows_, masses_.data(), row_masses_.data());
        variables_.masses = masses_.data();
        rows_.masses = row_masses_.data();
    }

    // ------------------------------------------------------------------------------------ colours
    void colour_initially(FloatColours& colours, const passes::GivenNumbers& given, bool sizes) {
        const bool has_costs = given.cost.first != nullptr;
        OwnNumbersOfOne before{};
        for (u64 k = 0; k < colours.size(); ++k) {
            const OwnNumbersOfOne own{given.low[k], given.high[k], has_costs ? given.cost[k] : 0.0,
                                      colours.masses ? colours.masses[k] : 1.0, given.low_image[k], given.high_image[k],
                                      has_costs ? given.cost_image[k] : 0};
            if (k && std::memcmp(&own, &before, sizeof own) == 0) {  // as in vectors of one number
                colours.scales[k] = colours.scales[k - 1];
                colours.states[k] = colours.states[k - 1];
                colours.keys[k] = colours.keys[k - 1];
            } else {
                const OwnScale scale = own_scale(own, sizes, question_.signs);
                const double signed_size = scale.is_negative ? -scale.size : scale.size;
                colours.scales[k] = colours.are_variables ? signed_size : 1.0 / signed_size;
                colours.states[k] = scale.state;
                colours.keys[k] = initial_key(own, signed_size, has_costs) + 0.4142135623730951 * scale.state;
                before = own;
            }
            colours.n_resting += colours.states[k] & rests;
            set_word(colours, k);
        }
    }

    static double initial_key(const OwnNumbersOfOne& own, double scale, bool has_cost) {
        double low = own.low / scale, high = own.high / scale;
        if (scale < 0) std::swap(low, high);
        const double key = 0.7548776662466927 * key_of(low) + 0.5698402909980532 * key_of(high);
        return has_cost ? key + 0.3247179572447461 * key_of(own.cost * scale / own.mass) : key;
    }

    // Of numbers that are not large, without a call.
    static i64 floor_of(double number) {
        const i64 whole = i64(number);
        return whole - (number < double(whole));
    }

    // A number from 1 to 2 for each colour: a wave with straight flanks, so that it depends continuously on the key.
    static double number_of(double key) { return 1.0 + std::fabs(2.0 * (key - double(floor_of(key))) - 1.0); }

    static void set_word(FloatColours& colours, u64 k) {
        double word = number_of(colours.keys[k]) * colours.scales[k];
        if (!colours.are_variables && colours.masses) word *= colours.masses[k];
        colours.words[k] = colours.states[k] & rests ? 0.0 : word;
    }

    // ------------------------------------------------------------------------------------ rounds
    void recolour_rows() {
        rows_.n_without_terms = 0;
        if (problem_.A_is_by_rows) return gather_and_recolour(rows_, variables_.words.data());
        scatter(variables_.words.data());
        for (u64 i = 0; i < rows_.size(); ++i) recolour(rows_, i, sums_[i]);
    }

    void recolour_variables() {
        variables_.keys_before.swap(variables_.keys);
        if (problem_.A_is_by_rows) scatter(rows_.words.data());
        else if (!problem_.has_P()) return gather_and_recolour(variables_, rows_.words.data());
        for (u64 j = 0; problem_.has_P() && j < variables_.size(); ++j) {  // by colours of all as they were
            if (!problem_.A_is_by_rows) sums_[j] = SumOfTerms();
            add_major(problem_.P, u32(j), variables_.words.data(), sums_[j]);
            if (!problem_.A_is_by_rows) add_major(problem_.A, u32(j), rows_.words.data(), sums_[j]);
        }
        for (u64 j = 0; j < variables_.size(); ++j) recolour(variables_, j, sums_[j]);
    }

    static void add_major(const SparseView<Index>& matrix, u32 major, const double* words, SumOfTerms& sum) {
        for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e)
            sum.add(matrix.values[e] * words[matrix.indices[e]]);
    }

    void gather_and_recolour(FloatColours& colours, const double* words) {
        for (u32 major = 0; major < problem_.A.n_major; ++major) {
            SumOfTerms sum;
            add_major(problem_.A, major, words, sum);
            recolour(colours, major, sum);
        }
    }

    void scatter(const double* words) {
        const auto& A = problem_.A;
        std::fill_n(sums_.begin(), A.n_minor, SumOfTerms());
        for (u32 major = 0; major < A.n_major; ++major) {
            const double word = words[major];
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                sums_[A.indices[e]].add(A.values[e] * word);
        }
    }

    // The new colour of one, by its sum.
    static void recolour(FloatColours& colours, u64 k, const SumOfTerms& sum) {
        colours.n_without_terms += !(sum.size > 0);
        const double before = (colours.are_variables ? colours.keys_before : colours.keys)[k];
        double key = key_of_zero;
        if (std::fabs(sum.total) > least_share * sum.size) {
            if (colours.states[k]) wake(colours, k, sum.total);
            const double relative = sum.total * colours.scales[k];
            key = key_of(colours.are_variables && colours.masses ? relative / colours.masses[k] : relative);
        }
        colours.keys[k] = 0.6180339887498949 * before + key;
        set_word(colours, k);
    }

    // The sum of one that rests tells what is open of its size and sign, as in multipliers.hpp.
    static void wake(FloatColours& colours, u64 k, double total) {
        u8& state = colours.states[k];
        double& scale = colours.scales[k];
        const double mass = colours.are_variables && colours.masses ? colours.masses[k] : 1.0;
        if (!(state & has_open_size)) scale = state & has_open_sign && total < 0 ? -scale : scale;
        else scale = state & has_open_sign ? mass / total : std::copysign(mass / total, scale);
        state = 0;
        --colours.n_resting;
    }

    // ------------------------------------------------------------------------------------ how many there are
    // About how many kinds of variables there are; all of them, if none of some is there twice.
    u64 count_kinds() const {
        constexpr double cells = 0x1p34;  // next to no keys are as near to each other by chance
        const Array<double>& keys = variables_.keys;
        int halvings = 0;
        while (keys.size() >> halvings > 4096) ++halvings;
        const u64 outside = halvings ? ~u64(0) << (64 - halvings) : 0;
        Array<u64> words, table;
        for (const double key : keys) {
            const u64 hash = spread(cell_of(key, cells));
            if (!(hash & outside)) words.push_back(hash);
        }
        const u64 n_seen = words.size(), n_different = count_mixed(words, table);
        if (n_seen == n_different) return keys.size();
        return std::max<u64>(1, u64(double(keys.size()) * double(n_different) / double(n_seen)) - 1);
    }

    static u64 cell_of(double key, double cells) { return u64(floor_of(key * cells)); }

    // Whether no two variables have keys that agree but for rounding, in this round and in the one before. Those that may
    // are in one cell of the keys, or on both sides of an end of a cell: such keys are put into both.
    bool are_all_apart() const {
        const double rounding = rounding_, cells = 0x1p-6 / rounding;
        struct Place { u64 cell; u32 variable; };
        const u64 n = variables_.size();
        int log_parts = 0;
        while (n >> log_parts > 2048 && log_parts < 10) ++log_parts;
        const u64 n_parts = u64(1) << log_parts;
        const auto hash_of = [](u64 cell) { return spread(cell ^ cell >> 32); };
        const auto part_of_cell = [&](u64 cell) { return log_parts ? hash_of(cell) >> (64 - log_parts) : 0; };
        const auto for_each_place = [&](auto&& visit) {
            for (u32 j = 0; j < n; ++j) {
                const double key = variables_.keys[j];
                const u64 cell = cell_of(key, cells), next = cell_of(key + rounding, cells);
                visit(Place{cell, j});
                if (next != cell) visit(Place{next, j});
            }
        };
        Array<u32> start(n_parts + 1, 0);
        for_each_place([&](const Place& place) { ++start[part_of_cell(place.cell) + 1]; });
        u32 largest = 0;
        for (u64 p = 0; p < n_parts; ++p) {
            largest = std::max(largest, start[p + 1]);
            start[p + 1] += start[p];
        }
        Array<Place> places(start[n_parts]);
        Array<u32> next(start);
        for_each_place([&](const Place& place) { places[next[part_of_cell(place.cell)]++] = place; });
        const u64 capacity = power_of_two_above(2 * u64(largest));
        Array<u32> table;
        for (u64 p = 0; p < n_parts; ++p) {
            table.assign(capacity, 0);
            for (u32 k = start[p]; k < start[p + 1]; ++k) {
                u64 at = hash_of(places[k].cell) >> 8 & (capacity - 1);
                for (; table[at]; at = (at + 1) & (capacity - 1)) {
                    const Place& other = places[table[at] - 1];
                    if (other.cell == places[k].cell && may_be_one(other.variable, places[k].variable)) return false;
                }
                table[at] = k + 1;
            }
        }
        return true;
    }

    bool may_be_one(u32 j, u32 k) const {
        const auto are_near = [&](const Array<double>& keys) { return std::fabs(keys[j] - keys[k]) <= rounding_; };
        return j != k && are_near(variables_.keys) && are_near(variables_.keys_before);
    }

    static constexpr u32 most_rounds = 5;
    static constexpr double least_share = 0x1p-13;                          // of a sum in its terms
    static constexpr double share_that_repeats = 0.02, least_growth = 1.5;  // of kinds

    const Problem<Index>& problem_;
    const passes::GivenNumbers &given_, &given_rows_;
    const ApartQuestion question_;
    FloatColours variables_, rows_;
    Array<SumOfTerms> sums_;
    Array<double> masses_, row_masses_;
    double rounding_ = 0x1p-36;  // of keys: some units in the last place, several times as much after each round
};

}  // namespace relift
