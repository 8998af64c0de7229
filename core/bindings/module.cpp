// The Python module relift._core, against the limited API: arrays come and go by the buffer protocol, uncopied.
//
// Callers are relift/symmetry/field.py and colour_refinement.py, which check shapes and types for people; here they
// are checked again so that no array can crash the process.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

#include "relift/factor/fill.hpp"
#include "relift/refine.hpp"

namespace {

using namespace relift;

// A Python error has been set: unwinds to the entry of the function.
struct PythonError {};

// A one-dimensional contiguous array of the kinds that struct formats name.
class Buffer {
public:
    Buffer(PyObject* object, bool writable = false) {
        if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
            throw PythonError();
    }
    ~Buffer() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    Buffer(Buffer&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    u64 size() const { return view_.itemsize ? u64(view_.len / view_.itemsize) : 0; }

    // Whether the elements are floats, or integers of a signedness, of so many bytes.
    bool holds(char kind, Py_ssize_t bytes) const {
        const char* format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        const std::string signed_kinds = "bhilqn", unsigned_kinds = "BHILQN";
        const std::string& kinds = kind == 'i' ? signed_kinds : unsigned_kinds;
        const bool right = kind == 'f' ? *format == 'd' : kinds.find(*format) != std::string::npos;
        return right && format[0] && !format[1] && view_.itemsize == bytes;
    }
    template <class T> T* elements(char kind, const char* name, u64 size) const {
        if (!holds(kind, sizeof(T)) || this->size() != size)
            throw std::invalid_argument(std::string(name) + " has a wrong type or length");
        return static_cast<T*>(view_.buf);
    }

private:
    Py_buffer view_{};
};

// Runs work and turns C++ exceptions into Python ones.
template <class Work>
PyObject* guarded(Work&& work) {
    try {
        return work();
    } catch (const PythonError&) {
    } catch (const Interrupted&) {  // the error was set where the caller was asked
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::length_error&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    }
    return nullptr;
}

// Lets other Python threads run while C++ works.
template <class Work> auto without_lock(Work&& work) {
    struct Lock {
        PyThreadState* thread = PyEval_SaveThread();
        ~Lock() { PyEval_RestoreThread(thread); }
    } lock;
    return work();
}

PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject* images(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *values_given, *words_given;
        int decimal;
        if (!PyArg_ParseTuple(arguments, "OpO", &values_given, &decimal, &words_given)) return nullptr;
        const Buffer values(values_given), words(words_given, true);
        const double* from = values.elements<double>('f', "values", values.size());
        u64* to = words.elements<u64>('u', "out", values.size());
        ValueReader image(decimal ? Reading::decimal : Reading::bits);
        for (u64 i = 0; i < values.size(); ++i) to[i] = image(from[i]);
        return none();
    });
}

PyObject* multiply(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *left_given, *right_given, *product_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &left_given, &right_given, &product_given)) return nullptr;
        const Buffer left(left_given), right(right_given), product(product_given, true);
        const u64* a = left.elements<u64>('u', "left", left.size());
        const u64* b = right.elements<u64>('u', "right", left.size());
        u64* to = product.elements<u64>('u', "out", left.size());
        for (u64 i = 0; i < left.size(); ++i) to[i] = field_multiply(field_reduce(a[i]), field_reduce(b[i]));
        return none();
    });
}

PyObject* inverse(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *values_given, *inverses_given;
        if (!PyArg_ParseTuple(arguments, "OO", &values_given, &inverses_given)) return nullptr;
        const Buffer values(values_given), inverses(inverses_given, true);
        const u64* from = values.elements<u64>('u', "values", values.size());
        u64* to = inverses.elements<u64>('u', "out", values.size());
        for (u64 i = 0; i < values.size(); ++i) to[i] = field_inverse(field_reduce(from[i]));
        return none();
    });
}

