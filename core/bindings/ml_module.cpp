// The Python module relift._ml_core, against the limited API: arrays come and go by the buffer protocol, uncopied.
//
// Callers are the modules of relift/ml, which check shapes and types for people; here they are checked again so that
// no array can crash the process.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "relift/ml/label_pairs.hpp"
#include "relift/ml/targets.hpp"
#include "relift/python/held_array.hpp"

namespace {

using relift::guarded;
using relift::HeldArray;
using relift::PythonError;
using relift::WithoutLock;
using namespace relift::ml;

class Buffer : public HeldArray {
public:
    using HeldArray::HeldArray;
    bool holds(char letter) const {
        return letter == 'i' ? itemsize() == 4 && holds_integers() : kind() == letter;
    }
    template <class T> T* elements(char letter, const char* name, std::size_t size) const {
        if (!holds(letter) || this->size() != size)
            throw std::invalid_argument(std::string(name) + " has a wrong type or length");
        return static_cast<T*>(memory());
    }
};

PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}

Kernel kernel_from(int kind, double gamma, double coef0, int degree) {
    if (kind < 0 || kind > 3) throw std::invalid_argument("the kernel is not known");
    return {KernelKind(kind), gamma, coef0, degree};
}

template <class Real>
void kernel_sums_with(char letter, const Buffer& x, const Buffer& s, const double* weights, const Kernel& kernel,
                      double* out) {
    const std::size_t n = x.rows(), m = s.rows(), d = x.columns();
    const Real* points = x.elements<Real>(letter, "X", n * d);
    const Real* others = s.elements<Real>(letter, "S", m * d);
    const WithoutLock unlocked;
    const PointsBy<Real> by_feature(others, m, d);
    std::vector<double> padded(by_feature.stride(), 0.0);
    std::copy_n(weights, m, padded.begin());
    RELIFT_ML_CALL(kernel_sums<Real>(points, n, d, by_feature, padded.data(), kernel, out));
}

PyObject* py_kernel_sums(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *s_given, *weights_given, *sums_given;
        int kind, degree;
        double gamma, coef0;
        if (!PyArg_ParseTuple(arguments, "OOOiddiO", &x_given, &s_given, &weights_given, &kind, &gamma, &coef0,
                              &degree, &sums_given))
            return nullptr;
        const Buffer x(x_given), s(s_given), weights(weights_given), sums(sums_given, true);
        const std::size_t n = x.rows(), m = s.rows(), d = x.columns();
        if (s.columns() != d || d == 0) throw std::invalid_argument("the points have different features");
        const double* given = weights.elements<double>('d', "weights", m);
        double* out = sums.elements<double>('d', "out", n);
        const Kernel kernel = kernel_from(kind, gamma, coef0, degree);
        if (x.holds('f'))
            kernel_sums_with<float>('f', x, s, given, kernel, out);
        else
            kernel_sums_with<double>('d', x, s, given, kernel, out);
        return none();
    });
}

template <class Real>
void kernel_values_with(char letter, const Buffer& x, const Buffer& s, const Kernel& kernel, const Buffer& values) {
    const std::size_t n = x.rows(), m = s.rows(), d = x.columns();
    const Real* points = x.elements<Real>(letter, "X", n * d);
    const Real* others = s.elements<Real>(letter, "S", m * d);
    Real* out = values.elements<Real>(letter, "out", n * m);
    const WithoutLock unlocked;
    RELIFT_ML_CALL(kernel_values<Real>(points, n, d, PointsBy<Real>(others, m, d), kernel, out));
}

PyObject* py_kernel_values(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *s_given, *out_given;
        int kind, degree;
        double gamma, coef0;
        if (!PyArg_ParseTuple(arguments, "OOiddiO", &x_given, &s_given, &kind, &gamma, &coef0, &degree, &out_given))
            return nullptr;
        const Buffer x(x_given), s(s_given), values(out_given, true);
        if (s.columns() != x.columns() || x.columns() == 0)
            throw std::invalid_argument("the points have different features");
        const Kernel kernel = kernel_from(kind, gamma, coef0, degree);
        if (x.holds('f'))
            kernel_values_with<float>('f', x, s, kernel, values);
        else
            kernel_values_with<double>('d', x, s, kernel, values);
        return none();
    });
}

