// Values of a kernel between points, many at a time, and sums of them, without ever storing a kernel matrix.
//
//   rbf exp(-gamma |x-s|^2), polynomial (gamma <x,s> + coef0)^degree, linear <x,s>, sigmoid tanh(gamma <x,s> + coef0)
//
// in single or double precision: squared distances are sums of squared differences (nothing cancels). Sums of values are
// in double precision. About 2e9 values a second for few features on a processor of today.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <KernelKind kind, class Lanes> RELIFT_ML_INLINE Lanes accumulate(Lanes so_far, Lanes x, Lanes s) {
    if (kind == KernelKind::rbf) {
        const Lanes difference = x - s;
        return so_far + difference * difference;
    }
    return so_far + x * s;
}

template <KernelKind kind, class Real, class Lanes> RELIFT_ML_INLINE Lanes finish(Lanes sum, const Kernel& kernel) {
    constexpr double log2_e = 1.4426950408889634;
    if (kind == KernelKind::rbf) return power_of_two(sum * Real(-kernel.gamma * log2_e));
    if (kind == KernelKind::linear) return sum;
    const Lanes inner = sum * Real(kernel.gamma) + Real(kernel.coef0);
    if (kind == KernelKind::sigmoid) {
        const Lanes doubled = power_of_two(inner * Real(2 * log2_e));
        return Real(1) - Real(2) / (doubled + Real(1));
    }
    Lanes power = all<Lanes>(Real(1));
    for (int d = 0; d < kernel.degree; ++d) power *= inner;
    return power;
}

// values[r] of `rows` points (row-major, n_features each) against the lanes of points that start at j.
template <KernelKind kind, int rows, class Real>
RELIFT_ML_INLINE void values_at(const Real* x, std::size_t n_features, const PointsBy<Real>& s, std::size_t j,
                                const Kernel& kernel, typename LanesOf<Real>::Values* values) {
    using Lanes = typename LanesOf<Real>::Values;
    for (int r = 0; r < rows; ++r) values[r] = Lanes{};
    const Real* feature = s.at(j);
    for (std::size_t k = 0; k < n_features; ++k, feature += lane_count) {
        const Lanes lanes = load<Lanes>(feature);
        for (int r = 0; r < rows; ++r)
            values[r] = accumulate<kind, Lanes>(values[r], all<Lanes>(x[r * n_features + k]), lanes);
    }
    for (int r = 0; r < rows; ++r) values[r] = finish<kind, Real, Lanes>(values[r], kernel);
}

// totals += values * weights in double precision, whatever the precision of the values.
RELIFT_ML_INLINE void add_products(Floats values, const double* weights, Doubles* totals) {
    HalfFloats halves[2];
    std::memcpy(halves, &values, sizeof values);
    for (int h = 0; h < 2; ++h)
        totals[h] += __builtin_convertvector(halves[h], Doubles) * load<Doubles>(weights + 8 * h);
}
RELIFT_ML_INLINE void add_products(Doubles values, const double* weights, Doubles* totals) {
    totals[0] += values * load<Doubles>(weights);
}

template <KernelKind kind, int rows, class Real>
RELIFT_ML_INLINE void sum_rows(const Real* x, std::size_t n_features, const PointsBy<Real>& s, const double* weights,
                               const Kernel& kernel, double* sums) {
    using Lanes = typename LanesOf<Real>::Values;
    constexpr std::size_t width = LanesOf<Real>::count;
    Doubles totals[rows][2] = {};
    for (std::size_t j = 0; j < s.stride(); j += width) {
        Lanes values[rows];
        values_at<kind, rows, Real>(x, n_features, s, j, kernel, values);
        for (int r = 0; r < rows; ++r) add_products(values[r], weights + j, totals[r]);
    }
    for (int r = 0; r < rows; ++r) {
        totals[r][0] += totals[r][1];
        sums[r] = 0.0;
        for (std::size_t lane = 0; lane < 8; ++lane) sums[r] += totals[r][0][lane];
    }
}

template <KernelKind kind, class Real>
RELIFT_ML_INLINE void sums_of(const Real* x, std::size_t n, std::size_t n_features, const PointsBy<Real>& s,
                              const double* weights, const Kernel& kernel, double* sums) {
    constexpr int rows = 4;
    std::size_t i = 0;
    for (; i + rows <= n; i += rows)
        sum_rows<kind, rows, Real>(x + i * n_features, n_features, s, weights, kernel, sums + i);
    for (; i < n; ++i) sum_rows<kind, 1, Real>(x + i * n_features, n_features, s, weights, kernel, sums + i);
}

template <KernelKind kind, class Real>
RELIFT_ML_INLINE void values_of(const Real* x, std::size_t n, std::size_t n_features, const PointsBy<Real>& s,
                                const Kernel& kernel, Real* out) {
    using Lanes = typename LanesOf<Real>::Values;
    constexpr std::size_t width = LanesOf<Real>::count;
    const std::size_t m = s.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; j += width) {
            Lanes values[1];
            values_at<kind, 1, Real>(x + i * n_features, n_features, s, j, kernel, values);
            Real lanes[width];
            store(lanes, values[0]);
            std::memcpy(out + i * m + j, lanes, std::min(width, m - j) * sizeof(Real));
        }
}

