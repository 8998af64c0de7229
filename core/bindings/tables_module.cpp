// The Python module relift._tables_core, against the limited API: arrays come and go by the buffer protocol, uncopied.
//
// Callers are relift/tables/kernels.py and relift/tables/texts.py; what could crash the process is checked here again.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <string>
#include <vector>

#include "relift/python/held_array.hpp"
#include "relift/tables/closure.hpp"
#include "relift/tables/keys.hpp"
#include "relift/tables/rows.hpp"
#include "relift/tables/texts.hpp"

namespace {

using relift::guarded;
using relift::HeldArray;
using relift::PythonError;
using relift::WithoutLock;
using namespace relift::tables;

class Buffer : public HeldArray {
public:
    using HeldArray::HeldArray;
    template <class T> T* elements(const char* name, char letter) const {
        const bool fits = itemsize() == sizeof(T) && (letter == 'i' ? holds_integers() : letter == '*' || kind() == letter);
        if (is_there() && (!fits || !kind())) throw std::invalid_argument(std::string(name) + " has a wrong type");
        return static_cast<T*>(memory());
    }
    void needs(size_t size, const char* name) const {
        if (is_there() && this->size() != size) throw std::invalid_argument(std::string(name) + " has a wrong length");
    }
};

size_t counted(size_t n) {
    if (n >= (size_t(1) << 31)) throw std::invalid_argument("there are too many rows");
    return n;
}

PyObject* py_group(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *keys_given, *numbers_given, *first_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &keys_given, &numbers_given, &first_given)) return nullptr;
        const Buffer keys(keys_given), numbers(numbers_given, true), first(first_given, true);
        const size_t n = counted(keys.size());
        numbers.needs(n, "numbers");
        first.needs(n, "first");
        const int64_t* from = keys.elements<int64_t>("keys", 'i');
        int32_t *to = numbers.elements<int32_t>("numbers", 'i'), *rows = first.elements<int32_t>("first", 'i');
        int32_t size;
        {
            const WithoutLock unlocked;
            size = group(from, n, to, rows);
        }
        return PyLong_FromLong(size);
    });
}

PyObject* py_all_distinct(PyObject*, PyObject* keys_given) {
    return guarded([&]() -> PyObject* {
        const Buffer keys(keys_given);
        const int64_t* from = keys.elements<int64_t>("keys", 'i');
        bool found;
        {
            const WithoutLock unlocked;
            found = all_distinct(from, keys.size());
        }
        return PyBool_FromLong(found);
    });
}

PyObject* py_contains(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *keys_given, *set_given, *found_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &keys_given, &set_given, &found_given)) return nullptr;
        const Buffer keys(keys_given), set(set_given), found(found_given, true);
        found.needs(keys.size(), "found");
        const int64_t *from = keys.elements<int64_t>("keys", 'i'), *among = set.elements<int64_t>("set", 'i');
        bool* to = found.elements<bool>("found", '?');
        counted(set.size());
        {
            const WithoutLock unlocked;
            contains(from, keys.size(), among, set.size(), to);
        }
        Py_RETURN_NONE;
    });
}

PyObject* bytes_of(const std::vector<int32_t>& values) {
    return PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(values.data()),
                                         Py_ssize_t(values.size() * sizeof(int32_t)));
}

PyObject* py_join(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *left_given, *right_given;
        int keep_all;
        long long most;
        if (!PyArg_ParseTuple(arguments, "OOpL", &left_given, &right_given, &keep_all, &most)) return nullptr;
        const Buffer left(left_given), right(right_given);
        const int64_t *from = left.elements<int64_t>("left", 'i'), *with = right.elements<int64_t>("right", 'i');
        counted(left.size());
        counted(right.size());
        Pairs pairs;
        const uint64_t allowed = uint64_t(std::min<long long>(std::max<long long>(most, 0), (1ll << 31) - 1));
        {
            const WithoutLock unlocked;
            pairs = join(from, left.size(), with, right.size(), keep_all, allowed);
        }
        if (pairs.size > allowed && !pairs.is_whole_left) return PyLong_FromUnsignedLongLong(pairs.size);
        PyObject* first = Py_None;
        if (pairs.is_whole_left)
            Py_INCREF(first);
        else if (!(first = bytes_of(pairs.left)))
            return nullptr;
        std::vector<int32_t>().swap(pairs.left);
        PyObject* second = bytes_of(pairs.right);
        if (!second) {
            Py_DECREF(first);
            return nullptr;
        }
        return Py_BuildValue("NN", first, second);
    });
}

