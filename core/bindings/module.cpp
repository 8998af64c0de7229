// The Python module relift._core, against the limited API: arrays come and go by the buffer protocol, uncopied.
//
// Callers are relift/symmetry/field.py and colour_refinement.py, which check shapes and types for people; here they
// are checked again so that no array can crash the process.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <string>
#include <utility>

#include "relift/factor/fill.hpp"
#include "relift/likeness.hpp"
#include "relift/refine.hpp"
#include "relift/sharpened.hpp"
#include "relift/start_apart.hpp"
#include "relift/told_apart.hpp"

namespace {

using namespace relift;

// A Python error has been set: unwinds to the entry of the function.
struct PythonError {};

// A one-dimensional array of the kinds that struct formats name: contiguous, or, where it is only read, of one number
// that takes no memory (step 0).
class Buffer {
public:
    Buffer(PyObject* object, bool writable = false) {
        if (!PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
            return;
        if (writable || !(PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_BufferError)))
            throw PythonError();
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &view_, PyBUF_STRIDES | PyBUF_FORMAT)) throw PythonError();
        is_constant_ = view_.ndim == 1 && view_.strides[0] == 0;
        if (is_constant_) return;
        PyBuffer_Release(&view_);
        throw std::invalid_argument("an array is not contiguous");
    }
    ~Buffer() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    Buffer(Buffer&& other) noexcept
        : view_(other.view_), is_constant_(other.is_constant_), repeated_(std::move(other.repeated_)) {
        other.view_.obj = nullptr;
    }
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
        if (!is_constant_) return static_cast<T*>(view_.buf);
        if (repeated_.empty() && size) {
            repeated_.resize(size * sizeof(T));
            std::fill_n(reinterpret_cast<T*>(repeated_.data()), size, *static_cast<const T*>(view_.buf));
        }
        return reinterpret_cast<T*>(repeated_.data());
    }
    // Without a copy of the one number for each.
    Words words(const char* name, u64 size) const {
        if (!is_constant_) return elements<u64>('u', name, size);
        if (!holds('u', sizeof(u64)) || this->size() != size)
            throw std::invalid_argument(std::string(name) + " has a wrong type or length");
        return Words(static_cast<const u64*>(view_.buf), 0);
    }

    template <class T> passes::Numbers<T> numbers(char kind, const char* name, u64 size) const {
        if (!is_constant_) return {elements<T>(kind, name, size), 1};
        if (!holds(kind, sizeof(T)) || this->size() != size)
            throw std::invalid_argument(std::string(name) + " has a wrong type or length");
        return {static_cast<const T*>(view_.buf), 0};
    }

private:
    Py_buffer view_{};
    bool is_constant_ = false;
    mutable std::vector<unsigned char> repeated_;
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
        ValueReader image(decimal ? Reading::decimal : Reading::bits, values.size());
        image.read(from, values.size(), to);
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
        const Buffer values(values_given), inverses_out(inverses_given, true);
        const u64* from = values.elements<u64>('u', "values", values.size());
        u64* to = inverses_out.elements<u64>('u', "out", values.size());
        // One inversion for all: to[i] first holds the product of all elements before i that are not 0.
        u64 product = 1;
        for (u64 i = 0; i < values.size(); ++i) {
            to[i] = product;
            if (const u64 value = field_reduce(from[i])) product = field_multiply(product, value);
        }
        u64 reciprocal = field_inverse(product);
        for (u64 i = values.size(); i-- > 0;) {
            const u64 value = field_reduce(from[i]);
            to[i] = value ? field_multiply(to[i], reciprocal) : 0;
            if (value) reciprocal = field_multiply(reciprocal, value);
        }
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
    template <class Index> void check(const SparseView<Index>& view, u32 n_threads) const {
        check_structure(view, offsets.size(), indices.size(), values.size(), n_threads);
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
    unsigned int n_threads;
    PyObject *progress, *variable_labels, *row_labels, *row_scales, *row_scale_images;
    PyObject *multipliers, *multiplier_images, *states, *masses, *mass_images, *links;  // null: as they are
    PyObject* relative_masses = Py_None;
    PyObject* kept = Py_None;
    int needs_scales = 0, rows_are_apart = 0, some_start_alike = 0;
    Py_ssize_t most_classes = PY_SSIZE_T_MAX;
};

// What one program keeps between its refinements; the matrices are known by where their values stand.
struct KeptProgram {
    KeptWeights weights;
    const double *P_values = nullptr, *A_values = nullptr;
    u64 P_size = 0, A_size = 0;
    int decimal = 0;

    bool is_same(const KeptProgram& other) const {
        return P_values == other.P_values && A_values == other.A_values && P_size == other.P_size &&
               A_size == other.A_size && decimal == other.decimal;
    }
};
constexpr const char* name_of_kept = "relift.kept_weights";

