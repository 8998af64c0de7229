// Labels of classes, and exact sums over them.
#pragma once
#include "buffers.hpp"
#include "relift/passes/class_sizes.hpp"
#include "relift/passes/exact_numbers.hpp"
#include "relift/passes/kinds.hpp"

namespace relift::bindings {

inline PyObject* py_count_kinds(PyObject*, PyObject* arguments) {
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

inline PyObject* py_numbered(PyObject*, PyObject* arguments) {
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

inline PyObject* py_first_members(PyObject*, PyObject* arguments) {
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

inline PyObject* py_class_sizes(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *labels_given, *sizes_given;
        unsigned n_threads;
        if (!PyArg_ParseTuple(arguments, "OOI", &labels_given, &sizes_given, &n_threads)) return nullptr;
        const Buffer labels(labels_given), sizes(sizes_given, true);
        const size_t n = labels.size(), n_classes = sizes.size();
        const int64_t* label = labels.integers<int64_t>("labels", n);
        int64_t* size = sizes.integers<int64_t>("sizes", n_classes);
        bool are_inside;
        {
            const WithoutLock unlocked;
            are_inside = class_sizes(label, n, n_classes, size, n_threads);
        }
        if (!are_inside) throw std::invalid_argument("a label is no class");
        Py_RETURN_NONE;
    });
}

inline PyObject* py_grouped_sums(PyObject*, PyObject* arguments) {
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

inline PyObject* py_field_product(PyObject*, PyObject* arguments) {
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

inline const PyMethodDef methods_of_classes[] = {
    {"count_kinds", py_count_kinds, METH_VARARGS,
     "count_kinds(q, lb, ub, low, high, cost): how many kinds of variables there are as given, up to units and signs, "
     "and up to sizes."},
    {"numbered", py_numbered, METH_VARARGS,
     "numbered(labels, numbers): writes classes of equal labels, numbered by smallest member; returns their number."},
    {"first_members", py_first_members, METH_VARARGS,
     "first_members(labels, members): writes the smallest member of each class, of labels numbered by it."},
    {"class_sizes", py_class_sizes, METH_VARARGS,
     "class_sizes(labels, sizes, threads): writes how many members each class has."},
    {"grouped_sums", py_grouped_sums, METH_VARARGS,
     "grouped_sums(target, terms, sums): sums of field elements by target; fills the last."},
    {"field_product", py_field_product, METH_VARARGS,
     "field_product(matrix, is_by_rows, words, is_decimal, products): the matrix, read exactly, times the words; fills "
     "the last."},
};

}  // namespace relift::bindings
