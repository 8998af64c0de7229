// The Python module relift._passes_core, against the limited API: single passes over the matrices of a program.
//
// The caller is relift/program/passes.py, which makes arrays of the right types; types and sizes are checked again here
// so that no array can crash the process. A matrix comes as (offsets, indices, values), and last how many threads may be
// used; results whose length is not
// known before come as bytearrays.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "relift/passes/admitted_sizes.hpp"
#include "relift/passes/cone_pushes.hpp"
#include "relift/passes/cones.hpp"
#include "relift/passes/conic_form.hpp"
#include "relift/passes/digits.hpp"
#include "relift/passes/exact_numbers.hpp"
#include "relift/passes/fractions.hpp"
#include "relift/passes/kinds.hpp"
#include "relift/passes/links.hpp"
#include "relift/passes/looks.hpp"
#include "relift/passes/merged_columns.hpp"
#include "relift/passes/multiples.hpp"
#include "relift/passes/newton_polish.hpp"
#include "relift/passes/numbers.hpp"
#include "relift/passes/products.hpp"
#include "relift/passes/quadratic_cones.hpp"
#include "relift/passes/quadratic_rows.hpp"
#include "relift/passes/rays.hpp"
#include "relift/passes/residuals.hpp"
#include "relift/passes/row_scan.hpp"
#include "relift/passes/shared_ratios.hpp"
#include "relift/passes/stacking.hpp"
#include "relift/passes/submatrix.hpp"
#include "relift/python/aligned_memory.hpp"
#include "relift/python/calls.hpp"

namespace {

using namespace relift;
using namespace relift::passes;

class Buffer {
public:
    explicit Buffer(PyObject* object, bool writable = false) {
        if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
            throw PythonError();
    }
    ~Buffer() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    size_t size() const { return view_.itemsize ? size_t(view_.len / view_.itemsize) : 0; }
    bool is_wide() const { return view_.itemsize == 8; }
    double* doubles(const char* name, size_t size) const {
        if (view_.itemsize != 8 || kind() != 'd' || this->size() != size) fail(name);
        return static_cast<double*>(view_.buf);
    }
    template <class Integer> Integer* integers(const char* name, size_t size) const {
        const bool is_integer = kind() == 'i' || kind() == 'l' || kind() == 'q';
        if (view_.itemsize != sizeof(Integer) || !is_integer || this->size() != size) fail(name);
        return static_cast<Integer*>(view_.buf);
    }
    const u8* bytes(const char* name, size_t size) const {
        if (view_.itemsize != 1 || this->size() != size) fail(name);
        return static_cast<const u8*>(view_.buf);
    }
    u64* words(const char* name, size_t size) const {
        if (view_.itemsize != 8 || (kind() != 'L' && kind() != 'Q') || this->size() != size) fail(name);
        return static_cast<u64*>(view_.buf);
    }
    // One for each of `size`, or one for all of them.
    Numbers<double> numbers(const char* name, size_t size) const {
        return this->size() == 1 && size > 1 ? Numbers<double>{doubles(name, 1), 0} : Numbers<double>{doubles(name, size), 1};
    }
    Numbers<u64> images(const char* name, size_t size) const {
        return this->size() == 1 && size > 1 ? Numbers<u64>{words(name, 1), 0} : Numbers<u64>{words(name, size), 1};
    }

private:
    char kind() const {
        const char* format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        return *format;
    }
    static void fail(const char* name) {
        throw std::invalid_argument(std::string(name) + " has a wrong type or length");
    }
    Py_buffer view_{};
};

// The three arrays of a compressed matrix, held as long as this lives.
class MatrixBuffers {
public:
    MatrixBuffers(PyObject* parts, size_t n_minor) : n_minor_(n_minor) {
        PyObject *offsets, *indices, *values;
        if (!PyArg_ParseTuple(parts, "OOO", &offsets, &indices, &values)) throw PythonError();
        offsets_ = std::make_unique<Buffer>(offsets);
        indices_ = std::make_unique<Buffer>(indices);
        values_ = std::make_unique<Buffer>(values);
        if (offsets_->size() == 0 || offsets_->size() > most_vertices || n_minor > most_vertices)
            throw std::invalid_argument("a matrix has no offsets, or too many");
    }
    bool is_wide() const { return offsets_->is_wide(); }
    template <class Index> SparseView<Index> view(u32 n_threads) const {
        const SparseView<Index> matrix = sampled<Index>();
        check_indices(matrix, n_threads);
        return matrix;
    }
    // For looks at some entries, which check the indices that they read.
    template <class Index> SparseView<Index> sampled() const {
        SparseView<Index> matrix;
        matrix.n_major = u32(offsets_->size() - 1), matrix.n_minor = u32(n_minor_);
        matrix.offsets = offsets_->integers<Index>("offsets", offsets_->size());
        matrix.indices = indices_->integers<Index>("indices", indices_->size());
        matrix.values = values_->doubles("values", values_->size());
        check_offsets(matrix, offsets_->size(), indices_->size(), values_->size());
        return matrix;
    }

private:
    size_t n_minor_;
    std::unique_ptr<Buffer> offsets_, indices_, values_;
};

// A buffer that may be None.
class MaybeBuffer {
public:
    MaybeBuffer(PyObject* object, bool writable = false) {
        if (object != Py_None) buffer_ = std::make_unique<Buffer>(object, writable);
    }
    double* doubles(const char* name, size_t size) const { return buffer_ ? buffer_->doubles(name, size) : nullptr; }

private:
    std::unique_ptr<Buffer> buffer_;
};

PyObject* memory_type = nullptr;  // made with the module

// New memory for an array: a bytearray, or, of megabytes, what begins where a large page does.
class Room {
public:
    Room(size_t n, size_t item) {
        const size_t size = n * item;
        object_ = size < least_aligned ? PyByteArray_FromStringAndSize(nullptr, Py_ssize_t(size))
                                       : aligned_memory(memory_type, size);
        if (!object_) throw PythonError();
        memory_ = size < least_aligned ? PyByteArray_AsString(object_)
                                       : reinterpret_cast<AlignedMemory*>(object_)->memory;
    }
    ~Room() { Py_XDECREF(object_); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    template <class T> T* as() const { return static_cast<T*>(memory_); }
    PyObject* handed_over() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }

private:
    PyObject* object_;
    void* memory_;
};

template <class Work> PyObject* by_width(bool is_wide, Work&& work) {
    return is_wide ? work(int64_t{}) : work(int32_t{});
}

PyObject* py_products_and_sizes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[7];
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOOOOOOI", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                              &given[6], &n_threads))
            return nullptr;
        const Buffer minor_sums(given[3], true), minor_sizes(given[4], true);
        const Buffer major_sums(given[5], true), major_sizes(given[6], true);
        const size_t n_minor = minor_sums.size(), n_major = major_sums.size();
        const MatrixBuffers matrix(given[0], n_minor);
        const MaybeBuffer of_majors(given[1]), of_minors(given[2]);
        return by_width(matrix.is_wide(), [&](auto index) -> PyObject* {
            const auto view = matrix.view<decltype(index)>(n_threads);
            if (view.n_major != n_major) throw std::invalid_argument("the sums do not fit the matrix");
            const double *g = of_majors.doubles("weights of majors", n_major),
                         *h = of_minors.doubles("weights of minors", n_minor);
            double* out[] = {minor_sums.doubles("out", n_minor), minor_sizes.doubles("out", n_minor),
                             major_sums.doubles("out", n_major), major_sizes.doubles("out", n_major)};
            {
                const WithoutLock unlocked;
                products_and_sizes(view, g, h, out[0], out[1], out[2], out[3], n_threads);
            }
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_spread(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[4];
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOOOI", &given[0], &given[1], &given[2], &given[3], &n_threads))
            return nullptr;
        const Buffer vector(given[0]), representatives(given[2]), labels(given[3]);
        const MaybeBuffer sizes(given[1]);
        const size_t n = vector.size(), n_classes = representatives.size();
        const double *values = vector.doubles("vector", n), *of = sizes.doubles("sizes", n);
        const int64_t* first = representatives.integers<int64_t>("representatives", n_classes);
        const int64_t* label = labels.integers<int64_t>("labels", n);
        bool is_inside = true;
        for (size_t k = 0; k < n_classes; ++k) is_inside &= first[k] >= 0 && size_t(first[k]) < n;
        u64 signs = 0;  // the sign bit is set where a label, or its distance from the last class, is negative
        for (size_t i = 0; i < n; ++i) signs |= u64(label[i]) | (u64(n_classes) - 1 - u64(label[i]));
        is_inside &= !(signs >> 63);
        if (!is_inside) throw std::invalid_argument("a label or representative lies outside");
        double worst;
        {
            const WithoutLock unlocked;
            worst = spread(values, of, n, first, label, n_threads);
        }
        return PyFloat_FromDouble(worst);
    });
}

PyObject* py_residuals(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *P_given, *vectors[5], *point[3], *more[5], *out[2];
        int is_by_rows;
        double r;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OpO(OOOOO)d(OOO)(OOOOO)(OO)I", &A_given, &is_by_rows, &P_given, &vectors[0],
                              &vectors[1], &vectors[2], &vectors[3], &vectors[4], &r, &point[0], &point[1], &point[2],
                              &more[0], &more[1], &more[2], &more[3], &more[4], &out[0], &out[1],
                              &n_threads))
            return nullptr;
        const Buffer q(vectors[0]), l(vectors[1]), u(vectors[2]), lb(vectors[3]), ub(vectors[4]), x(point[0]);
        const MaybeBuffer y(point[1]), w(point[2]), natural(more[0]), terms(more[1]), rho(more[2]),
            below(more[3]), above(more[4]);
        const Buffer Ax(out[0], true), sizes(out[1], true);
        Vectors of{};
        of.n = q.size(), of.m = l.size(), of.r = r;
        of.q = q.doubles("q", of.n), of.l = l.doubles("l", of.m), of.u = u.doubles("u", of.m);
        of.lb = lb.doubles("lb", of.n), of.ub = ub.doubles("ub", of.n), of.x = x.doubles("x", of.n);
        of.y = y.doubles("y", of.m), of.w = w.doubles("w", of.n);
        if (!of.y != !of.w) throw std::invalid_argument("y and w come together");
        of.more_natural = natural.doubles("natural", of.n), of.more_terms = terms.doubles("terms", of.n);
        of.more_rho = rho.doubles("rho", of.n);
        of.Ax = Ax.doubles("Ax", of.m), of.sizes = sizes.doubles("sizes", of.n);
        const MatrixBuffers A_buffers(A_given, is_by_rows ? of.n : of.m);
        std::unique_ptr<MatrixBuffers> P_buffers;
        if (P_given != Py_None) P_buffers = std::make_unique<MatrixBuffers>(P_given, of.n);
        return by_width(A_buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const Matrix<Index> A{A_buffers.view<Index>(n_threads), is_by_rows != 0};
            SparseView<Index> P;
            if (P_buffers) P = P_buffers->view<Index>(n_threads);
            if (A.view.n_major != (is_by_rows ? of.m : of.n) || (P_buffers && P.n_major != of.n))
                throw std::invalid_argument("a matrix does not fit the vectors");
            const double *below_marks = below.doubles("below", of.n), *above_marks = above.doubles("above", of.n);
            Residuals found;
            {
                const WithoutLock unlocked;
                Array<Column> columns;
                Array<u8> asks;
                found = residuals(A, P_buffers ? &P : nullptr, of, columns, asks, n_threads);
                if (found.asks)
                    found.fall = possible_fall(A, P_buffers ? &P : nullptr, of, found, columns, asks, below_marks,
                                               above_marks);
            }
            return Py_BuildValue("iiidddddd", int(found.is_in_range), int(found.is_finite),
                                 int(found.duals_are_finite), found.common,
                                 found.scale, found.primal, found.dual, found.gap, found.fall);
        });
    });
}