PyObject* kept_weights(PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        auto kept = std::make_unique<KeptProgram>();
        PyObject* capsule = PyCapsule_New(kept.get(), name_of_kept, [](PyObject* given) {
            delete static_cast<KeptProgram*>(PyCapsule_GetPointer(given, name_of_kept));
        });
        if (capsule) kept.release();
        return capsule;
    });
}

// Weights are taken out while they are used, and put back afterwards, under the lock of the interpreter: two threads
// that share them read the values twice.
class LentWeights {
public:
    LentWeights(PyObject* capsule, KeptProgram of_this) : here_(std::move(of_this)) {
        if (capsule == Py_None) return;
        home_ = static_cast<KeptProgram*>(PyCapsule_GetPointer(capsule, name_of_kept));
        if (!home_) throw PythonError();
        if (here_.is_same(*home_)) here_.weights = std::exchange(home_->weights, KeptWeights());
    }
    KeptWeights* weights() { return home_ ? &here_.weights : nullptr; }
    void give_back() {
        if (home_) *home_ = std::move(here_);
    }

private:
    KeptProgram here_;
    KeptProgram* home_ = nullptr;
};

// The values of A as a refinement has left them, taken out in the same way; null if it has not, or has read others.
class LentValues {
public:
    template <class Index>
    LentValues(PyObject* capsule, const SparseView<Index>& A, int decimal) {
        if (capsule == Py_None) return;
        auto* const home = static_cast<KeptProgram*>(PyCapsule_GetPointer(capsule, name_of_kept));
        if (!home) throw PythonError();
        const bool is_same = home->A_values == A.values && home->A_size == A.n_entries() && home->decimal == decimal;
        if (!is_same || !home->weights.has_A) return;
        home_ = home;
        here_ = std::exchange(*home, KeptProgram());
    }
    LentValues(const LentValues&) = delete;
    LentValues& operator=(const LentValues&) = delete;
    ~LentValues() {
        if (home_) *home_ = std::move(here_);
    }
    const Weights* of_A() const { return home_ ? &here_.weights.A : nullptr; }

private:
    KeptProgram here_;
    KeptProgram* home_ = nullptr;
};

// The arrays of multipliers, kept while they are used.
class MultiplierBuffers {
public:
    // n_rows and n_entries are those of A.
    MultiplierBuffers(const RefineArguments& given, u64 size, u64 n_rows, u64 n_entries) {
        if (!given.multipliers) return;
        buffers_.reserve(7);
        buffers_.emplace_back(given.multipliers, true);
        buffers_.emplace_back(given.multiplier_images, true);
        buffers_.emplace_back(given.states, true);
        arrays.floats = buffers_[0].elements<double>('f', "multipliers", size);
        arrays.exact = buffers_[1].elements<u64>('u', "multiplier_images", size);
        arrays.states = buffers_[2].elements<u8>('u', "states", size);
        for (u64 v = 0; v < size; ++v)
            if (arrays.exact[v] == 0 || arrays.exact[v] >= modulus)
                throw std::invalid_argument("a multiplier is no field element, or 0");
        if (given.links != Py_None) {
            buffers_.emplace_back(given.links);
            arrays.links = buffers_.back().elements<i64>('i', "links", n_rows);
            for (u64 i = 0; i < n_rows; ++i)
                if (arrays.links[i] >= i64(n_entries)) throw std::invalid_argument("a link is no entry");
        }
        if (given.relative_masses != Py_None) {
            buffers_.emplace_back(given.relative_masses);
            arrays.relative_masses = buffers_.back().elements<u64>('u', "relative_masses", size);
        }
        if (given.masses == Py_None) return;
        buffers_.emplace_back(given.masses);
        arrays.mass_floats = buffers_.back().elements<double>('f', "masses", size);
        buffers_.emplace_back(given.mass_images);
        arrays.masses = buffers_.back().elements<u64>('u', "mass_images", size);
        for (u64 v = 0; v < size; ++v)
            if (arrays.masses[v] == 0 || arrays.masses[v] >= modulus)
                throw std::invalid_argument("a mass is no field element, or 0");
    }
    MultiplierArrays arrays;

private:
    std::vector<Buffer> buffers_;
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
    const std::vector<Buffer> row_images = buffers_of(given.row_images);
    if (row_images.size() < 2) throw std::invalid_argument("bounds of the rows are missing");
    for (const Buffer& words : variable_images)
        problem.variable_images.push_back(words.words("variable_images", n));
    for (const Buffer& words : row_images) problem.row_extra.push_back(words.words("row_images", m));
    problem.row_lower = problem.row_extra[0];
    problem.row_upper = problem.row_extra[1];
    problem.row_extra.erase(problem.row_extra.begin(), problem.row_extra.begin() + 2);