PyObject* py_class_sums(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *s_given, *weights_given, *labels_given, *out_given;
        int kind, degree;
        double gamma, coef0;
        if (!PyArg_ParseTuple(arguments, "OOOOiddiO", &x_given, &s_given, &weights_given, &labels_given, &kind,
                              &gamma, &coef0, &degree, &out_given))
            return nullptr;
        const Buffer x(x_given), s(s_given), weights(weights_given), labels(labels_given), sums(out_given, true);
        const std::size_t n = x.rows(), m = s.rows(), d = x.columns(), k = sums.rows();
        if (s.columns() != d || d == 0) throw std::invalid_argument("the points have different features");
        const float* points = x.elements<float>('f', "X", n * d);
        const float* others = s.elements<float>('f', "S", m * d);
        const double* weight = weights.elements<double>('d', "weights", n);
        const std::int32_t* label = labels.elements<std::int32_t>('i', "labels", n);
        double* out = sums.elements<double>('d', "out", k * m);
        for (std::size_t i = 0; i < n; ++i)
            if (label[i] < 0 || std::size_t(label[i]) >= k) throw std::invalid_argument("a label is out of range");
        const Kernel kernel = kernel_from(kind, gamma, coef0, degree);
        const WithoutLock unlocked;
        const PointsByFeature by_feature(others, m, d);
        std::vector<double> padded(k * by_feature.stride(), 0.0);
        RELIFT_ML_CALL(class_sums(points, n, d, by_feature, weight, label, kernel, padded.data()));
        for (std::size_t c = 0; c < k; ++c)
            std::copy_n(&padded[c * by_feature.stride()], m, out + c * m);
        return none();
    });
}

template <class Real>
SmoResult smo_with(char kind, const Buffer& K, const Buffer& lo, const Buffer& hi, const Buffer& beta, const Buffer& v,
                   double tolerance, long long most_steps) {
    const std::size_t n = beta.size();
    const Real* matrix = K.elements<Real>(kind, "K", n * n);
    const Real *low = lo.elements<Real>(kind, "lo", n), *high = hi.elements<Real>(kind, "hi", n);
    Real *point = beta.elements<Real>(kind, "beta", n), *values = v.elements<Real>(kind, "v", n);
    const WithoutLock unlocked;
    return RELIFT_ML_CALL(smo<Real>(matrix, n, low, high, point, values, tolerance, most_steps));
}

PyObject* py_smo(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *K_given, *lo_given, *hi_given, *beta_given, *v_given;
        double tolerance;
        long long most_steps;
        if (!PyArg_ParseTuple(arguments, "OOOOOdL", &K_given, &lo_given, &hi_given, &beta_given, &v_given,
                              &tolerance, &most_steps))
            return nullptr;
        const Buffer K(K_given), lo(lo_given), hi(hi_given), beta(beta_given, true), v(v_given, true);
        const SmoResult result = K.holds('f') ? smo_with<float>('f', K, lo, hi, beta, v, tolerance, most_steps)
                                              : smo_with<double>('d', K, lo, hi, beta, v, tolerance, most_steps);
        return Py_BuildValue("Ld", (long long)result.steps, result.violation);
    });
}

PyObject* py_nearest(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *centres_given, *labels_given, *squares_given;
        if (!PyArg_ParseTuple(arguments, "OOOO", &x_given, &centres_given, &labels_given, &squares_given))
            return nullptr;
        const Buffer x(x_given), centres(centres_given), labels(labels_given, true), squares(squares_given, true);
        const std::size_t n = x.rows(), k = centres.rows(), d = x.columns();
        if (centres.columns() != d || d == 0 || k == 0)
            throw std::invalid_argument("the points have different features");
        const float* points = x.elements<float>('f', "X", n * d);
        const float* others = centres.elements<float>('f', "centres", k * d);
        std::int32_t* to = labels.elements<std::int32_t>('i', "labels", n);
        float* squared = squares.elements<float>('f', "squares", n);
        const WithoutLock unlocked;
        RELIFT_ML_CALL(nearest_centres(points, n, d, PointsByFeature(others, k, d), to, squared));
        return none();
    });
}

