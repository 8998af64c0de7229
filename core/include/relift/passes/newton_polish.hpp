// A few Newton steps on the optimality conditions of a small program with quadratic constraints and without cones:
// relift/solvers/newton_polish.py says why and how, and does the same in NumPy.
#pragma once
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "quadratic_rows.hpp"

namespace relift::passes {

// A minimisation; A by rows or by columns, P symmetric, so that its order does not matter.
template <class Index> struct CurvedProgram {
    SparseView<Index> A;
    bool is_by_rows;
    const SparseView<Index>* P;  // may be null
    const double *q, *l, *u, *lb, *ub;
    QuadraticConstraints<Index> constraints;

    size_t n() const { return constraints.n_variables(); }
    size_t m() const { return is_by_rows ? A.n_major : A.n_minor; }
    template <class Visit> void entries(Visit&& visit) const {
        for (u32 major = 0; major < A.n_major; ++major)
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e) {
                const size_t minor = size_t(A.indices[e]);
                visit(is_by_rows ? size_t(major) : minor, is_by_rows ? minor : size_t(major), A.values[e]);
            }
    }
};

struct PolishOptions {
    size_t steps, most;  // Newton steps, and variables and active conditions together, at most
    double enough;       // no more steps once the error is so small, times the smallest size
    double shift;        // on the diagonal
};

enum class Polish { too_large = -1, no_better = 0, better = 1 };

struct PolishPoint {
    std::vector<double> x, y, w, z;
};

