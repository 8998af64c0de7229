// Coordinate ascent on a dual that has a box and nothing else, for a kernel given by features:
//
//   maximise c'beta - 1/2 |Z'beta|^2 - 1/2 sum_i extra_i beta_i^2   subject to   lo <= beta <= hi.
//
// The vector w = Z'beta is kept, so that a step costs one row of Z. Coordinates are visited in an order that is drawn
// anew for each pass; one that sits at its bound and is pushed against it is left out of the passes until the others
// have settled (as in LIBLINEAR [1]).
//
// [1] Hsieh, Chang, Lin, Keerthi, Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM, 2008.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <class Real> RELIFT_ML_INLINE Real inner(const Real* a, const Real* b, std::size_t stride) {
    using Lanes = typename LanesOf<Real>::Values;
    constexpr std::size_t width = LanesOf<Real>::count;
    Lanes sums[2] = {};
    std::size_t k = 0;
    for (; k + 2 * width <= stride; k += 2 * width)
        for (std::size_t h = 0; h < 2; ++h)
            sums[h] += load<Lanes>(a + k + h * width) * load<Lanes>(b + k + h * width);
    for (; k < stride; k += width) sums[0] += load<Lanes>(a + k) * load<Lanes>(b + k);
    sums[0] += sums[1];
    Real total = 0;
    for (std::size_t lane = 0; lane < width; ++lane) total += sums[0][lane];
    return total;
}

// Z has `size` rows of `stride` values, whole lanes; only the coordinates listed in `order` move. Returns passes made
// and the largest push that is left.
template <class Real>
SmoResult coordinate_ascent(const Real* Z, std::size_t stride, const Real* extra, const Real* c, const Real* lo,
                            const Real* hi, std::int32_t* order, std::size_t n_moving, Real* beta, Real* w,
                            double tolerance, std::int64_t most_passes, std::uint64_t seed) {
    using Lanes = typename LanesOf<Real>::Values;
    constexpr std::size_t width = LanesOf<Real>::count;
    std::vector<Real> curvature(n_moving);
    for (std::size_t at = 0; at < n_moving; ++at) {
        const std::size_t i = std::size_t(order[at]);
        curvature[at] = inner(Z + i * stride, Z + i * stride, stride) + extra[i];
    }
    const Real infinity = std::numeric_limits<Real>::infinity();
    std::vector<std::int32_t> place(n_moving);
    for (std::size_t at = 0; at < n_moving; ++at) place[at] = std::int32_t(at);
    std::size_t n_active = n_moving;
    Real left_out_beyond = infinity;
    std::uint64_t state = seed * 2862933555777941757ULL + 3037000493ULL;
    SmoResult result{0, 0.0};
    while (result.steps < most_passes) {
        for (std::size_t at = n_active; at > 1; --at) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            std::swap(place[at - 1], place[(state >> 33) % at]);
        }
        Real largest = 0;
        for (std::size_t at = 0; at < n_active;) {
            const std::size_t p = std::size_t(place[at]), i = std::size_t(order[p]);
            const Real* z = Z + i * stride;
            const Real slope = c[i] - inner(z, w, stride) - extra[i] * beta[i];
            const bool is_full = beta[i] >= hi[i], is_empty = beta[i] <= lo[i];
            const Real push = (is_full && slope > 0) || (is_empty && slope < 0) ? Real(0) : std::abs(slope);
            if (push == Real(0) && std::abs(slope) > left_out_beyond) {
                std::swap(place[at], place[--n_active]);
                continue;
            }
            largest = std::max(largest, push);
            if (push > Real(1e-12) && curvature[p] > Real(0)) {
                const Real target = std::min(std::max(beta[i] + slope / curvature[p], lo[i]), hi[i]);
                const Real moved = target - beta[i];
                beta[i] = target;
                if (moved != Real(0))
                    for (std::size_t k = 0; k < stride; k += width)
                        store(w + k, load<Lanes>(w + k) + load<Lanes>(z + k) * moved);
            }
            ++at;
        }
        ++result.steps;
        result.violation = double(largest);
        left_out_beyond = largest > Real(0) ? largest : infinity;
        if (double(largest) <= tolerance) {
            if (n_active == n_moving) break;
            n_active = n_moving;
            left_out_beyond = infinity;
        }
    }
    return result;
}

}  // namespace relift::ml::RELIFT_ML_TARGET
