// The simplest fractions that are equal to numbers but for rounding, by continued fractions.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace relift::passes {

struct Fraction {
    int64_t numerator = 0, denominator = 1;
};

// The simplest fraction of numbers up to `largest` within `rounding` of a number; 0 / 1 if there is none.
inline Fraction simple_fraction(double target, double largest, double rounding) {
    if (!(target > 0.5 / largest && target < 2.0 * largest)) return {};
    // Convergents h/k of the continued fraction: the last one, and the one before it.
    double above = 1, below = 0, above_before = 0, below_before = 1, rest = target;
    while (true) {
        const double whole = double(int64_t(rest));  // the floor of a positive number below 1e17
        const double above_next = whole * above + above_before, below_next = whole * below + below_before;
        above_before = above, below_before = below;
        above = above_next, below = below_next;
        if (!(above <= largest && below <= largest)) return {};
        const double scaled = target * below, allowed = rounding * target * below;
        if (std::fabs(above - scaled) <= allowed) return {int64_t(above), int64_t(below)};
        const double fraction = rest - whole;
        if (!(fraction > 0)) return {};
        rest = 1.0 / fraction;
    }
}

// Fills numerators and denominators.
inline void simple_fractions(const double* values, size_t size, double largest, double rounding, int64_t* numerators,
                             int64_t* denominators) {
    for (size_t k = 0; k < size; ++k) {
        const Fraction fraction = simple_fraction(values[k], largest, rounding);
        numerators[k] = fraction.numerator;
        denominators[k] = fraction.denominator;
    }
}

}  // namespace relift::passes