    const Buffer variable_labels(given.variable_labels, true), row_labels(given.row_labels, true);
    const MultiplierBuffers multipliers(given, n + m, m, A.values.size());
    std::vector<Buffer> of_rows;
    Output output{variable_labels.elements<i64>('i', "variable_labels", n),
                  row_labels.elements<i64>('i', "row_labels", m), nullptr, nullptr};
    if (!given.multipliers) {
        of_rows = buffers_of(given.row_bounds);
        if (of_rows.size() != 2) throw std::invalid_argument("bounds of the rows are missing");
        of_rows.emplace_back(given.row_scales, true);
        of_rows.emplace_back(given.row_scale_images, true);
        problem.l = of_rows[0].elements<double>('f', "l", m);
        problem.u = of_rows[1].elements<double>('f', "u", m);
        output.row_scales = of_rows[2].elements<double>('f', "row_scales", m);
        output.row_scale_images = of_rows[3].elements<u64>('u', "row_scale_images", m);
    }
    const Options options{given.counting != 0, given.decimal ? Reading::decimal : Reading::bits,
                          given.scale_rows != 0, given.seed, given.n_threads, given.needs_scales != 0,
                          given.most_classes < 0 ? 0 : u64(given.most_classes), given.rows_are_apart != 0,
                          given.some_start_alike != 0};

    Statistics statistics;
    LentWeights kept(given.kept, {{}, problem.P.values, problem.A.values, P ? P->values.size() : 0, A.values.size(),
                                  given.decimal});
    PyThreadState* thread = PyEval_SaveThread();
    try {
        if (P) P->check(problem.P, options.n_threads);
        A.check(problem.A, options.n_threads);
        PythonMonitor monitor(given.progress, thread);
        statistics = given.multipliers
                         ? refine_up_to_multipliers(problem, options, output, multipliers.arrays, monitor,
                                                    kept.weights())
                         : refine(problem, options, output, monitor, kept.weights());
    } catch (...) {
        PyEval_RestoreThread(thread);
        throw;
    }
    PyEval_RestoreThread(thread);
    kept.give_back();
    if (given.multipliers)
        return Py_BuildValue("KKKK", (unsigned long long)statistics.passes, (unsigned long long)statistics.splitters,
                             (unsigned long long)statistics.peak_bytes,
                             (unsigned long long)statistics.rows_without_total);
    const SharedScale shared = statistics.shared_scale;
    return Py_BuildValue("KKKKONK", (unsigned long long)statistics.passes, (unsigned long long)statistics.splitters,
                         (unsigned long long)statistics.peak_bytes, (unsigned long long)statistics.rows_without_total,
                         statistics.all_are_apart ? Py_True : Py_False,
                         shared.exists ? PyFloat_FromDouble(shared.scale) : none(), (unsigned long long)shared.exact);
}

PyObject* refine_any(const RefineArguments& given) {
    const MatrixBuffers A = MatrixBuffers::from(given.A);
    std::unique_ptr<MatrixBuffers> P;
    if (given.P != Py_None) P.reset(new MatrixBuffers(MatrixBuffers::from(given.P)));
    return A.offsets.holds('i', 4) ? refine_with<std::int32_t>(given, P.get(), A)
                                   : refine_with<std::int64_t>(given, P.get(), A);
}

PyObject* refine_program(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        RefineArguments given{};
        if (!PyArg_ParseTuple(arguments, "OOpnnOOOpppKIOOOOO|Oppnp", &given.P, &given.A, &given.A_is_by_rows,
                              &given.n_variables, &given.n_rows, &given.variable_images, &given.row_images,
                              &given.row_bounds, &given.counting, &given.decimal, &given.scale_rows, &given.seed,
                              &given.n_threads,
                              &given.progress, &given.variable_labels, &given.row_labels, &given.row_scales,
                              &given.row_scale_images, &given.kept, &given.needs_scales, &given.rows_are_apart,
                              &given.most_classes, &given.some_start_alike))
            return nullptr;
        return refine_any(given);
    });
}

PyObject* refine_up_to_multipliers_of_program(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        RefineArguments given{};
        if (!PyArg_ParseTuple(arguments, "OOpnnOOpKIOOOOOOOOO|OpO", &given.P, &given.A, &given.A_is_by_rows,
                              &given.n_variables, &given.n_rows, &given.variable_images, &given.row_images,
                              &given.decimal, &given.seed, &given.n_threads, &given.progress,
                              &given.variable_labels, &given.row_labels,
                              &given.multipliers, &given.multiplier_images, &given.states, &given.masses,
                              &given.mass_images, &given.links, &given.kept, &given.rows_are_apart,
                              &given.relative_masses))
            return nullptr;
        return refine_any(given);
    });
}

// The elements of an array that may be None.
template <class T>
T* elements_or_null(std::vector<Buffer>& kept, PyObject* given, char kind, const char* name, u64 size, bool writable) {
    if (given == Py_None) return nullptr;
    kept.emplace_back(given, writable);
    return kept.back().elements<T>(kind, name, size);
}