PyObject* py_lloyd(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *centres_given;
        int rounds;
        if (!PyArg_ParseTuple(arguments, "OOi", &x_given, &centres_given, &rounds)) return nullptr;
        const Buffer x(x_given), centres(centres_given, true);
        const std::size_t n = x.rows(), k = centres.rows(), d = x.columns();
        if (centres.columns() != d || d == 0 || k == 0)
            throw std::invalid_argument("the points have different features");
        const float* points = x.elements<float>('f', "X", n * d);
        float* improved = centres.elements<float>('f', "centres", k * d);
        const WithoutLock unlocked;
        RELIFT_ML_CALL(lloyd(points, n, d, improved, k, rounds));
        return none();
    });
}

template <class Real>
SmoResult ascend_with(char kind, const Buffer& Z, const Buffer& extra, const Buffer& c, const Buffer& lo,
                      const Buffer& hi, const Buffer& order, const Buffer& beta, const Buffer& w, double tolerance,
                      long long most_passes, unsigned long long seed) {
    const std::size_t n = Z.rows(), stride = Z.columns(), n_moving = order.size();
    if (stride == 0 || stride % lane_count) throw std::invalid_argument("Z does not have whole lanes");
    const Real* rows = Z.elements<Real>(kind, "Z", n * stride);
    const Real *more = extra.elements<Real>(kind, "extra", n), *linear = c.elements<Real>(kind, "c", n);
    const Real *low = lo.elements<Real>(kind, "lo", n), *high = hi.elements<Real>(kind, "hi", n);
    Real *point = beta.elements<Real>(kind, "beta", n), *normal = w.elements<Real>(kind, "w", stride);
    std::int32_t* moving = order.elements<std::int32_t>('i', "order", n_moving);
    for (std::size_t at = 0; at < n_moving; ++at)
        if (moving[at] < 0 || std::size_t(moving[at]) >= n) throw std::invalid_argument("order leaves the range");
    const WithoutLock unlocked;
    return RELIFT_ML_CALL(coordinate_ascent<Real>(rows, stride, more, linear, low, high, moving, n_moving, point,
                                                  normal, tolerance, most_passes, seed));
}

PyObject* py_coordinate_ascent(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *Z_given, *extra_given, *c_given, *lo_given, *hi_given, *order_given, *beta_given, *w_given;
        double tolerance;
        long long most_passes;
        unsigned long long seed;
        if (!PyArg_ParseTuple(arguments, "OOOOOOOOdLK", &Z_given, &extra_given, &c_given, &lo_given, &hi_given,
                              &order_given, &beta_given, &w_given, &tolerance, &most_passes, &seed))
            return nullptr;
        const Buffer Z(Z_given), extra(extra_given), c(c_given), lo(lo_given), hi(hi_given), order(order_given);
        const Buffer beta(beta_given, true), w(w_given, true);
        const SmoResult result =
            Z.holds('f') ? ascend_with<float>('f', Z, extra, c, lo, hi, order, beta, w, tolerance, most_passes, seed)
                         : ascend_with<double>('d', Z, extra, c, lo, hi, order, beta, w, tolerance, most_passes, seed);
        return Py_BuildValue("Ld", (long long)result.steps, result.violation);
    });
}