PyObject* py_scan_rows(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *counts_given;
        int is_by_rows;
        Py_ssize_t n, least;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OpnnOI", &A_given, &is_by_rows, &n, &least, &counts_given, &n_threads))
            return nullptr;
        const Buffer counts(counts_given, true);
        const size_t m = counts.size();
        if (n < 0) throw std::invalid_argument("the number of columns is negative");
        const MatrixBuffers A_buffers(A_given, is_by_rows ? size_t(n) : m);
        return by_width(A_buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = A_buffers.view<decltype(index)>(n_threads);
            if (A.n_major != (is_by_rows ? m : size_t(n))) throw std::invalid_argument("counts do not fit the matrix");
            static_assert(sizeof(long long) == 8, "counts are 64 bits wide");
            long long* to = counts.integers<long long>("counts", m);
            std::vector<long long> found;
            {
                const WithoutLock unlocked;
                found = scan_rows(A, is_by_rows != 0, u64(least < 1 ? 1 : least), to, n_threads);
            }
            Room room(found.size(), sizeof(long long));
            std::copy(found.begin(), found.end(), room.as<long long>());
            return room.handed_over();
        });
    });
}

PyObject* py_count_rows(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *counts_given;
        int is_by_rows;
        Py_ssize_t n;
        if (!PyArg_ParseTuple(arguments, "OpnO", &A_given, &is_by_rows, &n, &counts_given)) return nullptr;
        const Buffer counts(counts_given, true);
        const size_t m = counts.size();
        if (n < 0) throw std::invalid_argument("the number of columns is negative");
        const MatrixBuffers A_buffers(A_given, is_by_rows ? size_t(n) : m);
        return by_width(A_buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = A_buffers.view<decltype(index)>(1);
            if (A.n_major != (is_by_rows ? m : size_t(n))) throw std::invalid_argument("counts do not fit the matrix");
            long long* to = counts.integers<long long>("counts", m);
            {
                const WithoutLock unlocked;
                count_rows(A, is_by_rows != 0, to);
            }
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_find_multiples(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *candidates_given;
        Py_ssize_t n_columns;
        int is_decimal;
        double rounding;
        if (!PyArg_ParseTuple(arguments, "OnOpd", &A_given, &n_columns, &candidates_given, &is_decimal, &rounding))
            return nullptr;
        if (n_columns < 0) throw std::invalid_argument("the number of columns is negative");
        const MatrixBuffers buffers(A_given, size_t(n_columns));
        const Buffer candidates_buffer(candidates_given);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            const size_t n = candidates_buffer.size();
            const long long* candidates = candidates_buffer.integers<long long>("candidates", n);
            for (size_t k = 0; k < n; ++k)
                if (candidates[k] < 0 || size_t(candidates[k]) >= A.n_major || (k && candidates[k] <= candidates[k - 1]))
                    throw std::invalid_argument("the candidates lie outside the matrix, or do not ascend");
            Multiples found;
            {
                const WithoutLock unlocked;
                found = find_multiples(A, candidates, n, is_decimal ? Reading::decimal : Reading::bits, rounding);
            }
            const size_t count = found.member.size();
            Room member(count, 8), leader(count, 8), ratio(count, sizeof(double)), ratio_image(count, sizeof(u64));
            std::copy_n(found.member.begin(), count, member.as<long long>());
            std::copy_n(found.leader.begin(), count, leader.as<long long>());
            std::copy_n(found.ratio.begin(), count, ratio.as<double>());
            std::copy_n(found.ratio_image.begin(), count, ratio_image.as<u64>());
            return Py_BuildValue("NNNNO", member.handed_over(), leader.handed_over(), ratio.handed_over(),
                                 ratio_image.handed_over(), found.is_complete ? Py_True : Py_False);
        });
    });
}

PyObject* py_merge_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *rows_given, *labels_given, *w_given;
        Py_ssize_t n_classes;
        double cancelled;
        if (!PyArg_ParseTuple(arguments, "OOOnOd", &A_given, &rows_given, &labels_given, &n_classes, &w_given, &cancelled))
            return nullptr;
        if (n_classes < 0) throw std::invalid_argument("the number of classes is negative");
        const Buffer rows_buffer(rows_given), labels_buffer(labels_given);
        const MaybeBuffer w_buffer(w_given);
        const size_t n = labels_buffer.size(), n_rows = rows_buffer.size(), n_labels = size_t(n_classes);
        const MatrixBuffers buffers(A_given, n);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto A = buffers.view<Index>(1);
            const long long* rows = rows_buffer.integers<long long>("rows", n_rows);
            const long long* labels = labels_buffer.integers<long long>("labels", n);
            bool is_inside = true;
            for (size_t k = 0; k < n_rows; ++k) is_inside &= rows[k] >= 0 && size_t(rows[k]) < A.n_major;
            for (size_t j = 0; j < n; ++j) is_inside &= labels[j] >= 0 && size_t(labels[j]) < n_labels;
            if (!is_inside) throw std::invalid_argument("a row or label lies outside");
            MergedColumns<Index> merged(A, rows, n_rows, labels, n_labels, w_buffer.doubles("w", n));
            Room offsets(n_labels + 1, sizeof(Index));
            size_t count;
            {
                const WithoutLock unlocked;
                count = merged.count(offsets.as<Index>());
            }
            Room indices(count, sizeof(Index)), values(count, sizeof(double));
            {
                const WithoutLock unlocked;
                count = merged.fill(offsets.as<Index>(), indices.as<Index>(), values.as<double>(), cancelled);
            }
            return Py_BuildValue("NNNn", offsets.handed_over(), indices.handed_over(), values.handed_over(),
                                 Py_ssize_t(count));
        });
    });
}