PyObject* own_scales(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *numbers[8], *results[6];
        int sizes, signs;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOOOOOOOppOOOOOOI", &numbers[0], &numbers[1], &numbers[2], &numbers[3],
                              &numbers[4], &numbers[5], &numbers[6], &numbers[7], &sizes, &signs, &results[0],
                              &results[1], &results[2], &results[3], &results[4], &results[5], &n_threads))
            return nullptr;
        const u64 size = Buffer(numbers[0]).size();
        if (size >= most_vertices) throw std::invalid_argument("there are 2^30 variables and rows or more");
        std::vector<Buffer> kept;
        kept.reserve(14);
        const auto floats = [&](int k, const char* name) {
            return elements_or_null<double>(kept, numbers[k], 'f', name, size, false);
        };
        const auto words = [&](int k, const char* name) {
            return elements_or_null<u64>(kept, numbers[k], 'u', name, size, false);
        };
        const OwnNumbers given{floats(0, "low"), floats(1, "high"), floats(2, "cost"), floats(3, "mass"),
                               words(4, "low_image"), words(5, "high_image"), words(6, "cost_image"),
                               words(7, "mass_image"), size};
        const OwnScaleArrays out{elements_or_null<double>(kept, results[0], 'f', "floats", size, true),
                                 elements_or_null<u64>(kept, results[1], 'u', "images", size, true),
                                 elements_or_null<u8>(kept, results[2], 'u', "states", size, true),
                                 elements_or_null<u64>(kept, results[3], 'u', "low_word", size, true),
                                 elements_or_null<u64>(kept, results[4], 'u', "high_word", size, true),
                                 elements_or_null<u64>(kept, results[5], 'u', "cost_word", size, true)};
        const bool is_whole = given.low && given.high && given.low_image && given.high_image && out.floats &&
                              out.images && out.states && out.low_word && out.high_word;
        if (!is_whole || (given.cost && !(given.cost_image && out.cost_word)) || (given.mass && !given.mass_image))
            throw std::invalid_argument("an array is missing");
        without_lock([&] { find_own_scales(given, sizes, signs, out, n_threads); });
        return none();
    });
}

PyObject* conic_scales(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *given[3], *results[4];
        int sizes;
        if (!PyArg_ParseTuple(arguments, "OOOpOOOO", &given[0], &given[1], &given[2], &sizes, &results[0], &results[1],
                              &results[2], &results[3]))
            return nullptr;
        const Buffer b(given[0]), image(given[1]), is_open(given[2]);
        const Buffer floats(results[0], true), images(results[1], true), states(results[2], true), word(results[3], true);
        const u64 size = b.size();
        find_conic_scales(b.elements<double>('f', "b", size), image.elements<u64>('u', "image", size),
                          is_open.elements<u8>('u', "has_open_sign", size), size, sizes != 0,
                          floats.elements<double>('f', "floats", size), images.elements<u64>('u', "images", size),
                          states.elements<u8>('u', "states", size), word.elements<u64>('u', "word", size));
        return none();
    });
}

PyObject* relative_scales(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *labels_given, *states_given, *floats_given, *images_given;
        Py_ssize_t n_classes;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOnOOI", &labels_given, &states_given, &n_classes, &floats_given,
                              &images_given, &n_threads))
            return nullptr;
        const Buffer labels(labels_given), states(states_given), floats(floats_given, true), images(images_given, true);
        const u64 size = labels.size();
        const i64* label = labels.elements<i64>('i', "labels", size);
        const u8* state = states.elements<u8>('u', "states", size);
        double* scale = floats.elements<double>('f', "floats", size);
        u64* image = images.elements<u64>('u', "images", size);
        if (n_classes < 0) throw std::invalid_argument("the number of classes is negative");
        without_lock([&] {
            if (!none_differ(size, n_threads, [=](u64 k) { return u64(label[k]) >= u64(n_classes); }))
                throw std::invalid_argument("a label is no class");
            take_relative(label, state, size, u64(n_classes), scale, image, n_threads);
        });
        return none();
    });
}

PyObject* sharpen_scales(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *floats_given, *images_given, *powers_given, *least_given;
        int decimal;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OO(OO)pI", &floats_given, &images_given, &powers_given, &least_given, &decimal,
                              &n_threads))
            return nullptr;
        const Buffer floats(floats_given, true), images(images_given), powers(powers_given), least(least_given);
        const u64 size = floats.size();
        double* scale = floats.elements<double>('f', "floats", size);
        const u64* image = images.elements<u64>('u', "images", size);
        constexpr u64 n_powers = 2 * FloatPowersOfTen::most + 1;
        const FloatPowersOfTen ten{powers.elements<double>('f', "powers", n_powers),
                                   least.elements<double>('f', "powers", n_powers)};
        bool are_numbers = false;
        without_lock([&] {
            are_numbers = sharpen(scale, image, size, ten, decimal ? Reading::decimal : Reading::bits, n_threads);
        });
        return PyBool_FromLong(are_numbers);
    });
}