PyObject* py_gather(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *values_given, *rows_given, *to_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &values_given, &rows_given, &to_given)) return nullptr;
        const Buffer values(values_given), rows(rows_given), to(to_given, true);
        const size_t n = rows.size(), m = values.size();
        to.needs(n, "to");
        const int32_t* from = rows.elements<int32_t>("rows", 'i');
        const auto gathered = [&](auto zero) {
            using T = decltype(zero);
            const T* given = values.elements<T>("values", '*');
            T* out = to.elements<T>("to", '*');
            const WithoutLock unlocked;
            gather(given, m, from, n, out);
        };
        if (values.itemsize() == 8)
            gathered(uint64_t(0));
        else if (values.itemsize() == 4)
            gathered(uint32_t(0));
        else
            gathered(static_cast<unsigned char>(0));
        Py_RETURN_NONE;
    });
}

PyObject* py_sorted_rows(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *keys_given, *rows_given;
        if (!PyArg_ParseTuple(arguments, "OO", &keys_given, &rows_given)) return nullptr;
        const Buffer keys(keys_given), rows(rows_given, true);
        const size_t n = counted(keys.size());
        rows.needs(n, "rows");
        const int64_t* from = keys.elements<int64_t>("keys", 'i');
        int32_t* to = rows.elements<int32_t>("rows", 'i');
        {
            const WithoutLock unlocked;
            sorted_rows(from, n, to);
        }
        Py_RETURN_NONE;
    });
}

// --- recursion -----------------------------------------------------------------------------------------------------

PyObject* bytes_of(const std::vector<int64_t>& values) {
    return PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(values.data()),
                                         Py_ssize_t(values.size() * sizeof(int64_t)));
}

class TupleItems {
public:
    TupleItems(PyObject* object, const char* name) : object_(object), size_(PyTuple_Check(object) ? PyTuple_Size(object) : -1) {
        if (size_ < 0) throw std::invalid_argument(std::string(name) + " is no tuple");
    }
    Py_ssize_t size() const { return size_; }
    PyObject* operator[](Py_ssize_t i) const {
        PyObject* item = PyTuple_GetItem(object_, i);
        if (!item) throw PythonError();
        return item;
    }
    size_t number(Py_ssize_t i) const {
        const size_t value = PyLong_AsSize_t((*this)[i]);
        if (value == size_t(-1) && PyErr_Occurred()) throw PythonError();
        return value;
    }

private:
    PyObject* object_;
    Py_ssize_t size_;
};

std::vector<int32_t> places_in(PyObject* given, const char* name, size_t every) {
    const Buffer places(given);
    if (places.size() % every) throw std::invalid_argument(std::string(name) + " has a wrong length");
    const int32_t* from = places.elements<int32_t>(name, 'i');
    return std::vector<int32_t>(from, from + places.size());
}

void needs_place(int32_t place, size_t tuple_width, size_t rest_width) {
    if (place >= 0 ? size_t(place) >= tuple_width : size_t(-1 - int64_t(place)) >= rest_width)
        throw std::invalid_argument("a place lies outside of its tuple");
}

constexpr const char* tuples_name = "relift.tuples";

PyObject* py_new_tuples(PyObject*, PyObject* width_given) {
    return guarded([&]() -> PyObject* {
        const size_t width = PyLong_AsSize_t(width_given);
        if (width == size_t(-1) && PyErr_Occurred()) throw PythonError();
        auto set = std::make_unique<TupleSet>(width);
        PyObject* capsule = PyCapsule_New(set.get(), tuples_name, [](PyObject* object) {
            delete static_cast<TupleSet*>(PyCapsule_GetPointer(object, tuples_name));
        });
        if (capsule) set.release();
        return capsule;
    });
}