PyObject* py_submatrix(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *M_given, *majors_given, *minors_given;
        Py_ssize_t n_minor;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OnOOI", &M_given, &n_minor, &majors_given, &minors_given, &n_threads))
            return nullptr;
        if (n_minor < 0) throw std::invalid_argument("the number of minors is negative");
        const MatrixBuffers buffers(M_given, size_t(n_minor));
        const Buffer majors_buffer(majors_given);
        std::unique_ptr<Buffer> minors_buffer;
        if (minors_given != Py_None) minors_buffer = std::make_unique<Buffer>(minors_given);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto M = buffers.view<Index>(n_threads);
            const size_t n_kept = majors_buffer.size();
            const long long* majors = majors_buffer.integers<long long>("majors", n_kept);
            const size_t n_minors = minors_buffer ? minors_buffer->size() : 0;
            const long long* minors = minors_buffer ? minors_buffer->integers<long long>("minors", n_minors) : nullptr;
            for (size_t k = 0; k < n_kept; ++k)
                if (majors[k] < 0 || size_t(majors[k]) >= M.n_major)
                    throw std::invalid_argument("a kept row or column lies outside the matrix");
            for (size_t k = 0; k < n_minors; ++k)
                if (minors[k] < 0 || size_t(minors[k]) >= M.n_minor || (k && minors[k] <= minors[k - 1]))
                    throw std::invalid_argument("the kept rows or columns lie outside the matrix, or do not ascend");
            std::unique_ptr<SomeMinors> some;
            if (minors_buffer) some = std::make_unique<SomeMinors>(minors, n_minors, size_t(M.n_minor), true);
            Room offsets(n_kept + 1, sizeof(Index));
            size_t count;
            {
                const WithoutLock unlocked;
                count = count_entries(M, majors, n_kept, some.get(), offsets.as<Index>());
            }
            if (sizeof(Index) == 4 && count > most_indices)
                throw std::invalid_argument("the submatrix has 2^31 entries or more");
            Room indices(count, sizeof(Index)), values(count, sizeof(double));
            {
                const WithoutLock unlocked;
                copy_entries(M, majors, n_kept, some.get(), offsets.as<Index>(), indices.as<Index>(), values.as<double>(),
                             n_threads);
            }
            return Py_BuildValue("NNN", offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_entries_of_minors(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *M_given, *minors_given;
        Py_ssize_t n_minor;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OnOI", &M_given, &n_minor, &minors_given, &n_threads)) return nullptr;
        if (n_minor < 0) throw std::invalid_argument("the number of minors is negative");
        const MatrixBuffers buffers(M_given, size_t(n_minor));
        const Buffer minors_buffer(minors_given);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto M = buffers.view<Index>(n_threads);
            const size_t n_wanted = minors_buffer.size();
            const long long* minors = minors_buffer.integers<long long>("minors", n_wanted);
            for (size_t k = 0; k < n_wanted; ++k)
                if (minors[k] < 0 || size_t(minors[k]) >= M.n_minor || (k && minors[k] <= minors[k - 1]))
                    throw std::invalid_argument("the wanted rows or columns lie outside the matrix, or do not ascend");
            Array<ListedEntry> listed;
            {
                const WithoutLock unlocked;
                listed = entries_of_minors(M, minors, n_wanted);
            }
            Room majors(listed.size(), 8), places(listed.size(), 8), values(listed.size(), sizeof(double));
            for (size_t k = 0; k < listed.size(); ++k) {
                majors.as<long long>()[k] = listed[k].major;
                places.as<long long>()[k] = listed[k].place;
                values.as<double>()[k] = listed[k].value;
            }
            return Py_BuildValue("NNN", majors.handed_over(), places.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_conic_form(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *vectors[4], *more_given;
        int is_by_rows;
        Py_ssize_t n_more;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)OnI", &A_given, &is_by_rows, &vectors[0], &vectors[1], &vectors[2], &vectors[3],
                              &more_given, &n_more, &n_threads))
            return nullptr;
        const Buffer l_buffer(vectors[0]), u_buffer(vectors[1]), lb_buffer(vectors[2]), ub_buffer(vectors[3]);
        const size_t m = l_buffer.size(), n = lb_buffer.size();
        const double *l = l_buffer.doubles("l", m), *u = u_buffer.doubles("u", m);
        const double *lb = lb_buffer.doubles("lb", n), *ub = ub_buffer.doubles("ub", n);
        if (n_more < 0 || size_t(n_more) > most_indices / 2) throw std::invalid_argument("too many further rows");
        const MatrixBuffers A_buffers(A_given, is_by_rows ? n : m);
        std::unique_ptr<MatrixBuffers> more_buffers;
        if (more_given != Py_None) more_buffers = std::make_unique<MatrixBuffers>(more_given, size_t(n_more));
        return by_width(A_buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto A = A_buffers.view<Index>(n_threads);
            SparseView<Index> more;
            if (more_buffers) more = more_buffers->view<Index>(n_threads);
            if (A.n_major != (is_by_rows ? m : n) || (more_buffers && more.n_major != n))
                throw std::invalid_argument("a matrix does not fit the bounds");
            const SparseView<Index>* following = more_buffers ? &more : nullptr;
            Places places(l, u, m, lb, ub, n);
            Room offsets(n + 1, 4), owner(places.n_rows(), 4), b(places.n_rows(), 8);
            size_t count;
            {
                const WithoutLock unlocked;
                fill_sides(places, l, u, m, lb, ub, owner.as<int32_t>(), b.as<double>());
                count = count_conic(A, is_by_rows != 0, places, following, offsets.as<int32_t>());
            }
            Room indices(count, 4), values(count, 8);
            {
                const WithoutLock unlocked;
                fill_conic(A, is_by_rows != 0, places, following, offsets.as<int32_t>(), indices.as<int32_t>(),
                           values.as<double>(), n_threads);
            }
            return Py_BuildValue("nnnNNNNN", Py_ssize_t(places.counts.equal), Py_ssize_t(places.counts.upper),
                                 Py_ssize_t(places.counts.lower), owner.handed_over(), b.handed_over(),
                                 offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_triangle(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* P_given;
        int is_upper;
        Py_ssize_t n;
        if (!PyArg_ParseTuple(arguments, "Onp", &P_given, &n, &is_upper)) return nullptr;
        if (n < 0) throw std::invalid_argument("the size of the matrix is negative");
        const MatrixBuffers buffers(P_given, size_t(n));
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto P = buffers.view<decltype(index)>(1);
            Room offsets(size_t(P.n_major) + 1, 4);
            const size_t count = count_triangle(P, is_upper != 0, offsets.as<int32_t>());
            Room indices(count, 4), values(count, 8);
            fill_triangle(P, is_upper != 0, indices.as<int32_t>(), values.as<double>());
            return Py_BuildValue("NNN", offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_count_kinds(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[6];
        if (!PyArg_ParseTuple(arguments, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5]))
            return nullptr;
        const Buffer q(given[0]), lb(given[1]), ub(given[2]), low(given[3]), high(given[4]), cost(given[5]);
        const size_t n = q.size();
        if (n > most_indices) throw std::invalid_argument("there are too many variables");
        const KindCounts counts = count_kinds({{q.words("q", n), lb.words("lb", n), ub.words("ub", n)},
                                               low.words("low", n), high.words("high", n), cost.words("cost", n), n});
        return Py_BuildValue("KKK", (unsigned long long)counts.given, (unsigned long long)counts.up_to_units,
                             (unsigned long long)counts.up_to_sizes);
    });
}

PyObject* py_numbered(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *labels_given, *numbers_given;
        if (!PyArg_ParseTuple(arguments, "OO", &labels_given, &numbers_given)) return nullptr;
        const Buffer labels(labels_given), numbers(numbers_given, true);
        const size_t n = labels.size();
        if (n > most_indices) throw std::invalid_argument("there are too many labels");
        const int64_t* label = labels.integers<int64_t>("labels", n);
        int64_t* number = numbers.integers<int64_t>("numbers", n);
        size_t n_classes;
        {
            const WithoutLock unlocked;
            static_assert(sizeof(i64) == sizeof(int64_t), "labels are 64 bits wide");
            n_classes = group(reinterpret_cast<const u64*>(label), u32(n), 16, reinterpret_cast<i64*>(number)).n_classes();
        }
        return PyLong_FromSize_t(n_classes);
    });
}

PyObject* py_first_members(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *labels_given, *members_given;
        if (!PyArg_ParseTuple(arguments, "OO", &labels_given, &members_given)) return nullptr;
        const Buffer labels(labels_given), members(members_given, true);
        const size_t n = labels.size(), n_classes = members.size();
        const int64_t* label = labels.integers<int64_t>("labels", n);
        int64_t* member = members.integers<int64_t>("members", n_classes);
        size_t n_seen = 0;
        for (size_t k = 0; k < n; ++k) {
            if (label[k] != int64_t(n_seen)) continue;  // the first of a class is the first with its number
            if (n_seen == n_classes) throw std::invalid_argument("there are more classes");
            member[n_seen++] = int64_t(k);
        }
        if (n_seen != n_classes) throw std::invalid_argument("labels are not numbered by smallest member");
        Py_RETURN_NONE;
    });
}

PyObject* py_grouped_sums(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[3];
        if (!PyArg_ParseTuple(arguments, "OOO", &given[0], &given[1], &given[2])) return nullptr;
        const Buffer targets(given[0]), terms(given[1]), sums(given[2], true);
        const size_t count = targets.size(), size = sums.size();
        const int64_t* target = targets.integers<int64_t>("target", count);
        const u64* term = terms.words("terms", count);
        u64* sum = sums.words("sums", size);
        bool is_inside;
        {
            const WithoutLock unlocked;
            is_inside = add_by_target(reinterpret_cast<const i64*>(target), term, count, sum, size);
        }
        if (!is_inside) throw std::invalid_argument("a target lies outside");
        Py_RETURN_NONE;
    });
}

PyObject* py_field_product(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *M_given, *words_given, *products_given;
        int is_by_rows, is_decimal;
        if (!PyArg_ParseTuple(arguments, "OpOpO", &M_given, &is_by_rows, &words_given, &is_decimal, &products_given))
            return nullptr;
        const Buffer words_buffer(words_given), products_buffer(products_given, true);
        const size_t n = words_buffer.size(), m = products_buffer.size();
        const u64* words = words_buffer.words("words", n);
        u64* products = products_buffer.words("products", m);
        const MatrixBuffers buffers(M_given, is_by_rows ? n : m);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto M = buffers.view<decltype(index)>(1);
            if (M.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("the words do not fit the matrix");
            {
                const WithoutLock unlocked;
                field_product(M, is_by_rows != 0, words, is_decimal ? Reading::decimal : Reading::bits, products);
            }
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_count_near(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        int last_bits;
        Py_ssize_t n_slices;
        if (!PyArg_ParseTuple(arguments, "Oin", &given, &last_bits, &n_slices)) return nullptr;
        const Buffer buffer(given);
        const size_t n = buffer.size();
        if (n > most_indices || last_bits < 1 || last_bits > 52 || n_slices < 1)
            throw std::invalid_argument("too many numbers, or no part of them");
        const double* values = buffer.doubles("values", n);
        NearCounts counts;
        {
            const WithoutLock unlocked;
            counts = count_near(values, n, last_bits, u64(n_slices));
        }
        return Py_BuildValue("KK", (unsigned long long)counts.numbers, (unsigned long long)counts.keys);
    });
}