// The numbers of variables, or of rows, as (low, high, cost, low_image, high_image, cost_image), costs None for rows.
class NumberBuffers {
public:
    NumberBuffers(PyObject* tuple, u64 size) {
        if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 6)
            throw std::invalid_argument("numbers must be given as a tuple of six arrays");
        kept_.reserve(6);
        const auto floats = [&](int k) {
            return elements_or_null<double>(kept_, PyTuple_GetItem(tuple, k), 'f', "numbers", size, false);
        };
        const auto words = [&](int k) {
            return elements_or_null<u64>(kept_, PyTuple_GetItem(tuple, k), 'u', "images", size, false);
        };
        numbers = {floats(0), floats(1), floats(2), nullptr, words(3), words(4), words(5), nullptr, size};
        if (!numbers.low || !numbers.high || !numbers.low_image || !numbers.high_image ||
            !numbers.cost != !numbers.cost_image)
            throw std::invalid_argument("an array is missing");
    }
    OwnNumbers numbers;

private:
    std::vector<Buffer> kept_;
};

// The same for looks, which do not need a copy of one number for each. Images may be None where they were not read.
class SampledNumbers {
public:
    SampledNumbers(PyObject* tuple, u64 size) : kept_(buffers_of_some(tuple)) {
        const auto floats = [&](int k) { return kept_[k] ? kept_[k]->numbers<double>('f', "numbers", size) : passes::Numbers<double>(); };
        const auto images = [&](int k) {
            return passes::Images{kept_[k] ? kept_[k]->numbers<u64>('u', "images", size) : passes::Numbers<u64>(), floats(k - 3)};
        };
        numbers = {floats(0), floats(1), floats(2), images(3), images(4), images(5), size};
        const bool are_read = numbers.are_read(), has_costs = kept_[2] != nullptr;
        if (!kept_[0] || !kept_[1] || are_read != (kept_[4] != nullptr) || (are_read && has_costs) != (kept_[5] != nullptr))
            throw std::invalid_argument("an array is missing");
    }
    passes::GivenNumbers numbers;

private:
    static std::vector<std::unique_ptr<Buffer>> buffers_of_some(PyObject* tuple) {
        if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 6)
            throw std::invalid_argument("numbers must be given as a tuple of six arrays");
        std::vector<std::unique_ptr<Buffer>> buffers(6);
        for (int k = 0; k < 6; ++k)
            if (PyObject* const given = PyTuple_GetItem(tuple, k); given != Py_None) buffers[k] = std::make_unique<Buffer>(given);
        return buffers;
    }
    std::vector<std::unique_ptr<Buffer>> kept_;
};

struct LookArguments {
    PyObject *P, *A;
    int A_is_by_rows;
    Py_ssize_t n_variables, n_rows;
    PyObject *variables, *rows;
    bool is_sampled = false;  // the work checks the indices of A that it reads
    unsigned n_threads = 1;
};

// Calls work(problem) with matrices that were checked; the interpreter stays locked, since the work is short.
template <class Index, class Work>
PyObject* with_problem(const LookArguments& given, const MatrixBuffers* P, const MatrixBuffers& A, Work&& work) {
    if (given.n_variables < 0 || given.n_rows < 0) throw std::invalid_argument("a size is negative");
    const u64 n = u64(given.n_variables), m = u64(given.n_rows);
    Problem<Index> problem;
    problem.A_is_by_rows = given.A_is_by_rows;
    problem.A = given.A_is_by_rows ? A.view<Index>(m, n) : A.view<Index>(n, m);
    if (P) problem.P = P->view<Index>(n, n);
    problem.n_variables = u32(n);
    problem.n_rows = u32(m);
    if (P) P->check(problem.P, given.n_threads);
    if (given.is_sampled) check_offsets(problem.A, A.offsets.size(), A.indices.size(), A.values.size());
    else A.check(problem.A, given.n_threads);
    return work(problem);
}

template <class Work>
PyObject* with_any_problem(const LookArguments& given, Work&& work) {
    const MatrixBuffers A = MatrixBuffers::from(given.A);
    std::unique_ptr<MatrixBuffers> P;
    if (given.P != Py_None) P.reset(new MatrixBuffers(MatrixBuffers::from(given.P)));
    return A.offsets.holds('i', 4) ? with_problem<std::int32_t>(given, P.get(), A, work)
                                   : with_problem<std::int64_t>(given, P.get(), A, work);
}

PyObject* likeness(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        LookArguments given{};
        given.P = Py_None;
        given.is_sampled = true;
        PyObject *labels_given, *row_labels_given;
        int only_in_proportion;
        if (!PyArg_ParseTuple(arguments, "OpnnOOOOp|I", &given.A, &given.A_is_by_rows, &given.n_variables, &given.n_rows,
                              &given.variables, &given.rows, &labels_given, &row_labels_given, &only_in_proportion,
                              &given.n_threads))
            return nullptr;
        return with_any_problem(given, [&](const auto& problem) -> PyObject* {
            const SampledNumbers variables(given.variables, problem.n_variables), rows(given.rows, problem.n_rows);
            if (!variables.numbers.cost.first) throw std::invalid_argument("costs are missing");
            const Buffer labels(labels_given), row_labels(row_labels_given);
            const i64* const label = labels.elements<i64>('i', "labels", problem.n_variables);
            const i64* const row_label = row_labels.elements<i64>('i', "row_labels", problem.n_rows);
            const Likeness found = without_lock([&] {
                return look_at_rows(problem, variables.numbers, rows.numbers, label, row_label, only_in_proportion,
                                    given.n_threads);
            });
            return Py_BuildValue("OO", found.speaks() ? Py_True : Py_False,
                                 found.speaks_in_proportion() ? Py_True : Py_False);
        });
    });
}

