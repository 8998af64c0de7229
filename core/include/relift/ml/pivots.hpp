// Cholesky with pivoting, ended early: K ~ L L' with few columns, the largest rest on the diagonal next.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

// K is size x size and symmetric. pivots[k] is the k-th choice, factor[k * size + i] = L[i][k]. Ends after `most` columns
// or when no rest exceeds the tolerance; returns how many columns were made.
inline std::size_t pivoted_cholesky(const double* K, std::size_t size, std::size_t most, double tolerance,
                                    std::int32_t* pivots, double* factor) {
    std::vector<double> rest(size);
    for (std::size_t i = 0; i < size; ++i) rest[i] = K[i * size + i];
    for (std::size_t k = 0; k < most; ++k) {
        const std::size_t pivot = std::size_t(std::max_element(rest.begin(), rest.end()) - rest.begin());
        if (!(rest[pivot] > tolerance)) return k;
        pivots[k] = std::int32_t(pivot);
        double* column = factor + k * size;
        std::copy_n(K + pivot * size, size, column);
        for (std::size_t j = 0; j < k; ++j) {
            const double* before = factor + j * size;
            const double share = before[pivot];
            for (std::size_t i = 0; i < size; ++i) column[i] -= share * before[i];
        }
        const double scale = 1.0 / std::sqrt(rest[pivot]);
        for (std::size_t i = 0; i < size; ++i) {
            column[i] *= scale;
            rest[i] -= column[i] * column[i];
        }
        for (std::size_t j = 0; j < k; ++j) column[std::size_t(pivots[j])] = 0.0;
        rest[pivot] = 0.0;
    }
    return most;
}

}  // namespace relift::ml::RELIFT_ML_TARGET
