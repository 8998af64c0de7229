// The simplest fractions that are equal to numbers but for rounding, by continued fractions.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace relift::passes {

// Fills numerators and denominators, 0 / 1 where there is no fraction of numbers up to `largest` within `rounding`.
inline void simple_fractions(const double* values, size_t size, double largest, double rounding, int64_t* numerators,
                             int64_t* denominators) {
    for (size_t k = 0; k < size; ++k) {
        const double target = values[k];
        numerators[k] = 0;
        denominators[k] = 1;
        if (!(target > 0.5 / largest && target < 2.0 * largest)) continue;
        // Convergents h/k of the continued fraction: the last one, and the one before it.
        double above = 1, below = 0, above_before = 0, below_before = 1, rest = target;
        while (true) {
            const double whole = double(int64_t(rest));  // the floor of a positive number below 1e17
            const double above_next = whole * above + above_before, below_next = whole * below + below_before;
            above_before = above, below_before = below;
            above = above_next, below = below_next;
            if (!(above <= largest && below <= largest)) break;
            const double scaled = target * below, allowed = rounding * target * below;
            if (std::fabs(above - scaled) <= allowed) {
                numerators[k] = int64_t(above);
                denominators[k] = int64_t(below);
                break;
            }
            const double fraction = rest - whole;
            if (!(fraction > 0)) break;
            rest = 1.0 / fraction;
        }
    }
}

}  // namespace relift::passes
