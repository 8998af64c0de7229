// The least that right-hand sides admit of some variables, |b| / |a|; the twin of sizes_by_rows_slowly in
// relift/symmetry/proportional_costs.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../counted_memory.hpp"
#include "../sparse_view.hpp"
#include "numbers.hpp"

namespace relift {
namespace passes {

// Writes one size for each of `n_some` variables, 0 where no row admits one. Variables are distinct, and inside A.
template <class Index>
void find_admitted_sizes(const SparseView<Index>& A, bool is_by_rows, const Sides& rows, const i64* some, u64 n_some,
                         double* sizes) {
    const auto finite = [](double side) { return std::isfinite(side) ? std::fabs(side) : 0.0; };
    const auto side_of = [&](u64 i) { return std::max(finite(rows.low[i]), finite(rows.high[i])); };
    constexpr double open = std::numeric_limits<double>::infinity();
    std::fill_n(sizes, n_some, open);
    const auto take = [](double& size, double side, double entry) {
        if (side > 0 && entry != 0) size = std::min(size, side / std::fabs(entry));
    };
    if (is_by_rows) {
        constexpr u32 none = ~u32(0);
        Array<u32> place(A.n_minor, none);
        for (u64 k = 0; k < n_some; ++k) place[u64(some[k])] = u32(k);
        for (u64 i = 0; i < A.n_major; ++i) {
            const double side = side_of(i);
            const u64 begin = u64(A.offsets[i]), end = side > 0 ? u64(A.offsets[i + 1]) : begin;
            require_inside(A, begin, end);
            for (u64 e = begin; e < end; ++e)
                if (const u32 k = place[A.indices[e]]; k != none) take(sizes[k], side, A.values[e]);
        }
    } else {
        Array<double> sides(rows.size);
        for (u64 i = 0; i < rows.size; ++i) sides[i] = side_of(i);
        for (u64 k = 0; k < n_some; ++k) {
            const u64 begin = u64(A.offsets[some[k]]), end = u64(A.offsets[some[k] + 1]);
            require_inside(A, begin, end);
            for (u64 e = begin; e < end; ++e) take(sizes[k], sides[A.indices[e]], A.values[e]);
        }
    }
    for (u64 k = 0; k < n_some; ++k)
        if (sizes[k] == open) sizes[k] = 0;
}

}  // namespace passes
}  // namespace relift