PyObject* py_simple_fractions(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[3];
        double largest, rounding;
        if (!PyArg_ParseTuple(arguments, "OddOO", &given[0], &largest, &rounding, &given[1], &given[2])) return nullptr;
        if (!(largest >= 1 && largest <= 1e9)) throw std::invalid_argument("the largest number is not one that can be");
        const Buffer values(given[0]), numerators(given[1], true), denominators(given[2], true);
        const size_t n = values.size();
        const double* value = values.doubles("values", n);
        int64_t* numerator = numerators.integers<int64_t>("numerators", n);
        int64_t* denominator = denominators.integers<int64_t>("denominators", n);
        {
            const WithoutLock unlocked;
            simple_fractions(value, n, largest, rounding, numerator, denominator);
        }
        Py_RETURN_NONE;
    });
}

PyObject* py_has_longer(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        int digits;
        if (!PyArg_ParseTuple(arguments, "Oi", &given, &digits)) return nullptr;
        if (digits < 1 || digits > 15) throw std::invalid_argument("digits are not between 1 and 15");
        const Buffer values(given);
        const double* value = values.doubles("values", values.size());
        bool is_there;
        {
            const WithoutLock unlocked;
            is_there = has_longer(value, values.size(), digits);
        }
        return PyBool_FromLong(is_there);
    });
}

PyObject* py_count_shapes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[3];
        if (!PyArg_ParseTuple(arguments, "OOO", &given[0], &given[1], &given[2])) return nullptr;
        const Buffer low(given[0]), high(given[1]), cost(given[2]);
        const size_t n = low.size();
        if (n > most_indices) throw std::invalid_argument("there are too many intervals");
        return PyLong_FromUnsignedLongLong(
            count_shapes(low.doubles("low", n), high.doubles("high", n), cost.doubles("cost", n), u32(n)));
    });
}

// Bounds and costs of variables: floats, then exact.
PyObject* py_look_at_colours(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[6];
        unsigned long long n, most;
        int sizes, signs;
        if (!PyArg_ParseTuple(arguments, "(OOOOOO)KKpp", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                              &n, &most, &sizes, &signs))
            return nullptr;
        const Buffer low(given[0]), high(given[1]), cost(given[2]), low_image(given[3]), high_image(given[4]);
        const Buffer cost_image(given[5]);
        if (n > most_indices || most < 2 || most > most_indices) throw std::invalid_argument("there are too many variables");
        const VariableNumbers numbers{{low.numbers("low", n), high.numbers("high", n), cost.numbers("cost", n),
                                       low_image.images("low_image", n), high_image.images("high_image", n),
                                       cost_image.images("cost_image", n), n}};
        const Colours found = look_at_colours(numbers, most, sizes, signs);
        return Py_BuildValue("KKKNN", (unsigned long long)found.kinds.given, (unsigned long long)found.kinds.up_to_units,
                             (unsigned long long)found.kinds.up_to_sizes, PyBool_FromLong(found.rests),
                             PyBool_FromLong(found.lacks_size));
    });
}

PyObject* py_look_computed(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[4];
        unsigned long long n, m, most;
        int digits;
        double smallest, share;
        if (!PyArg_ParseTuple(arguments, "(OO)K(OO)KKidd", &given[0], &given[1], &n, &given[2], &given[3], &m, &most, &digits,
                              &smallest, &share))
            return nullptr;
        const Buffer lb(given[0]), ub(given[1]), l(given[2]), u(given[3]);
        if (most < 1 || digits < 1 || digits > 15) throw std::invalid_argument("an option lies outside");
        const Sizes of_variables({lb.numbers("lb", n), ub.numbers("ub", n), n}, smallest);
        if (of_variables.number(most) == 0) Py_RETURN_FALSE;  // rows need not be counted
        const Sizes of_rows({l.numbers("l", m), u.numbers("u", m), m}, smallest);
        return PyBool_FromLong(look_computed(of_variables, of_rows, most, digits, share));
    });
}

PyObject* py_admitted_sizes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *l_given, *u_given, *some_given, *sizes_given;
        int is_by_rows;
        unsigned long long n, m;
        if (!PyArg_ParseTuple(arguments, "OpK(OO)KOO", &A_given, &is_by_rows, &n, &l_given, &u_given, &m, &some_given,
                              &sizes_given))
            return nullptr;
        const MatrixBuffers A(A_given, is_by_rows ? n : m);
        const Buffer l(l_given), u(u_given), some(some_given), sizes(sizes_given, true);
        const Sides rows{l.numbers("l", m), u.numbers("u", m), m};
        const size_t n_some = some.size();
        const int64_t* const variables = some.integers<int64_t>("variables", n_some);
        double* const out = sizes.doubles("sizes", n_some);
        for (size_t k = 0; k < n_some; ++k)
            if (variables[k] < 0 || size_t(variables[k]) >= n) throw std::invalid_argument("a variable lies outside");
        const auto find = [&](const auto& view) {
            if (view.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("A has a wrong length");
            find_admitted_sizes(view, is_by_rows, rows, variables, n_some, out);
        };
        if (A.is_wide()) find(A.sampled<int64_t>());
        else find(A.sampled<int32_t>());
        Py_RETURN_NONE;
    });
}

template <class Index>
bool may_be_reflected_by(const MatrixBuffers& A, bool is_by_rows, const MatrixBuffers* P, const ReflectionVectors& vectors,
                         u64 most) {
    const SparseView<Index> rows = A.sampled<Index>();
    const u64 n_major = is_by_rows ? vectors.m : vectors.n;
    if (rows.n_major != n_major) throw std::invalid_argument("A has a wrong length");
    if (!P) return may_be_reflected<Index>(rows, is_by_rows, nullptr, vectors, most);
    const SparseView<Index> curved = P->sampled<Index>();
    if (curved.n_major != vectors.n) throw std::invalid_argument("P has a wrong length");
    return may_be_reflected<Index>(rows, is_by_rows, &curved, vectors, most);
}

PyObject* py_may_be_reflected(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *P_given, *given[5], *rigid_given;
        int is_by_rows;
        unsigned long long n, m, most;
        if (!PyArg_ParseTuple(arguments, "OpO(OOO)K(OO)KOK", &A_given, &is_by_rows, &P_given, &given[0], &given[1],
                              &given[2], &n, &given[3], &given[4], &m, &rigid_given, &most))
            return nullptr;
        const Buffer q(given[0]), lb(given[1]), ub(given[2]), l(given[3]), u(given[4]);
        if (n > most_vertices || m > most_vertices || most < 2) throw std::invalid_argument("there are too many variables");
        std::unique_ptr<Buffer> rigid;
        if (rigid_given != Py_None) rigid = std::make_unique<Buffer>(rigid_given);
        const ReflectionVectors vectors{q.numbers("q", n), {lb.numbers("lb", n), ub.numbers("ub", n), n},
                                        {l.numbers("l", m), u.numbers("u", m), m},
                                        rigid ? rigid->bytes("is_rigid", n) : nullptr, n, m};
        if (vectors.first_with_middle() == n) Py_RETURN_FALSE;
        const MatrixBuffers A(A_given, is_by_rows ? n : m);
        std::unique_ptr<MatrixBuffers> P;
        if (P_given != Py_None) P = std::make_unique<MatrixBuffers>(P_given, n);
        const bool is_wide = A.is_wide();
        return PyBool_FromLong(is_wide ? may_be_reflected_by<int64_t>(A, is_by_rows, P.get(), vectors, most)
                                       : may_be_reflected_by<int32_t>(A, is_by_rows, P.get(), vectors, most));
    });
}

template <class Index>
u64 count_links_of(const MatrixBuffers& A, bool is_by_rows, const OwnNumbers& variables, const OwnNumbers& rows, u64 step,
                   double largest, double rounding) {
    const SparseView<Index> view = A.sampled<Index>();
    if (view.n_major != (is_by_rows ? rows.size : variables.size)) throw std::invalid_argument("A has a wrong length");
    return count_links(view, is_by_rows, variables, rows, step, largest, rounding);
}

PyObject* py_count_links(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *given[8];
        int is_by_rows;
        unsigned long long step;
        double largest, rounding;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)(OOOO)Kdd", &A_given, &is_by_rows, &given[0], &given[1], &given[2],
                              &given[3], &given[4], &given[5], &given[6], &given[7], &step, &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9) || step < 1) throw std::invalid_argument("an option lies outside");
        const Buffer lb(given[0]), ub(given[1]), lb_image(given[2]), ub_image(given[3]);
        const Buffer l(given[4]), u(given[5]), l_image(given[6]), u_image(given[7]);
        const size_t n = lb.size(), m = l.size();
        const OwnNumbers variables{lb.doubles("lb", n), ub.doubles("ub", n), nullptr, nullptr,
                                   lb_image.words("lb_image", n), ub_image.words("ub_image", n), nullptr, nullptr, n};
        const OwnNumbers rows{l.doubles("l", m), u.doubles("u", m), nullptr, nullptr,
                              l_image.words("l_image", m), u_image.words("u_image", m), nullptr, nullptr, m};
        const MatrixBuffers A(A_given, is_by_rows ? n : m);
        const bool is_wide = A.is_wide();
        return PyLong_FromUnsignedLongLong(
            is_wide ? count_links_of<int64_t>(A, is_by_rows, variables, rows, step, largest, rounding)
                    : count_links_of<int32_t>(A, is_by_rows, variables, rows, step, largest, rounding));
    });
}

