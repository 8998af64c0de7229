// What the check of classes and certificates measure on the original program.
#pragma once
#include <vector>

#include "buffers.hpp"
#include "relift/equal_numbers.hpp"
#include "relift/passes/products.hpp"
#include "relift/passes/rays.hpp"
#include "relift/passes/residuals.hpp"

namespace relift::bindings {

inline PyObject* py_products_and_sizes(PyObject*, PyObject* arguments) {
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

inline PyObject* py_spread(PyObject*, PyObject* arguments) {
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
        double worst = 0;
        {
            const WithoutLock unlocked;
            is_inside = is_inside && none_differ(n, n_threads, [=](u64 i) { return u64(label[i]) >= n_classes; });
            if (is_inside && !are_equal(values, n, n_threads)) worst = spread(values, of, n, first, label, n_threads);
        }
        if (!is_inside) throw std::invalid_argument("a label or representative lies outside");
        return PyFloat_FromDouble(worst);
    });
}

inline PyObject* py_numbers_of_classes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* labels_given;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OI", &labels_given, &n_threads)) return nullptr;
        const Buffer labels(labels_given);
        const size_t n = labels.size();
        const int64_t* of = labels.integers<int64_t>("labels", n);
        Room numbers(n, sizeof(double));
        {
            const WithoutLock unlocked;
            numbers_of_classes(of, n, numbers.as<double>(), n_threads);
        }
        return numbers.handed_over();
    });
}

inline PyObject* py_residuals(PyObject*, PyObject* arguments) {
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
        const MaybeBuffer sizes(out[0], true), Px(out[1], true);
        Vectors of{};
        of.n = q.size(), of.m = l.size(), of.r = r;
        of.q = q.doubles("q", of.n), of.l = l.doubles("l", of.m), of.u = u.doubles("u", of.m);
        of.lb = lb.doubles("lb", of.n), of.ub = ub.doubles("ub", of.n), of.x = x.doubles("x", of.n);
        of.y = y.doubles("y", of.m), of.w = w.doubles("w", of.n);
        if (!of.y != !of.w) throw std::invalid_argument("y and w come together");
        of.more_natural = natural.doubles("natural", of.n), of.more_terms = terms.doubles("terms", of.n);
        of.more_rho = rho.doubles("rho", of.n);
        of.sizes = sizes.doubles("sizes", of.n), of.Px = Px.doubles("Px", of.n);
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
                Array<double> own_sizes(of.sizes ? 0 : of.n);
                if (!of.sizes) of.sizes = own_sizes.data();
                AtVariables at;
                found = residuals(A, P_buffers ? &P : nullptr, of, at, n_threads);
                if (found.asks)
                    found.fall = possible_fall(A, P_buffers ? &P : nullptr, of, found, at.columns, at.blocks, at.asks,
                                               below_marks, above_marks, n_threads);
            }
            return Py_BuildValue("iiidddddd", int(found.is_in_range), int(found.is_finite),
                                 int(found.duals_are_finite), found.common,
                                 found.scale, found.primal, found.dual, found.gap, found.fall);
        });
    });
}

inline PyObject* py_ray_measures(PyObject*, PyObject* arguments) {
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

inline PyObject* py_ray_terms(PyObject*, PyObject* arguments) {
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

inline PyObject* py_product(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_checks[] = {
    {"products_and_sizes", py_products_and_sizes, METH_VARARGS,
     "products_and_sizes(matrix, of_majors, of_minors, minor_sums, minor_sizes, major_sums, major_sizes, "
     "threads): fills the four arrays."},
    {"spread", py_spread, METH_VARARGS,
     "spread(vector, sizes, representatives, labels, threads): the largest relative difference inside a class; relative "
     "to the numbers themselves if sizes is None."},
    {"numbers_of_classes", py_numbers_of_classes, METH_VARARGS,
     "numbers_of_classes(labels, threads): a number for the class of each label."},
    {"residuals", py_residuals, METH_VARARGS,
     "residuals(A, is_by_rows, P, (q, l, u, lb, ub), r, (x, y, w), (natural, terms, rho, below, above), (sizes, Px), "
     "threads): fills sizes and Px, where there are arrays for them; returns flags and residuals."},
    {"ray_measures", py_ray_measures, METH_VARARGS,
     "ray_measures(A, is_by_rows, rows, columns): fills the largest entries of rows, and of columns where rows are divided "
     "by theirs."},
    {"ray_terms", py_ray_terms, METH_VARARGS,
     "ray_terms(A, is_by_rows, (l, u, lb, ub), (rows, columns), y, terms): fills what rows and bounds prove; returns what "
     "is left over, and that relative to the largest products."},
    {"product", py_product, METH_VARARGS, "product(matrix, is_by_rows, x, out): writes the matrix times x."},
};

}  // namespace relift::bindings