// Takes the lock of the interpreter back to look for signals and to report progress.
class PythonMonitor final : public Monitor {
public:
    PythonMonitor(PyObject* progress, PyThreadState*& thread) : progress_(progress), thread_(thread) {}

private:
    bool go_on(const char* phase, u64 round, u64 n_classes) override {
        PyEval_RestoreThread(thread_);
        bool is_wanted = PyErr_CheckSignals() == 0;
        if (is_wanted && progress_ != Py_None) {
            PyObject* answer = PyObject_CallFunction(progress_, "sKK", phase, (unsigned long long)round,
                                                     (unsigned long long)n_classes);
            is_wanted = answer != nullptr;
            Py_XDECREF(answer);
        }
        thread_ = PyEval_SaveThread();
        return is_wanted;
    }
    PyObject* progress_;
    PyThreadState*& thread_;
};

// Offsets, indices and values of a compressed matrix.
struct MatrixBuffers {
    Buffer offsets, indices, values;
    static MatrixBuffers from(PyObject* triple) {
        PyObject *offsets, *indices, *values;
        if (!PyTuple_Check(triple)) throw std::invalid_argument("a matrix must be given as a tuple of three arrays");
        if (!PyArg_ParseTuple(triple, "OOO", &offsets, &indices, &values)) throw PythonError();
        return {Buffer(offsets), Buffer(indices), Buffer(values)};
    }
    template <class Index>
    SparseView<Index> view(u64 n_major, u64 n_minor) const {
        if (n_major >= most_vertices || n_minor >= most_vertices)
            throw std::invalid_argument("there are 2^30 variables and rows or more");
        SparseView<Index> view;
        view.n_major = u32(n_major);
        view.n_minor = u32(n_minor);
        view.offsets = offsets.elements<Index>('i', "indptr", n_major + 1);
        view.indices = indices.elements<Index>('i', "indices", indices.size());
        view.values = values.elements<double>('f', "data", values.size());
        return view;
    }
    template <class Index> void check(const SparseView<Index>& view) const {
        check_structure(view, offsets.size(), indices.size(), values.size());
    }
};

std::vector<Buffer> buffers_of(PyObject* tuple) {
    std::vector<Buffer> buffers;
    if (!PyTuple_Check(tuple)) throw std::invalid_argument("arrays must be given as a tuple");
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) buffers.emplace_back(PyTuple_GetItem(tuple, i));
    return buffers;
}

struct RefineArguments {
    PyObject *P, *A;
    int A_is_by_rows;
    Py_ssize_t n_variables, n_rows;
    PyObject *variable_images, *row_images, *row_bounds;
    int counting, decimal, scale_rows;
    unsigned long long seed;
    PyObject *progress, *variable_labels, *row_labels, *row_scales, *row_scale_images;
};

template <class Index>
PyObject* refine_with(const RefineArguments& given, const MatrixBuffers* P, const MatrixBuffers& A) {
    if (given.n_variables < 0 || given.n_rows < 0) throw std::invalid_argument("a size is negative");
    const u64 n = u64(given.n_variables), m = u64(given.n_rows);
    Problem<Index> problem;
    problem.A_is_by_rows = given.A_is_by_rows;
    problem.A = given.A_is_by_rows ? A.view<Index>(m, n) : A.view<Index>(n, m);
    if (P) problem.P = P->view<Index>(n, n);
    problem.n_variables = u32(n);
    problem.n_rows = u32(m);

    const std::vector<Buffer> variable_images = buffers_of(given.variable_images);
    const std::vector<Buffer> row_images = buffers_of(given.row_images), bounds = buffers_of(given.row_bounds);
    if (row_images.size() < 2 || bounds.size() != 2) throw std::invalid_argument("bounds of the rows are missing");
    for (const Buffer& words : variable_images)
        problem.variable_images.push_back(words.elements<u64>('u', "variable_images", n));
    for (const Buffer& words : row_images) problem.row_extra.push_back(words.elements<u64>('u', "row_images", m));
    problem.row_lower = problem.row_extra[0];
    problem.row_upper = problem.row_extra[1];
    problem.row_extra.erase(problem.row_extra.begin(), problem.row_extra.begin() + 2);
    problem.l = bounds[0].elements<double>('f', "l", m);
    problem.u = bounds[1].elements<double>('f', "u", m);

    const Buffer variable_labels(given.variable_labels, true), row_labels(given.row_labels, true);
    const Buffer row_scales(given.row_scales, true), row_scale_images(given.row_scale_images, true);
    const Output output{variable_labels.elements<i64>('i', "variable_labels", n),
                        row_labels.elements<i64>('i', "row_labels", m),
                        row_scales.elements<double>('f', "row_scales", m),
                        row_scale_images.elements<u64>('u', "row_scale_images", m)};
    const Options options{given.counting != 0, given.decimal ? Reading::decimal : Reading::bits,
                          given.scale_rows != 0, given.seed};

    Statistics statistics;
    PyThreadState* thread = PyEval_SaveThread();
    try {
        if (P) P->check(problem.P);
        A.check(problem.A);
        PythonMonitor monitor(given.progress, thread);
        statistics = refine(problem, options, output, monitor);
    } catch (...) {
        PyEval_RestoreThread(thread);
        throw;
    }
    PyEval_RestoreThread(thread);
    return Py_BuildValue("KKK", (unsigned long long)statistics.passes, (unsigned long long)statistics.splitters,
                         (unsigned long long)statistics.peak_bytes);
}