PyObject* py_count_shared_ratios(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *given[8];
        int is_by_rows;
        unsigned long long step;
        double different, largest, rounding;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)(OOOO)Kddd", &A_given, &is_by_rows, &given[0], &given[1], &given[2],
                              &given[3], &given[4], &given[5], &given[6], &given[7], &step, &different, &largest,
                              &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9) || step < 1) throw std::invalid_argument("an option lies outside");
        const Buffer lb(given[0]), ub(given[1]), lb_image(given[2]), ub_image(given[3]);
        const Buffer l(given[4]), u(given[5]), l_image(given[6]), u_image(given[7]);
        const size_t n = lb.size(), m = l.size();
        const OwnNumbers variables{lb.doubles("lb", n), ub.doubles("ub", n), nullptr, nullptr,
                                   lb_image.words("lb_image", n), ub_image.words("ub_image", n), nullptr, nullptr, n};
        const OwnNumbers rows{l.doubles("l", m), u.doubles("u", m), nullptr, nullptr,
                              l_image.words("l_image", m), u_image.words("u_image", m), nullptr, nullptr, m};
        const MatrixBuffers buffers(A_given, is_by_rows ? n : m);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.sampled<decltype(index)>();
            if (A.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("A has a wrong length");
            const SharedCount count =
                count_shared_ratios(A, is_by_rows != 0, variables, rows, step, different, largest, rounding);
            return Py_BuildValue("KK", (unsigned long long)count.number, (unsigned long long)count.shared);
        });
    });
}

PyObject* py_links_change_nothing(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *given[8];
        int is_by_rows;
        double largest, rounding;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)(OOOO)dd", &A_given, &is_by_rows, &given[0], &given[1], &given[2],
                              &given[3], &given[4], &given[5], &given[6], &given[7], &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9)) throw std::invalid_argument("an option lies outside");
        const Buffer lb(given[0]), ub(given[1]), lb_image(given[2]), ub_image(given[3]);
        const Buffer l(given[4]), u(given[5]), l_image(given[6]), u_image(given[7]);
        const size_t n = lb.size(), m = l.size();
        const OwnNumbers variables{lb.doubles("lb", n), ub.doubles("ub", n), nullptr, nullptr,
                                   lb_image.words("lb_image", n), ub_image.words("ub_image", n), nullptr, nullptr, n};
        const OwnNumbers rows{l.doubles("l", m), u.doubles("u", m), nullptr, nullptr,
                              l_image.words("l_image", m), u_image.words("u_image", m), nullptr, nullptr, m};
        const MatrixBuffers buffers(A_given, is_by_rows ? n : m);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            if (A.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("A has a wrong length");
            bool is_so;
            {
                const WithoutLock unlocked;
                is_so = LinkCheck(variables, rows, largest, rounding).changes_nothing(A, is_by_rows != 0);
            }
            return PyBool_FromLong(is_so);
        });
    });
}

template <class Index>
CostCounts count_simple_costs_of(const MatrixBuffers& A, bool is_by_rows, const double* q, size_t n, u64 step, int digits,
                                 double different, double largest, double rounding) {
    const SparseView<Index> view = A.view<Index>(1);
    if ((is_by_rows ? view.n_minor : view.n_major) != n) throw std::invalid_argument("A has a wrong length");
    return count_simple_costs(view, is_by_rows, q, step, digits, different, largest, rounding);
}

PyObject* py_count_simple_costs(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *q_given;
        int is_by_rows, digits;
        Py_ssize_t m;
        unsigned long long step;
        double different, largest, rounding;
        if (!PyArg_ParseTuple(arguments, "OpnOKiddd", &A_given, &is_by_rows, &m, &q_given, &step, &digits, &different,
                              &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9) || step < 1 || digits < 1 || digits > 15 || m < 0)
            throw std::invalid_argument("an option lies outside");
        const Buffer q(q_given);
        const size_t n = q.size();
        const double* costs = q.doubles("q", n);
        const MatrixBuffers A(A_given, is_by_rows ? n : size_t(m));
        const CostCounts counts =
            A.is_wide()
                ? count_simple_costs_of<int64_t>(A, is_by_rows, costs, n, step, digits, different, largest, rounding)
                : count_simple_costs_of<int32_t>(A, is_by_rows, costs, n, step, digits, different, largest, rounding);
        return Py_BuildValue("KKK", (unsigned long long)counts.told, (unsigned long long)counts.simple,
                             (unsigned long long)counts.shared);
    });
}

PyObject* py_transpose(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* M_given;
        Py_ssize_t n_minor;
        if (!PyArg_ParseTuple(arguments, "On", &M_given, &n_minor)) return nullptr;
        if (n_minor < 0) throw std::invalid_argument("the number of minors is negative");
        const MatrixBuffers buffers(M_given, size_t(n_minor));
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto M = buffers.view<Index>(1);
            Room offsets(size_t(n_minor) + 1, sizeof(Index));
            Room indices(M.n_entries(), sizeof(Index)), values(M.n_entries(), sizeof(double));
            {
                const WithoutLock unlocked;
                transpose(M, offsets.as<Index>(), indices.as<Index>(), values.as<double>());
            }
            return Py_BuildValue("NNN", offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_stack(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *above_given, *below_given, *owner_given;
        Py_ssize_t n, n_cones;
        if (!PyArg_ParseTuple(arguments, "OOnOn", &above_given, &below_given, &n, &owner_given, &n_cones)) return nullptr;
        if (n < 0 || n_cones < 0 || size_t(n + n_cones) > most_indices) throw std::invalid_argument("too many columns");
        const MatrixBuffers above_buffers(above_given, size_t(n)), below_buffers(below_given, size_t(n));
        const Buffer owner_buffer(owner_given);
        const size_t k = owner_buffer.size();
        const long long* owner = owner_buffer.integers<long long>("owner", k);
        for (size_t i = 0; i < k; ++i)
            if (owner[i] < 0 || owner[i] >= n_cones) throw std::invalid_argument("a cone does not exist");
        return by_width(above_buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto above = above_buffers.view<Index>(1), below = below_buffers.view<Index>(1);
            if (below.n_major != k) throw std::invalid_argument("the cones do not fit the rows");
            const size_t count = size_t(above.n_entries()) + size_t(below.n_entries()) + k;
            if (sizeof(Index) == 4 && count > most_indices) throw std::invalid_argument("2^31 entries or more");
            Room offsets(size_t(above.n_major) + k + 1, sizeof(Index));
            Room indices(count, sizeof(Index)), values(count, sizeof(double));
            {
                const WithoutLock unlocked;
                stack(above, below, size_t(n), owner, offsets.as<Index>(), indices.as<Index>(), values.as<double>());
            }
            return Py_BuildValue("NNN", offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

PyObject* py_sums_of_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *C_given, *b_given, *v_given, *out[4];
        if (!PyArg_ParseTuple(arguments, "OOO(OOOO)", &C_given, &b_given, &v_given, &out[0], &out[1], &out[2], &out[3]))
            return nullptr;
        const Buffer b(b_given), natural(out[0], true), terms(out[1], true), sums(out[2], true), marks(out[3], true);
        const MaybeBuffer v(v_given);
        const size_t k = b.size(), n = natural.size();
        const MatrixBuffers buffers(C_given, n);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto C = buffers.view<decltype(index)>(1);
            if (C.n_major != k) throw std::invalid_argument("the matrix does not fit the vectors");
            const double *sides = b.doubles("b", k), *duals = v.doubles("v", k);
            double* to[] = {natural.doubles("natural", n), terms.doubles("terms", n), sums.doubles("sums", n),
                            marks.doubles("marks", n)};
            {
                const WithoutLock unlocked;
                sums_of_columns(C, sides, duals, to[0], to[1], to[2], to[3]);
            }
            Py_RETURN_NONE;
        });
    });
}

// Where cones begin: 0 first, then ascending.
const long long* starts_of(const Buffer& starts, size_t n_rows) {
    const long long* first = starts.integers<long long>("starts", starts.size());
    bool is_right = starts.size() ? first[0] == 0 : n_rows == 0;
    for (size_t k = 0; k < starts.size(); ++k)
        is_right &= first[k] >= 0 && size_t(first[k]) <= n_rows && (k == 0 || first[k - 1] <= first[k]);
    if (!is_right) throw std::invalid_argument("the cones do not fit the rows");
    return first;
}

