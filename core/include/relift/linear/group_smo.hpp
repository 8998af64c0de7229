// Sequential minimal optimisation for duals in which the variables of each group have a given sum (the nu-machines [1]):
//
//   maximise p'a - 1/2 sum_ij s_i s_j a_i a_j K[e_i, e_j]   subject to   0 <= a <= u,  sum of a over each group given,
//
// where s_i is the same sign for a whole group and e_i the example that variable i belongs to. A step moves two variables
// of one group against each other, so that the sums stay as they are at the start; the second is chosen by the gain of
// the step [2].
//
// [1] Schoelkopf, Smola, Williamson, Bartlett: New Support Vector Algorithms, 2000.
// [2] Fan, Chen, Lin: Working Set Selection Using Second Order Information, 2005.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace relift::linear {

struct Steps {
    std::int64_t steps = 0;
    double violation = 0;
};

// v_i = p_i - s_i (K beta)[e_i] is kept along.
inline Steps group_smo(const double* K, std::size_t n_examples, const std::int32_t* example, const double* sign,
                       const std::int32_t* group, const double* u, std::size_t n, std::int32_t n_groups, double* a,
                       double* v, double tolerance, std::int64_t most) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Steps result;
    while (true) {
        // The pair of the largest violation over all groups gives the first variable.
        std::size_t first = n;
        double worst = 0;
        for (std::int32_t g = 0; g < n_groups; ++g) {
            double high = -infinity, low = infinity;
            std::size_t at = n;
            for (std::size_t i = 0; i < n; ++i) {
                if (group[i] != g) continue;
                if (a[i] < u[i] && v[i] > high) high = v[i], at = i;
                if (a[i] > 0 && v[i] < low) low = v[i];
            }
            if (high - low > worst) worst = high - low, first = at;
        }
        result.violation = worst;
        if (first == n || worst <= tolerance || result.steps >= most) return result;
        const double* row = K + std::size_t(example[first]) * n_examples;
        const double own = row[example[first]];
        std::size_t second = n;
        double best = -infinity;
        for (std::size_t j = 0; j < n; ++j) {
            if (group[j] != group[first] || !(a[j] > 0) || !(v[j] < v[first])) continue;
            const double push = v[first] - v[j];
            double bend = own + K[std::size_t(example[j]) * n_examples + std::size_t(example[j])] - 2 * row[example[j]];
            if (!(bend > 1e-12)) bend = 1e-12;
            if (push * push / bend > best) best = push * push / bend, second = j;
        }
        if (second == n) return result;
        double bend = own + K[std::size_t(example[second]) * n_examples + std::size_t(example[second])] -
                      2 * row[example[second]];
        if (!(bend > 1e-12)) bend = 1e-12;
        double step = (v[first] - v[second]) / bend;
        const double room = u[first] - a[first];
        if (step >= a[second] || step >= room) step = a[second] < room ? a[second] : room;
        if (a[first] + step == a[first] && a[second] - step == a[second]) return result;  // below rounding
        a[first] = step == room ? u[first] : a[first] + step;
        a[second] = step == a[second] ? 0 : a[second] - step;
        const double moved = sign[first] * step;
        const double* other = K + std::size_t(example[second]) * n_examples;
        for (std::size_t i = 0; i < n; ++i) v[i] -= sign[i] * moved * (row[example[i]] - other[example[i]]);
        ++result.steps;
    }
}

}  // namespace relift::linear
