// Colours of variables or rows that are floats, and depend continuously on the numbers: what told_apart.hpp refines.
//
// Each has an error: about how much the colours of two members of a class, which are equal in exact numbers, differ by
// rounding. Errors of terms are independent of each other, so that their squares add up; squares are what is kept.
// Cancellation makes them large.
#pragma once
#include <cmath>
#include <cstring>

#include "conic_numbers.hpp"
#include "own_scales.hpp"
#include "passes/numbers.hpp"
#include "threads.hpp"

namespace relift {

// A key of a number that depends on it continuously, for each sign: the logarithm to the base 2, straight between powers.
// The sign chooses by a table, since branches on it are wrong half of the time.
inline double log_key(double number) {
    constexpr u64 bits_of_one = u64(1023) << 52;
    constexpr double slopes[2] = {1.0, -0.8814735870195429}, starts[2] = {0.0, 5.5451774444795623};
    u64 bits;
    std::memcpy(&bits, &number, sizeof bits);
    const u64 size = bits & ~(u64(1) << 63);
    return starts[bits >> 63] + slopes[bits >> 63] * (double(i64(size - bits_of_one)) * 0x1p-52);
}
// The same with 0 and the infinities.
constexpr double key_of_zero = 3.1447298858494;
inline double key_of(double number) {
    if (number == 0) return key_of_zero;
    if (std::isinf(number)) return number > 0 ? 17.3205080756887 : -11.1803398874989;
    return log_key(number);
}

// The largest whole number that is not above another one, which is not large, without a call.
inline i64 floor_of(double number) {
    const i64 whole = i64(number);
    return whole - (number < double(whole));
}

// What a colour adds to sums, and the square of its error.
struct FloatWord {
    double word, square;
};

struct SumOfTerms {
    double total = 0, square = 0;
    void add(double value, const FloatWord& word) {
        total += value * word.word;
        square += value * value * word.square + of_addition * (total * total);
    }
    // The same for every second term: the error of the addition counts twice in the others.
    void add_beside(double value, const FloatWord& word) {
        total += value * word.word;
        square += value * value * word.square;
    }
    void add(const SumOfTerms& other) {
        total += other.total;
        square += other.square + of_addition * (total * total);
    }
    static constexpr double of_addition = 0x1p-106;  // twice the mean square of what rounding takes from a number
    // Whether it is more than cancellation may have left of its terms, so that it wakes one that rests.
    bool counts() const { return square < 0x1p-56 * (total * total); }
    bool is_empty() const { return !(square > 0); }
};

// What a part of a round has seen.
struct RoundTally {
    u64 n_woken = 0, n_without_terms = 0, n_vague = 0;
    double largest_square = 0;
};

class FloatColours {
public:
    Array<double> keys;      // after the last round
    Array<FloatWord> words;  // nothing while one rests
    u64 n_resting = 0, n_without_terms = 0, n_vague = 0;  // conic rows without terms do not count
    double largest_square = 0;  // of errors of keys

    // Keys are vague where more than few of so many others agree with them by chance. There may be more words, of columns
    // that stay at rest.
    FloatColours(u64 size, bool are_variables, u64 n_more_words = 0)
        : keys(size), words(size + n_more_words), squares_(size), scales_(size), states_(size),
          largest_clear_(std::pow(reach_of_clear(size) / many_errors, 2)), are_variables_(are_variables) {
        std::fill(words.begin() + i64(size), words.end(), FloatWord());
    }
    static constexpr double many_errors = 32;  // no two members of a class differ by so many
    static constexpr double most_square = 1;
    static constexpr int most_places_seen = 10;  // for kinds of numbers, as a power of 2
    bool are_lost() const { return largest_square >= most_square; }  // some at least, so that nothing can be said of others
    // Keys may be vague after another round or two, so that it is time to see which are alone.
    bool errors_are_large() const { return largest_square > 0x1p-20 * largest_clear_; }
    static double reach_of_clear(u64 size) { return 0x1p-5 / double(size + 1); }
    u64 size() const { return keys.size(); }
    double error(u64 k) const { return std::sqrt(squares_[k]); }