PyObject* py_add_tuples(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *values_given, *new_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &capsule, &values_given, &new_given)) return nullptr;
        void* known = PyCapsule_GetPointer(capsule, tuples_name);
        if (!known) throw PythonError();
        TupleSet& set = *static_cast<TupleSet*>(known);
        const Buffer values(values_given), is_new(new_given, true);
        const size_t n = is_new.size();
        values.needs(n * set.width(), "tuples");
        const int64_t* from = values.elements<int64_t>("tuples", 'i');
        bool* to = is_new.elements<bool>("is_new", '?');
        for (size_t i = 0; i < n; ++i) to[i] = set.add(from + i * set.width());
        Py_RETURN_NONE;
    });
}

// closure(((tuples, width), ...), ((source, target, rest, width, on, outputs, tests), ...), most)
// gives (((tuples), ...), (matches, ...)), or None if there are more than `most` tuples of a kind.
PyObject* py_closure(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *sets_given, *steps_given;
        Py_ssize_t most;
        if (!PyArg_ParseTuple(arguments, "OOn", &sets_given, &steps_given, &most)) return nullptr;
        const TupleItems all_sets(sets_given, "sets"), all_steps(steps_given, "steps");
        std::vector<TupleSet> sets;
        for (Py_ssize_t s = 0; s < all_sets.size(); ++s) {
            const TupleItems item(all_sets[s], "a set");
            const Buffer values(item[0]);
            sets.emplace_back(item.number(1));
            if (values.size() % sets.back().width()) throw std::invalid_argument("tuples have a wrong length");
            const int64_t* from = values.elements<int64_t>("tuples", 'i');
            for (size_t i = 0; i < values.size(); i += sets.back().width()) sets.back().add(from + i);
        }
        std::vector<std::unique_ptr<Buffer>> rests;
        std::vector<Step> steps;
        for (Py_ssize_t s = 0; s < all_steps.size(); ++s) {
            const TupleItems item(all_steps[s], "a step");
            const size_t source = item.number(0), target = item.number(1), width = item.number(3);
            if (source >= sets.size() || target >= sets.size() || !width)
                throw std::invalid_argument("a step has no such predicate");
            rests.push_back(std::make_unique<Buffer>(item[2]));
            if (rests.back()->size() % width) throw std::invalid_argument("the rest has a wrong length");
            counted(rests.back()->size() / width);
            const std::vector<int32_t> on = places_in(item[4], "on", 2), tests = places_in(item[6], "tests", 3);
            std::vector<std::pair<int32_t, int32_t>> pairs;
            for (size_t k = 0; k < on.size(); k += 2) {
                if (on[k] < 0 || on[k + 1] < 0) throw std::invalid_argument("a place lies outside of its tuple");
                needs_place(on[k], sets[source].width(), width);
                needs_place(-1 - on[k + 1], sets[source].width(), width);
                pairs.emplace_back(on[k], on[k + 1]);
            }
            steps.emplace_back(source, target, rests.back()->elements<int64_t>("rest", 'i'),
                               rests.back()->size() / width, width, std::move(pairs));
            steps.back().outputs = places_in(item[5], "outputs", 1);
            if (steps.back().outputs.size() != sets[target].width())
                throw std::invalid_argument("outputs have a wrong length");
            for (const int32_t place : steps.back().outputs) needs_place(place, sets[source].width(), width);
            for (size_t k = 0; k < tests.size(); k += 3) {
                if (tests[k] < 0 || tests[k] > 3) throw std::invalid_argument("a test has no such comparison");
                needs_place(tests[k + 1], sets[source].width(), width);
                needs_place(tests[k + 2], sets[source].width(), width);
                steps.back().tests.push_back({tests[k], tests[k + 1], tests[k + 2]});
            }
        }
        bool is_whole;
        {
            const WithoutLock unlocked;
            is_whole = close(sets, steps, size_t(std::max<Py_ssize_t>(most, 0)));
        }
        if (!is_whole) Py_RETURN_NONE;
        PyObject* tuples = PyTuple_New(Py_ssize_t(sets.size()));
        PyObject* matches = PyTuple_New(Py_ssize_t(steps.size()));
        if (!tuples || !matches) throw PythonError();
        for (size_t s = 0; s < sets.size(); ++s) {
            PyObject* found = bytes_of(sets[s].values());
            if (!found || PyTuple_SetItem(tuples, Py_ssize_t(s), found)) throw PythonError();
            sets[s] = TupleSet(1);
        }
        for (size_t s = 0; s < steps.size(); ++s)
            if (PyTuple_SetItem(matches, Py_ssize_t(s), PyLong_FromUnsignedLongLong(steps[s].n_matches))) throw PythonError();
        return Py_BuildValue("NN", tuples, matches);
    });
}