PyObject* py_pivoted_cholesky(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *K_given, *pivots_given, *factor_given;
        double tolerance;
        if (!PyArg_ParseTuple(arguments, "OdOO", &K_given, &tolerance, &pivots_given, &factor_given)) return nullptr;
        const Buffer K(K_given), pivots(pivots_given, true), factor(factor_given, true);
        const std::size_t size = K.rows(), most = pivots.size();
        if (most > size) throw std::invalid_argument("there are more pivots than rows");
        const double* matrix = K.elements<double>('d', "K", size * size);
        std::int32_t* chosen = pivots.elements<std::int32_t>('i', "pivots", most);
        double* columns = factor.elements<double>('d', "factor", most * size);
        std::size_t rank;
        {
            const WithoutLock unlocked;
            rank = RELIFT_ML_CALL(pivoted_cholesky(matrix, size, most, tolerance, chosen, columns));
        }
        return PyLong_FromSize_t(rank);
    });
}

PyObject* py_label_by_signature(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *anchors_given, *centres_given, *labels_given;
        if (!PyArg_ParseTuple(arguments, "OOOO", &x_given, &anchors_given, &centres_given, &labels_given))
            return nullptr;
        const Buffer x(x_given), anchors(anchors_given), centres(centres_given), labels(labels_given, true);
        const std::size_t n = x.rows(), d = x.columns(), m = anchors.rows(), k = centres.rows();
        if (anchors.columns() != d || d == 0 || k == 0 || m == 0 || n >= (std::size_t(1) << 32))
            throw std::invalid_argument("points, anchors and centres do not fit together");
        const float* points = x.elements<float>('f', "X", n * d);
        const float* others = anchors.elements<float>('f', "anchors", m * d);
        const double* means = centres.elements<double>('d', "centres", k * m);
        std::int32_t* to = labels.elements<std::int32_t>('i', "labels", n);
        for (std::size_t i = 0; i < n * d; ++i)
            if (!(std::abs(points[i]) <= 1e15f)) throw std::invalid_argument("a point is infinite, huge or not a number");
        std::int64_t n_signatures;
        {
            const WithoutLock unlocked;
            n_signatures = RELIFT_ML_CALL(label_by_signature(points, n, d, others, m, means, k, to));
        }
        return PyLong_FromLongLong((long long)n_signatures);
    });
}

// ---- duals that are solved with cached kernel rows ----

// What a capsule holds: the machine, and the Python arrays that it reads.
struct HeldMachine {
    std::vector<std::unique_ptr<Buffer>> arrays;
    PyObject* kept = nullptr;  // a function, or the capsule of the labels
    std::unique_ptr<DualMachine> machine;
    std::unique_ptr<PairsOfLabels> labels;
    std::size_t n_labels = 0;
    std::vector<std::size_t> begin;  // of each label
    bool is_busy = false;
    ~HeldMachine() {
        machine.reset();
        labels.reset();
        Py_XDECREF(kept);
    }
};

constexpr char machine_name[] = "relift.ml.machine";

void destroy_machine(PyObject* capsule) {
    delete static_cast<HeldMachine*>(PyCapsule_GetPointer(capsule, machine_name));
}

PyObject* capsule_of(std::unique_ptr<HeldMachine> held) {
    PyObject* capsule = PyCapsule_New(held.get(), machine_name, destroy_machine);
    if (capsule) held.release();
    return capsule;
}

HeldMachine& held_by(PyObject* capsule) {
    auto* held = static_cast<HeldMachine*>(PyCapsule_GetPointer(capsule, machine_name));
    if (!held) throw PythonError();
    return *held;
}

PyObject* py_point_machine(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* x_given;
        int kind, degree, is_kept;
        double gamma, coef0;
        Py_ssize_t most_bytes;
        if (!PyArg_ParseTuple(arguments, "Oiddinp", &x_given, &kind, &gamma, &coef0, &degree, &most_bytes, &is_kept))
            return nullptr;
        auto held = std::make_unique<HeldMachine>();
        held->arrays.push_back(std::make_unique<Buffer>(x_given));
        const Buffer& x = *held->arrays.back();
        const std::size_t n = x.rows(), d = x.columns(), bytes = std::size_t(most_bytes);
        if (d == 0) throw std::invalid_argument("the points have no features");
        const Kernel kernel = kernel_from(kind, gamma, coef0, degree);
        if (x.holds('f')) {
            const float* points = x.elements<float>('f', "X", n * d);
            held->machine = is_kept ? RELIFT_ML_CALL(machine_of_kept_points<float>(points, n, d, kernel, bytes))
                                    : RELIFT_ML_CALL(machine_of_points<float>(points, n, d, kernel, bytes));
        } else {
            const double* points = x.elements<double>('d', "X", n * d);
            held->machine = is_kept ? RELIFT_ML_CALL(machine_of_kept_points<double>(points, n, d, kernel, bytes))
                                    : RELIFT_ML_CALL(machine_of_points<double>(points, n, d, kernel, bytes));
        }
        return capsule_of(std::move(held));
    });
}