    // Some of them, by themselves.
    FloatColours of(const Array<u32>& some) const {
        FloatColours chosen(some.size(), are_variables_);
        for (u32 place = 0; place < some.size(); ++place) {
            const u32 k = some[place];
            chosen.keys[place] = keys[k];
            chosen.words[place] = words[k];
            chosen.squares_[place] = squares_[k];
            chosen.scales_[place] = scales_[k];
            chosen.states_[place] = states_[k];
            chosen.n_resting += states_[k] & rests;
            if (masses_) chosen.own_masses_.push_back(masses_[k]);
        }
        if (masses_) chosen.masses_ = chosen.own_masses_.data();  // which moves along with it
        chosen.have_rested_ = have_rested_;
        chosen.unit_ = unit_;
        return chosen;
    }

    // Masses are null where all are 1. Numbers that were seen a moment ago are not looked at again.
    void begin(const passes::GivenNumbers& given, bool sizes, bool signs, const double* masses,
               const ConicNumbers& conic = ConicNumbers(), u32 n_threads = 1) {
        masses_ = masses;
        first_conic_ = conic.first_row;
        const u32 n_parts = threads_for(size(), n_threads);
        std::vector<u64> n_at_rest(n_parts);
        in_parallel(n_parts, [&](u32 k) {
            n_at_rest[k] = begin_part(given, sizes, signs, conic, part_of(size(), k, n_parts), part_of(size(), k + 1, n_parts));
        });
        for (const u64 n : n_at_rest) n_resting += n;
        have_rested_ = n_resting > 0;
        largest_square = of_rounding;
    }

    // Sums are taken in a unit in which those of some are about 1.
    template <class SumOf>
    void choose_unit(SumOf&& sum_of) {
        constexpr u64 most_looked_at = 512;
        const u64 n_looked_at = std::min<u64>(size(), most_looked_at);
        double logs = 0;
        u64 n_sums = 0;
        for (u64 place = 0; place < n_looked_at; ++place) {
            const u64 k = place * size() / n_looked_at;
            const SumOfTerms sum = sum_of(k);
            const double relative = std::fabs(sum.total * scale_of_sum(k));
            if (!sum.counts() || states_[k] || !(relative > 0) || !std::isfinite(relative)) continue;
            logs += log_key(relative);
            ++n_sums;
        }
        unit_ = n_sums ? std::ldexp(1.0, -int(floor_of(logs / double(n_sums)))) : 1.0;
    }

    // The new colours of all, by their sums.
    void recolour(const SumOfTerms* sums, u32 n_threads = 1) {
        begin_round();
        const u32 n_parts = threads_for(size(), n_threads);
        std::vector<RoundTally> tallies(n_parts);
        in_parallel(n_parts, [&](u32 k) {
            const u64 first = part_of(size(), k, n_parts);
            recolour_part(first, part_of(size(), k + 1, n_parts), sums + first, tallies[k]);
        });
        for (const RoundTally& tally : tallies) take(tally);
    }

    // Those of some, by sums that begin with theirs. What is seen is to be taken once all have them.
    void recolour_part(u64 first, u64 last, const SumOfTerms* sums, RoundTally& tally) {
        if (n_resting > 0) {
            for (u64 k = first; k < last; ++k) recolour_one(k, sums[k - first], tally);
        } else if (!masses_) {
            recolour_awake<false, false>(first, last, sums, tally);
        } else if (are_variables_) {
            recolour_awake<true, false>(first, last, sums, tally);
        } else {
            recolour_awake<false, true>(first, last, sums, tally);
        }
    }
    void take(const RoundTally& tally) {
        n_resting -= tally.n_woken;
        n_without_terms += tally.n_without_terms;
        n_vague += tally.n_vague;
        largest_square = std::max(largest_square, tally.largest_square);
    }

