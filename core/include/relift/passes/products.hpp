// Both products of a matrix, and what they were added up from: Mg, |M||g|, M'h and |M|'|h| in one pass, uncopied.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../threads.hpp"

namespace relift::passes {

// Adds what a block of majors scatters to the sums of minors.
template <class Index>
void scatter_products(const SparseView<Index>& M, const double* of_majors, double* sums, double* sizes, size_t first,
                      size_t last) {
    for (size_t major = first; major < last; ++major) {
        const double weight = of_majors[major];
        for (size_t e = size_t(M.offsets[major]), end = size_t(M.offsets[major + 1]); e < end; ++e) {
            const double product = M.values[e] * weight;
            sums[M.indices[e]] += product;
            sizes[M.indices[e]] += std::fabs(product);
        }
    }
}

// The sums of a block of majors.
template <class Index>
void gather_products(const SparseView<Index>& M, const double* of_minors, double* sums, double* sizes, size_t first,
                     size_t last) {
    for (size_t major = first; major < last; ++major) {
        double sum = 0, size = 0;
        for (size_t e = size_t(M.offsets[major]), end = size_t(M.offsets[major + 1]); e < end; ++e) {
            const double product = M.values[e] * of_minors[M.indices[e]];
            sum += product;
            size += std::fabs(product);
        }
        sums[major] = sum, sizes[major] = size;
    }
}

// For a matrix by columns (of major index) "along" belongs to the majors. Either side may be left out (null).
template <class Index>
void products_and_sizes(const SparseView<Index>& M, const double* of_majors, const double* of_minors,
                        double* minor_sums, double* minor_sizes, double* major_sums, double* major_sizes,
                        u32 n_threads) {
    const auto scatter = [&](u32 first, u32 last) {
        scatter_products(M, of_majors, minor_sums, minor_sizes, first, last);
    };
    const auto gather = [&](u32 first, u32 last) {
        gather_products(M, of_minors, major_sums, major_sizes, first, last);
    };
    if (of_majors)
        for (size_t i = 0; i < M.n_minor; ++i) minor_sums[i] = minor_sizes[i] = 0;
    if (of_majors && of_minors) scatter_beside_gather(M, n_threads, scatter, gather);
    else if (of_majors) scatter(0, M.n_major);
    else if (of_minors) over_majors(M, threads_for(M.n_entries(), n_threads), gather);
}

// A number for each class, 1 to 2, of either sign, as good as random; without one being drawn for every class.
inline void numbers_of_classes(const int64_t* labels, size_t n, double* numbers, u32 n_threads) {
    over_range(n, threads_for(n, n_threads), [&](u64 first, u64 last) {
        for (u64 i = first; i < last; ++i) {
            u64 word = (u64(labels[i]) + 1) * 0x9E3779B97F4A7C15ull;  // splitmix64
            word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
            word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
            word ^= word >> 31;
            const double size = 1.0 + double(word >> 11) * 0x1p-53;
            numbers[i] = word & 1 ? size : -size;
        }
    });
}

// The matrix times x; terms are added in the order in which they are stored.
template <class Index>
void product(const SparseView<Index>& M, bool is_by_rows, const double* x, double* sums) {
    if (!is_by_rows) std::fill_n(sums, M.n_minor, 0.0);
    for (size_t major = 0; major < M.n_major; ++major) {
        const size_t first = size_t(M.offsets[major]), end = size_t(M.offsets[major + 1]);
        if (is_by_rows) {
            double sum = 0;
            for (size_t e = first; e < end; ++e) sum += M.values[e] * x[M.indices[e]];
            sums[major] = sum;
        } else {
            const double weight = x[major];
            for (size_t e = first; e < end; ++e) sums[M.indices[e]] += M.values[e] * weight;
        }
    }
}

// The largest difference between a member and its class's first member, relative to the sizes; infinite where one of
// the two is not finite and the other is not the same, or where something differs and the size is 0. Without sizes each
// member is its own.
inline double spread(const double* vector, const double* sizes, size_t n, const int64_t* representatives,
                     const int64_t* labels, u32 n_threads) {
    const u32 n_parts = threads_for(n, n_threads);
    std::vector<double> worst(n_parts, 0.0);
    in_parallel(n_parts, [&](u32 k) {
        double most = 0;
        for (size_t i = part_of(n, k, n_parts), last = part_of(n, k + 1, n_parts); i < last; ++i) {
            const double first = vector[representatives[labels[i]]], own = vector[i];
            if (own == first) continue;
            const double difference = std::fabs(own - first);
            const double size = sizes ? sizes[i] : std::fabs(own);
            if (!std::isfinite(own) || !std::isfinite(first) || !(size > 0)) {
                most = std::numeric_limits<double>::infinity();
                break;
            }
            most = difference / size > most ? difference / size : most;
        }
        worst[k] = most;
    });
    return *std::max_element(worst.begin(), worst.end());
}

}  // namespace relift::passes