PyObject* py_matrix_machine(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *K_given, *members_given;
        Py_ssize_t most_bytes;
        if (!PyArg_ParseTuple(arguments, "OOn", &K_given, &members_given, &most_bytes)) return nullptr;
        auto held = std::make_unique<HeldMachine>();
        held->arrays.push_back(std::make_unique<Buffer>(K_given));
        const Buffer& K = *held->arrays.back();
        const std::size_t n = K.rows(), bytes = std::size_t(most_bytes);
        if (K.columns() != n) throw std::invalid_argument("the kernel matrix is not square");
        const Buffer chosen(members_given);
        const std::int32_t* numbers = chosen.elements<std::int32_t>('i', "members", chosen.size());
        std::vector<std::uint32_t> members(chosen.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (numbers[i] < 0 || std::size_t(numbers[i]) >= n) throw std::invalid_argument("a member is out of range");
            members[i] = std::uint32_t(numbers[i]);
        }
        if (K.holds('f'))
            held->machine =
                RELIFT_ML_CALL(machine_of_matrix<float>(K.elements<float>('f', "K", n * n), n, members, bytes));
        else
            held->machine =
                RELIFT_ML_CALL(machine_of_matrix<double>(K.elements<double>('d', "K", n * n), n, members, bytes));
        return capsule_of(std::move(held));
    });
}

PyObject* py_sparse_machine(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *values_given, *features_given, *begin_given;
        int kind, degree;
        double gamma, coef0;
        Py_ssize_t n_features, most_bytes;
        if (!PyArg_ParseTuple(arguments, "OOOniddin", &values_given, &features_given, &begin_given, &n_features, &kind,
                              &gamma, &coef0, &degree, &most_bytes))
            return nullptr;
        auto held = std::make_unique<HeldMachine>();
        for (PyObject* given : {values_given, features_given, begin_given})
            held->arrays.push_back(std::make_unique<Buffer>(given));
        const std::size_t n_values = held->arrays[0]->size(), n = held->arrays[2]->size() - 1;
        const double* values = held->arrays[0]->elements<double>('d', "data", n_values);
        const std::int32_t* features = held->arrays[1]->elements<std::int32_t>('i', "indices", n_values);
        const std::int32_t* begin = held->arrays[2]->elements<std::int32_t>('i', "indptr", n + 1);
        for (std::size_t i = 0; i < n; ++i)
            if (begin[i] < 0 || begin[i] > begin[i + 1]) throw std::invalid_argument("indptr is not ascending");
        if (std::size_t(begin[n]) != n_values) throw std::invalid_argument("indptr does not end at the last value");
        for (std::size_t at = 0; at < n_values; ++at)
            if (features[at] < 0 || features[at] >= n_features) throw std::invalid_argument("an index is out of range");
        held->machine = RELIFT_ML_CALL(machine_of_sparse<float>(values, features, begin, n, std::size_t(n_features),
                                                                kernel_from(kind, gamma, coef0, degree),
                                                                std::size_t(most_bytes)));
        return capsule_of(std::move(held));
    });
}

// Holds the lock while a Python function runs inside a solve.
class WithLock {
public:
    WithLock() : state_(PyGILState_Ensure()) {}
    ~WithLock() { PyGILState_Release(state_); }

private:
    PyGILState_STATE state_;
};