    // The same for some of them: all others are alone, and stay as they are. Sums are those of all.
    void recolour_some(const Array<u32>& some, const SumOfTerms* sums) {
        begin_round();
        RoundTally tally;
        for (const u32 k : some) recolour_one(k, sums[k], tally);
        take(tally);
    }
    void begin_round() { largest_square = 0, n_vague = 0; }  // errors of the round before are forgotten

    // Errors of scales that sums have told stay, and so do those of the keys from then on.
    void recolour_one(u64 k, const SumOfTerms& sum, RoundTally& tally) {
        tally.n_without_terms += sum.is_empty() && k < first_conic_;
        double square = squares_[k];
        if (states_[k] && sum.counts()) {
            wake(k, sum.total);
            ++tally.n_woken;
            square += sum.square / (sum.total * sum.total);
        }
        const double factor = scale_of_sum(k) * unit_, relative = sum.total * factor;
        square = capped(square + square_of_key(sum, factor, relative));
        squares_[k] = square;
        tally.largest_square = std::max(tally.largest_square, square);
        tally.n_vague += !(square <= largest_clear_);
        keys[k] = key_after(keys[k], key_of_sum(relative));
        words[k] = word_of(k, keys[k], square);
    }

    // Those that are alone in their class have no error from now on, and keep their colours: whatever is the same number for
    // all who meet it is a colour of a class of one.
    void settle_all_but(const Array<u32>& left, u32 n_threads = 1) {
        Array<u8> were_alone(size(), 1);
        were_alone.swap(are_alone_);
        begin_round();
        for (const u32 k : left) {
            are_alone_[k] = 0;
            largest_square = std::max(largest_square, squares_[k]);
            n_vague += !(squares_[k] <= largest_clear_);
        }
        over_range(size(), threads_for(size(), n_threads), [&](u64 first, u64 last) {
            for (u64 k = first; k < last; ++k) {
                if (!are_alone_[k] || (!were_alone.empty() && were_alone[k])) continue;
                squares_[k] = of_rounding;
                words[k] = word_of(k, keys[k], of_rounding);
            }
        });
    }
    bool rests_at(u64 k) const { return states_[k] & rests; }

    // Conic rows take up the colour of their cone: those of its rows, and how large these are beside each other. The size of
    // a cone is that of all its rows together, so that no row is preferred, and nothing cancels.
    void recolour_by_cones(const ConicNumbers& conic) {
        for (u64 first = first_conic_, last; first < size(); first = last) {
            const i64 cone = conic.cone_of_row[first - first_conic_];
            double cone_size = 0, square = 0, colour = 0, colour_square = 0;
            for (last = first; last < size() && conic.cone_of_row[last - first_conic_] == cone; ++last) {
                if (states_[last] & rests) continue;
                const double part = number_of(keys[last]) / std::fabs(scales_[last]);
                cone_size += part;
                square += part * part * (2.25 * squares_[last] + of_rounding);
            }
            if (!(cone_size > 0) || !std::isfinite(cone_size)) continue;
            square /= cone_size * cone_size;
            const double unit = 1.0 / cone_size;
            for (u64 k = first; k < last; ++k) {
                if (states_[k] & rests) continue;
                const double part = unit / std::fabs(scales_[k]) * number_of(0.7548776662466927 * keys[k] + 0.3);
                colour += part;
                colour_square += part * part * (2.25 * squares_[k] + square);
            }
            const double of_cone = colour_square + of_rounding;
            for (u64 k = first; k < last; ++k) {
                if (!are_alone_.empty() && are_alone_[k]) continue;
                const bool is_awake = !(states_[k] & rests);
                const double beside = is_awake ? log_key(unit / std::fabs(scales_[k])) : 0.0;
                n_vague -= !(squares_[k] <= largest_clear_);
                const double error = capped(2.0 * squares_[k] + 8.0 * (is_awake ? square : 0.0) + 16.0 * of_cone);
                squares_[k] = error;
                largest_square = std::max(largest_square, error);
                n_vague += !(error <= largest_clear_);
                keys[k] = key_after(keys[k], beside + 2.0 * colour);
                words[k] = word_of(k, keys[k], error);
            }
        }
    }

