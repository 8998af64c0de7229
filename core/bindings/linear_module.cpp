// The Python module relift._linear_core, against the limited API: coordinate descent for linear models, and
// the duals of nu-machines.
//
// The caller is relift/ml/descent.py, which makes arrays of the right type; sizes are checked again here so that no
// array can crash the process.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdexcept>
#include <string>

#include "relift/linear/descent.hpp"
#include "relift/linear/group_smo.hpp"
#include "relift/python/held_array.hpp"

namespace {

using relift::guarded;
using relift::HeldArray;
using relift::PythonError;
using relift::WithoutLock;
using namespace relift::linear;

class Buffer : public HeldArray {
public:
    using HeldArray::HeldArray;
    double* doubles(const char* name, size_t size) const {
        if (kind() != 'd' || this->size() != size) fail(name);
        return static_cast<double*>(memory());
    }
    const int32_t* integers(const char* name, size_t size) const {
        if (itemsize() != 4 || !holds_integers() || this->size() != size) fail(name);
        return static_cast<const int32_t*>(memory());
    }

private:
    static void fail(const char* name) {
        throw std::invalid_argument(std::string(name) + " has a wrong type or length");
    }
};

PyObject* py_by_matrix(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *G_given, *l1_given, *w_given, *g_given;
        int is_positive;
        double tolerance;
        long long most;
        if (!PyArg_ParseTuple(arguments, "OOpOOdL", &G_given, &l1_given, &is_positive, &w_given, &g_given, &tolerance,
                              &most))
            return nullptr;
        const Buffer G_buffer(G_given), l1_buffer(l1_given), w_buffer(w_given, true), g_buffer(g_given, true);
        const size_t n = w_buffer.size();
        const double *G = G_buffer.doubles("G", n * n), *l1 = l1_buffer.doubles("l1", n);
        double *w = w_buffer.doubles("w", n), *g = g_buffer.doubles("g", n);
        Passes found;
        {
            const WithoutLock unlocked;
            found = by_matrix(G, l1, n, is_positive != 0, w, g, tolerance, most);
        }
        return Py_BuildValue("Ld", static_cast<long long>(found.passes), found.violation);
    });
}

PyObject* py_by_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *starts_given, *rows_given, *values_given, *h_given, *l1_given, *l2_given, *w_given, *r_given;
        int has_intercept, is_positive;
        double tolerance;
        long long most;
        if (!PyArg_ParseTuple(arguments, "OOOOOOppOOdL", &starts_given, &rows_given, &values_given, &h_given, &l1_given,
                              &l2_given, &has_intercept, &is_positive, &w_given, &r_given, &tolerance, &most))
            return nullptr;
        const Buffer starts_buffer(starts_given), rows_buffer(rows_given), values_buffer(values_given),
            h_buffer(h_given), l1_buffer(l1_given), l2_buffer(l2_given), w_buffer(w_given, true),
            r_buffer(r_given, true);
        const size_t n = w_buffer.size(), m = r_buffer.size(), nnz = values_buffer.size();
        const int32_t *starts = starts_buffer.integers("starts", n + 1), *rows = rows_buffer.integers("rows", nnz);
        const double *values = values_buffer.doubles("values", nnz), *h = h_buffer.doubles("h", m);
        const double *l1 = l1_buffer.doubles("l1", n), *l2 = l2_buffer.doubles("l2", n);
        double *w = w_buffer.doubles("w", n), *r = r_buffer.doubles("r", m);
        for (size_t j = 0; j < n; ++j)
            if (starts[j] < 0 || starts[j + 1] < starts[j]) throw std::invalid_argument("starts do not increase");
        if (starts[0] != 0 || size_t(starts[n]) != nnz) throw std::invalid_argument("starts do not fit the values");
        for (size_t k = 0; k < nnz; ++k)
            if (rows[k] < 0 || size_t(rows[k]) >= m) throw std::invalid_argument("a row lies outside of the matrix");
        double intercept = 0;
        Passes found;
        {
            const WithoutLock unlocked;
            found = by_columns(starts, rows, values, n, h, m, l1, l2, has_intercept != 0, is_positive != 0, w, r,
                               &intercept, tolerance, most);
        }
        return Py_BuildValue("Ldd", static_cast<long long>(found.passes), found.violation, intercept);
    });
}

PyObject* py_group_smo(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *K_given, *example_given, *sign_given, *group_given, *u_given, *a_given, *v_given;
        int n_groups;
        double tolerance;
        long long most;
        if (!PyArg_ParseTuple(arguments, "OOOOOiOOdL", &K_given, &example_given, &sign_given, &group_given, &u_given,
                              &n_groups, &a_given, &v_given, &tolerance, &most))
            return nullptr;
        const Buffer K_buffer(K_given), example_buffer(example_given), sign_buffer(sign_given),
            group_buffer(group_given), u_buffer(u_given), a_buffer(a_given, true), v_buffer(v_given, true);
        const size_t n = a_buffer.size();
        size_t n_examples = 0;
        while (n_examples * n_examples < K_buffer.size()) ++n_examples;
        const double *K = K_buffer.doubles("K", n_examples * n_examples), *sign = sign_buffer.doubles("sign", n);
        const int32_t *example = example_buffer.integers("example", n), *group = group_buffer.integers("group", n);
        const double* u = u_buffer.doubles("u", n);
        double *a = a_buffer.doubles("a", n), *v = v_buffer.doubles("v", n);
        for (size_t i = 0; i < n; ++i)
            if (example[i] < 0 || size_t(example[i]) >= n_examples)
                throw std::invalid_argument("an example lies outside of the kernel");
        Steps found;
        {
            const WithoutLock unlocked;
            found = group_smo(K, n_examples, example, sign, group, u, n, n_groups, a, v, tolerance, most);
        }
        return Py_BuildValue("Ld", static_cast<long long>(found.steps), found.violation);
    });
}

PyMethodDef methods[] = {
    {"by_matrix", py_by_matrix, METH_VARARGS,
     "by_matrix(G, l1, is_positive, w, g, tolerance, most): moves w and g = Gw - c; returns passes and violation."},
    {"by_columns", py_by_columns, METH_VARARGS,
     "by_columns(starts, rows, values, h, l1, l2, has_intercept, is_positive, w, r, tolerance, most): moves w and "
     "r = z - Xw; returns passes, violation and the intercept."},
    {"group_smo", py_group_smo, METH_VARARGS,
     "group_smo(K, example, sign, group, u, n_groups, a, v, tolerance, most): moves a and v; returns steps and "
     "violation."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_linear_core", "Coordinate descent for linear models, and the duals of nu-machines.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__linear_core() { return PyModule_Create(&definition); }
