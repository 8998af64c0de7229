// What presolve looks at in rows, and what it makes of them.
#pragma once
#include <vector>
#include <memory>

#include "buffers.hpp"
#include "relift/passes/admitted_sizes.hpp"
#include "relift/passes/merged_columns.hpp"
#include "relift/passes/multiples.hpp"
#include "relift/passes/row_scan.hpp"
#include "relift/passes/submatrix.hpp"

namespace relift::bindings {

inline PyObject* py_scan_rows(PyObject*, PyObject* arguments) {
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
            static_assert(sizeof(int) == 4, "counts are 32 bits wide");
            int* to = counts.integers<int>("counts", m);
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

inline PyObject* py_count_rows(PyObject*, PyObject* arguments) {
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
            int* to = counts.integers<int>("counts", m);
            {
                const WithoutLock unlocked;
                count_rows(A, is_by_rows != 0, to);
            }
            Py_RETURN_NONE;
        });
    });
}

inline PyObject* py_find_multiples(PyObject*, PyObject* arguments) {
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

inline PyObject* py_merge_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *rows_given, *labels_given, *w_given;
        Py_ssize_t n_classes;
        double cancelled;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOOnOdI", &A_given, &rows_given, &labels_given, &n_classes, &w_given, &cancelled,
                              &n_threads))
            return nullptr;
        if (n_classes < 0) throw std::invalid_argument("the number of classes is negative");
        const Buffer rows_buffer(rows_given), labels_buffer(labels_given);
        const MaybeBuffer w_buffer(w_given);
        const size_t n = labels_buffer.size(), n_rows = rows_buffer.size(), n_labels = size_t(n_classes);
        const MatrixBuffers buffers(A_given, n);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            using Index = decltype(index);
            const auto A = buffers.view<Index>(n_threads);
            const long long* rows = rows_buffer.integers<long long>("rows", n_rows);
            const long long* labels = labels_buffer.integers<long long>("labels", n);
            const double* w = w_buffer.doubles("w", n);
            Room offsets(n_labels + 1, sizeof(Index));
            std::unique_ptr<MergedColumns<Index>> merged;
            size_t count;
            {
                const WithoutLock unlocked;
                if (!none_differ(n_rows, n_threads, [=](u64 k) { return u64(rows[k]) >= A.n_major; }) ||
                    !none_differ(n, n_threads, [=](u64 j) { return u64(labels[j]) >= n_labels; }))
                    throw std::invalid_argument("a row or label lies outside");
                merged = std::make_unique<MergedColumns<Index>>(A, rows, n_rows, labels, n_labels, w, n_threads);
                count = merged->count(offsets.as<Index>());
            }
            Room indices(count, sizeof(Index)), values(count, sizeof(double));
            {
                const WithoutLock unlocked;
                count = merged->fill(offsets.as<Index>(), indices.as<Index>(), values.as<double>(), cancelled);
                merged.reset();
            }
            return Py_BuildValue("NNNn", offsets.handed_over(), indices.handed_over(), values.handed_over(),
                                 Py_ssize_t(count));
        });
    });
}

inline PyObject* py_admitted_sizes(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_rows[] = {
    {"scan_rows", py_scan_rows, METH_VARARGS,
     "scan_rows(A, is_by_rows, n, least, counts, threads): fills the counts; returns rows that may be multiples of "
     "another."},
    {"count_rows", py_count_rows, METH_VARARGS,
     "count_rows(A, is_by_rows, n, counts): fills the counts of entries that are not 0, by row."},
    {"find_multiples", py_find_multiples, METH_VARARGS,
     "find_multiples(A, n_columns, candidates, is_decimal, rounding): of some rows of a matrix by rows those that are "
     "multiples of an earlier one, and that one, by their places among the candidates, with the ratios, floats and exact; "
     "and whether there can be no others."},
    {"merge_columns", py_merge_columns, METH_VARARGS,
     "merge_columns(A, rows, labels, n_classes, w, cancelled, threads): offsets, indices and values by columns of some rows of a "
     "matrix by rows, with columns of each class added, and how many are left."},
    {"admitted_sizes", py_admitted_sizes, METH_VARARGS,
     "admitted_sizes(A, is_by_rows, n, (l, u), m, variables, sizes): writes the least that a right-hand side admits of "
     "each of some variables, 0 where none does."},
};

}  // namespace relift::bindings