    // New colours for those alone whose sums are more than cancellation leaves; the others stay as they are.
    void recolour_where_sums_count(const SumOfTerms* sums) {
        RoundTally tally;
        for (u64 k = 0; k < size(); ++k)
            if (sums[k].counts()) recolour_one(k, sums[k], tally);
        take(tally);
    }

private:
    // The first colours of some of them; returns how many rest.
    u64 begin_part(const passes::GivenNumbers& given, bool sizes, bool signs, const ConicNumbers& conic, u64 first, u64 last) {
        const bool has_costs = given.cost.first != nullptr;
        constexpr u64 tried = 256;  // after so many it is known whether numbers are seen again: else they are not looked up
        struct Seen {
            double low = NAN, high = 0, cost = 0, mass = 0, scale = 0, key = 0, word = 0;
            u64 kind = 0;
            u8 state = 0;
        };
        u64 n_at_rest = 0;
        int log_places = 4;
        while (log_places < most_places_seen && (last - first) >> (log_places + 4)) ++log_places;
        Array<Seen> seen(u64(1) << log_places, Seen());
        u64 n_new = 0;
        bool repeat = true;
        for (u64 k = first; k < last; ++k) {
            if (k == first + tried) repeat = 8 * n_new <= 7 * tried;
            const double low = given.low[k], high = given.high[k], cost = has_costs ? given.cost[k] : 0.0;
            const double mass = masses_ ? masses_[k] : 1.0;
            const bool is_conic = k >= first_conic_;
            const u64 kind = is_conic ? conic.kinds[k - first_conic_] + 1 : 0;
            u64 place = 0;
            if (repeat) {
                const u64 word = (bits_of(low) ^ bits_of(high) * 3 ^ bits_of(mass) * 5 ^ kind * 7) + bits_of(cost);
                place = spread(word ^ word >> 32) >> (64 - log_places);
            }
            Seen& here = seen[place];
            if (!repeat || here.low != low || here.high != high || here.cost != cost || here.mass != mass || here.kind != kind) {
                ++n_new;
                const OwnNumbersOfOne own{low, high, cost, mass, given.low_image[k], given.high_image[k],
                                          has_costs ? given.cost_image[k] : 0, given.are_read()};
                const OwnScale scale = is_conic ? own_scale(own, conic.sizes, conic.has_open_sign[k - first_conic_] != 0)
                                                : own_scale(own, sizes, signs);
                const double signed_size = scale.is_negative ? -scale.size : scale.size, inverse = 1.0 / signed_size;
                const double key = initial_key(own, signed_size, inverse, has_costs) + 0.4142135623730951 * scale.state +
                                   (is_conic ? key_of_kind(kind) : 0.0);
                here = {low, high, cost, mass, are_variables_ ? signed_size : inverse, key, 0, kind, scale.state};
                here.word = here.state & rests ? 0.0 : number_of(key) * here.scale;
                if (!are_variables_) here.word *= mass;
            }
            scales_[k] = here.scale;  // w of variables, 1/v of rows
            states_[k] = here.state;
            keys[k] = here.key;
            squares_[k] = of_rounding;
            n_at_rest += here.state & rests;
            words[k] = with_error(here.word, of_rounding);
        }
        return n_at_rest;
    }

    double scale_of_sum(u64 k) const { return are_variables_ && masses_ ? scales_[k] / masses_[k] : scales_[k]; }