// Solves a dense system, row by row, by elimination with row pivots; false where it is singular.
inline bool solve_densely(std::vector<double>& system, std::vector<double>& right) {
    const size_t n = right.size();
    for (size_t k = 0; k < n; ++k) {
        size_t best = k;
        for (size_t i = k + 1; i < n; ++i)
            if (std::fabs(system[i * n + k]) > std::fabs(system[best * n + k])) best = i;
        double* row = system.data() + k * n;
        if (!(std::fabs(system[best * n + k]) > 0)) return false;
        if (best != k) {
            for (size_t j = k; j < n; ++j) std::swap(row[j], system[best * n + j]);
            std::swap(right[k], right[best]);
        }
        for (size_t i = k + 1; i < n; ++i) {
            double* other = system.data() + i * n;
            const double factor = other[k] / row[k];
            if (factor == 0) continue;
            for (size_t j = k + 1; j < n; ++j) other[j] -= factor * row[j];
            right[i] -= factor * right[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        double sum = right[k];
        for (size_t j = k + 1; j < n; ++j) sum -= system[k * n + j] * right[j];
        right[k] = sum / system[k * n + k];
    }
    for (double value : right)
        if (!std::isfinite(value)) return false;
    return true;
}

template <class Index> class NewtonPolish {
public:
    NewtonPolish(const CurvedProgram<Index>& program, const PolishOptions& how, const PolishPoint& at)
        : of_(program), how_(how), row_gap_(program.m()), bound_gap_(program.n()), over_(program.constraints.size()),
          gradient_(program.n()), position_(program.m()) {
        look(at);
        for (size_t i = 0; i < of_.m(); ++i)
            if (is_active(at.y[i], row_gap_[i])) rows_.push_back(i);
        for (size_t j = 0; j < of_.n(); ++j)
            if (is_active(at.w[j], bound_gap_[j])) bounds_.push_back(j);
        for (size_t k = 0; k < over_.size(); ++k)
            if (at.z[k] > -over_[k]) curved_.push_back(k);
    }
    size_t size() const { return of_.n() + rows_.size() + bounds_.size() + curved_.size(); }

    // Moves the point where that makes the error less.
    Polish run(PolishPoint& point) {
        if (size() > how_.most) return Polish::too_large;
        const PolishPoint given = point;
        PolishPoint at = point;
        double best_error = error(at);
        bool is_better = false;
        for (size_t step = 0; step < how_.steps; ++step) {
            if (!after_a_step(at)) break;
            const double size = error(at);
            if (!(size < best_error)) break;
            best_error = size, point = at, is_better = true;
            if (size <= how_.enough * smallest_size()) break;
        }
        if (is_better && keeps_signs(point.y, given.y) && keeps_signs(point.w, given.w)) return Polish::better;
        point = given;
        return Polish::no_better;
    }

private:
    // How far the bound on the side of the dual value is.
    static double gap(double dual, double lower, double upper, double value) {
        return (dual > 0 ? upper : lower) - value;
    }
    static bool is_active(double dual, double gap) { return std::fabs(dual) > std::fabs(gap); }
    static bool keeps_signs(const std::vector<double>& now, const std::vector<double>& before) {
        for (size_t i = 0; i < now.size(); ++i)
            if (!(now[i] * before[i] >= 0)) return false;
        return true;
    }

    // How far a point is from meeting each condition, active or not.
    void look(const PolishPoint& at) {
        for (double& value : row_gap_) value = 0;
        of_.entries([&](size_t i, size_t j, double value) { row_gap_[i] += value * at.x[j]; });
        for (size_t i = 0; i < of_.m(); ++i) row_gap_[i] = gap(at.y[i], of_.l[i], of_.u[i], row_gap_[i]);
        for (size_t j = 0; j < of_.n(); ++j) bound_gap_[j] = gap(at.w[j], of_.lb[j], of_.ub[j], at.x[j]);
        quadratic_over(of_.constraints, at.x.data(), over_.data());
    }

    // The gradient of objective and quadratic constraints.
    void slope(const std::vector<double>& x, const std::vector<double>& z) {
        for (size_t j = 0; j < of_.n(); ++j) gradient_[j] = of_.q[j];
        const QuadraticEntries& P = of_.constraints.P;
        for (size_t e = 0; e < P.n; ++e) gradient_[P.first[e]] += z[P.owner[e]] * P.values[e] * x[P.second[e]];
        for (size_t k = 0; k < z.size(); ++k)
            if (z[k] != 0) add_slopes(k, [&](size_t j, double value) { gradient_[j] += z[k] * value; });
        if (!of_.P) return;
        for (u32 i = 0; i < of_.P->n_major; ++i)
            for (u64 e = u64(of_.P->offsets[i]), end = u64(of_.P->offsets[i + 1]); e < end; ++e)
                gradient_[i] += of_.P->values[e] * x[of_.P->indices[e]];
    }
    template <class Visit> void add_slopes(size_t k, Visit&& visit) const {
        const SparseView<Index>& q = of_.constraints.q;
        for (u64 e = u64(q.offsets[k]), end = u64(q.offsets[k + 1]); e < end; ++e)
            visit(size_t(q.indices[e]), q.values[e]);
    }

    // The largest violation of the conditions; not a number if one is none.
    double error(const PolishPoint& at) {
        look(at);
        slope(at.x, at.z);
        of_.entries([&](size_t i, size_t j, double value) { gradient_[j] += value * at.y[i]; });
        double worst = 0;
        for (size_t j = 0; j < of_.n(); ++j) worst = larger_or_nan(std::fabs(gradient_[j] + at.w[j]), worst);
        for (double over : over_) worst = larger_or_nan(larger_or_nan(over, 0.0), worst);
        for (size_t i : rows_) worst = larger_or_nan(std::fabs(row_gap_[i]), worst);
        for (size_t j : bounds_) worst = larger_or_nan(std::fabs(bound_gap_[j]), worst);
        for (size_t k : curved_) worst = larger_or_nan(std::fabs(over_[k]), worst);
        return worst;
    }

    // The largest cost, or entry of a matrix of a constraint where that is smaller; at most 1.
    double smallest_size() const {
        const QuadraticEntries& P = of_.constraints.P;
        double costs = 0, least = 1;
        for (size_t j = 0; j < of_.n(); ++j) costs = larger_or_nan(std::fabs(of_.q[j]), costs);
        std::vector<double> largest(over_.size(), 0.0);
        for (size_t e = 0; e < P.n; ++e)
            largest[P.owner[e]] = larger_or_nan(std::fabs(P.values[e]), largest[P.owner[e]]);
        for (double size : largest) least = size < least ? size : least;
        return costs < least ? costs : least;
    }

    // A step from where the error was just measured; false where there is none.
    bool after_a_step(PolishPoint& at) {
        const size_t n = of_.n(), size = this->size();
        std::vector<double> active(at.z.size(), 0.0), right(size);
        for (size_t k : curved_) active[k] = at.z[k];
        slope(at.x, active);
        for (size_t j = 0; j < n; ++j) right[j] = -gradient_[j];
        size_t place = n;
        for (size_t i : rows_) right[place++] = row_gap_[i];
        for (size_t j : bounds_) right[place++] = bound_gap_[j];
        for (size_t k : curved_) right[place++] = -over_[k];
        fill(at.x, active);
        if (!solve_densely(system_, right)) return false;
        for (size_t j = 0; j < n; ++j) at.x[j] += right[j], at.w[j] = 0;
        for (double& dual : at.y) dual = 0;
        for (double& dual : at.z) dual = 0;
        place = n;
        for (size_t i : rows_) at.y[i] = right[place++];
        for (size_t j : bounds_) at.w[j] = right[place++];
        // A constraint that wants a negative dual value is let go; if it must not be, the error says so.
        std::vector<size_t> kept;
        for (size_t k : curved_) {
            const double dual = active[k] + right[place++];
            if (dual > 0) at.z[k] = dual, kept.push_back(k);
        }
        curved_ = kept;
        return true;
    }

    // The matrix of the step in x, the new dual values of linear conditions, and the changes of those of curved ones.
    void fill(const std::vector<double>& x, const std::vector<double>& z) {
        const size_t n = of_.n(), size = this->size(), curved_at = n + rows_.size() + bounds_.size();
        const QuadraticEntries& P = of_.constraints.P;
        constexpr size_t nowhere = size_t(-1);
        system_.assign(size * size, 0.0);
        if (of_.P)
            for (u32 i = 0; i < of_.P->n_major; ++i)
                for (u64 e = u64(of_.P->offsets[i]), end = u64(of_.P->offsets[i + 1]); e < end; ++e)
                    system_[i * size + size_t(of_.P->indices[e])] += of_.P->values[e];
        std::vector<size_t> place(z.size(), nowhere);
        for (size_t c = 0; c < curved_.size(); ++c) place[curved_[c]] = curved_at + c;
        for (size_t e = 0; e < P.n; ++e) {
            const size_t k = size_t(P.owner[e]), i = size_t(P.first[e]), j = size_t(P.second[e]);
            if (place[k] == nowhere) continue;
            system_[i * size + j] += z[k] * P.values[e];
            system_[place[k] * size + i] += P.values[e] * x[j];
        }
        for (size_t c = 0; c < curved_.size(); ++c)
            add_slopes(curved_[c], [&](size_t j, double value) { system_[(curved_at + c) * size + j] += value; });
        position_.assign(of_.m(), nowhere);
        for (size_t a = 0; a < rows_.size(); ++a) position_[rows_[a]] = n + a;
        of_.entries([&](size_t i, size_t j, double value) {
            if (position_[i] != nowhere) system_[position_[i] * size + j] += value;
        });
        for (size_t b = 0; b < bounds_.size(); ++b) system_[(n + rows_.size() + b) * size + bounds_[b]] = 1;
        for (size_t i = n; i < size; ++i)
            for (size_t j = 0; j < n; ++j) system_[j * size + i] = system_[i * size + j];
        for (size_t i = 0; i < size; ++i) system_[i * size + i] += i < n ? how_.shift : -how_.shift;
    }

    const CurvedProgram<Index>& of_;
    const PolishOptions& how_;
    std::vector<double> row_gap_, bound_gap_, over_, gradient_, system_;
    std::vector<size_t> position_, rows_, bounds_, curved_;
};

}  // namespace relift::passes
