// Quadratic constraints as second-order cones (relift/solvers/second_order.py has the formulas and does the same in NumPy).
//
// Cones come in the order of constraints, entries by columns, rows ascending in each.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "quadratic_rows.hpp"

namespace relift::passes {

struct ConesOfConstraints {
    std::vector<int32_t> offsets, rows;
    std::vector<double> values, right, units;
    std::vector<int64_t> sizes;
};

struct ConeOptions {
    bool in_units;
    double least_level, most_level;  // of units
    double least_curvature;          // relative to the largest one; less is a rounding error of 0
    size_t most;                     // variables of a dense factor; LAPACK is quicker with more
};

// The upper triangle F with F'F = P in place, row by row; false where P has no full rank.
inline bool factorise(std::vector<double>& P, size_t n, double least_curvature) {
    double largest = 0, least_pivot = INFINITY;
    for (size_t k = 0; k < n; ++k) largest = P[k * n + k] > largest ? P[k * n + k] : largest;
    for (size_t k = 0; k < n; ++k) {
        double* row = P.data() + k * n;
        for (size_t i = 0; i < k; ++i) {
            const double* above = P.data() + i * n;
            const double factor = above[k];
            if (factor == 0) continue;
            for (size_t j = k; j < n; ++j) row[j] -= factor * above[j];
        }
        const double pivot = row[k];
        if (!(pivot > 0)) return false;
        least_pivot = pivot < least_pivot ? pivot : least_pivot;
        const double root = std::sqrt(pivot);
        row[k] = root;
        for (size_t j = k + 1; j < n; ++j) row[j] /= root;
    }
    return least_pivot > least_curvature * largest;
}

// Writes all cones; nothing where a factor is made of eigenvectors, or is too large, or q has two entries in one place.
template <class Index>
std::optional<ConesOfConstraints> second_order_cones(const QuadraticConstraints<Index>& of, const ConeOptions& how) {
    const size_t n = of.n_variables(), n_constraints = of.size();
    // The entries of each constraint together, in their order.
    std::vector<size_t> starts(n_constraints + 1, 0), entries;
    for (size_t e = 0; e < of.P.n; ++e)
        if (of.P.values[e] != 0) ++starts[size_t(of.P.owner[e]) + 1];
    for (size_t k = 0; k < n_constraints; ++k) starts[k + 1] += starts[k];
    entries.resize(starts[n_constraints]);
    std::vector<size_t> next(starts.begin(), starts.end() - 1);
    for (size_t e = 0; e < of.P.n; ++e)
        if (of.P.values[e] != 0) entries[next[size_t(of.P.owner[e])]++] = e;

    ConesOfConstraints made;
    std::vector<int64_t> row, column;
    std::vector<double> values, dense, straight(n, 0.0);
    std::vector<size_t> place(n), seen(n, n_constraints), touched;
    std::vector<char> is_touched(n, 0);
    int64_t before = 0;
    for (size_t k = 0; k < n_constraints; ++k) {
        touched.clear();
        bool is_diagonal = true;
        for (size_t i = starts[k]; i < starts[k + 1]; ++i) {
            const size_t e = entries[i], a = size_t(of.P.first[e]);
            is_diagonal &= of.P.first[e] == of.P.second[e];
            if (!is_touched[a]) is_touched[a] = 1, straight[a] = 0, touched.push_back(a);
            if (of.P.first[e] == of.P.second[e] && !(straight[a] > 0) && of.P.values[e] > 0) straight[a] = of.P.values[e];
        }
        const size_t first_slope = size_t(of.q.offsets[k]), last_slope = size_t(of.q.offsets[k + 1]);
        double level = 2.0 * std::fabs(of.r[k]), unit = 1;
        bool is_plain = is_diagonal || touched.size() <= how.most;
        for (size_t e = first_slope; e < last_slope; ++e) {
            const size_t j = size_t(of.q.indices[e]);
            is_plain &= seen[j] != k;
            seen[j] = k;
            if (is_touched[j] && straight[j] > 0)
                level = larger_or_nan(of.q.values[e] * (of.q.values[e] / straight[j]), level);
        }
        // In the order of variables: they are marked, so that no sort is needed.
        if (touched.size() == n)
            for (size_t j = 0; j < n; ++j) touched[j] = j;
        else
            std::sort(touched.begin(), touched.end());
        for (size_t i = 0; i < touched.size(); ++i) place[touched[i]] = i;
        if (how.in_units) {
            if (!(level > 0)) level = 1;
            level = level < how.least_level ? how.least_level : level > how.most_level ? how.most_level : level;
            unit = std::exp2(std::nearbyint(0.5 * std::log2(level)));
        }
        const size_t size = touched.size();
        const double square = unit * unit;
        for (int64_t head = before; head < before + 2; ++head)
            for (size_t e = first_slope; e < last_slope; ++e) {
                row.push_back(head), column.push_back(int64_t(of.q.indices[e]));
                values.push_back(of.q.values[e] / square);
            }
        if (is_plain && is_diagonal) {
            dense.assign(size, 0.0);
            for (size_t i = starts[k]; i < starts[k + 1]; ++i)
                dense[place[size_t(of.P.first[entries[i]])]] += of.P.values[entries[i]];
            for (size_t i = 0; i < size; ++i) {
                row.push_back(before + 2 + int64_t(i)), column.push_back(int64_t(touched[i]));
                values.push_back(-std::sqrt(dense[i]) / unit);
            }
        } else if (is_plain) {
            dense.assign(size * size, 0.0);
            for (size_t i = starts[k]; i < starts[k + 1] && is_plain; ++i) {
                const size_t a = size_t(of.P.first[entries[i]]), b = size_t(of.P.second[entries[i]]);
                is_plain = is_touched[b];  // in a symmetric matrix all are
                if (is_plain) dense[place[a] * size + place[b]] += of.P.values[entries[i]];
            }
            is_plain = is_plain && factorise(dense, size, how.least_curvature);
            for (size_t i = 0; i < size && is_plain; ++i)
                for (size_t j = i; j < size; ++j)
                    if (dense[i * size + j] != 0) {
                        row.push_back(before + 2 + int64_t(i)), column.push_back(int64_t(touched[j]));
                        values.push_back(-dense[i * size + j] / unit);
                    }
        }
        for (size_t j : touched) is_touched[j] = 0;
        if (!is_plain) return std::nullopt;
        made.right.push_back(of.r[k] / square + 0.5);
        made.right.push_back(of.r[k] / square - 0.5);
        made.right.resize(made.right.size() + size, 0.0);
        made.sizes.push_back(int64_t(2 + size));
        made.units.push_back(unit);
        before += int64_t(2 + size);
    }
    if (row.size() >= (size_t(1) << 31) || before >= (int64_t(1) << 31)) return std::nullopt;
    made.offsets.assign(n + 1, 0);
    for (int64_t j : column) ++made.offsets[size_t(j) + 1];
    for (size_t j = 0; j < n; ++j) made.offsets[j + 1] += made.offsets[j];
    std::vector<int32_t> at(made.offsets.begin(), made.offsets.end() - 1);
    made.rows.resize(row.size()), made.values.resize(row.size());
    for (size_t e = 0; e < row.size(); ++e) {
        const size_t to = size_t(at[size_t(column[e])]++);
        made.rows[to] = int32_t(row[e]), made.values[to] = values[e];
    }
    return made;
}

}  // namespace relift::passes
