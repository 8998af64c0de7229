// Lloyd's k-means: nearest centres by squared distances, then centres as means, so many times.
//
// Ties go to the centre of the lowest number. A centre that loses all its points stays where it is.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

// labels[i] = number of the centre nearest to x_i, squares[i] = squared distance to it.
inline void nearest_centres(const float* x, std::size_t n, std::size_t n_features,
                                             const PointsByFeature& centres, std::int32_t* labels, float* squares) {
    Ints first;
    for (std::size_t lane = 0; lane < lane_count; ++lane) first[lane] = std::int32_t(lane);
    for (std::size_t i = 0; i < n; ++i) {
        Floats best = all<Floats>(std::numeric_limits<float>::infinity());
        Ints best_at = first, at = first;
        for (std::size_t j = 0; j < centres.stride(); j += lane_count) {
            Floats square = {};
            const float* feature = centres.at(j);
            for (std::size_t k = 0; k < n_features; ++k, feature += lane_count)
                square = accumulate<KernelKind::rbf, Floats>(square, all<Floats>(x[i * n_features + k]), load<Floats>(feature));
            const auto nearer = (square < best) & (at < std::int32_t(centres.size()));
            best = nearer ? square : best;
            best_at = nearer ? at : best_at;
            at += std::int32_t(lane_count);
        }
        std::int32_t label = best_at[0];
        float least = best[0];
        for (std::size_t lane = 1; lane < lane_count; ++lane)
            if (best[lane] < least || (best[lane] == least && best_at[lane] < label)) {
                least = best[lane];
                label = best_at[lane];
            }
        labels[i] = std::min(label, std::int32_t(centres.size()) - 1);
        squares[i] = least;
    }
}

// centres (k x n_features) are improved in place by `rounds` rounds over the points.
inline void lloyd(const float* x, std::size_t n, std::size_t n_features, float* centres, std::size_t k, int rounds) {
    std::vector<std::int32_t> labels(n);
    std::vector<float> squares(n);
    std::vector<double> sums;
    std::vector<std::size_t> counts;
    for (int round = 0; round < rounds; ++round) {
        nearest_centres(x, n, n_features, PointsByFeature(centres, k, n_features), labels.data(), squares.data());
        sums.assign(k * n_features, 0.0);
        counts.assign(k, 0);
        for (std::size_t i = 0; i < n; ++i) {
            ++counts[std::size_t(labels[i])];
            for (std::size_t f = 0; f < n_features; ++f)
                sums[std::size_t(labels[i]) * n_features + f] += double(x[i * n_features + f]);
        }
        for (std::size_t c = 0; c < k; ++c)
            if (counts[c])
                for (std::size_t f = 0; f < n_features; ++f)
                    centres[c * n_features + f] = float(sums[c * n_features + f] / double(counts[c]));
    }
}

}  // namespace relift::ml::RELIFT_ML_TARGET