PyObject* py_function_machine(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *diagonal_given, *function;
        Py_ssize_t most_bytes;
        if (!PyArg_ParseTuple(arguments, "OOn", &diagonal_given, &function, &most_bytes)) return nullptr;
        auto held = std::make_unique<HeldMachine>();
        const Buffer diagonal(diagonal_given);
        const std::size_t n = diagonal.size();
        const double* values = diagonal.elements<double>('d', "diagonal", n);
        Py_INCREF(function);
        held->kept = function;
        auto work = [function](std::size_t i, const std::uint32_t* columns, std::size_t count, double* out) {
            const WithLock locked;
            PyObject* wanted = PyMemoryView_FromMemory(reinterpret_cast<char*>(const_cast<std::uint32_t*>(columns)),
                                                       Py_ssize_t(count * sizeof(std::uint32_t)), PyBUF_READ);
            PyObject* room = PyMemoryView_FromMemory(reinterpret_cast<char*>(out),
                                                     Py_ssize_t(count * sizeof(double)), PyBUF_WRITE);
            PyObject* answer = wanted && room ? PyObject_CallFunction(function, "nOO", Py_ssize_t(i), wanted, room)
                                              : nullptr;
            Py_XDECREF(wanted);
            Py_XDECREF(room);
            if (!answer) throw PythonError();
            Py_DECREF(answer);
        };
        held->machine = RELIFT_ML_CALL(machine_of_function<double>(n, std::vector<double>(values, values + n), work,
                                                                   std::size_t(most_bytes)));
        return capsule_of(std::move(held));
    });
}

PyObject* py_label_machines(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *x_given, *begin_given;
        int kind, degree;
        double gamma, coef0;
        Py_ssize_t most_bytes;
        if (!PyArg_ParseTuple(arguments, "OOiddin", &x_given, &begin_given, &kind, &gamma, &coef0, &degree,
                              &most_bytes))
            return nullptr;
        auto held = std::make_unique<HeldMachine>();
        held->arrays.push_back(std::make_unique<Buffer>(x_given));
        const Buffer& x = *held->arrays.back();
        const Buffer begin(begin_given);
        const std::size_t n = x.rows(), d = x.columns(), bytes = std::size_t(most_bytes);
        if (d == 0) throw std::invalid_argument("the points have no features");
        const std::int32_t* starts = begin.elements<std::int32_t>('i', "begin", begin.size());
        std::vector<std::size_t> from(starts, starts + begin.size());
        if (from.size() < 2 || from.front() != 0 || from.back() != n || !std::is_sorted(from.begin(), from.end()))
            throw std::invalid_argument("begin does not part the points");
        held->n_labels = from.size() - 1;
        held->begin = from;
        const Kernel kernel = kernel_from(kind, gamma, coef0, degree);
        if (x.holds('f'))
            held->labels = RELIFT_ML_CALL(shared_labels<float>(x.elements<float>('f', "X", n * d), d, from, kernel, bytes));
        else
            held->labels =
                RELIFT_ML_CALL(shared_labels<double>(x.elements<double>('d', "X", n * d), d, from, kernel, bytes));
        return capsule_of(std::move(held));
    });
}

PyObject* py_pair_machine(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* capsule;
        Py_ssize_t first, second, most_bytes;
        if (!PyArg_ParseTuple(arguments, "Onnn", &capsule, &first, &second, &most_bytes)) return nullptr;
        HeldMachine& labels = held_by(capsule);
        const auto count = Py_ssize_t(labels.n_labels);
        if (!labels.labels || first < 0 || second < 0 || first >= count || second >= count || first == second)
            throw std::invalid_argument("this pair of labels is not there");
        auto held = std::make_unique<HeldMachine>();
        Py_INCREF(capsule);
        held->kept = capsule;
        held->machine = labels.labels->machine(std::size_t(first), std::size_t(second), std::size_t(most_bytes));
        return capsule_of(std::move(held));
    });
}

