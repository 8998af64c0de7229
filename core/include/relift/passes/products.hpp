// Both products of a matrix, and what they were added up from: Mg, |M||g|, M'h and |M|'|h| in one pass, uncopied.
#pragma once
#include <cmath>
#include <limits>

#include "../sparse_view.hpp"

namespace relift::passes {

// For a matrix by columns (of major index) "along" belongs to the majors. Either side may be left out (null).
template <class Index>
void products_and_sizes(const SparseView<Index>& M, const double* of_majors, const double* of_minors,
                        double* minor_sums, double* minor_sizes, double* major_sums, double* major_sizes) {
    if (of_majors)
        for (size_t i = 0; i < M.n_minor; ++i) minor_sums[i] = minor_sizes[i] = 0;
    for (size_t major = 0; major < M.n_major; ++major) {
        const size_t begin = size_t(M.offsets[major]), end = size_t(M.offsets[major + 1]);
        if (of_majors) {
            const double weight = of_majors[major];
            for (size_t e = begin; e < end; ++e) {
                const double product = M.values[e] * weight;
                minor_sums[M.indices[e]] += product;
                minor_sizes[M.indices[e]] += std::fabs(product);
            }
        }
        if (of_minors) {
            double sum = 0, size = 0;
            for (size_t e = begin; e < end; ++e) {
                const double product = M.values[e] * of_minors[M.indices[e]];
                sum += product;
                size += std::fabs(product);
            }
            major_sums[major] = sum, major_sizes[major] = size;
        }
    }
}

// The largest difference between a member and its class's first member, relative to the sizes; infinite where one of
// the two is not finite and the other is not the same, or where something differs and the size is 0.
inline double spread(const double* vector, const double* sizes, size_t n, const int64_t* representatives,
                     const int64_t* labels) {
    double worst = 0;
    for (size_t i = 0; i < n; ++i) {
        const double first = vector[representatives[labels[i]]], own = vector[i];
        if (own == first) continue;
        const double difference = std::fabs(own - first);
        if (!std::isfinite(own) || !std::isfinite(first) || !(sizes[i] > 0))
            return std::numeric_limits<double>::infinity();
        worst = difference / sizes[i] > worst ? difference / sizes[i] : worst;
    }
    return worst;
}

}  // namespace relift::passes
