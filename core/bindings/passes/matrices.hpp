// Parts, other orders and other halves of sparse matrices.
#pragma once
#include <vector>

#include "buffers.hpp"
#include "relift/equal_numbers.hpp"
#include "relift/passes/conic_form.hpp"
#include "relift/passes/stacking.hpp"
#include "relift/passes/submatrix.hpp"

namespace relift::bindings {

inline PyObject* py_submatrix(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *M_given, *majors_given, *minors_given;
        Py_ssize_t n_minor;
        unsigned n_threads;
        int shares_values = 0;
        if (!PyArg_ParseTuple(arguments, "OnOOI|p", &M_given, &n_minor, &majors_given, &minors_given, &n_threads,
                              &shares_values))
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
            if (minors_buffer) some = std::make_unique<SomeMinors>(minors, n_minors, size_t(M.n_minor));
            Room offsets(n_kept + 1, sizeof(Index));
            size_t count;
            {
                const WithoutLock unlocked;
                count = count_entries(M, majors, n_kept, some.get(), offsets.as<Index>(), n_threads);
            }
            if (sizeof(Index) == 4 && count > most_indices)
                throw std::invalid_argument("the submatrix has 2^31 entries or more");
            const bool are_shared = shares_values && M.n_entries() && are_same(M.values, M.n_entries(), n_threads);
            Room indices(count, sizeof(Index)), values(are_shared ? 0 : count, sizeof(double));
            {
                const WithoutLock unlocked;
                copy_entries(M, majors, n_kept, some.get(), offsets.as<Index>(), indices.as<Index>(),
                             are_shared ? nullptr : values.as<double>(), n_threads);
            }
            if (are_shared) return Py_BuildValue("NNO", offsets.handed_over(), indices.handed_over(), Py_None);
            return Py_BuildValue("NNN", offsets.handed_over(), indices.handed_over(), values.handed_over());
        });
    });
}

inline PyObject* py_entries_of_minors(PyObject*, PyObject* arguments) {
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
                listed = entries_of_minors(M, minors, n_wanted, n_threads);
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

inline PyObject* py_entries_of_majors(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *M_given, *majors_given;
        Py_ssize_t n_minor;
        if (!PyArg_ParseTuple(arguments, "OnO", &M_given, &n_minor, &majors_given)) return nullptr;
        if (n_minor < 0) throw std::invalid_argument("the number of minors is negative");
        const MatrixBuffers buffers(M_given, size_t(n_minor));
        const Buffer majors_buffer(majors_given);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto M = buffers.sampled<decltype(index)>();
            const size_t n_wanted = majors_buffer.size();
            const long long* majors = majors_buffer.integers<long long>("majors", n_wanted);
            size_t count = 0;
            for (size_t k = 0; k < n_wanted; ++k) {
                if (majors[k] < 0 || size_t(majors[k]) >= M.n_major)
                    throw std::invalid_argument("a wanted row or column lies outside the matrix");
                require_inside(M, u64(M.offsets[majors[k]]), u64(M.offsets[majors[k] + 1]));
                count += size_t(M.offsets[majors[k] + 1] - M.offsets[majors[k]]);
            }
            Room places(count, 8), minors(count, 8), values(count, sizeof(double));
            {
                const WithoutLock unlocked;
                entries_of_majors(M, majors, n_wanted, places.as<long long>(), minors.as<long long>(),
                                  values.as<double>());
            }
            return Py_BuildValue("NNN", places.handed_over(), minors.handed_over(), values.handed_over());
        });
    });
}

inline PyObject* py_triangle(PyObject*, PyObject* arguments) {
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

inline PyObject* py_transpose(PyObject*, PyObject* arguments) {
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

inline PyObject* py_stack(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_matrices[] = {
    {"submatrix", py_submatrix, METH_VARARGS,
     "submatrix(matrix, n_minor, majors, minors, threads, shares_values=False): returns offsets, indices and values; None "
     "for all minors. With shares_values, values are None where all entries of the matrix are one number."},
    {"entries_of_minors", py_entries_of_minors, METH_VARARGS,
     "entries_of_minors(matrix, n_minor, minors, threads): returns majors, places among the minors, and values of their "
     "entries."},
    {"entries_of_majors", py_entries_of_majors, METH_VARARGS,
     "entries_of_majors(matrix, n_minor, majors): returns places among the majors, minors, and values of their entries."},
    {"triangle", py_triangle, METH_VARARGS, "triangle(P, n, is_upper): returns offsets, indices and values."},
    {"transpose", py_transpose, METH_VARARGS,
     "transpose(matrix, n_minor): returns offsets, indices and values in the other order."},
    {"stack", py_stack, METH_VARARGS,
     "stack(above, below, n, owner, n_cones): returns offsets, indices and values, by rows, with a column for each cone."},
};

}  // namespace relift::bindings