PyObject* py_slack_and_rooms(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *C_given, *given[4], *out[2];
        double common;
        if (!PyArg_ParseTuple(arguments, "O(OOOO)d(OO)", &C_given, &given[0], &given[1], &given[2], &given[3], &common,
                              &out[0], &out[1]))
            return nullptr;
        const Buffer b(given[0]), x(given[1]), sizes(given[2]), starts(given[3]), slack(out[0], true), rooms(out[1], true);
        const size_t k = b.size(), n = x.size();
        const MatrixBuffers buffers(C_given, n);
        const long long* first = starts_of(starts, k);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto C = buffers.view<decltype(index)>(1);
            if (C.n_major != k) throw std::invalid_argument("the matrix does not fit the vectors");
            const double *sides = b.doubles("b", k), *point = x.doubles("x", n), *size = sizes.doubles("sizes", n);
            double *to_slack = slack.doubles("slack", k), *to_rooms = rooms.doubles("rooms", k);
            {
                const WithoutLock unlocked;
                slack_and_rooms(C, sides, point, size, first, starts.size(), common, to_slack, to_rooms);
            }
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_push_heads(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[5];
        if (!PyArg_ParseTuple(arguments, "OOOOO", &given[0], &given[1], &given[2], &given[3], &given[4])) return nullptr;
        const Buffer heads(given[0]), lengths(given[1]), room(given[2]), s(given[3], true), push(given[4], true);
        const size_t n_cones = heads.size(), k = room.size();
        const long long *first = heads.integers<long long>("heads", n_cones),
                        *length = lengths.integers<long long>("lengths", n_cones);
        for (size_t c = 0; c < n_cones; ++c)
            if (first[c] < 0 || length[c] < 1 || size_t(first[c]) >= k || size_t(length[c]) > k - size_t(first[c]))
                throw std::invalid_argument("a cone lies outside the vector");
        push_heads(first, length, n_cones, room.doubles("room", k), s.doubles("s", k), push.doubles("push", n_cones));
        Py_RETURN_NONE;
    });
}

// Rows of a vector of this size, every one inside it.
const long long* rows_inside(const Buffer& rows, const char* name, size_t count, size_t size) {
    const long long* found = rows.integers<long long>(name, count);
    for (size_t k = 0; k < count; ++k)
        if (found[k] < 0 || size_t(found[k]) >= size) throw std::invalid_argument("a cone lies outside the vector");
    return found;
}

PyObject* py_push_exponential(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[5];
        int dual;
        if (!PyArg_ParseTuple(arguments, "OOOpOO", &given[0], &given[1], &given[2], &dual, &given[3], &given[4]))
            return nullptr;
        const Buffer at(given[0]), s(given[1]), room(given[2]), push(given[3], true), moved(given[4], true);
        const size_t n_cones = push.size(), k = s.size();
        push_exponential(rows_inside(at, "at", 3 * n_cones, k), n_cones, s.doubles("s", k), room.doubles("room", k), dual,
                         push.doubles("push", n_cones), moved.doubles("moved", k));
        Py_RETURN_NONE;
    });
}

PyObject* py_push_power(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[8];
        int dual;
        if (!PyArg_ParseTuple(arguments, "(OOOO)OOpOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                              &dual, &given[6], &given[7]))
            return nullptr;
        const Buffer rows(given[0]), lengths(given[1]), exponents(given[2]), products(given[3]);
        const Buffer s(given[4]), room(given[5]), push(given[6], true), moved(given[7], true);
        const size_t n_cones = push.size(), n = rows.size(), k = s.size();
        const long long* counts = lengths.integers<long long>("lengths", n_cones);
        size_t left = n;
        for (size_t c = 0; c < n_cones; left -= size_t(counts[c++]))
            if (counts[c] < 0 || size_t(counts[c]) > left) throw std::invalid_argument("there are fewer arguments");
        push_power(rows_inside(rows, "arguments", n, k), counts, exponents.doubles("exponents", n),
                   rows_inside(products, "products", n_cones, k), n_cones, s.doubles("s", k), room.doubles("room", k), dual,
                   push.doubles("push", n_cones), moved.doubles("moved", k));
        Py_RETURN_NONE;
    });
}

// The entries of the matrices of quadratic constraints, held as long as this lives.
class QuadraticBuffers {
public:
    explicit QuadraticBuffers(PyObject* const* given)
        : owner_(given[0]), first_(given[1]), second_(given[2]), values_(given[3]) {}
    QuadraticEntries entries(size_t n_constraints, size_t n_variables) const {
        const size_t n = values_.size();
        return {n, rows_inside(owner_, "owner", n, n_constraints), rows_inside(first_, "first", n, n_variables),
                rows_inside(second_, "second", n, n_variables), values_.doubles("values", n)};
    }

private:
    Buffer owner_, first_, second_, values_;
};

// Fills one number for each constraint, from one for each variable.
template <class Pass> PyObject* of_constraints(PyObject* arguments, Pass pass) {
    return guarded([&]() -> PyObject* {
        PyObject *given[4], *of_variables, *of_constraints;
        if (!PyArg_ParseTuple(arguments, "(OOOO)OO", &given[0], &given[1], &given[2], &given[3], &of_variables,
                              &of_constraints))
            return nullptr;
        const QuadraticBuffers held(given);
        const Buffer numbers(of_variables), out(of_constraints, true);
        const size_t n = numbers.size(), k = out.size();
        pass(held.entries(k, n), numbers.doubles("numbers of variables", n), out.doubles("numbers of constraints", k));
        Py_RETURN_NONE;
    });
}

PyObject* py_quadratic_values(PyObject*, PyObject* arguments) { return of_constraints(arguments, quadratic_values); }

PyObject* py_quadratic_largest(PyObject*, PyObject* arguments) { return of_constraints(arguments, quadratic_largest); }

PyObject* py_quadratic_gradient(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *given[4], *x, *z, *sums, *largest;
        if (!PyArg_ParseTuple(arguments, "(OOOO)OOOO", &given[0], &given[1], &given[2], &given[3], &x, &z, &sums, &largest))
            return nullptr;
        const QuadraticBuffers held(given);
        const Buffer point(x), duals(z), out(sums, true), most(largest, true);
        const size_t n = point.size(), k = duals.size();
        quadratic_gradient(held.entries(k, n), point.doubles("x", n), duals.doubles("z", k), out.doubles("sums", n),
                           most.doubles("largest", n));
        Py_RETURN_NONE;
    });
}

// Whole constraints, held as long as this lives: ((owner, first, second, values), q by rows, r).
class ConstraintBuffers {
public:
    ConstraintBuffers(PyObject* given, size_t n_variables) {
        PyObject *entries[4], *linear, *right;
        if (!PyArg_ParseTuple(given, "(OOOO)OO", &entries[0], &entries[1], &entries[2], &entries[3], &linear, &right))
            throw PythonError();
        entries_ = std::make_unique<QuadraticBuffers>(entries);
        linear_ = std::make_unique<MatrixBuffers>(linear, n_variables);
        right_ = std::make_unique<Buffer>(right);
        n_ = n_variables;
    }
    bool is_wide() const { return linear_->is_wide(); }
    size_t size() const { return right_->size(); }
    template <class Index> QuadraticConstraints<Index> constraints() const {
        const QuadraticConstraints<Index> all{entries_->entries(size(), n_), linear_->view<Index>(1),
                                              right_->doubles("r", size())};
        if (all.q.n_major != size()) throw std::invalid_argument("q does not fit r");
        return all;
    }

private:
    size_t n_ = 0;
    std::unique_ptr<QuadraticBuffers> entries_;
    std::unique_ptr<MatrixBuffers> linear_;
    std::unique_ptr<Buffer> right_;
};

PyObject* py_quadratic_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *given, *x_given, *z_given, *out[5];
        if (!PyArg_ParseTuple(arguments, "OOO(OOOOO)", &given, &x_given, &z_given, &out[0], &out[1], &out[2], &out[3],
                              &out[4]))
            return nullptr;
        const Buffer x(x_given), natural(out[0], true), terms(out[1], true), sums(out[2], true), below(out[3], true),
            above(out[4], true);
        const MaybeBuffer z(z_given);
        const size_t n = x.size();
        const ConstraintBuffers held(given, n);
        return by_width(held.is_wide(), [&](auto index) -> PyObject* {
            const auto constraints = held.constraints<decltype(index)>();
            std::vector<double> curved(n), straight(n);
            quadratic_columns(constraints, x.doubles("x", n), z.doubles("z", held.size()), natural.doubles("natural", n),
                              terms.doubles("terms", n), sums.doubles("sums", n), below.doubles("below", n),
                              above.doubles("above", n), curved.data(), straight.data());
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_quadratic_excess(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *given, *x_given, *sizes_given, *out;
        double common;
        if (!PyArg_ParseTuple(arguments, "OOOdO", &given, &x_given, &sizes_given, &common, &out)) return nullptr;
        const Buffer x(x_given), sizes(sizes_given), over(out, true);
        const size_t n = x.size();
        const ConstraintBuffers held(given, n);
        return by_width(held.is_wide(), [&](auto index) -> PyObject* {
            const auto constraints = held.constraints<decltype(index)>();
            std::vector<double> largest(held.size());
            return PyFloat_FromDouble(quadratic_excess(constraints, x.doubles("x", n), sizes.doubles("sizes", n), common,
                                                       over.doubles("over", held.size()), largest.data()));
        });
    });
}