PyObject* refine_program(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        RefineArguments given;
        if (!PyArg_ParseTuple(arguments, "OOpnnOOOpppKOOOOO", &given.P, &given.A, &given.A_is_by_rows,
                              &given.n_variables, &given.n_rows, &given.variable_images, &given.row_images,
                              &given.row_bounds, &given.counting, &given.decimal, &given.scale_rows, &given.seed,
                              &given.progress, &given.variable_labels, &given.row_labels, &given.row_scales,
                              &given.row_scale_images))
            return nullptr;
        const MatrixBuffers A = MatrixBuffers::from(given.A);
        std::unique_ptr<MatrixBuffers> P;
        if (given.P != Py_None) P.reset(new MatrixBuffers(MatrixBuffers::from(given.P)));
        return A.offsets.holds('i', 4) ? refine_with<std::int32_t>(given, P.get(), A)
                                       : refine_with<std::int64_t>(given, P.get(), A);
    });
}

PyObject* predicted_fill(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *offsets_given, *indices_given;
        double most;
        if (!PyArg_ParseTuple(arguments, "OOd", &offsets_given, &indices_given, &most)) return nullptr;
        const Buffer offsets(offsets_given), indices(indices_given);
        if (offsets.size() < 1) throw std::invalid_argument("offsets are missing");
        const int32_t* ends = indices.elements<int32_t>('i', "indices", indices.size());
        factor::Fill fill;
        if (offsets.holds('i', 4)) {
            const auto* starts = offsets.elements<int32_t>('i', "offsets", offsets.size());
            fill = without_lock([&] { return factor::predicted_fill(starts, offsets.size(), ends, indices.size(), most); });
        } else {
            const auto* starts = offsets.elements<int64_t>('i', "offsets", offsets.size());
            fill = without_lock([&] { return factor::predicted_fill(starts, offsets.size(), ends, indices.size(), most); });
        }
        return Py_BuildValue("ddN", fill.entries, fill.operations, PyBool_FromLong(fill.is_whole));
    });
}

PyMethodDef methods[] = {
    {"images", images, METH_VARARGS, "images(values, decimal, out): field images of floats."},
    {"multiply", multiply, METH_VARARGS, "multiply(left, right, out): products in the field."},
    {"inverse", inverse, METH_VARARGS, "inverse(values, out): reciprocals in the field; 0 gives 0."},
    {"refine", refine_program, METH_VARARGS,
     "refine(P, A, A_is_csr, n_variables, n_rows, variable_images, row_images, row_bounds, counting, decimal, "
     "scale_rows, seed, progress, variable_labels, row_labels, row_scales, row_scale_images): colour refinement; "
     "returns (passes, splitters, extra bytes)."},
    {"predicted_fill", predicted_fill, METH_VARARGS,
     "predicted_fill(offsets, indices, most): entries and operations of the factor of a symmetric matrix, whose graph is "
     "given by both ends of each edge, and whether these are all; it gives up after looking at `most` entries of lists."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", "Exact field arithmetic and colour refinement.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModule_Create(&definition); }
