// Quadratic constraints: their part of the certificate, their cones, and Newton steps.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "buffers.hpp"
#include "relift/passes/newton_polish.hpp"
#include "relift/passes/quadratic_cones.hpp"
#include "relift/passes/quadratic_rows.hpp"

namespace relift::bindings {

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

inline PyObject* py_quadratic_values(PyObject*, PyObject* arguments) { return of_constraints(arguments, quadratic_values); }

inline PyObject* py_quadratic_largest(PyObject*, PyObject* arguments) { return of_constraints(arguments, quadratic_largest); }

inline PyObject* py_quadratic_gradient(PyObject*, PyObject* arguments) {
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

inline PyObject* py_quadratic_columns(PyObject*, PyObject* arguments) {
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

inline PyObject* py_quadratic_excess(PyObject*, PyObject* arguments) {
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

inline PyObject* py_second_order_cones(PyObject*, PyObject* arguments) {
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

inline PyObject* py_newton_polish(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_quadratic[] = {
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
};

}  // namespace relift::bindings
