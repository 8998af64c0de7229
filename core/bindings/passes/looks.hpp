// Looks at some numbers, which say whether a search can find anything.
#pragma once
#include <memory>
#include <optional>

#include "buffers.hpp"
#include "relift/passes/digits.hpp"
#include "relift/passes/exact_numbers.hpp"
#include "relift/passes/fractions.hpp"
#include "relift/passes/kinds.hpp"
#include "relift/passes/links.hpp"
#include "relift/passes/looks.hpp"
#include "relift/passes/numbers.hpp"
#include "relift/passes/shared_ratios.hpp"

namespace relift::bindings {

inline PyObject* py_count_near(PyObject*, PyObject* arguments) {
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

inline PyObject* py_simple_fractions(PyObject*, PyObject* arguments) {
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

inline PyObject* py_has_longer(PyObject*, PyObject* arguments) {
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

inline PyObject* py_count_shapes(PyObject*, PyObject* arguments) {
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

// Bounds and costs of variables: floats, then exact, or None for bounds, and for costs, that were not read.
class VariableBuffers {
public:
    VariableBuffers(PyObject* tuple, u64 size) {
        PyObject* given[6];
        if (!PyArg_ParseTuple(tuple, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5]))
            throw PythonError();
        if (size > most_indices) throw std::invalid_argument("there are too many variables");
        for (int k = 0; k < 6; ++k)
            if (given[k] != Py_None) held_[k].emplace(given[k]);
        const auto floats = [&](int k) {
            if (!held_[k]) throw std::invalid_argument("an array is missing");
            return held_[k]->numbers("numbers", size);
        };
        const auto images = [&](int k) {
            if (k < 5 && !held_[k] != !held_[3]) throw std::invalid_argument("an array is missing");
            return Images{held_[k] ? held_[k]->images("images", size) : Numbers<u64>(), floats(k - 3)};
        };
        numbers = VariableNumbers{{floats(0), floats(1), floats(2), images(3), images(4), images(5), size}};
    }
    VariableNumbers numbers;

private:
    std::optional<Buffer> held_[6];
};

inline PyObject* py_look_at_colours(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        unsigned long long n, most;
        int decimal, sizes, signs;
        if (!PyArg_ParseTuple(arguments, "OKKppp", &given, &n, &most, &decimal, &sizes, &signs)) return nullptr;
        if (most < 2 || most > most_indices) throw std::invalid_argument("there are too many variables");
        const VariableBuffers buffers(given, n);
        const Reading reading = decimal ? Reading::decimal : Reading::bits;
        const Colours found = look_at_colours(buffers.numbers, most, reading, sizes, signs);
        return Py_BuildValue("KKKNN", (unsigned long long)found.kinds.given, (unsigned long long)found.kinds.up_to_units,
                             (unsigned long long)found.kinds.up_to_sizes, PyBool_FromLong(found.rests),
                             PyBool_FromLong(found.lacks_size));
    });
}

inline PyObject* py_only_moves(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* given;
        unsigned long long n;
        if (!PyArg_ParseTuple(arguments, "OK", &given, &n)) return nullptr;
        const VariableBuffers buffers(given, n);
        return PyBool_FromLong(only_moves(buffers.numbers));
    });
}

inline PyObject* py_look_computed(PyObject*, PyObject* arguments) {
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

inline PyObject* py_may_be_reflected(PyObject*, PyObject* arguments) {
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

// The bounds of variables, or the sides of rows: (low, high, low_image, high_image).
class BoundBuffers {
public:
    explicit BoundBuffers(PyObject* given) {
        PyObject* arrays[4];
        if (!PyArg_ParseTuple(given, "OOOO", &arrays[0], &arrays[1], &arrays[2], &arrays[3])) throw PythonError();
        for (int k = 0; k < 4; ++k) held_[k] = std::make_unique<Buffer>(arrays[k]);
    }
    OwnNumbers numbers() const {
        const size_t size = held_[0]->size();
        return {held_[0]->doubles("low", size), held_[1]->doubles("high", size), nullptr, nullptr,
                held_[2]->words("low_image", size), held_[3]->words("high_image", size), nullptr, nullptr, size};
    }

private:
    std::unique_ptr<Buffer> held_[4];
};

inline PyObject* py_count_links(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *bounds, *sides;
        int is_by_rows;
        unsigned long long step;
        double largest, rounding;
        if (!PyArg_ParseTuple(arguments, "OpOOKdd", &A_given, &is_by_rows, &bounds, &sides, &step, &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9) || step < 1) throw std::invalid_argument("an option lies outside");
        const BoundBuffers of_variables(bounds), of_rows(sides);
        const OwnNumbers variables = of_variables.numbers(), rows = of_rows.numbers();
        const MatrixBuffers buffers(A_given, is_by_rows ? variables.size : rows.size);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.sampled<decltype(index)>();
            if (A.n_major != (is_by_rows ? rows.size : variables.size)) throw std::invalid_argument("A has a wrong length");
            return PyLong_FromUnsignedLongLong(
                count_links(A, is_by_rows != 0, variables, rows, step, largest, rounding));
        });
    });
}

