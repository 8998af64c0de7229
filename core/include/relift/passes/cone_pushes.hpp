// How far vectors must be pushed to lie in exponential and power cones, cone by cone: a guess by Newton's method, which is
// taken if it is just large enough, else bisection. The directions are told in relift/program/cone_distance.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cones.hpp"

namespace relift::passes {

constexpr double push_precision = 1e-6;
constexpr int push_halvings = 200, push_newton_steps = 8;

// The smallest push from 0 to `enough` for which the test holds, which is monotone; never too small.
template <class Inside, class Guess>
double smallest_push(const Inside& is_inside, double enough, const Guess& guess_of) {
    if (is_inside(0.0)) return 0.0;
    const double guess = guess_of(enough);
    if (guess == guess && is_inside(guess) && !is_inside(guess * (1.0 - push_precision))) return guess;
    double low = 0, high = enough;
    for (int step = 0; step < push_halvings && !(high - low <= push_precision * high); ++step) {
        const double middle = 0.5 * (low + high);
        (is_inside(middle) ? high : low) = middle;
    }
    return high;
}

struct ExponentialPart {
    double x, y, z, room_x, room_z;

    bool contains(double push) const {
        const double x_ = x - push * room_x, z_ = z + push * room_z;
        if (y > 0) return z_ > 0 && x_ <= y * (std::log(z_) - std::log(y));
        return x_ <= 0 && z_ >= 0;
    }

    // About the smallest push, and hardly above it; NaN where z is not positive. y log(z / y) - x is concave in the push
    // and grows, so that Newton's steps from 0 come from below.
    double guess() const {
        if (!(z > 0)) return std::numeric_limits<double>::quiet_NaN();
        const double log_y = std::log(y);
        double guess = 0;
        for (int k = 0; k < push_newton_steps; ++k) {
            const double pushed = z + guess * room_z;
            const double lacks = x - guess * room_x - y * (std::log(pushed) - log_y);
            const double step = lacks / (room_x + y * room_z / pushed);
            guess += step;
            if (!(step > 0.1 * push_precision * guess)) break;
        }
        return guess * (1.0 + 0.5 * push_precision);
    }
};

// Rows at[3k] .. at[3k + 2] are those of cone k; `moved` begins as s.
inline void push_exponential(const long long* at, size_t n_cones, const double* s, const double* room, bool dual,
                             double* push, double* moved) {
    for (size_t k = 0; k < n_cones; ++k) {
        const size_t i = size_t(at[3 * k]), j = size_t(at[3 * k + 1]), l = size_t(at[3 * k + 2]);
        ExponentialPart part{s[i], larger_or_nan(s[j], 0.0), s[l], room[i], room[l]};
        double first = larger_or_nan(-s[j], 0.0) / room[j];
        if (dual) {
            const double u = -larger_or_nan(-s[i], 0.0);
            part = {u - s[j], -u, s[l], room[j], room[l]};
            first = larger_or_nan(s[i], 0.0) / room[i];
        }
        // At this push z >= y and x <= 0, so that y e^(x/y) <= z.
        const double enough =
            larger_or_nan(larger_or_nan(part.x / part.room_x, (part.y - part.z) / part.room_z), 0.0);
        const double delta = smallest_push([&](double by) { return part.contains(by); }, enough,
                                           [&](double) { return part.guess(); });
        push[k] = larger_or_nan(first, delta);
        if (dual) {
            moved[i] = -part.y;
            moved[j] += delta * part.room_x;
        } else {
            moved[i] -= delta * part.room_x;
            moved[j] = part.y;
        }
        moved[l] += delta * part.room_z;
    }
}

// The arguments of a power cone and how fast a push makes them grow, with the logarithm of what their product must be.
struct PowerPart {
    const double* exponents;
    std::vector<double> arguments, rooms;
    double size = 0, wanted = 0;

    bool contains(double push) const {
        double product = 0;
        for (size_t e = 0; e < arguments.size(); ++e) {
            const double t = arguments[e] + push * rooms[e];
            if (!(t >= 0)) return false;
            product += exponents[e] * (t > 0 ? std::log(t) : -std::numeric_limits<double>::infinity());
        }
        return product >= wanted;
    }

    // A push at which every argument is as large as the product must be.
    double enough() const {
        double most = 0;
        for (size_t e = 0; e < arguments.size(); ++e) most = larger_or_nan((size - arguments[e]) / rooms[e], most);
        return most;
    }

    // About the smallest push, and hardly above it; NaN where it is not found. Up to `least` an argument is negative. By the
    // logarithm of the way from there the product's one is convex and grows, so that Newton's steps end; they begin where
    // the weighted mean of the arguments, which is no less than the product, is as large as that must be.
    double guess(double enough) const {
        double least = -std::numeric_limits<double>::infinity(), mean = 0, growth = 0;
        for (size_t e = 0; e < arguments.size(); ++e) {
            least = std::max(least, -arguments[e] / rooms[e]);
            mean += exponents[e] * arguments[e];
            growth += exponents[e] * rooms[e];
        }
        const double begin = (size - mean) / growth;
        double way = (begin > least ? begin : enough) - least;
        for (int k = 0; k < push_newton_steps; ++k) {
            double lacks = wanted, slope = 0;
            for (size_t e = 0; e < arguments.size(); ++e) {
                const double t = arguments[e] + (least + way) * rooms[e];
                lacks -= exponents[e] * std::log(t);
                slope += exponents[e] * rooms[e] / t;
            }
            const double step = lacks / (slope * way);
            way *= std::exp(step);
            if (!(step * step * way > 0.1 * push_precision * (least + way))) break;  // what is left is half of that
        }
        return (least + way) * (1.0 + 0.5 * push_precision);
    }
};

// Cone k has lengths[k] arguments, whose rows stand one cone after the other, each with its exponent, and the row that the
// product bounds; `moved` begins as s.
inline void push_power(const long long* arguments, const long long* lengths, const double* exponents,
                       const long long* products, size_t n_cones, const double* s, const double* room, bool dual,
                       double* push, double* moved) {
    PowerPart part;
    for (size_t k = 0, first = 0; k < n_cones; first += size_t(lengths[k]), ++k) {
        const size_t count = size_t(lengths[k]);
        part.exponents = exponents + first;
        part.size = std::fabs(s[size_t(products[k])]);
        part.wanted = std::log(part.size);
        part.arguments.resize(count), part.rooms.resize(count);
        for (size_t e = 0; e < count; ++e) {
            const size_t row = size_t(arguments[first + e]);
            part.arguments[e] = dual ? s[row] / part.exponents[e] : s[row];
            part.rooms[e] = dual ? room[row] / part.exponents[e] : room[row];
        }
        const auto is_inside = [&](double by) { return part.contains(by); };
        push[k] = smallest_push(is_inside, part.enough(), [&](double enough) { return part.guess(enough); });
        for (size_t e = first; e < first + count; ++e)
            moved[size_t(arguments[e])] += push[k] * room[size_t(arguments[e])];
    }
}

}  // namespace relift::passes