// --- matrices ------------------------------------------------------------------------------------------------------

PyObject* py_rows_from_triplets(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *rows_given, *columns_given, *values_given, *starts_given, *indices_given, *data_given;
        Py_ssize_t n_columns;
        if (!PyArg_ParseTuple(arguments, "OOOnOOO", &rows_given, &columns_given, &values_given, &n_columns,
                              &starts_given, &indices_given, &data_given))
            return nullptr;
        const Buffer rows(rows_given), columns(columns_given), values(values_given, false, true);
        const Buffer starts(starts_given, true), indices(indices_given, true), data(data_given, true, true);
        const size_t n = counted(rows.size());
        if (starts.size() < 1 || n_columns < 0 || values.is_there() != data.is_there())
            throw std::invalid_argument("the arrays do not fit together");
        columns.needs(n, "columns");
        values.needs(n, "values");
        indices.needs(n, "indices");
        data.needs(n, "data");
        const int32_t* i = rows.elements<int32_t>("rows", 'i');
        const int32_t* j = columns.elements<int32_t>("columns", 'i');
        const double* v = values.elements<double>("values", 'd');
        int32_t *to_starts = starts.elements<int32_t>("starts", 'i'), *to_j = indices.elements<int32_t>("indices", 'i');
        double* to_v = data.elements<double>("data", 'd');
        Found found;
        {
            const WithoutLock unlocked;
            found = rows_from_triplets(i, j, v, n, starts.size() - 1, size_t(n_columns), to_starts, to_j, to_v);
        }
        return Py_BuildValue("NN", PyBool_FromLong(found.has_double), PyBool_FromLong(found.has_zero));
    });
}

PyObject* py_place_rows(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *starts_given, *indices_given, *data_given, *of_row_given, *scale_given, *next_given, *to_i_given,
            *to_d_given;
        int first_column;
        if (!PyArg_ParseTuple(arguments, "OOOOOiOOO", &starts_given, &indices_given, &data_given, &of_row_given,
                              &scale_given, &first_column, &next_given, &to_i_given, &to_d_given))
            return nullptr;
        const Buffer starts(starts_given), indices(indices_given), data(data_given, false, true),
            of_row(of_row_given, false, true), scale(scale_given, false, true), next(next_given, true), to_indices(to_i_given, true), to_data(to_d_given, true);
        const size_t n_rows = next.size();
        if (starts.size() < 1) throw std::invalid_argument("the arrays do not fit together");
        data.needs(indices.size(), "data");
        of_row.needs(n_rows, "of_row");
        scale.needs(n_rows, "scale");
        to_data.needs(to_indices.size(), "to_data");
        const int32_t* s = starts.elements<int32_t>("starts", 'i');
        const int32_t* j = indices.elements<int32_t>("indices", 'i');
        const double* v = data.elements<double>("data", 'd');
        const int32_t* rows = of_row.elements<int32_t>("of_row", 'i');
        const double* factors = scale.elements<double>("scale", 'd');
        int64_t* cursor = next.elements<int64_t>("next", 'i');
        int32_t* to_j = to_indices.elements<int32_t>("to_indices", 'i');
        double* to_v = to_data.elements<double>("to_data", 'd');
        {
            const WithoutLock unlocked;
            place_rows(s, j, v, starts.size() - 1, indices.size(), rows, factors, n_rows, first_column, cursor,
                       to_indices.size(), to_j, to_v);
        }
        Py_RETURN_NONE;
    });
}

