// Tests of the kernels for learning against slow twins in double precision; built with sanitizers.
//
// Every kernel is compiled for several processors: the plain one is tested, and the one that this machine would take.
#include <numeric>
#include <random>

#include "check.hpp"
#include "relift/ml/targets.hpp"

using namespace relift::ml;

using Floats_ = std::vector<float>;
using Doubles = std::vector<double>;

Floats_ random_points(std::mt19937_64& random, std::size_t n, std::size_t d) {
    std::normal_distribution<float> normal;
    Floats_ points(n * d);
    for (float& value : points) value = normal(random);
    return points;
}

bool near(double one, double other, double tolerance) {
    return std::abs(one - other) <= tolerance * std::max(1.0, std::abs(other));
}

double kernel_value(const float* x, const float* s, std::size_t d, const Kernel& kernel) {
    double square = 0, product = 0;
    for (std::size_t k = 0; k < d; ++k) {
        square += (double(x[k]) - s[k]) * (double(x[k]) - s[k]);
        product += double(x[k]) * s[k];
    }
    switch (kernel.kind) {
        case KernelKind::rbf: return std::exp(-kernel.gamma * square);
        case KernelKind::polynomial: return std::pow(kernel.gamma * product + kernel.coef0, kernel.degree);
        case KernelKind::linear: return product;
        case KernelKind::sigmoid: return std::tanh(kernel.gamma * product + kernel.coef0);
    }
    return 0;
}

void test_kernels() {
    std::mt19937_64 random(1);
    for (int k = 0; k < 48; ++k) {
        const std::size_t n = 1 + random() % 9, m = 1 + random() % 40, d = 1 + random() % 5, n_classes = 3;
        const Kernel kernel{KernelKind(k % 4), 0.5f, 0.25f, 1 + int(random() % 4)};
        const Floats_ x = random_points(random, n, d), s = random_points(random, m, d);
        const PointsByFeature by_feature(s.data(), m, d);
        Doubles weights(by_feature.stride(), 0.0);
        Floats_ values(n * m);
        for (std::size_t j = 0; j < m; ++j) weights[j] = double(random() % 7) - 3.0;
        Doubles row_weights(n), sums(n);
        std::vector<std::int32_t> labels(n);
        for (std::size_t i = 0; i < n; ++i) {
            row_weights[i] = double(random() % 5) - 2.0;
            labels[i] = std::int32_t(random() % n_classes);
        }
        for (bool is_plain : {true, false}) {
            Doubles by_class(n_classes * by_feature.stride(), 0.0), expected_by_class(n_classes * m, 0.0);
            if (is_plain) {
                plain::kernel_values(x.data(), n, d, by_feature, kernel, values.data());
                plain::kernel_sums(x.data(), n, d, by_feature, weights.data(), kernel, sums.data());
                plain::class_sums(x.data(), n, d, by_feature, row_weights.data(), labels.data(), kernel,
                                  by_class.data());
            } else {
                RELIFT_ML_CALL(kernel_values(x.data(), n, d, by_feature, kernel, values.data()));
                RELIFT_ML_CALL(kernel_sums(x.data(), n, d, by_feature, weights.data(), kernel, sums.data()));
                RELIFT_ML_CALL(class_sums(x.data(), n, d, by_feature, row_weights.data(), labels.data(), kernel,
                                          by_class.data()));
            }
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0, size = 1;
                for (std::size_t j = 0; j < m; ++j) {
                    const double value = kernel_value(&x[i * d], &s[j * d], d, kernel);
                    CHECK(near(values[i * m + j], value, 2e-5));
                    sum += weights[j] * value;
                    size += std::abs(weights[j] * value);
                    expected_by_class[std::size_t(labels[i]) * m + j] += row_weights[i] * value;
                }
                CHECK(std::abs(sums[i] - sum) <= 2e-5 * size);
            }
            for (std::size_t c = 0; c < n_classes; ++c)
                for (std::size_t j = 0; j < m; ++j)
                    CHECK(std::abs(by_class[c * by_feature.stride() + j] - expected_by_class[c * m + j]) <= 1e-3);
        }
    }
}

