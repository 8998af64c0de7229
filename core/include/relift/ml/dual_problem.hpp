// The dual of a support vector machine and what a solver says about its answer, whatever the processor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace relift::ml {

//   maximise c'beta - epsilon |beta|_1 - 1/2 beta'K beta   subject to   lo <= beta <= hi,   sum beta = 0.
//
// (SVC: beta = y alpha, c = y, epsilon = 0, [lo, hi] = [0, C] or [-C, 0]. SVR: c = the targets, [lo, hi] = [-C, C].)
struct DualProblem {
    const double *c, *lo, *hi;
    double epsilon;
};

struct DualLimits {
    double tol_gap;       // stop when the relative gap is at most this
    double enough;        // and no pair of slopes differs by more than this;
    double tolerance;     // or when none differs by more than this, whatever the gap
    std::int64_t most_steps;
    double most_seconds;  // of processor time
    std::function<bool()> is_interrupted;
};

enum class DualStatus { gap_reached = 0, no_violation = 1, step_limit = 2, time_limit = 3, interrupted = 4 };

struct DualOutcome {
    DualStatus status;
    std::int64_t steps;
    std::uint64_t kernel_values;
    double gap, bias, dual_value, violation;
    double total;  // primal value of scale * (f + bias) - dual value
    double scale;
};

// A kernel matrix with its cached rows: several duals over the same examples are solved one after the other.
class DualMachine {
public:
    virtual ~DualMachine() = default;
    virtual std::size_t size() const = 0;
    // beta is feasible, and improved in place; v = c - K beta is computed first unless it is given.
    virtual DualOutcome solve(const DualProblem& problem, double* beta, double* v, bool is_v_given,
                              const DualLimits& limits) = 0;
};

class PairsOfLabels {
public:
    virtual ~PairsOfLabels() = default;
    virtual std::unique_ptr<DualMachine> machine(std::size_t first, std::size_t second, std::size_t most_bytes) = 0;
};

}  // namespace relift::ml
