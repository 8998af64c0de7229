// What the kernels of this folder share, whatever the processor.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace relift::ml {

enum class KernelKind { rbf = 0, polynomial = 1, linear = 2, sigmoid = 3 };

struct Kernel {
    KernelKind kind;
    float gamma, coef0;
    int degree;
};

constexpr std::size_t lane_count = 16;

// Points by feature, padded with zeros to whole lanes: feature k of point j is at [k * stride + j].
class PointsByFeature {
public:
    PointsByFeature(const float* points, std::size_t n_points, std::size_t n_features)
        : n_points_(n_points), stride_((n_points + lane_count - 1) / lane_count * lane_count),
          values_(stride_ * n_features, 0.0f) {
        for (std::size_t j = 0; j < n_points; ++j)
            for (std::size_t k = 0; k < n_features; ++k) values_[k * stride_ + j] = points[j * n_features + k];
    }
    std::size_t size() const { return n_points_; }
    std::size_t stride() const { return stride_; }
    const float* feature(std::size_t k) const { return values_.data() + k * stride_; }

private:
    std::size_t n_points_, stride_;
    std::vector<float> values_;
};

struct SmoResult {
    std::int64_t steps;
    double violation;  // the largest v_i - v_j that is left
};

}  // namespace relift::ml
