// The machines of all pairs of labels, one after the other: with many labels each is small, and a call for each from
// outside would take longer than its solution.
#pragma once
#include <cstddef>
#include <ctime>
#include <vector>

#include "relift/ml/dual_problem.hpp"

namespace relift::ml {

struct PairOutcome {
    DualOutcome outcome;
    double seconds;  // of processor time
};

// Examples are sorted by label; begin says where each label begins, total has the bounds. The first label of a pair is
// the positive one. Row r of coefficients, which has a row for each label, is what each example has against label r.
inline std::vector<PairOutcome> solve_pairs(PairsOfLabels& labels, const std::vector<std::size_t>& begin,
                                            const double* total, const DualLimits& limits, std::size_t most_bytes,
                                            double* coefficients) {
    const std::size_t n_labels = begin.size() - 1, n = begin.back();
    std::vector<PairOutcome> found;
    std::vector<double> c, lo, hi, beta, v;
    for (std::size_t first = 0; first < n_labels; ++first)
        for (std::size_t second = first + 1; second < n_labels; ++second) {
            const std::clock_t start = std::clock();
            const std::size_t n_first = begin[first + 1] - begin[first], n_second = begin[second + 1] - begin[second];
            c.assign(n_first, 1.0);
            c.resize(n_first + n_second, -1.0);
            hi.assign(total + begin[first], total + begin[first + 1]);
            hi.resize(n_first + n_second, 0.0);
            lo.assign(n_first, 0.0);
            for (std::size_t i = begin[second]; i < begin[second + 1]; ++i) lo.push_back(-total[i]);
            beta.assign(n_first + n_second, 0.0);
            v = c;
            const std::unique_ptr<DualMachine> machine = labels.machine(first, second, most_bytes);
            const DualProblem problem{c.data(), lo.data(), hi.data(), 0.0};
            const DualOutcome outcome = machine->solve(problem, beta.data(), v.data(), true, limits);
            for (std::size_t p = 0; p < n_first; ++p) coefficients[second * n + begin[first] + p] = beta[p];
            for (std::size_t p = 0; p < n_second; ++p) coefficients[first * n + begin[second] + p] = beta[n_first + p];
            found.push_back({outcome, double(std::clock() - start) / CLOCKS_PER_SEC});
            if (outcome.status == DualStatus::interrupted) return found;
        }
    return found;
}

}  // namespace relift::ml