PyObject* py_solve_pairs(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *total_given, *coefficients_given, *outcomes_given;
        double tol_gap, enough, tolerance, most_seconds;
        long long most_steps;
        Py_ssize_t most_bytes;
        if (!PyArg_ParseTuple(arguments, "OOdddLdnOO", &capsule, &total_given, &tol_gap, &enough, &tolerance,
                              &most_steps, &most_seconds, &most_bytes, &coefficients_given, &outcomes_given))
            return nullptr;
        HeldMachine& held = held_by(capsule);
        if (!held.labels) throw std::invalid_argument("these are not labels");
        if (held.is_busy) throw std::invalid_argument("this machine is solving already");
        const std::size_t n = held.begin.back(), n_pairs = held.n_labels * (held.n_labels - 1) / 2;
        constexpr std::size_t width = 10;
        const Buffer total(total_given), coefficients(coefficients_given, true), outcomes(outcomes_given, true);
        const double* bounds = total.elements<double>('d', "total", n);
        double* out = coefficients.elements<double>('d', "coefficients", held.n_labels * n);
        double* told = outcomes.elements<double>('d', "outcomes", n_pairs * width);
        bool is_error = false;
        const DualLimits limits{tol_gap, enough, tolerance, most_steps, most_seconds, [&is_error]() {
                                    const WithLock locked;
                                    is_error = PyErr_CheckSignals() != 0;
                                    return is_error;
                                }};
        std::vector<relift::ml::PairOutcome> found;
        held.is_busy = true;
        try {
            const WithoutLock unlocked;
            found = relift::ml::solve_pairs(*held.labels, held.begin, bounds, limits, std::size_t(most_bytes), out);
        } catch (...) {
            held.is_busy = false;
            throw;
        }
        held.is_busy = false;
        if (is_error) throw PythonError();
        for (std::size_t pair = 0; pair < found.size(); ++pair) {
            const DualOutcome& outcome = found[pair].outcome;
            const double line[width] = {double(int(outcome.status)), double(outcome.steps),
                                        double(outcome.kernel_values), outcome.gap, outcome.bias, outcome.dual_value,
                                        outcome.total, outcome.violation, outcome.scale, found[pair].seconds};
            std::copy_n(line, width, told + pair * width);
        }
        Py_RETURN_NONE;
    });
}

PyObject* py_solve_dual(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *c_given, *lo_given, *hi_given, *beta_given, *v_given;
        double epsilon, tol_gap, enough, tolerance, most_seconds;
        int is_v_given;
        long long most_steps;
        if (!PyArg_ParseTuple(arguments, "OOOOdOOpdddLd", &capsule, &c_given, &lo_given, &hi_given, &epsilon,
                              &beta_given, &v_given, &is_v_given, &tol_gap, &enough, &tolerance, &most_steps,
                              &most_seconds))
            return nullptr;
        HeldMachine& held = held_by(capsule);
        if (!held.machine) throw std::invalid_argument("this is not a machine");
        if (held.is_busy) throw std::invalid_argument("this machine is solving already");
        const std::size_t n = held.machine->size();
        const Buffer c(c_given), lo(lo_given), hi(hi_given), beta(beta_given, true), v(v_given, true);
        const relift::ml::DualProblem problem{c.elements<double>('d', "c", n), lo.elements<double>('d', "lo", n),
                                              hi.elements<double>('d', "hi", n), epsilon};
        double *point = beta.elements<double>('d', "beta", n), *values = v.elements<double>('d', "v", n);
        bool is_error = false;
        DualLimits limits{tol_gap, enough, tolerance, most_steps, most_seconds, [&is_error]() {
                              const WithLock locked;
                              is_error = PyErr_CheckSignals() != 0;
                              return is_error;
                          }};
        DualOutcome outcome;
        held.is_busy = true;
        try {
            const WithoutLock unlocked;
            outcome = held.machine->solve(problem, point, values, is_v_given != 0, limits);
        } catch (...) {
            held.is_busy = false;
            throw;
        }
        held.is_busy = false;
        if (is_error) throw PythonError();
        return Py_BuildValue("iLKdddddd", int(outcome.status), (long long)outcome.steps,
                             (unsigned long long)outcome.kernel_values, outcome.gap, outcome.bias, outcome.dual_value,
                             outcome.total, outcome.violation, outcome.scale);
    });
}

