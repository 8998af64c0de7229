// Pushes of points into cones, for certificates.
#pragma once
#include <vector>

#include "buffers.hpp"
#include "relift/passes/cone_pushes.hpp"
#include "relift/passes/cones.hpp"

namespace relift::bindings {

inline PyObject* py_sums_of_columns(PyObject*, PyObject* arguments) {
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
inline const long long* starts_of(const Buffer& starts, size_t n_rows) {
    const long long* first = starts.integers<long long>("starts", starts.size());
    bool is_right = starts.size() ? first[0] == 0 : n_rows == 0;
    for (size_t k = 0; k < starts.size(); ++k)
        is_right &= first[k] >= 0 && size_t(first[k]) <= n_rows && (k == 0 || first[k - 1] <= first[k]);
    if (!is_right) throw std::invalid_argument("the cones do not fit the rows");
    return first;
}

inline PyObject* py_slack_and_rooms(PyObject*, PyObject* arguments) {
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

inline PyObject* py_push_heads(PyObject*, PyObject* arguments) {
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

inline PyObject* py_push_exponential(PyObject*, PyObject* arguments) {
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

inline PyObject* py_push_power(PyObject*, PyObject* arguments) {
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

inline PyObject* py_terms_of_second_order(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_cones[] = {
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
    {"terms_of_second_order", py_terms_of_second_order, METH_VARARGS,
     "terms_of_second_order(heads, lengths, slack, rooms, v, scale): pushes of slack and of dual values, and the gap."},
};

}  // namespace relift::bindings