void test_nearest_centres() {
    std::mt19937_64 random(2);
    for (int k = 0; k < 40; ++k) {
        const std::size_t n = 1 + random() % 30, n_centres = 1 + random() % 40, d = 1 + random() % 4;
        const Floats_ x = random_points(random, n, d), centres = random_points(random, n_centres, d);
        std::vector<std::int32_t> labels(n);
        Floats_ squares(n);
        RELIFT_ML_CALL(nearest_centres(x.data(), n, d, PointsByFeature(centres.data(), n_centres, d), labels.data(),
                                       squares.data()));
        Doubles sums(n_centres * d, 0.0), counts(n_centres, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            double least = INFINITY, chosen = INFINITY;
            for (std::size_t j = 0; j < n_centres; ++j) {
                double square = 0;
                for (std::size_t f = 0; f < d; ++f) square += std::pow(double(x[i * d + f]) - centres[j * d + f], 2);
                least = std::min(least, square);
                if (std::int32_t(j) == labels[i]) chosen = square;
            }
            CHECK(near(chosen, least, 1e-5) && near(squares[i], least, 1e-5));
            ++counts[std::size_t(labels[i])];
            for (std::size_t f = 0; f < d; ++f) sums[std::size_t(labels[i]) * d + f] += x[i * d + f];
        }
        Floats_ moved = centres;
        RELIFT_ML_CALL(lloyd(x.data(), n, d, moved.data(), n_centres, 1));
        for (std::size_t j = 0; j < n_centres; ++j)  // a centre without points stays
            for (std::size_t f = 0; f < d; ++f)
                CHECK(near(moved[j * d + f], counts[j] ? sums[j * d + f] / counts[j] : centres[j * d + f], 1e-5));
    }
    const Floats_ same(40 * 2, 0.0f), x(5 * 2, 1.0f);
    std::vector<std::int32_t> labels(5);
    Floats_ squares(5);
    RELIFT_ML_CALL(nearest_centres(x.data(), 5, 2, PointsByFeature(same.data(), 40, 2), labels.data(), squares.data()));
    for (std::int32_t label : labels) CHECK(label == 0);  // ties go to the lowest number
}

Doubles random_kernel(std::mt19937_64& random, std::size_t n, double on_diagonal) {
    const Floats_ factor = random_points(random, n, 4);
    Doubles K(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < 4; ++k) K[i * n + j] += double(factor[i * 4 + k]) * factor[j * 4 + k];
            K[i * n + j] += i == j ? on_diagonal : 0.0;
        }
    return K;
}

// The conditions of an optimum: nothing that may grow has a larger slope than anything that may shrink.
void test_smo() {
    std::mt19937_64 random(3);
    for (int k = 0; k < 60; ++k) {
        const std::size_t n = 2 + random() % 30;
        const Doubles K = random_kernel(random, n, 0.1);
        Doubles lo(n), hi(n), c(n), beta(n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            c[i] = random() % 2 ? 1.0 : -1.0;
            const double bound = 0.1 + double(random() % 100) / 40;
            (c[i] > 0 ? hi : lo)[i] = c[i] * bound;
        }
        for (bool is_plain : {true, false}) {
            std::fill(beta.begin(), beta.end(), 0.0);
            Doubles v = c;
            const SmoResult result =
                is_plain ? plain::smo(K.data(), n, lo.data(), hi.data(), beta.data(), v.data(), 1e-9, 1000000)
                         : RELIFT_ML_CALL(smo(K.data(), n, lo.data(), hi.data(), beta.data(), v.data(), 1e-9, 1000000));
            CHECK(result.violation <= 1e-9);
            CHECK(std::abs(std::accumulate(beta.begin(), beta.end(), 0.0)) < 1e-9);
            double most = -INFINITY, least = INFINITY;
            for (std::size_t i = 0; i < n; ++i) {
                CHECK(lo[i] <= beta[i] && beta[i] <= hi[i]);
                double slope = c[i];
                for (std::size_t j = 0; j < n; ++j) slope -= K[i * n + j] * beta[j];
                CHECK(near(v[i], slope, 1e-7));
                if (beta[i] < hi[i]) most = std::max(most, slope);
                if (beta[i] > lo[i]) least = std::min(least, slope);
            }
            CHECK(most - least <= 1e-6);
        }
        Doubles v = c;
        std::fill(beta.begin(), beta.end(), 0.0);
        CHECK(plain::smo(K.data(), n, lo.data(), hi.data(), beta.data(), v.data(), 0.0, 1).steps <= 1);
    }
}

void test_coordinate_ascent() {
    std::mt19937_64 random(4);
    for (int k = 0; k < 40; ++k) {
        const std::size_t n = 1 + random() % 20, d = 1 + random() % 20, stride = (d + 15) / 16 * 16;
        const Floats_ points = random_points(random, n, d);
        Doubles Z(n * stride, 0.0), extra(n), c(n), lo(n), hi(n), beta(n, 0.0), w(stride, 0.0);
        std::vector<std::int32_t> order(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t f = 0; f < d; ++f) Z[i * stride + f] = points[i * d + f];
            extra[i] = 0.05 + double(random() % 10) / 10;
            c[i] = double(random() % 9) - 4.0;
            lo[i] = -double(random() % 3);
            hi[i] = double(random() % 3);
            order[i] = std::int32_t(i);
        }
        const SmoResult result = RELIFT_ML_CALL(coordinate_ascent(Z.data(), stride, extra.data(), c.data(), lo.data(),
                                                                  hi.data(), order.data(), n, beta.data(), w.data(),
                                                                  1e-10, 100000, 7));
        CHECK(result.violation <= 1e-10);
        for (std::size_t f = 0; f < stride; ++f) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += Z[i * stride + f] * beta[i];
            CHECK(near(w[f], sum, 1e-9));
        }
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(lo[i] <= beta[i] && beta[i] <= hi[i]);
            double slope = c[i] - extra[i] * beta[i];
            for (std::size_t f = 0; f < stride; ++f) slope -= Z[i * stride + f] * w[f];
            CHECK(beta[i] >= hi[i] || slope <= 1e-8);
            CHECK(beta[i] <= lo[i] || slope >= -1e-8);
        }
    }
}