inline PyObject* py_count_shared_ratios(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *bounds, *sides;
        int is_by_rows;
        unsigned long long step;
        double different, largest, rounding;
        if (!PyArg_ParseTuple(arguments, "OpOOKddd", &A_given, &is_by_rows, &bounds, &sides, &step, &different,
                              &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9) || step < 1) throw std::invalid_argument("an option lies outside");
        const BoundBuffers of_variables(bounds), of_rows(sides);
        const OwnNumbers variables = of_variables.numbers(), rows = of_rows.numbers();
        const MatrixBuffers buffers(A_given, is_by_rows ? variables.size : rows.size);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.sampled<decltype(index)>();
            if (A.n_major != (is_by_rows ? rows.size : variables.size)) throw std::invalid_argument("A has a wrong length");
            const SharedCount count =
                count_shared_ratios(A, is_by_rows != 0, variables, rows, step, different, largest, rounding);
            return Py_BuildValue("KK", (unsigned long long)count.number, (unsigned long long)count.shared);
        });
    });
}

inline PyObject* py_links_change_nothing(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *bounds, *sides;
        int is_by_rows;
        double largest, rounding;
        if (!PyArg_ParseTuple(arguments, "OpOOdd", &A_given, &is_by_rows, &bounds, &sides, &largest, &rounding))
            return nullptr;
        if (!(largest >= 1 && largest <= 1e9)) throw std::invalid_argument("an option lies outside");
        const BoundBuffers of_variables(bounds), of_rows(sides);
        const OwnNumbers variables = of_variables.numbers(), rows = of_rows.numbers();
        const MatrixBuffers buffers(A_given, is_by_rows ? variables.size : rows.size);
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            if (A.n_major != (is_by_rows ? rows.size : variables.size)) throw std::invalid_argument("A has a wrong length");
            bool is_so;
            {
                const WithoutLock unlocked;
                is_so = LinkCheck(variables, rows, largest, rounding).changes_nothing(A, is_by_rows != 0);
            }
            return PyBool_FromLong(is_so);
        });
    });
}

inline PyObject* py_count_simple_costs(PyObject*, PyObject* arguments) {
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
        const MatrixBuffers buffers(A_given, is_by_rows ? n : size_t(m));
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.view<decltype(index)>(1);
            if ((is_by_rows ? A.n_minor : A.n_major) != n) throw std::invalid_argument("A has a wrong length");
            const CostCounts counts =
                count_simple_costs(A, is_by_rows != 0, costs, step, digits, different, largest, rounding);
            return Py_BuildValue("KKK", (unsigned long long)counts.told, (unsigned long long)counts.simple,
                                 (unsigned long long)counts.shared);
        });
    });
}

inline const PyMethodDef methods_of_looks[] = {
    {"count_near", py_count_near, METH_VARARGS,
     "count_near(values, last_bits, slices): how many different numbers there are in one of several slices, and how "
     "many that differ before their last bits."},
    {"simple_fractions", py_simple_fractions, METH_VARARGS,
     "simple_fractions(values, largest, rounding, numerators, denominators): fills the last two."},
    {"has_longer", py_has_longer, METH_VARARGS,
     "has_longer(values, digits): whether some number has more than so many significant digits."},
    {"count_shapes", py_count_shapes, METH_VARARGS,
     "count_shapes(low, high, cost): how many intervals with costs there are up to a factor of either sign."},
    {"look_at_colours", py_look_at_colours, METH_VARARGS,
     "look_at_colours((low, high, cost, low_image, high_image, cost_image), n, most, decimal, sizes, signs): how many kinds "
     "of variables there are as given, up to units and signs, and up to sizes; whether one may rest, and whether "
     "one has no size. A vector has one number for each of n, or one for all; images may be None where they are those of "
     "the numbers."},
    {"only_moves", py_only_moves, METH_VARARGS,
     "only_moves((low, high, cost, low_image, high_image, cost_image), n): whether centres of bounds change no class; "
     "vectors as for look_at_colours."},
    {"look_computed", py_look_computed, METH_VARARGS,
     "look_computed((lb, ub), n, (l, u), m, most, digits, smallest, share): whether a share of the bounds has more digits; "
     "a vector has one number for each, or one for all."},
    {"may_be_reflected", py_may_be_reflected, METH_VARARGS,
     "may_be_reflected(A, is_by_rows, P, (q, lb, ub), n, (l, u), m, is_rigid, most): whether fewer shapes would be left if "
     "variables were measured from the middle of their bounds; a vector has one number for each, or one for all."},
    {"count_links", py_count_links, METH_VARARGS,
     "count_links(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), step, largest, rounding): how "
     "many of some entries have a row and a variable with sizes in a simple ratio, or a row without one."},
    {"count_shared_ratios", py_count_shared_ratios, METH_VARARGS,
     "count_shared_ratios(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), step, different, "
     "largest, rounding): how many entries were looked at, and how many ratios of sizes are those of other pairs."},
    {"links_change_nothing", py_links_change_nothing, METH_VARARGS,
     "links_change_nothing(A, is_by_rows, (lb, ub, lb_image, ub_image), (l, u, l_image, u_image), largest, rounding): "
     "whether bounds that are in simple ratios but for rounding are so exactly."},
    {"count_simple_costs", py_count_simple_costs, METH_VARARGS,
     "count_simple_costs(A, is_by_rows, m, q, step, digits, different, largest, rounding): of some entries, how many have a "
     "cost of more digits, and how many of these are simple fractions of the entry."},
};

}  // namespace relift::bindings