PyObject* starts_apart_of_program(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        LookArguments given{};
        given.is_sampled = true;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOpnnOI", &given.P, &given.A, &given.A_is_by_rows, &given.n_variables,
                              &given.n_rows, &given.variables, &n_threads))
            return nullptr;
        return with_any_problem(given, [&](const auto& problem) -> PyObject* {
            std::vector<passes::Numbers<double>> numbers;
            const std::vector<Buffer> vectors = buffers_of(given.variables);
            for (const Buffer& vector : vectors) numbers.push_back(vector.numbers<double>('f', "numbers", problem.n_variables));
            return PyLong_FromLong(long(without_lock([&] { return starts_apart(problem, numbers, n_threads); })));
        });
    });
}

// Arrays of the conic rows, kept while they are looked at.
struct ConicBuffers {
    ConicNumbers numbers;
    std::unique_ptr<Buffer> owners, kinds, open_signs;

    ConicBuffers(PyObject* given, bool sizes, const LookArguments& look) {
        if (given == Py_None) return;
        if (!PyTuple_Check(given) || PyTuple_Size(given) != 3) throw std::invalid_argument("conic rows are three arrays");
        owners.reset(new Buffer(PyTuple_GetItem(given, 0)));
        kinds.reset(new Buffer(PyTuple_GetItem(given, 1)));
        open_signs.reset(new Buffer(PyTuple_GetItem(given, 2)));
        const u64 n_conic = owners->size();
        if (!look.A_is_by_rows || n_conic > u64(look.n_rows) || n_conic == 0)
            throw std::invalid_argument("conic rows are the last rows of a matrix by rows");
        numbers.first_row = u64(look.n_rows) - n_conic;
        numbers.cone_of_row = owners->elements<i64>('i', "cone_of_row", n_conic);
        numbers.kinds = kinds->elements<u64>('u', "kinds", n_conic);
        numbers.has_open_sign = open_signs->elements<u8>('u', "has_open_sign", n_conic);
        numbers.sizes = sizes;
        for (u64 k = 0; k < n_conic; ++k) {
            const i64 before = k ? numbers.cone_of_row[k - 1] : 0, here = numbers.cone_of_row[k];
            if (here < before || here > before + 1) throw std::invalid_argument("rows of a cone do not stand together");
        }
        numbers.n_cones = u64(numbers.cone_of_row[n_conic - 1]) + 1;
        if (numbers.n_cones > u64(look.n_variables)) throw std::invalid_argument("each cone has a column");
    }
};

PyObject* kinds_in_floats(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        LookArguments given{};
        PyObject* conic_given = Py_None;
        int sizes, signs, scales_rows, has_masses, looks;
        double may_stay;
        if (!PyArg_ParseTuple(arguments, "OOpnnOOppppdpI|O", &given.P, &given.A, &given.A_is_by_rows, &given.n_variables,
                              &given.n_rows, &given.variables, &given.rows, &sizes, &signs, &scales_rows, &has_masses,
                              &may_stay, &looks, &given.n_threads, &conic_given))
            return nullptr;
        const ConicBuffers conic(conic_given, sizes != 0, given);
        return with_any_problem(given, [&](const auto& problem) -> PyObject* {
            const SampledNumbers variables(given.variables, problem.n_variables), rows(given.rows, problem.n_rows);
            if (!variables.numbers.cost.first) throw std::invalid_argument("costs are missing");
            const ApartQuestion question{sizes != 0, signs != 0, scales_rows != 0, has_masses != 0, may_stay,
                                         looks != 0, conic.numbers, given.n_threads};
            const FloatKinds kinds =
                without_lock([&] { return ToldApart(problem, variables.numbers, rows.numbers, question).run(); });
            const auto bytes_of = [](const Array<u32>& some) {
                return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(some.data()), Py_ssize_t(some.size() * sizeof(u32)));
            };
            PyObject* const left =
                kinds.are_few_left ? Py_BuildValue("NN", bytes_of(kinds.variables_left), bytes_of(kinds.rows_left)) : none();
            return Py_BuildValue("NKKNN", PyBool_FromLong(kinds.are_all_apart), (unsigned long long)kinds.variables,
                                 (unsigned long long)kinds.rows, PyBool_FromLong(kinds.masses_are_idle), left);
        });
    });
}