PyObject* py_ray_measures(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *out[2];
        int is_by_rows;
        if (!PyArg_ParseTuple(arguments, "OpOO", &A_given, &is_by_rows, &out[0], &out[1])) return nullptr;
        const Buffer rows(out[0], true), columns(out[1], true);
        const size_t m = rows.size(), n = columns.size();
        const MatrixBuffers buffers(A_given, is_by_rows ? n : m);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            if (A.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("the sizes do not fit the matrix");
            ray_measures(A, is_by_rows != 0, m, n, rows.doubles("rows", m), columns.doubles("columns", n));
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_ray_terms(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *given[4], *measured[2], *y_given, *out;
        int is_by_rows;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)(OO)OO", &A_given, &is_by_rows, &given[0], &given[1], &given[2],
                              &given[3], &measured[0], &measured[1], &y_given, &out))
            return nullptr;
        const Buffer l(given[0]), u(given[1]), lb(given[2]), ub(given[3]), rows(measured[0]), columns(measured[1]),
            y(y_given), terms(out, true);
        const size_t m = l.size(), n = lb.size();
        const RayOf of{m, n, l.doubles("l", m), u.doubles("u", m), lb.doubles("lb", n), ub.doubles("ub", n),
                       rows.doubles("rows", m), columns.doubles("columns", n)};
        if (terms.size() < m + n) throw std::invalid_argument("there is no room for the terms");
        const MatrixBuffers buffers(A_given, is_by_rows ? n : m);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            if (A.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("the sizes do not fit the matrix");
            std::vector<double> slope(n);
            const RayTerms found = ray_terms(A, is_by_rows != 0, of, y.doubles("y", m),
                                             terms.doubles("terms", terms.size()), slope.data());
            return Py_BuildValue("dd", found.remainder, found.ratio);
        });
    });
}

template <class T> PyObject* bytes_of(const std::vector<T>& numbers) {
    Room room(numbers.size(), sizeof(T));
    std::copy(numbers.begin(), numbers.end(), room.as<T>());
    return room.handed_over();
}

PyObject* py_second_order_cones(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        Py_ssize_t n, most;
        int in_units;
        ConeOptions how;
        if (!PyArg_ParseTuple(arguments, "Onpdddn", &given, &n, &in_units, &how.least_level, &how.most_level,
                              &how.least_curvature, &most))
            return nullptr;
        if (n < 0 || most < 0) throw std::invalid_argument("a size is negative");
        how.in_units = in_units != 0, how.most = size_t(most);
        const ConstraintBuffers held(given, size_t(n));
        return by_width(held.is_wide(), [&](auto index) -> PyObject* {
            const auto constraints = held.constraints<decltype(index)>();
            std::optional<ConesOfConstraints> made;
            {
                const WithoutLock unlocked;
                made = second_order_cones(constraints, how);
            }
            if (!made) Py_RETURN_NONE;
            return Py_BuildValue("NNNNNN", bytes_of(made->offsets), bytes_of(made->rows), bytes_of(made->values),
                                 bytes_of(made->right), bytes_of(made->sizes), bytes_of(made->units));
        });
    });
}

PyObject* py_newton_polish(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *P_given, *vectors[5], *given, *point[4];
        int is_by_rows;
        Py_ssize_t steps, most;
        PolishOptions how;
        if (!PyArg_ParseTuple(arguments, "OpO(OOOOO)O(OOOO)(nndd)", &A_given, &is_by_rows, &P_given, &vectors[0],
                              &vectors[1], &vectors[2], &vectors[3], &vectors[4], &given, &point[0], &point[1], &point[2],
                              &point[3], &steps, &most, &how.enough, &how.shift))
            return nullptr;
        how.steps = size_t(std::max<Py_ssize_t>(steps, 0)), how.most = size_t(std::max<Py_ssize_t>(most, 0));
        const Buffer q(vectors[0]), l(vectors[1]), u(vectors[2]), lb(vectors[3]), ub(vectors[4]), x(point[0], true),
            y(point[1], true), w(point[2], true), z(point[3], true);
        const size_t n = q.size(), m = l.size();
        const MatrixBuffers A(A_given, is_by_rows ? n : m);
        std::unique_ptr<MatrixBuffers> P_held;
        if (P_given != Py_None) P_held = std::make_unique<MatrixBuffers>(P_given, n);
        const ConstraintBuffers held(given, n);
        const size_t k = held.size();
        double* to[] = {x.doubles("x", n), y.doubles("y", m), w.doubles("w", n), z.doubles("z", k)};
        return by_width(A.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            SparseView<Index> P;
            if (P_held) P = P_held->view<Index>(1);
            const CurvedProgram<Index> program{A.view<Index>(1), is_by_rows != 0, P_held ? &P : nullptr, q.doubles("q", n),
                                               l.doubles("l", m), u.doubles("u", m), lb.doubles("lb", n),
                                               ub.doubles("ub", n), held.constraints<Index>()};
            if (program.A.n_major != (is_by_rows ? m : n) || (P_held && P.n_major != n))
                throw std::invalid_argument("a matrix does not fit the vectors");
            Polish found;
            {
                const WithoutLock unlocked;
                PolishPoint at{{to[0], to[0] + n}, {to[1], to[1] + m}, {to[2], to[2] + n}, {to[3], to[3] + k}};
                found = NewtonPolish<Index>(program, how, at).run(at);
                if (found == Polish::better) {
                    std::copy(at.x.begin(), at.x.end(), to[0]);
                    std::copy(at.y.begin(), at.y.end(), to[1]);
                    std::copy(at.w.begin(), at.w.end(), to[2]);
                    std::copy(at.z.begin(), at.z.end(), to[3]);
                }
            }
            return PyLong_FromLong(long(found));
        });
    });
}

PyObject* py_terms_of_second_order(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[5];
        double scale;
        if (!PyArg_ParseTuple(arguments, "OOOOOd", &given[0], &given[1], &given[2], &given[3], &given[4], &scale))
            return nullptr;
        const Buffer heads(given[0]), lengths(given[1]), slack(given[2]), rooms(given[3]), v(given[4]);
        const size_t n_cones = heads.size(), k = slack.size();
        const long long *first = heads.integers<long long>("heads", n_cones),
                        *length = lengths.integers<long long>("lengths", n_cones);
        size_t longest = 0;
        for (size_t c = 0; c < n_cones; ++c) {
            if (first[c] < 0 || length[c] < 1 || size_t(first[c]) >= k || size_t(length[c]) > k - size_t(first[c]))
                throw std::invalid_argument("a cone lies outside the vector");
            longest = std::max(longest, size_t(length[c]));
        }
        std::vector<double> room(longest), moved(longest);
        const ConeTerms terms = terms_of_second_order(first, length, n_cones, slack.doubles("slack", k),
                                                      rooms.doubles("rooms", k), v.doubles("v", k), scale, room.data(),
                                                      moved.data());
        return Py_BuildValue("ddd", terms.push, terms.dual_push, terms.gap);
    });
}

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

PyObject* py_are_finite(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        for (Py_ssize_t k = 0; k < PyTuple_Size(arguments); ++k) {
            const GivenDoubles vector(PyTuple_GetItem(arguments, k));
            if (!vector.are_there()) Py_RETURN_NONE;
            if (!vector.are_finite()) Py_RETURN_FALSE;
        }
        Py_RETURN_TRUE;
    });
}

PyObject* py_largest(PyObject*, PyObject* arguments) {
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

PyObject* py_extremes(PyObject*, PyObject* arguments) {
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

PyObject* py_fit(PyObject*, PyObject* arguments) {
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

PyObject* py_product(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[3];
        int is_by_rows;
        if (!PyArg_ParseTuple(arguments, "OpOO", &given[0], &is_by_rows, &given[1], &given[2])) return nullptr;
        const Buffer x(given[1]), to(given[2], true);
        const size_t n = x.size(), m = to.size();
        const MatrixBuffers matrix(given[0], is_by_rows ? n : m);
        return by_width(matrix.is_wide(), [&](auto index) -> PyObject* {
            const auto view = matrix.view<decltype(index)>(1);
            if (view.n_major != (is_by_rows ? m : n)) throw std::invalid_argument("the vectors do not fit the matrix");
            const double* by = x.doubles("x", n);
            double* sums = to.doubles("out", m);
            {
                const WithoutLock unlocked;
                product(view, is_by_rows != 0, by, sums);
            }
            Py_RETURN_NONE;
        });
    });
}

PyObject* py_expand_duals(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given[3];
        Py_ssize_t n_first;
        if (!PyArg_ParseTuple(arguments, "OOnO", &given[0], &given[1], &n_first, &given[2])) return nullptr;
        const Buffer values(given[0]), owner(given[1]), full(given[2], true);
        const size_t n = values.size(), size = full.size();
        const int32_t* owners = owner.integers<int32_t>("owner", n);
        for (size_t k = 0; k < n; ++k)
            if (owners[k] < 0 || size_t(owners[k]) >= size) throw std::invalid_argument("a row has no owner");
        if (n_first < 0 || size_t(n_first) > n) throw std::invalid_argument("there are fewer rows");
        expand_duals(values.doubles("values", n), owners, n, size_t(n_first), full.doubles("full", size));
        Py_RETURN_NONE;
    });
}