// sums[i] = sum_j weights[j] k(x_i, s_j); `weights` is as long as the stride of s, zero behind its points.
template <class Real>
void kernel_sums(const Real* x, std::size_t n, std::size_t n_features, const PointsBy<Real>& s, const double* weights,
                 const Kernel& kernel, double* sums) {
    switch (kernel.kind) {
        case KernelKind::rbf: return sums_of<KernelKind::rbf, Real>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::polynomial: return sums_of<KernelKind::polynomial, Real>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::linear: return sums_of<KernelKind::linear, Real>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::sigmoid: return sums_of<KernelKind::sigmoid, Real>(x, n, n_features, s, weights, kernel, sums);
    }
}

// out[i * s.size() + j] = k(x_i, s_j).
template <class Real>
void kernel_values(const Real* x, std::size_t n, std::size_t n_features, const PointsBy<Real>& s, const Kernel& kernel,
                   Real* out) {
    switch (kernel.kind) {
        case KernelKind::rbf: return values_of<KernelKind::rbf, Real>(x, n, n_features, s, kernel, out);
        case KernelKind::polynomial: return values_of<KernelKind::polynomial, Real>(x, n, n_features, s, kernel, out);
        case KernelKind::linear: return values_of<KernelKind::linear, Real>(x, n, n_features, s, kernel, out);
        case KernelKind::sigmoid: return values_of<KernelKind::sigmoid, Real>(x, n, n_features, s, kernel, out);
    }
}

// values[j] = k(x, s_j) for j from `begin` to `end`, in whole lanes: those around both ends are written, too.
template <KernelKind kind, class Real>
RELIFT_ML_INLINE void row_of(const Real* x, std::size_t n_features, const PointsBy<Real>& s, std::size_t begin,
                             std::size_t end, const Kernel& kernel, Real* values) {
    using Lanes = typename LanesOf<Real>::Values;
    constexpr std::size_t width = LanesOf<Real>::count;
    begin = begin / lane_count * lane_count;
    end = (end + lane_count - 1) / lane_count * lane_count;
    for (std::size_t j = begin; j < end; j += width) {
        Lanes lanes[1];
        values_at<kind, 1, Real>(x, n_features, s, j, kernel, lanes);
        store(values + j, lanes[0]);
    }
}

template <class Real>
void kernel_row(const Real* x, std::size_t n_features, const PointsBy<Real>& s, std::size_t begin, std::size_t end,
                const Kernel& kernel, Real* values) {
    switch (kernel.kind) {
        case KernelKind::rbf: return row_of<KernelKind::rbf, Real>(x, n_features, s, begin, end, kernel, values);
        case KernelKind::polynomial: return row_of<KernelKind::polynomial, Real>(x, n_features, s, begin, end, kernel, values);
        case KernelKind::linear: return row_of<KernelKind::linear, Real>(x, n_features, s, begin, end, kernel, values);
        case KernelKind::sigmoid: return row_of<KernelKind::sigmoid, Real>(x, n_features, s, begin, end, kernel, values);
    }
}

// Adds weights[i] k(x_i, s_j) to out[labels[i] * s.stride() + j]: the sums over classes of the rows of a kernel matrix.
template <KernelKind kind>
RELIFT_ML_INLINE void sums_by_class(const float* x, std::size_t n, std::size_t n_features, const PointsByFeature& s,
                                    const double* weights, const std::int32_t* labels, const Kernel& kernel,
                                    double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        double* sums = out + std::size_t(labels[i]) * s.stride();
        const double weight = weights[i];
        for (std::size_t j = 0; j < s.stride(); j += lane_count) {
            Floats values[1];
            values_at<kind, 1, float>(x + i * n_features, n_features, s, j, kernel, values);
            float lanes[lane_count];
            store(lanes, values[0]);
            for (std::size_t lane = 0; lane < lane_count; ++lane) sums[j + lane] += weight * double(lanes[lane]);
        }
    }
}

inline void class_sums(const float* x, std::size_t n, std::size_t n_features, const PointsByFeature& s,
                       const double* weights, const std::int32_t* labels, const Kernel& kernel, double* out) {
    switch (kernel.kind) {
        case KernelKind::rbf:
            return sums_by_class<KernelKind::rbf>(x, n, n_features, s, weights, labels, kernel, out);
        case KernelKind::polynomial:
            return sums_by_class<KernelKind::polynomial>(x, n, n_features, s, weights, labels, kernel, out);
        case KernelKind::linear:
            return sums_by_class<KernelKind::linear>(x, n, n_features, s, weights, labels, kernel, out);
        case KernelKind::sigmoid:
            return sums_by_class<KernelKind::sigmoid>(x, n, n_features, s, weights, labels, kernel, out);
    }
}

}  // namespace relift::ml::RELIFT_ML_TARGET