PyObject* masses(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        LookArguments given{};
        PyObject *labels_given, *row_labels_given, *floats_given, *images_given, *row_floats_given, *row_images_given;
        Py_ssize_t n_classes, n_row_classes;
        PyObject* kept = Py_None;
        int decimal, looks = 0;
        if (!PyArg_ParseTuple(arguments, "OOpnnpOOOOnnOOOO|OpI", &given.P, &given.A, &given.A_is_by_rows,
                              &given.n_variables, &given.n_rows, &decimal, &given.variables, &given.rows, &labels_given,
                              &row_labels_given, &n_classes, &n_row_classes, &floats_given, &images_given,
                              &row_floats_given, &row_images_given, &kept, &looks, &given.n_threads))
            return nullptr;
        return with_any_problem(given, [&](const auto& problem) -> PyObject* {
            const u64 n = problem.n_variables, m = problem.n_rows;
            const NumberBuffers variables(given.variables, n), rows(given.rows, m);
            if (!variables.numbers.cost) throw std::invalid_argument("costs are missing");
            const Buffer labels(labels_given), row_labels(row_labels_given), floats(floats_given, true);
            const Buffer images(images_given, true), row_floats(row_floats_given, true);
            const Buffer row_images(row_images_given, true);
            const i64* label = labels.elements<i64>('i', "labels", n);
            const i64* row_label = row_labels.elements<i64>('i', "row_labels", m);
            const auto check = [](const i64* some, u64 size, Py_ssize_t bound) {
                for (u64 k = 0; k < size; ++k)
                    if (some[k] < 0 || some[k] >= i64(bound)) throw std::invalid_argument("a label is no class");
            };
            check(label, n, n_classes);
            check(row_label, m, n_row_classes);
            const MassArrays out{floats.elements<double>('f', "floats", n), images.elements<u64>('u', "images", n)};
            const MassArrays row_out{row_floats.elements<double>('f', "row_floats", m),
                                     row_images.elements<u64>('u', "row_images", m)};
            const LentValues read(kept, problem.A, decimal);
            const bool speak = without_lock([&] {
                const SizesAndPrices of = find_masses(
                    problem, decimal ? Reading::decimal : Reading::bits, variables.numbers, rows.numbers, label, row_label,
                    u64(n_classes), u64(n_row_classes), out, row_out, read.of_A(), given.n_threads);
                const MassesLookedAt looked_at{of, [&](u32 j) { return out.images[j]; },
                                               [&](u32 i) { return row_out.images[i]; }};
                return !looks || LookAtMasses(problem, rows.numbers, looked_at, ConicNumbers(), given.n_threads).speaks();
            });
            return PyBool_FromLong(speak);
        });
    });
}