PyMethodDef methods[] = {
    {"kernel_sums", py_kernel_sums, METH_VARARGS,
     "kernel_sums(X, S, weights, kind, gamma, coef0, degree, out): out[i] = sum_j weights[j] k(x_i, s_j)."},
    {"kernel_values", py_kernel_values, METH_VARARGS,
     "kernel_values(X, S, kind, gamma, coef0, degree, out): out[i, j] = k(x_i, s_j)."},
    {"class_sums", py_class_sums, METH_VARARGS,
     "class_sums(X, S, weights, labels, kind, gamma, coef0, degree, out): out[c, j] = the sum of weights[i] "
     "k(x_i, s_j) over the points i with label c."},
    {"smo", py_smo, METH_VARARGS,
     "smo(K, lo, hi, beta, v, tolerance, most_steps): improves beta and v in place; returns (steps, violation)."},
    {"point_machine", py_point_machine, METH_VARARGS,
     "point_machine(X, kind, gamma, coef0, degree, most_bytes, keeps_rows): a machine over dense points."},
    {"matrix_machine", py_matrix_machine, METH_VARARGS, 
     "matrix_machine(K, members, most_bytes): a machine over some rows and columns of a matrix."},
    {"sparse_machine", py_sparse_machine, METH_VARARGS,
     "sparse_machine(data, indices, indptr, n_features, kind, gamma, coef0, degree, most_bytes): over sparse points."},
    {"function_machine", py_function_machine, METH_VARARGS,
     "function_machine(diagonal, function, most_bytes): rows by function(i, columns, out), both memory views."},
    {"label_machines", py_label_machines, METH_VARARGS,
     "label_machines(X, begin, kind, gamma, coef0, degree, most_bytes): points of several labels, sorted by label."},
    {"pair_machine", py_pair_machine, METH_VARARGS,
     "pair_machine(labels, first, second, most_bytes): a machine over the points of two of them."},
    {"solve_pairs", py_solve_pairs, METH_VARARGS,
     "solve_pairs(labels, total, tol_gap, enough, tolerance, most_steps, most_seconds, most_bytes, coefficients, "
     "outcomes): the machines of all pairs; a line of outcomes is what solve_dual returns, and seconds."},
    {"solve_dual", py_solve_dual, METH_VARARGS,
     "solve_dual(machine, c, lo, hi, epsilon, beta, v, is_v_given, tol_gap, enough, tolerance, most_steps, "
     "most_seconds): "
     "improves beta and v in place; returns (status, steps, kernel values, gap, bias, dual value, primal - dual, "
     "violation, scale)."},
    {"nearest", py_nearest, METH_VARARGS,
     "nearest(X, centres, labels, squares): the nearest centre of each point and the squared distance to it."},
    {"lloyd", py_lloyd, METH_VARARGS, "lloyd(X, centres, rounds): improves the centres in place."},
    {"coordinate_ascent", py_coordinate_ascent, METH_VARARGS,
     "coordinate_ascent(Z, extra, c, lo, hi, order, beta, w, tolerance, most_passes, seed): improves beta and "
     "w = Z'beta in place; returns (passes, largest push left)."},
    {"pivoted_cholesky", py_pivoted_cholesky, METH_VARARGS,
     "pivoted_cholesky(K, tolerance, pivots, factor): factor[k, i] = L[i, k]; returns how many columns were made."},
    {"label_by_signature", py_label_by_signature, METH_VARARGS,
     "label_by_signature(X, anchors, centres, labels): the nearest centre of each point's signature, -1 where "
     "rounding could decide; returns how many signatures were taken."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_ml_core", "Kernels, SMO, k-means and signatures of points.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__ml_core() { return PyModule_Create(&definition); }
