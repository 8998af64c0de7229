// What the kernels of this folder share, whatever the processor.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <limits>
#include <utility>
#include <vector>

#include "dual_problem.hpp"
#include "slabs.hpp"

namespace relift::ml {

enum class KernelKind { rbf = 0, polynomial = 1, linear = 2, sigmoid = 3 };

struct Kernel {
    KernelKind kind;
    double gamma, coef0;
    int degree;
};

constexpr std::size_t lane_count = 16;

// Points in blocks of 16, by feature inside a block and padded with zeros to whole blocks: feature k of point j is at
// at(j)[k * lane_count]. A pass over the points reads memory in order.
template <class Real> class PointsBy {
public:
    PointsBy(const Real* points, std::size_t n_points, std::size_t n_features)
        : PointsBy(points, n_points, n_features, [](std::size_t j) { return j; }) {}

    // Some of the points: the j-th is point number(j).
    template <class Number>
    PointsBy(const Real* points, std::size_t n_points, std::size_t n_features, Number&& number)
        : n_points_(n_points), n_features_(n_features),
          stride_((n_points + lane_count - 1) / lane_count * lane_count), values_(stride_ * n_features, Real(0)) {
        for (std::size_t j = 0; j < n_points; ++j) {
            const Real* point = points + std::size_t(number(j)) * n_features;
            Real* to = values_.data() + place(j);
            for (std::size_t k = 0; k < n_features; ++k) to[k * lane_count] = point[k];
        }
    }
    std::size_t size() const { return n_points_; }
    std::size_t stride() const { return stride_; }
    const Real* at(std::size_t j) const { return values_.data() + place(j); }

private:
    std::size_t place(std::size_t j) const { return j / lane_count * lane_count * n_features_ + j % lane_count; }

    std::size_t n_points_, n_features_, stride_;
    std::vector<Real> values_;
};

using PointsByFeature = PointsBy<float>;

struct SmoResult {
    std::int64_t steps;
    double violation;  // the largest v_i - v_j that is left
};

}  // namespace relift::ml
