// Values of a kernel between points, many at a time, and sums of them, without ever storing a kernel matrix.
//
//   rbf exp(-gamma |x-s|^2), polynomial (gamma <x,s> + coef0)^degree, linear <x,s>, sigmoid tanh(gamma <x,s> + coef0)
//
// in single precision: squared distances are sums of squared differences (nothing cancels), partial sums of at most
// 1024 terms are added up in double precision. About 2e9 values a second for few features on a processor of today.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <KernelKind kind> RELIFT_ML_INLINE Floats accumulate(Floats so_far, Floats x, Floats s) {
    if (kind == KernelKind::rbf) {
        const Floats difference = x - s;
        return so_far + difference * difference;
    }
    return so_far + x * s;
}

template <KernelKind kind> RELIFT_ML_INLINE Floats finish(Floats sum, const Kernel& kernel) {
    constexpr float log2_e = 1.44269504f;
    if (kind == KernelKind::rbf) return power_of_two(sum * (-kernel.gamma * log2_e));
    if (kind == KernelKind::linear) return sum;
    const Floats inner = sum * kernel.gamma + kernel.coef0;
    if (kind == KernelKind::sigmoid) {
        const Floats doubled = power_of_two(inner * (2.0f * log2_e));
        return 1.0f - 2.0f / (doubled + 1.0f);
    }
    Floats power = all<Floats>(1.0f);
    for (int d = 0; d < kernel.degree; ++d) power *= inner;
    return power;
}

// values[r] of `rows` points (row-major, n_features each) against the 16 points that start at j.
template <KernelKind kind, int rows>
RELIFT_ML_INLINE void values_at(const float* x, std::size_t n_features, const PointsByFeature& s, std::size_t j,
                                const Kernel& kernel, Floats* values) {
    for (int r = 0; r < rows; ++r) values[r] = Floats{};
    const float* feature = s.feature(0) + j;
    for (std::size_t k = 0; k < n_features; ++k, feature += s.stride()) {
        const Floats lanes = load<Floats>(feature);
        for (int r = 0; r < rows; ++r)
            values[r] = accumulate<kind>(values[r], all<Floats>(x[r * n_features + k]), lanes);
    }
    for (int r = 0; r < rows; ++r) values[r] = finish<kind>(values[r], kernel);
}

template <KernelKind kind, int rows>
RELIFT_ML_INLINE void sum_rows(const float* x, std::size_t n_features, const PointsByFeature& s,
                               const float* weights, const Kernel& kernel, double* sums) {
    constexpr std::size_t chunk = 1024;
    for (int r = 0; r < rows; ++r) sums[r] = 0.0;
    for (std::size_t begin = 0; begin < s.stride(); begin += chunk) {
        const std::size_t end = std::min(begin + chunk, s.stride());
        Floats totals[rows] = {}, values[rows];
        for (std::size_t j = begin; j < end; j += lane_count) {
            values_at<kind, rows>(x, n_features, s, j, kernel, values);
            const Floats weight = load<Floats>(weights + j);
            for (int r = 0; r < rows; ++r) totals[r] += values[r] * weight;
        }
        for (int r = 0; r < rows; ++r)
            for (std::size_t lane = 0; lane < lane_count; ++lane) sums[r] += double(totals[r][lane]);
    }
}

template <KernelKind kind>
RELIFT_ML_INLINE void sums_of(const float* x, std::size_t n, std::size_t n_features, const PointsByFeature& s,
                              const float* weights, const Kernel& kernel, double* sums) {
    constexpr int rows = 4;
    std::size_t i = 0;
    for (; i + rows <= n; i += rows)
        sum_rows<kind, rows>(x + i * n_features, n_features, s, weights, kernel, sums + i);
    for (; i < n; ++i) sum_rows<kind, 1>(x + i * n_features, n_features, s, weights, kernel, sums + i);
}

template <KernelKind kind>
RELIFT_ML_INLINE void values_of(const float* x, std::size_t n, std::size_t n_features, const PointsByFeature& s,
                                const Kernel& kernel, float* out) {
    const std::size_t m = s.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < s.stride(); j += lane_count) {
            Floats values[1];
            values_at<kind, 1>(x + i * n_features, n_features, s, j, kernel, values);
            float lanes[lane_count];
            store(lanes, values[0]);
            std::memcpy(out + i * m + j, lanes, std::min(lane_count, m - j) * sizeof(float));
        }
}

// sums[i] = sum_j weights[j] k(x_i, s_j); `weights` is as long as the stride of s, zero behind its points.
inline void kernel_sums(const float* x, std::size_t n, std::size_t n_features,
                                         const PointsByFeature& s, const float* weights, const Kernel& kernel,
                                         double* sums) {
    switch (kernel.kind) {
        case KernelKind::rbf: return sums_of<KernelKind::rbf>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::polynomial:
            return sums_of<KernelKind::polynomial>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::linear: return sums_of<KernelKind::linear>(x, n, n_features, s, weights, kernel, sums);
        case KernelKind::sigmoid: return sums_of<KernelKind::sigmoid>(x, n, n_features, s, weights, kernel, sums);
    }
}

// out[i * s.size() + j] = k(x_i, s_j).
inline void kernel_values(const float* x, std::size_t n, std::size_t n_features,
                                           const PointsByFeature& s, const Kernel& kernel, float* out) {
    switch (kernel.kind) {
        case KernelKind::rbf: return values_of<KernelKind::rbf>(x, n, n_features, s, kernel, out);
        case KernelKind::polynomial: return values_of<KernelKind::polynomial>(x, n, n_features, s, kernel, out);
        case KernelKind::linear: return values_of<KernelKind::linear>(x, n, n_features, s, kernel, out);
        case KernelKind::sigmoid: return values_of<KernelKind::sigmoid>(x, n, n_features, s, kernel, out);
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
            values_at<kind, 1>(x + i * n_features, n_features, s, j, kernel, values);
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