    // What recolour_one does where none rests, with few loads, since these are what it costs.
    template <bool divides_by_masses, bool multiplies_by_masses>
    void recolour_awake(u64 first, u64 last, const SumOfTerms* sums, RoundTally& tally) {
        double *key = keys.data(), *squares = squares_.data();
        FloatWord* word = words.data();
        const double *scale = scales_.data(), *mass = masses_, unit = unit_;
        u64 n_empty = 0, n_unclear = 0;
        double largest = tally.largest_square;
        const double largest_clear = largest_clear_, part_that_stays = have_rested_ ? 1.0 : 0.5;
        const u64 first_conic = first_conic_;
        for (u64 k = first; k < last; ++k) {
            const SumOfTerms sum = sums[k - first];
            n_empty += sum.is_empty() && k < first_conic;
            const double factor = unit * (divides_by_masses ? scale[k] / mass[k] : scale[k]);
            const double relative = sum.total * factor, now = key_after(key[k], key_of_sum(relative));
            const double square = capped(part_that_stays * squares[k] + square_of_key(sum, factor, relative));
            const double own = number_of(now) * scale[k];
            key[k] = now;
            squares[k] = square;
            largest = std::max(largest, square);
            n_unclear += !(square <= largest_clear);
            word[k] = with_error(multiplies_by_masses ? own * mass[k] : own, square);
        }
        tally.n_without_terms += n_empty;
        tally.n_vague += n_unclear;
        tally.largest_square = largest;
    }

    // As steep as 1 at 0, where cancellation leaves sums without a digit, and flatter where they are large.
    static double key_of_sum(double relative) { return std::copysign(log_key(1.0 + std::fabs(relative)), relative); }
    static double square_of_key(const SumOfTerms& sum, double factor, double relative) {
        const double size = 1.0 + std::fabs(relative);
        return 2.0 * (sum.square * (factor * factor) / (size * size) + of_rounding);
    }
    // What has left the range of floats is as far off as can be.
    static double capped(double square) { return square < most_square ? square : most_square; }
    static double key_after(double before, double key) { return 0.6180339887498949 * before + key; }
    static constexpr double of_rounding = 0x1p-102;
    // Words rise by at most 1.5 times themselves for each unit of the key.
    static FloatWord with_error(double word, double square) { return {word, word * word * (2.25 * square + of_rounding)}; }
    FloatWord word_of(u64 k, double key, double square) const {
        if (states_[k] & rests) return FloatWord();
        const double word = number_of(key) * scales_[k];
        return with_error(!are_variables_ && masses_ ? word * masses_[k] : word, square);
    }

    static double initial_key(const OwnNumbersOfOne& own, double scale, double inverse, bool has_cost) {
        double low = own.low * inverse, high = own.high * inverse;
        if (scale < 0) std::swap(low, high);
        const double key = 0.7548776662466927 * key_of(low) + 0.5698402909980532 * key_of(high);
        return has_cost ? key + 0.3247179572447461 * key_of(own.cost * scale / own.mass) : key;
    }

    // A number from 1 to 2 for each colour: a wave, so that it depends continuously on the key. Its flanks are bent: between
    // straight ones the sum of two would stay the same while one key rises and the other falls, as in t - x >= 0 and t + x >= 0.
    static double number_of(double key) {
        constexpr double rounds_to_whole = 0x1.8p52;  // keys are far below it
        const double whole = (key + rounds_to_whole) - rounds_to_whole, part = std::fabs(key - whole);
        return 1.0 + part + 2.0 * part * part;
    }

    // A key for each kind, which is its own, not near to that of a kind that is near.
    static double key_of_kind(u64 kind) { return double(spread(kind ^ kind >> 32) >> 11) * 0x1p-53 * 2.718281828459045; }

    // The sum of one that rests tells what is open of its size and sign, as in multipliers.hpp.
    void wake(u64 k, double total) {
        u8& state = states_[k];
        double& scale = scales_[k];
        const double mass = are_variables_ && masses_ ? masses_[k] : 1.0;
        if (!(state & has_open_size)) scale = state & has_open_sign && total < 0 ? -scale : scale;
        else scale = state & has_open_sign ? mass / total : std::copysign(mass / total, scale);
        state = 0;
    }

    Array<double> squares_, scales_;
    Array<u8> states_;
    Array<u8> are_alone_;  // empty as long as none is known to be
    bool have_rested_ = false;
    u64 first_conic_ = ~u64(0);
    double unit_ = 1, largest_clear_;
    Array<double> own_masses_;
    const double* masses_ = nullptr;
    bool are_variables_;
};

}  // namespace relift