PyObject* equalise_masses_of_cones(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *labels_given, *owner_given, *given[4];
        Py_ssize_t n_classes;
        if (!PyArg_ParseTuple(arguments, "OOnOOOO", &labels_given, &owner_given, &n_classes, &given[0], &given[1],
                              &given[2], &given[3]))
            return nullptr;
        const Buffer labels(labels_given), owner(owner_given);
        const Buffer floats(given[0], true), images(given[1], true), row_floats(given[2], true), row_images(given[3], true);
        const u64 n_cones = labels.size(), n_rows = owner.size();
        const i64* label = labels.elements<i64>('i', "labels", n_cones);
        const i64* cone_of_row = owner.elements<i64>('i', "cone_of_row", n_rows);
        for (u64 k = 0; k < n_cones; ++k)
            if (label[k] < 0 || label[k] >= i64(n_classes)) throw std::invalid_argument("a label is no class");
        for (u64 i = 0; i < n_rows; ++i)
            if (cone_of_row[i] < 0 || u64(cone_of_row[i]) >= n_cones) throw std::invalid_argument("a row has no cone");
        equalise_masses({floats.elements<double>('f', "floats", n_cones), images.elements<u64>('u', "images", n_cones)},
                        {row_floats.elements<double>('f', "row_floats", n_rows),
                         row_images.elements<u64>('u', "row_images", n_rows)},
                        label, n_cones, cone_of_row, n_rows, u64(n_classes));
        return none();
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

PyObject* keep_memory(PyObject*, PyObject* argument) {
    return guarded([&]() -> PyObject* {
        const int is_open = PyObject_IsTrue(argument);
        if (is_open < 0) return nullptr;
        if (is_open) spare_memory().open();
        else spare_memory().close();
        Py_RETURN_NONE;
    });
}

PyMethodDef methods[] = {
    {"images", images, METH_VARARGS, "images(values, decimal, out): field images of floats."},
    {"multiply", multiply, METH_VARARGS, "multiply(left, right, out): products in the field."},
    {"inverse", inverse, METH_VARARGS, "inverse(values, out): reciprocals in the field; 0 gives 0."},
    {"refine", refine_program, METH_VARARGS,
     "refine(P, A, A_is_csr, n_variables, n_rows, variable_images, row_images, row_bounds, counting, decimal, "
     "scale_rows, seed, threads, progress, variable_labels, row_labels, row_scales, row_scale_images, kept, needs_scales, "
     "rows_are_apart, most_classes, some_start_alike): colour refinement; kept is None, or what kept_weights() returned for these matrices; "
     "with needs_scales nothing is compared where some row has no weighted sum; with rows_are_apart no row is a multiple of "
     "another; with some_start_alike not all variables have different images; beyond most_classes everything may be left alone; returns (passes, splitters, extra bytes, rows without a weighted "
     "sum, whether everything is alone from the start, so that labels and scales are not written, the scale of all rows, or "
     "None where they have several, which are written then, and its image)."},
    {"refine_up_to_multipliers", refine_up_to_multipliers_of_program, METH_VARARGS,
     "refine_up_to_multipliers(P, A, A_is_csr, n_variables, n_rows, variable_words, row_words, decimal, seed, threads, "
     "progress, variable_labels, row_labels, multipliers, multiplier_images, states, masses, mass_images, links, kept, "
     "rows_are_apart, relative_masses): colour refinement up to multipliers of variables and rows, which are read and "
     "written; masses and links may be None; rows_are_apart says that no row is empty or a multiple of another; "
     "relative_masses, which may be left out, are exact masses over those of a search that has ended: where they are equal "
     "in all classes, which are then no fewer, everything is left alone; returns (passes, splitters, extra bytes, vertices "
     "whose scale was lost in cancellation)."},
    {"keep_memory", keep_memory, METH_O,
     "keep_memory(is_open): from now on this thread keeps the memory that refinements free for the next one, or not any "
     "more; calls may stand in each other."},
    {"kept_weights", kept_weights, METH_NOARGS,
     "kept_weights(): a place where refinements of the same matrices keep the values that they have read."},
    {"equalise_masses", equalise_masses_of_cones, METH_VARARGS,
     "equalise_masses(labels, cone_of_row, n_classes, floats, images, row_floats, row_images): masses of cones and of their "
     "rows, the least of each class; changes the last four."},
    {"conic_scales", conic_scales, METH_VARARGS,
     "conic_scales(b, image, has_open_sign, sizes, floats, images, states, word): fills the last four."},
    {"own_scales", own_scales, METH_VARARGS,
     "own_scales(low, high, cost, mass, low_image, high_image, cost_image, mass_image, sizes, signs, floats, images, "
     "states, low_word, high_word, cost_word, threads): sizes and signs that numbers of their own decide; cost and mass "
     "may be None."},
    {"relative_scales", relative_scales, METH_VARARGS,
     "relative_scales(labels, states, n_classes, floats, images, threads): scales relative to the first of each class."},
    {"sharpen", sharpen_scales, METH_VARARGS,
     "sharpen(floats, images, (powers, least), decimal, threads): writes the decimals of twelve digits in place of floats where "
     "these have their images; powers are those of ten from -220 on, with the least number of the size of each. False where "
     "some number is NaN."},
    {"kinds_in_floats", kinds_in_floats, METH_VARARGS,
     "kinds_in_floats(P, A, A_is_csr, n_variables, n_rows, variables, rows, sizes, signs, scales_rows, has_masses, "
     "may_stay, looks, threads, conic): whether rounds in floats tell all variables apart, about how many kinds of variables "
     "and of rows they tell, whether that was not asked since a look said that masses gain little, and None or the variables "
     "and the rows that may not be alone, as bytes of 32-bit numbers; conic is None, or the cone, the kind and whether the sign is open of each of the last rows."},
    {"starts_apart", starts_apart_of_program, METH_VARARGS,
     "starts_apart(P, A, A_is_csr, n_variables, n_rows, variables, threads): 2 where the numbers of variables tell all of them "
     "apart, and rows with them, if it is known that none is a multiple of another; 1 where rows may not be, 0 where two variables have the same numbers."},
    {"likeness", likeness, METH_VARARGS,
     "likeness(A, A_is_csr, n_variables, n_rows, variables, rows, labels, row_labels, only_in_proportion, threads): looks at "
     "some rows; returns whether they speak for masses, unless only the second is asked, and whether right-hand sides in "
     "proportion do, to ten digits."},
    {"masses", masses, METH_VARARGS,
     "masses(P, A, A_is_csr, n_variables, n_rows, decimal, variables, rows, labels, row_labels, n_classes, "
     "n_row_classes, floats, images, row_floats, row_images, kept, looks, threads): masses from sizes and prices, equal within "
     "classes; kept is None, or what kept_weights() returned for A. Returns whether things of one kind have different "
     "ones, by a look at some rows, or True if it does not look."},
    {"predicted_fill", predicted_fill, METH_VARARGS,
     "predicted_fill(offsets, indices, most): entries and operations of the factor of a symmetric matrix, whose graph is "
     "given by both ends of each edge, and whether these are all; it gives up after looking at `most` entries of lists."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", "Exact field arithmetic and colour refinement.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModule_Create(&definition); }
