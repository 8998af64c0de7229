// Looks at vectors as callers give them.
#pragma once
#include <algorithm>
#include <cmath>

#include "buffers.hpp"
#include "relift/equal_numbers.hpp"

namespace relift::bindings {

// A vector of doubles, one behind the other, as it may be given or not: nothing is raised.
class GivenDoubles {
public:
    explicit GivenDoubles(PyObject* object) {
        if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) PyErr_Clear();
    }
    ~GivenDoubles() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    GivenDoubles(const GivenDoubles&) = delete;
    GivenDoubles& operator=(const GivenDoubles&) = delete;
    bool are_there() const {
        return view_.obj && view_.ndim == 1 && view_.format && view_.format[0] == 'd' && !view_.format[1];
    }
    size_t size() const { return size_t(view_.len) / sizeof(double); }
    double operator[](size_t k) const { return static_cast<const double*>(view_.buf)[k]; }
    bool are_finite() const {
        const double* values = static_cast<const double*>(view_.buf);
        return std::all_of(values, values + size(), [](double value) { return std::isfinite(value); });
    }

private:
    Py_buffer view_{};
};

inline PyObject* py_are_finite(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        for (Py_ssize_t k = 0; k < PyTuple_Size(arguments); ++k) {
            const GivenDoubles vector(PyTuple_GetItem(arguments, k));
            if (!vector.are_there()) Py_RETURN_NONE;
            if (!vector.are_finite()) Py_RETURN_FALSE;
        }
        Py_RETURN_TRUE;
    });
}

inline PyObject* py_largest(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        double most = 0;
        for (Py_ssize_t k = 0; k < PyTuple_Size(arguments); ++k) {
            const GivenDoubles vector(PyTuple_GetItem(arguments, k));
            if (!vector.are_there()) Py_RETURN_NONE;
            for (size_t i = 0; i < vector.size(); ++i) {
                const double size = std::fabs(vector[i]);
                if (!(size <= most)) most = size;  // what is no number stays until the end
                if (most != most) return PyFloat_FromDouble(most);
            }
        }
        return PyFloat_FromDouble(most);
    });
}

inline PyObject* py_extremes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        double least = HUGE_VAL, most = 0;
        for (Py_ssize_t k = 0; k < PyTuple_Size(arguments); ++k) {
            const GivenDoubles vector(PyTuple_GetItem(arguments, k));
            if (!vector.are_there()) Py_RETURN_NONE;
            for (size_t i = 0; i < vector.size(); ++i) {
                const double size = std::fabs(vector[i]);
                if (size > 0 && size < least) least = size;
                if (size > most && std::isfinite(size)) most = size;
            }
        }
        return Py_BuildValue("dd", least, most);
    });
}

inline PyObject* py_are_one_number(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        int by_bits;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OpI", &given, &by_bits, &n_threads)) return nullptr;
        const Buffer vector(given);
        const size_t n = vector.size();
        const double* values = vector.doubles("vector", n);
        bool are_one;
        {
            const WithoutLock unlocked;
            are_one = by_bits ? are_same(values, n, n_threads) : are_equal(values, n, n_threads);
        }
        return PyBool_FromLong(are_one);
    });
}

inline PyObject* py_fit(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *vectors, *sizes, *kind;
        int are_finite;
        if (!PyArg_ParseTuple(arguments, "O!O!Op", &PyTuple_Type, &vectors, &PyTuple_Type, &sizes, &kind, &are_finite))
            return nullptr;
        if (PyTuple_Size(vectors) != PyTuple_Size(sizes)) throw std::invalid_argument("each vector has a size");
        for (Py_ssize_t k = 0; k < PyTuple_Size(vectors); ++k) {
            PyObject* given = PyTuple_GetItem(vectors, k);
            if (given == Py_None) continue;
            const size_t size = PyLong_AsSize_t(PyTuple_GetItem(sizes, k));
            if (PyErr_Occurred()) return nullptr;
            if (reinterpret_cast<PyObject*>(Py_TYPE(given)) != kind) Py_RETURN_FALSE;  // a masked array is no vector
            const GivenDoubles vector(given);
            if (!vector.are_there() || vector.size() != size) Py_RETURN_FALSE;
            if (are_finite && !vector.are_finite()) Py_RETURN_FALSE;
        }
        Py_RETURN_TRUE;
    });
}

inline const PyMethodDef methods_of_vectors[] = {
    {"are_finite", py_are_finite, METH_VARARGS,
     "are_finite(*vectors): whether all entries are finite numbers; None if some vector is not one of doubles."},
    {"are_one_number", py_are_one_number, METH_VARARGS,
     "are_one_number(vector, by_bits, threads): whether all equal the first one, or are it to the last bit."},
    {"largest", py_largest, METH_VARARGS,
     "largest(*vectors): the largest absolute value, 0 of none and NaN if there is one; None if some vector is not one of "
     "doubles."},
    {"extremes", py_extremes, METH_VARARGS,
     "extremes(*vectors): the least absolute value that is not 0, and the largest that is finite; None as above."},
    {"fit", py_fit, METH_VARARGS,
     "fit(vectors, sizes, kind, are_finite): whether each is None, or an array of that kind with as many doubles, of finite "
     "ones if asked."},
};

}  // namespace relift::bindings
