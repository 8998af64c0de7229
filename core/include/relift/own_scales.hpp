// What the bounds and costs of variables, or the bounds of rows, tell about their sizes and signs; the twin of
// relift/symmetry/own_scales.py, which says what is meant.
#pragma once
#include <algorithm>
#include <cmath>

#include "counted_memory.hpp"
#include "multipliers.hpp"

namespace relift {

// Arrays of one length. Costs are null for rows, masses where all are 1.
struct OwnNumbers {
    const double *low, *high, *cost, *mass;
    const u64 *low_image, *high_image, *cost_image, *mass_image;
    u64 size;
};

struct OwnScaleArrays {
    double* floats;
    u64* images;
    u8* states;
    u64 *low_word, *high_word, *cost_word;  // bounds and costs divided by the scales; the last is null for rows
};

inline u64 negated_bound(u64 image) {
    return image == plus_infinity ? minus_infinity : image == minus_infinity ? plus_infinity : field_negate(image);
}

// Whether a number tells a size. Differences that presolve or centring took may be 0 in floats though not exactly.
inline bool is_size(double value, u64 image) {
    return image < modulus && image != 0 && std::fabs(value) > 1e-300;
}

// Whether the numbers of k are those of the one before it, as they are in vectors of one number: then so is what they tell.
inline bool is_as_before(const OwnNumbers& given, u64 k) {
    if (k == 0 || given.mass) return false;
    const auto repeats = [k](const auto* numbers) { return !numbers || numbers[k] == numbers[k - 1]; };
    return repeats(given.low_image) && repeats(given.high_image) && repeats(given.cost_image) && repeats(given.low) &&
           repeats(given.high) && repeats(given.cost);
}

// The numbers of one variable, or of one row, whose cost is 0; its mass is 1 unless masses are given. Where they were not
// read exactly, marks stand for images (passes/numbers.hpp).
struct OwnNumbersOfOne {
    double low, high, cost, mass;
    u64 low_image, high_image, cost_image;
    bool are_read = true;
    bool is_even() const { return are_read ? high_image == negated_bound(low_image) : high == -low; }
};

// What they tell. The image is that of the size, or of its inverse where a cost tells it, without the mass.
struct OwnScale {
    double size = 1;
    u64 image = 1;
    bool is_inverse = false, is_negative = false;
    u8 state = 0;
};

inline OwnScale own_scale(const OwnNumbersOfOne& given, bool sizes, bool signs) {
    const double low = given.low, high = given.high;
    const bool low_counts = is_size(low, given.low_image), high_counts = is_size(high, given.high_image);
    const bool has_cost = given.cost_image != 0;
    const double cost = has_cost ? given.cost : 0.0;
    const bool is_even = given.is_even();
    OwnScale own;
    bool is_known = true;
    if (sizes && (low_counts || high_counts)) {
        const bool takes_low = low_counts && (!high_counts || std::fabs(low) > std::fabs(high));
        const double bound = takes_low ? low : high;
        own.size = std::fabs(bound);
        own.image = takes_low ? given.low_image : given.high_image;
        if (bound < 0) own.image = field_negate(own.image);
    } else if (sizes && has_cost && is_size(cost, given.cost_image)) {
        own.size = given.mass / std::fabs(cost);
        own.image = cost < 0 ? field_negate(given.cost_image) : given.cost_image;
        own.is_inverse = true;
    } else if (sizes) {
        is_known = false;
    }
    own.is_negative = signs && (is_even ? cost < 0 : high < -low);
    const bool admits_zero = (given.low_image == 0 || low < 0) && (given.high_image == 0 || high > 0);
    own.state = !has_cost && admits_zero ? rests : 0;
    if (own.state && !is_known) own.state |= has_open_size;
    if (own.state && signs && is_even) own.state |= has_open_sign;
    return own;
}

inline void find_own_scales(const OwnNumbers& given, bool sizes, bool signs, const OwnScaleArrays& out) {
    if (given.size == 0) return;
    Array<u32> places;                 // where the numbers are not those of the one before
    Array<u64> known;                  // the images there, of sizes or of their inverses
    Array<u8> is_inverse_size;         // whether a cost told the size there, so that the image is that of its inverse
    places.reserve(given.size), known.reserve(given.size), is_inverse_size.reserve(given.size);
    for (u64 k = 0; k < given.size; ++k) {
        if (is_as_before(given, k)) continue;
        const OwnScale own = own_scale({given.low[k], given.high[k], given.cost ? given.cost[k] : 0.0,
                                        given.mass ? given.mass[k] : 1.0, given.low_image[k], given.high_image[k],
                                        given.cost ? given.cost_image[k] : 0},
                                       sizes, signs);
        out.floats[k] = own.is_negative ? -own.size : own.size;
        out.states[k] = own.state;
        places.push_back(u32(k));
        known.push_back(own.is_negative ? field_negate(own.image) : own.image);
        is_inverse_size.push_back(own.is_inverse);
    }
    const Array<u64> reciprocal = inverses(known.data(), u32(known.size()));
    const Array<u64> inverse_mass = given.mass ? inverses(given.mass_image, u32(given.size)) : Array<u64>();
    for (u64 place = 0; place < places.size(); ++place) {
        const u64 k = places[place], next = place + 1 < places.size() ? places[place + 1] : given.size;
        u64 image = known[place], divisor = reciprocal[place];
        if (is_inverse_size[place]) {
            std::swap(image, divisor);
            if (given.mass) {
                image = field_multiply(image, given.mass_image[k]);
                divisor = field_multiply(divisor, inverse_mass[k]);
            }
        }
        out.images[k] = image;
        const bool is_negative = out.floats[k] < 0;
        const ScaledBounds bounds = scaled_bounds(given.low_image[k], given.high_image[k], divisor, is_negative);
        out.low_word[k] = bounds.lower;
        out.high_word[k] = bounds.upper;
        if (given.cost) {
            u64 cost = field_multiply(given.cost_image[k], image);
            if (given.mass) cost = field_multiply(cost, inverse_mass[k]);
            out.cost_word[k] = cost;
        }
        if (next == k + 1) continue;
        const auto repeat = [&](auto* numbers) { std::fill(numbers + k + 1, numbers + next, numbers[k]); };
        repeat(out.floats), repeat(out.images), repeat(out.states), repeat(out.low_word), repeat(out.high_word);
        if (given.cost) repeat(out.cost_word);
    }
}

// The same by several threads.
inline void find_own_scales(const OwnNumbers& given, bool sizes, bool signs, const OwnScaleArrays& out, u32 n_threads) {
    over_range(given.size, threads_for(given.size, n_threads), [&](u64 first, u64 last) {
        const auto from = [first](auto* numbers) { return numbers ? numbers + first : nullptr; };
        const OwnNumbers some{from(given.low), from(given.high), from(given.cost), from(given.mass), from(given.low_image),
                              from(given.high_image), from(given.cost_image), from(given.mass_image), last - first};
        find_own_scales(some, sizes, signs,
                        {from(out.floats), from(out.images), from(out.states), from(out.low_word), from(out.high_word),
                         from(out.cost_word)});
    });
}

// The scales of members relative to the first member of their class; what rests has the scale 0.
inline void take_relative(const i64* labels, const u8* states, u64 size, u64 n_classes, double* floats, u64* images,
                          u32 n_threads) {
    Array<u64> first(n_classes), inverse(n_classes);
    Array<double> unit(n_classes);
    u64 n_seen = 0;
    for (u64 k = 0; k < size; ++k)  // labels are numbered by first member
        if (u64(labels[k]) == n_seen) {
            first[n_seen] = images[k];
            unit[n_seen++] = floats[k];
        }
    if (n_seen != n_classes) throw std::invalid_argument("labels are not numbered by first member");
    inverse = inverses(first.data(), u32(n_classes));
    over_range(size, threads_for(size, n_threads), [&](u64 begin, u64 end) {
        for (u64 k = begin; k < end; ++k) {
            const bool is_at_rest = states[k] & rests;
            images[k] = is_at_rest ? 0 : field_multiply(images[k], inverse[labels[k]]);
            floats[k] = is_at_rest                 ? 0.0
                        : images[k] == 1           ? 1.0
                        : images[k] == modulus - 1 ? -1.0
                                                   : floats[k] / unit[labels[k]];
        }
    });
}

// Conic rows: the size of the right-hand side, with its sign where that is open; +-1 without sizes. What is left of the
// right-hand side goes into `word`. The twin of scales_of_conic_rows_slowly in relift/symmetry/scaled_cones.py.
inline void find_conic_scales(const double* b, const u64* image, const u8* has_open_sign_at, u64 size, bool sizes,
                              double* floats, u64* images, u8* states, u64* word) {
    for (u64 k = 0; k < size; ++k) {
        const bool is_at_rest = image[k] == 0, is_open = has_open_sign_at[k] != 0, is_turned = is_open && b[k] < 0;
        if (!sizes || is_at_rest) {
            floats[k] = is_turned ? -1.0 : 1.0;
            images[k] = is_turned ? modulus - 1 : 1;
            word[k] = is_turned ? field_negate(image[k]) : image[k];
        } else {
            const bool keeps_sign = b[k] < 0 && !is_open;
            floats[k] = keeps_sign ? -b[k] : b[k];
            images[k] = keeps_sign ? field_negate(image[k]) : image[k];
            word[k] = keeps_sign ? modulus - 1 : 1;
        }
        states[k] = is_at_rest ? u8(rests | (is_open ? has_open_sign : 0) | (sizes ? has_open_size : 0)) : u8(0);
    }
}

}  // namespace relift
