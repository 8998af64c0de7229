// Colours of variables or rows that are floats, and depend continuously on the numbers: what told_apart.hpp refines.
#pragma once
#include <cmath>
#include <cstring>

#include "own_scales.hpp"
#include "passes/numbers.hpp"

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

struct SumOfTerms {
    double total = 0, size = 0;
    void add(double term) {
        total += term;
        size += std::fabs(term);
    }
    // Whether it is more than cancellation may have left of its terms.
    bool counts() const { return std::fabs(total) > 0x1p-13 * size; }
};

class FloatColours {
public:
    Array<double> keys;   // after the last round
    Array<double> words;  // what each adds to sums, 0 while it rests
    u64 n_resting = 0, n_without_terms = 0;

    FloatColours(u64 size, bool are_variables)
        : keys(size), words(size), scales_(size), states_(size), are_variables_(are_variables) {}
    u64 size() const { return keys.size(); }

    // Some of them, by themselves.
    FloatColours of(const Array<u32>& some) const {
        FloatColours chosen(some.size(), are_variables_);
        for (u32 place = 0; place < some.size(); ++place) {
            const u32 k = some[place];
            chosen.keys[place] = keys[k];
            chosen.words[place] = words[k];
            chosen.scales_[place] = scales_[k];
            chosen.states_[place] = states_[k];
            chosen.n_resting += states_[k] & rests;
            if (masses_) chosen.own_masses_.push_back(masses_[k]);
        }
        if (masses_) chosen.masses_ = chosen.own_masses_.data();  // which moves along with it
        return chosen;
    }

    // Masses are null where all are 1. Numbers that were seen a moment ago are not looked at again.
    void begin(const passes::GivenNumbers& given, bool sizes, bool signs, const double* masses) {
        masses_ = masses;
        const bool has_costs = given.cost.first != nullptr;
        struct Seen {
            double low = NAN, high = 0, cost = 0, mass = 0, scale = 0, key = 0;
            u8 state = 0;
        };
        constexpr int log_places = 8;
        Seen seen[1 << log_places];
        for (u64 k = 0; k < size(); ++k) {
            const double low = given.low[k], high = given.high[k], cost = has_costs ? given.cost[k] : 0.0;
            const double mass = masses_ ? masses_[k] : 1.0;
            const u64 word = (bits_of(low) ^ bits_of(high) * 3 ^ bits_of(mass) * 5) + bits_of(cost);
            Seen& here = seen[spread(word ^ word >> 32) >> (64 - log_places)];
            if (here.low != low || here.high != high || here.cost != cost || here.mass != mass) {
                const OwnNumbersOfOne own{low, high, cost, mass, given.low_image[k], given.high_image[k],
                                          has_costs ? given.cost_image[k] : 0};
                const OwnScale scale = own_scale(own, sizes, signs);
                const double signed_size = scale.is_negative ? -scale.size : scale.size, inverse = 1.0 / signed_size;
                const double key = initial_key(own, signed_size, inverse, has_costs) + 0.4142135623730951 * scale.state;
                here = {low, high, cost, mass, are_variables_ ? signed_size : inverse, key, scale.state};
            }
            scales_[k] = here.scale;  // w of variables, 1/v of rows
            states_[k] = here.state;
            keys[k] = here.key;
            n_resting += here.state & rests;
            words[k] = word_of(k, here.key);
        }
    }

    // The new colours of those from `first` on, by their sums.
    void recolour(u64 first, u64 last, const SumOfTerms* sums) {
        if (n_resting) {
            for (u64 k = first; k < last; ++k) recolour_one(k, sums[k - first]);
        } else if (!masses_) {
            recolour_awake<false, false>(first, last, sums);
        } else if (are_variables_) {
            recolour_awake<true, false>(first, last, sums);
        } else {
            recolour_awake<false, true>(first, last, sums);
        }
    }

    // The same for those alone whose sums are more than cancellation leaves; the others stay as they are.
    void recolour_where_sums_count(const SumOfTerms* sums) {
        for (u64 k = 0; k < size(); ++k)
            if (sums[k].counts()) recolour_one(k, sums[k]);
    }

private:
    double relative(u64 k, double total) const {
        const double scaled = total * scales_[k];
        return are_variables_ && masses_ ? scaled / masses_[k] : scaled;
    }
    static double key_after(double before, double key) { return 0.6180339887498949 * before + key; }
    double word_of(u64 k, double key) const {
        double word = number_of(key) * scales_[k];
        if (!are_variables_ && masses_) word *= masses_[k];
        return states_[k] & rests ? 0.0 : word;
    }

    void recolour_one(u64 k, const SumOfTerms& sum) {
        n_without_terms += !(sum.size > 0);
        const bool counts = sum.counts();
        if (counts && states_[k]) wake(k, sum.total);
        keys[k] = key_after(keys[k], counts ? log_key(relative(k, sum.total)) : key_of_zero);
        words[k] = word_of(k, keys[k]);
    }

    // The same where none rests: with few loads, since these are what it costs.
    template <bool divides_by_masses, bool multiplies_by_masses>
    void recolour_awake(u64 first, u64 last, const SumOfTerms* sums) {
        double *key = keys.data(), *word = words.data();
        const double *scale = scales_.data(), *mass = masses_;
        u64 n_empty = 0;
        for (u64 k = first; k < last; ++k) {
            const SumOfTerms sum = sums[k - first];
            n_empty += !(sum.size > 0);
            double relative = sum.total * scale[k];
            if (divides_by_masses) relative /= mass[k];
            const double now = key_after(key[k], sum.counts() ? log_key(relative) : key_of_zero);
            key[k] = now;
            const double own = number_of(now) * scale[k];
            word[k] = multiplies_by_masses ? own * mass[k] : own;
        }
        n_without_terms += n_empty;
    }

    static double initial_key(const OwnNumbersOfOne& own, double scale, double inverse, bool has_cost) {
        double low = own.low * inverse, high = own.high * inverse;
        if (scale < 0) std::swap(low, high);
        const double key = 0.7548776662466927 * key_of(low) + 0.5698402909980532 * key_of(high);
        return has_cost ? key + 0.3247179572447461 * key_of(own.cost * scale / own.mass) : key;
    }

    // A number from 1 to 2 for each colour: a wave with straight flanks, so that it depends continuously on the key.
    static double number_of(double key) {
        constexpr double rounds_to_whole = 0x1.8p52;  // keys are far below it
        const double whole = (key + rounds_to_whole) - rounds_to_whole;
        return 1.0 + 2.0 * std::fabs(key - whole);
    }

    // The sum of one that rests tells what is open of its size and sign, as in multipliers.hpp.
    void wake(u64 k, double total) {
        u8& state = states_[k];
        double& scale = scales_[k];
        const double mass = are_variables_ && masses_ ? masses_[k] : 1.0;
        if (!(state & has_open_size)) scale = state & has_open_sign && total < 0 ? -scale : scale;
        else scale = state & has_open_sign ? mass / total : std::copysign(mass / total, scale);
        state = 0;
        --n_resting;
    }

    Array<double> scales_;
    Array<u8> states_;
    Array<double> own_masses_;
    const double* masses_ = nullptr;
    bool are_variables_;
};

}  // namespace relift
