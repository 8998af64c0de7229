// Sequential minimal optimisation of the dual of a support vector machine, in signed form:
//
//   maximise c'beta - 1/2 beta'K beta   subject to   lo <= beta <= hi,   sum beta unchanged.
//
// (SVC: beta = y alpha, c = y, [lo, hi] = [0, C] or [-C, 0]. A class of n_c examples has n_c C for C.) In each step
// i has the largest v = c - K beta among those that may grow, j gains most to second order among those that may
// shrink [1]; t = (v_i - v_j) / (K_ii + K_jj - 2 K_ij), clipped to the box, moves from j to i. Ends when no pair
// differs by more than the tolerance.
//
// [1] Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training SVMs, JMLR 6, 2005.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <class Real>
struct SmoProblem {
    std::size_t size, stride;  // stride: size rounded up to whole lanes; K has that many values in a row
    const Real* K;
    const Real* diagonal;
};

template <class Real>
RELIFT_ML_INLINE SmoResult smo_loop(const SmoProblem<Real>& problem, const Real* lo, const Real* hi, Real* beta,
                                    Real* v, Real* grow, Real* shrink, double tolerance, std::int64_t most_steps) {
    using Lanes = typename LanesOf<Real>::Values;
    using Numbers = typename LanesOf<Real>::Numbers;
    using Number = typename LanesOf<Real>::Number;
    constexpr std::size_t width = LanesOf<Real>::count;
    const Real infinity = std::numeric_limits<Real>::infinity();
    const Real least_curvature = Real(1e-12);
    Numbers first;
    for (std::size_t lane = 0; lane < width; ++lane) first[lane] = Number(lane);
    const Real *row_i = problem.K, *row_j = problem.K;
    Real moved = 0;
    SmoResult result{0, 0.0};
    for (;;) {
        // v -= moved (K_i - K_j); the largest v that may grow, the smallest that may shrink.
        Lanes top = all<Lanes>(-infinity), bottom = all<Lanes>(infinity);
        Numbers top_at{}, at = first;
        for (std::size_t k = 0; k < problem.stride; k += width) {
            Lanes value = load<Lanes>(v + k);
            value -= (load<Lanes>(row_i + k) - load<Lanes>(row_j + k)) * moved;
            store(v + k, value);
            const Lanes up = value + load<Lanes>(grow + k), down = value + load<Lanes>(shrink + k);
            const auto higher = up > top;
            top = higher ? up : top;
            top_at = higher ? at : top_at;
            bottom = down < bottom ? down : bottom;
            at += Number(width);
        }
        Real highest = -infinity, lowest = infinity;
        std::size_t i = 0;
        for (std::size_t lane = 0; lane < width; ++lane) {
            if (top[lane] > highest || (top[lane] == highest && std::size_t(top_at[lane]) < i)) {
                highest = top[lane];
                i = std::size_t(top_at[lane]);
            }
            lowest = std::min(lowest, Real(bottom[lane]));
        }
        result.violation = highest > -infinity && lowest < infinity ? std::max(0.0, double(highest - lowest)) : 0.0;
        if (result.violation <= tolerance || result.steps >= most_steps) return result;

        // The partner that gains most.
        row_i = problem.K + i * problem.stride;
        const Real diagonal_i = problem.diagonal[i];
        Lanes best = all<Lanes>(Real(-1));
        Numbers best_at{};
        at = first;
        for (std::size_t k = 0; k < problem.stride; k += width) {
            const Lanes difference = highest - (load<Lanes>(v + k) + load<Lanes>(shrink + k));
            Lanes curvature = load<Lanes>(problem.diagonal + k) + diagonal_i - load<Lanes>(row_i + k) * Real(2);
            curvature = curvature > least_curvature ? curvature : all<Lanes>(least_curvature);
            Lanes gain = difference * difference / curvature;
            gain = difference > Real(0) ? gain : all<Lanes>(Real(-1));
            const auto higher = gain > best;
            best = higher ? gain : best;
            best_at = higher ? at : best_at;
            at += Number(width);
        }
        Real most = Real(-1);
        std::size_t j = i;
        for (std::size_t lane = 0; lane < width; ++lane)
            if (best[lane] > most || (best[lane] == most && std::size_t(best_at[lane]) < j)) {
                most = best[lane];
                j = std::size_t(best_at[lane]);
            }
        if (most <= Real(0) || j == i) return result;
        row_j = problem.K + j * problem.stride;
        const Real curvature = std::max(diagonal_i + problem.diagonal[j] - 2 * row_i[j], least_curvature);
        const Real room_i = hi[i] - beta[i], room_j = beta[j] - lo[j];
        moved = (v[i] - v[j]) / curvature;
        const bool fills_i = moved >= room_i, empties_j = moved >= room_j;
        moved = std::min(moved, std::min(room_i, room_j));
        beta[i] = fills_i && room_i <= room_j ? hi[i] : beta[i] + moved;
        beta[j] = empties_j && room_j <= room_i ? lo[j] : beta[j] - moved;
        grow[i] = beta[i] < hi[i] ? Real(0) : -infinity;
        shrink[i] = beta[i] > lo[i] ? Real(0) : infinity;
        grow[j] = beta[j] < hi[j] ? Real(0) : -infinity;
        shrink[j] = beta[j] > lo[j] ? Real(0) : infinity;
        ++result.steps;
    }
}

// beta (within its box) is improved in place; v = c - K beta is given and kept. K is size x size.
template <class Real>
SmoResult smo(const Real* K, std::size_t size, const Real* lo, const Real* hi, Real* beta, Real* v,
              double tolerance, std::int64_t most_steps) {
    constexpr std::size_t width = LanesOf<Real>::count;
    const std::size_t stride = (size + width - 1) / width * width;
    const Real infinity = std::numeric_limits<Real>::infinity();
    std::vector<Real> padded;
    if (stride != size) {
        padded.assign(stride * size, Real(0));
        for (std::size_t i = 0; i < size; ++i)
            std::memcpy(&padded[i * stride], K + i * size, size * sizeof(Real));
        K = padded.data();
    }
    std::vector<Real> diagonal(stride, Real(1)), values(stride, Real(0)), grow(stride, -infinity),
        shrink(stride, infinity);
    for (std::size_t i = 0; i < size; ++i) {
        diagonal[i] = K[i * stride + i];
        values[i] = v[i];
        if (beta[i] < hi[i]) grow[i] = Real(0);
        if (beta[i] > lo[i]) shrink[i] = Real(0);
    }
    const SmoProblem<Real> problem{size, stride, K, diagonal.data()};
    const SmoResult result =
        smo_loop<Real>(problem, lo, hi, beta, values.data(), grow.data(), shrink.data(), tolerance, most_steps);
    std::copy(values.begin(), values.begin() + size, v);
    return result;
}

}  // namespace relift::ml::RELIFT_ML_TARGET