// --- texts -----------------------------------------------------------------------------------------------------------

constexpr const char* capsule_name = "relift.texts";

Texts& texts_in(PyObject* capsule) {
    void* texts = PyCapsule_GetPointer(capsule, capsule_name);
    if (!texts) throw PythonError();
    return *static_cast<Texts*>(texts);
}

PyObject* py_new_texts(PyObject*, PyObject*) {
    return guarded([]() -> PyObject* {
        Texts* texts = new Texts();
        PyObject* capsule = PyCapsule_New(texts, capsule_name, [](PyObject* object) {
            delete static_cast<Texts*>(PyCapsule_GetPointer(object, capsule_name));
        });
        if (!capsule) delete texts;
        return capsule;
    });
}

PyObject* py_number_arrow(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *starts_given, *bytes_given, *there_given, *numbers_given;
        if (!PyArg_ParseTuple(arguments, "OOOOO", &capsule, &starts_given, &bytes_given, &there_given, &numbers_given))
            return nullptr;
        Texts& texts = texts_in(capsule);
        const Buffer starts(starts_given), bytes(bytes_given), there(there_given, false, true),
            numbers(numbers_given, true);
        const size_t n = numbers.size();
        if (starts.size() != n + 1) throw std::invalid_argument("starts has a wrong length");
        there.needs(n, "is_there");
        int32_t* to = numbers.elements<int32_t>("numbers", 'i');
        const unsigned char* is_there = there.elements<unsigned char>("is_there", '*');
        const char* characters = bytes.elements<char>("bytes", '*');
        const auto number = [&](const auto* from) {
            for (size_t i = 0; i < n; ++i)
                if (from[i] < 0 || from[i + 1] < from[i]) throw std::invalid_argument("starts do not increase");
            if (size_t(from[n]) > bytes.size()) throw std::invalid_argument("a text lies outside of the bytes");
            texts.number_all(from, characters, is_there, n, to);
        };
        if (starts.itemsize() == 4)
            number(starts.elements<int32_t>("starts", 'i'));
        else
            number(starts.elements<int64_t>("starts", 'i'));
        Py_RETURN_NONE;
    });
}

PyObject* py_number_objects(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *list, *numbers_given;
        if (!PyArg_ParseTuple(arguments, "OOO", &capsule, &list, &numbers_given)) return nullptr;
        Texts& texts = texts_in(capsule);
        const Buffer numbers(numbers_given, true);
        int32_t* to = numbers.elements<int32_t>("numbers", 'i');
        if (!PyList_Check(list)) throw std::invalid_argument("texts come in a list");
        numbers.needs(size_t(PyList_Size(list)), "numbers");
        for (size_t i = 0; i < numbers.size(); ++i) {
            PyObject* item = PyList_GetItem(list, Py_ssize_t(i));
            if (!item) throw PythonError();
            if (item == Py_None) {
                to[i] = -1;
                continue;
            }
            Py_ssize_t size;
            const char* bytes = PyUnicode_AsUTF8AndSize(item, &size);
            if (!bytes) throw PythonError();
            to[i] = texts.number({bytes, size_t(size)});
        }
        Py_RETURN_NONE;
    });
}

PyObject* py_find_text(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* capsule;
        const char* bytes;
        Py_ssize_t size;
        if (!PyArg_ParseTuple(arguments, "Os#", &capsule, &bytes, &size)) return nullptr;
        return PyLong_FromLong(texts_in(capsule).find({bytes, size_t(size)}));
    });
}

