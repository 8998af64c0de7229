// The form in which cone solvers take a program, and their dual values on the way back.
#pragma once
#include "buffers.hpp"
#include "relift/passes/conic_form.hpp"

namespace relift::bindings {

inline PyObject* py_conic_form(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *vectors[4], *more_given;
        int is_by_rows;
        Py_ssize_t n_more;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "Op(OOOO)OnI", &A_given, &is_by_rows, &vectors[0], &vectors[1], &vectors[2],
                              &vectors[3], &more_given, &n_more, &n_threads))
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

inline PyObject* py_expand_duals(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_conic_form[] = {
    {"conic_form", py_conic_form, METH_VARARGS,
     "conic_form(A, is_by_rows, (l, u, lb, ub), more, n_more, threads): returns the numbers of equal, upper and lower sides, "
     "the owner and right-hand side of each row, and K."},
    {"expand_duals", py_expand_duals, METH_VARARGS,
     "expand_duals(values, owner, n_first, full): dual values of the rows of a conic form, back to their owners in the last."},
};

}  // namespace relift::bindings