void test_pivoted_cholesky() {
    std::mt19937_64 random(5);
    for (int k = 0; k < 30; ++k) {
        const std::size_t n = 1 + random() % 20;
        const Doubles K = random_kernel(random, n, 0.0);
        std::vector<std::int32_t> pivots(n);
        Doubles factor(n * n);
        const std::size_t rank = RELIFT_ML_CALL(pivoted_cholesky(K.data(), n, n, 1e-9, pivots.data(), factor.data()));
        CHECK(rank <= std::min<std::size_t>(n, 4));
        Doubles rest = K;
        for (std::size_t column = 0; column < rank; ++column) {
            std::size_t largest = 0;
            for (std::size_t i = 0; i < n; ++i)
                if (rest[i * n + i] > rest[largest * n + largest] + 1e-9) largest = i;
            CHECK(near(rest[std::size_t(pivots[column]) * (n + 1)], rest[largest * n + largest], 1e-7));
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    rest[i * n + j] -= factor[column * n + i] * factor[column * n + j];
        }
        for (double value : rest) CHECK(std::abs(value) < 1e-6);
        CHECK(RELIFT_ML_CALL(pivoted_cholesky(K.data(), n, 1, 1e-9, pivots.data(), factor.data())) <= 1);
    }
}

// Labels by sorted distances, as they are defined; -1 is allowed where two centres are equally near.
void test_labels_by_signature() {
    std::mt19937_64 random(6);
    for (int k = 0; k < 25; ++k) {
        const std::size_t n = 1 + random() % 60, m = 1 + random() % 12, d = 1 + random() % 3, n_centres = 2 + random() % 4;
        Floats_ x = random_points(random, n, d);
        const Floats_ anchors = random_points(random, m, d);
        if (k % 5 == 0) std::fill(x.begin(), x.end(), 0.5f);
        const auto signature = [&](const float* point) {
            Doubles found(m);
            for (std::size_t a = 0; a < m; ++a) {
                double square = 0;
                for (std::size_t f = 0; f < d; ++f) square += std::pow(double(point[f]) - anchors[a * d + f], 2);
                found[a] = std::sqrt(square / double(m));
            }
            std::sort(found.begin(), found.end());
            return found;
        };
        Doubles centres(n_centres * m);
        for (std::size_t c = 0; c < n_centres; ++c) {
            const Floats_ seed = random_points(random, 1, d);
            const Doubles found = signature(seed.data());
            std::copy(found.begin(), found.end(), centres.begin() + std::ptrdiff_t(c * m));
        }
        std::vector<std::int32_t> labels(n, -9);
        RELIFT_ML_CALL(label_by_signature(x.data(), n, d, anchors.data(), m, centres.data(), n_centres, labels.data()));
        for (std::size_t i = 0; i < n; ++i) {
            const Doubles own = signature(&x[i * d]);
            Doubles squares(n_centres, 0.0);
            for (std::size_t c = 0; c < n_centres; ++c)
                for (std::size_t a = 0; a < m; ++a) squares[c] += std::pow(own[a] - centres[c * m + a], 2);
            Doubles sorted = squares;
            std::sort(sorted.begin(), sorted.end());
            CHECK(labels[i] >= -1 && labels[i] < std::int32_t(n_centres));
            if (labels[i] >= 0) CHECK(squares[std::size_t(labels[i])] <= sorted[0] + 1e-5);
            else CHECK(std::sqrt(sorted[1]) - std::sqrt(sorted[0]) < 1e-2);
        }
    }
}

// What the processor says of itself is what the compiler's own question gives.
void test_processor() {
#if defined(RELIFT_ML_HAS_TARGETS) && !defined(__clang__)
    const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    const bool has_2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const relift::ml::Processor expected = has_512 ? relift::ml::Processor::avx512
                                           : has_2 ? relift::ml::Processor::avx2
                                                   : relift::ml::Processor::plain;
    CHECK(relift::ml::ask_processor() == expected);
#endif
}

int main() {
    test_processor();
    test_kernels();
    test_nearest_centres();
    test_smo();
    test_coordinate_ascent();
    test_pivoted_cholesky();
    test_labels_by_signature();
    std::puts("all passed");
}