PyObject* py_texts_from(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject* capsule;
        int first;
        if (!PyArg_ParseTuple(arguments, "Oi", &capsule, &first)) return nullptr;
        const Texts& texts = texts_in(capsule);
        first = std::min(std::max(first, 0), int(texts.size()));
        PyObject* list = PyList_New(texts.size() - first);
        if (!list) return nullptr;
        for (int32_t k = first; k < texts.size(); ++k) {
            const std::string_view text = texts.text(k);
            PyObject* item = PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "strict");
            if (!item || PyList_SetItem(list, k - first, item)) {
                Py_DECREF(list);
                return nullptr;
            }
        }
        return list;
    });
}

PyObject* py_n_texts(PyObject*, PyObject* capsule) {
    return guarded([&]() -> PyObject* { return PyLong_FromLong(texts_in(capsule).size()); });
}

PyObject* py_ranks(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *capsule, *ranks_given;
        if (!PyArg_ParseTuple(arguments, "OO", &capsule, &ranks_given)) return nullptr;
        const Texts& texts = texts_in(capsule);
        const Buffer ranks(ranks_given, true);
        ranks.needs(size_t(texts.size()), "ranks");
        texts.ranks(ranks.elements<int32_t>("ranks", 'i'));
        Py_RETURN_NONE;
    });
}

PyMethodDef methods[] = {
    {"group", py_group, METH_VARARGS,
     "group(keys, numbers, first): numbers equal keys equally; returns how many numbers there are."},
    {"all_distinct", py_all_distinct, METH_O, "all_distinct(keys): whether no key comes twice."},
    {"contains", py_contains, METH_VARARGS, "contains(keys, set, found): which keys are among those of a set."},
    {"join", py_join, METH_VARARGS,
     "join(left, right, keep_all, most): pairs of rows with equal keys as two byte arrays of 32-bit numbers, the first "
     "of them None if it would be 0, 1, 2, ...; or only their number, if there are more than `most`."},
    {"gather", py_gather, METH_VARARGS, "gather(values, rows, to): the values of some rows; 0 for the row -1."},
    {"sorted_rows", py_sorted_rows, METH_VARARGS, "sorted_rows(keys, rows): the rows in the order of their keys."},
    {"new_tuples", py_new_tuples, METH_O, "new_tuples(width): an empty set of tuples."},
    {"add_tuples", py_add_tuples, METH_VARARGS,
     "add_tuples(set, tuples, is_new): add tuples to a set; which of them were not there."},
    {"closure", py_closure, METH_VARARGS,
     "closure(sets, steps, most): all tuples that follow by steps, and how often each step applied; None if there are "
     "more than `most`."},
    {"rows_from_triplets", py_rows_from_triplets, METH_VARARGS,
     "rows_from_triplets(rows, columns, values, n_columns, starts, indices, data): compressed rows with sorted "
     "columns; returns whether two entries share a place, and whether one is zero."},
    {"place_rows", py_place_rows, METH_VARARGS,
     "place_rows(starts, indices, data, of_row, scale, first_column, next, to_indices, to_data): writes rows of a "
     "block into a larger matrix."},
    {"new_texts", py_new_texts, METH_NOARGS, "new_texts(): an empty dictionary of texts."},
    {"number_arrow", py_number_arrow, METH_VARARGS,
     "number_arrow(texts, starts, bytes, is_there, numbers): numbers texts that lie one behind the other."},
    {"number_objects", py_number_objects, METH_VARARGS,
     "number_objects(texts, list, numbers): numbers Python strings; None becomes -1."},
    {"find_text", py_find_text, METH_VARARGS, "find_text(texts, text): its number, or -1."},
    {"texts_from", py_texts_from, METH_VARARGS, "texts_from(texts, first): the texts from a number on, as a list."},
    {"n_texts", py_n_texts, METH_O, "n_texts(texts): how many there are."},
    {"ranks", py_ranks, METH_VARARGS, "ranks(texts, ranks): the place of each text in the order of code points."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_tables_core", "Joins, distinct rows, texts and compressed rows.", -1,
                          methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__tables_core() { return PyModule_Create(&definition); }