PyMethodDef methods[] = {
    {"count_simple_costs", py_count_simple_costs, METH_VARARGS,
     "count_simple_costs(A, is_by_rows, m, q, step, digits, different, largest, rounding): of some entries, how many have a cost of "
     "more digits, and how many of these are simple fractions of the entry."},
    {"links_change_nothing", py_links_change_nothing, METH_VARARGS,
     "links_change_nothing(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), largest, rounding): "
     "whether bounds that are in simple ratios but for rounding are so exactly."},
    {"transpose", py_transpose, METH_VARARGS,
     "transpose(matrix, n_minor): returns offsets, indices and values in the other order."},
    {"stack", py_stack, METH_VARARGS,
     "stack(above, below, n, owner, n_cones): returns offsets, indices and values, by rows, with a column for each cone."},
    {"sums_of_columns", py_sums_of_columns, METH_VARARGS,
     "sums_of_columns(C, b, v, (natural, terms, sums, marks)): fills the last four."},
    {"slack_and_rooms", py_slack_and_rooms, METH_VARARGS,
     "slack_and_rooms(C, (b, x, sizes, starts), common, (slack, rooms)): fills the last two."},
    {"push_heads", py_push_heads, METH_VARARGS,
     "push_heads(heads, lengths, room, s, push): moves heads of second-order cones in s, and fills the last."},
    {"push_exponential", py_push_exponential, METH_VARARGS,
     "push_exponential(at, s, room, dual, push, moved): fills push, and moves what begins as s."},
    {"push_power", py_push_power, METH_VARARGS,
     "push_power((arguments, lengths, exponents, products), s, room, dual, push, moved): fills push, and moves what begins "
     "as s."},
    {"quadratic_values", py_quadratic_values, METH_VARARGS,
     "quadratic_values((owner, first, second, values), x, sums): adds to the sums of constraints."},
    {"quadratic_largest", py_quadratic_largest, METH_VARARGS,
     "quadratic_largest((owner, first, second, values), sizes, largest): raises the largest products of constraints."},
    {"quadratic_gradient", py_quadratic_gradient, METH_VARARGS,
     "quadratic_gradient((owner, first, second, values), x, z, sums, largest): adds to the sums of variables, and raises "
     "their largest terms."},
    {"quadratic_columns", py_quadratic_columns, METH_VARARGS,
     "quadratic_columns(constraints, x, z, (natural, terms, sums, below, above)): raises and adds to the last five, of "
     "which all but the first are left as they are where z is None."},
    {"quadratic_excess", py_quadratic_excess, METH_VARARGS,
     "quadratic_excess(constraints, x, sizes, common, over): fills the last; returns how far constraints are broken."},
    {"second_order_cones", py_second_order_cones, METH_VARARGS,
     "second_order_cones(constraints, n, in_units, least_level, most_level, least_curvature, most): offsets, rows and "
     "values by columns, right-hand sides, sizes and units of one cone for each constraint; None where that is not easy."},
    {"newton_polish", py_newton_polish, METH_VARARGS,
     "newton_polish(A, is_by_rows, P, (q, l, u, lb, ub), constraints, (x, y, w, z), (steps, most, enough, shift)): changes "
     "the point and returns 1 if that makes it better; 0 if not, -1 if there are too many active conditions."},
    {"ray_measures", py_ray_measures, METH_VARARGS,
     "ray_measures(A, is_by_rows, rows, columns): fills the largest entries of rows, and of columns where rows are divided "
     "by theirs."},
    {"ray_terms", py_ray_terms, METH_VARARGS,
     "ray_terms(A, is_by_rows, (l, u, lb, ub), (rows, columns), y, terms): fills what rows and bounds prove; returns what "
     "is left over, and that relative to the largest products."},
    {"products_and_sizes", py_products_and_sizes, METH_VARARGS,
     "products_and_sizes(matrix, of_majors, of_minors, minor_sums, minor_sizes, major_sums, major_sizes, "
     "threads): fills the four arrays."},
    {"spread", py_spread, METH_VARARGS,
     "spread(vector, sizes, representatives, labels, threads): the largest relative difference inside a class; relative "
     "to the numbers themselves if sizes is None."},
    {"residuals", py_residuals, METH_VARARGS,
     "residuals(A, is_by_rows, P, (q, l, u, lb, ub), r, (x, y, w), (natural, terms, rho, below, above), (Ax, sizes), "
     "threads): fills Ax and sizes; returns flags and residuals."},
    {"scan_rows", py_scan_rows, METH_VARARGS,
     "scan_rows(A, is_by_rows, n, least, counts, threads): fills the counts; returns rows that may be multiples of "
     "another."},
    {"find_multiples", py_find_multiples, METH_VARARGS,
     "find_multiples(A, n_columns, candidates, is_decimal, rounding): of some rows of a matrix by rows those that are "
     "multiples of an earlier one, and that one, by their places among the candidates, with the ratios, floats and exact; "
     "and whether there can be no others."},
    {"merge_columns", py_merge_columns, METH_VARARGS,
     "merge_columns(A, rows, labels, n_classes, w, cancelled): offsets, indices and values by columns of some rows of a "
     "matrix by rows, with columns of each class added, and how many are left."},
    {"submatrix", py_submatrix, METH_VARARGS,
     "submatrix(matrix, n_minor, majors, minors, threads): returns offsets, indices and values; None for all minors."},
    {"count_rows", py_count_rows, METH_VARARGS,
     "count_rows(A, is_by_rows, n, counts): fills the counts of entries that are not 0, by row."},
    {"terms_of_second_order", py_terms_of_second_order, METH_VARARGS,
     "terms_of_second_order(heads, lengths, slack, rooms, v, scale): pushes of slack and of dual values, and the gap."},
    {"are_finite", py_are_finite, METH_VARARGS,
     "are_finite(*vectors): whether all entries are finite numbers; None if some vector is not one of doubles."},
    {"largest", py_largest, METH_VARARGS,
     "largest(*vectors): the largest absolute value, 0 of none and NaN if there is one; None if some vector is not one of "
     "doubles."},
    {"extremes", py_extremes, METH_VARARGS,
     "extremes(*vectors): the least absolute value that is not 0, and the largest that is finite; None as above."},
    {"fit", py_fit, METH_VARARGS,
     "fit(vectors, sizes, kind, are_finite): whether each is None, or an array of that kind with as many doubles, of finite "
     "ones if asked."},
    {"product", py_product, METH_VARARGS, "product(matrix, is_by_rows, x, out): writes the matrix times x."},
    {"expand_duals", py_expand_duals, METH_VARARGS,
     "expand_duals(values, owner, n_first, full): dual values of the rows of a conic form, back to their owners in the last."},
    {"entries_of_minors", py_entries_of_minors, METH_VARARGS,
     "entries_of_minors(matrix, n_minor, minors, threads): returns majors, places among the minors, and values of their "
     "entries."},
    {"conic_form", py_conic_form, METH_VARARGS,
     "conic_form(A, is_by_rows, (l, u, lb, ub), more, n_more, threads): returns the numbers of equal, upper and lower sides, "
     "the owner and right-hand side of each row, and K."},
    {"grouped_sums", py_grouped_sums, METH_VARARGS,
     "grouped_sums(target, terms, sums): sums of field elements by target; fills the last."},
    {"field_product", py_field_product, METH_VARARGS,
     "field_product(matrix, is_by_rows, words, is_decimal, products): the matrix, read exactly, times the words; fills "
     "the last."},
    {"count_near", py_count_near, METH_VARARGS,
     "count_near(values, last_bits, slices): how many different numbers there are in one of several slices, and how "
     "many that differ before their last bits."},
    {"simple_fractions", py_simple_fractions, METH_VARARGS,
     "simple_fractions(values, largest, rounding, numerators, denominators): fills the last two."},
    {"has_longer", py_has_longer, METH_VARARGS,
     "has_longer(values, digits): whether some number has more than so many significant digits."},
    {"count_shapes", py_count_shapes, METH_VARARGS,
     "count_shapes(low, high, cost): how many intervals with costs there are up to a factor of either sign."},
    {"admitted_sizes", py_admitted_sizes, METH_VARARGS,
     "admitted_sizes(A, is_by_rows, n, (l, u), m, variables, sizes): writes the least that a right-hand side admits of "
     "each of some variables, 0 where none does."},
    {"look_at_colours", py_look_at_colours, METH_VARARGS,
     "look_at_colours((low, high, cost, low_image, high_image, cost_image), n, most, sizes, signs): how many kinds of "
     "variables there are as given, up to units and signs, and up to sizes; whether one may rest, and whether "
     "one has no size. A vector has one number for each of n, or one for all."},
    {"look_computed", py_look_computed, METH_VARARGS,
     "look_computed((lb, ub), n, (l, u), m, most, digits, smallest, share): whether a share of the bounds has more digits; "
     "a vector has one number for each, or one for all."},
    {"count_links", py_count_links, METH_VARARGS,
     "count_links(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), step, largest, rounding): how "
     "many of some entries have a row and a variable with sizes in a simple ratio, or a row without one."},
    {"count_shared_ratios", py_count_shared_ratios, METH_VARARGS,
     "count_shared_ratios(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), step, different, "
     "largest, rounding): how many entries were looked at, and how many ratios of sizes are those of other pairs."},
    {"may_be_reflected", py_may_be_reflected, METH_VARARGS,
     "may_be_reflected(A, is_by_rows, P, (q, lb, ub), n, (l, u), m, is_rigid, most): whether fewer shapes would be left if "
     "variables were measured from the middle of their bounds; a vector has one number for each, or one for all."},
    {"count_kinds", py_count_kinds, METH_VARARGS,
     "count_kinds(q, lb, ub, low, high, cost): how many kinds of variables there are as given, up to units and signs, "
     "and up to sizes."},
    {"numbered", py_numbered, METH_VARARGS,
     "numbered(labels, numbers): writes classes of equal labels, numbered by smallest member; returns their number."},
    {"first_members", py_first_members, METH_VARARGS,
     "first_members(labels, members): writes the smallest member of each class, of labels numbered by it."},
    {"triangle", py_triangle, METH_VARARGS, "triangle(P, n, is_upper): returns offsets, indices and values."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_passes_core", "Single passes over the matrices of a program.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__passes_core() {
    if (!memory_type && !(memory_type = type_of_aligned_memory("relift._passes_core.Memory"))) return nullptr;
    return PyModule_Create(&definition);
}
