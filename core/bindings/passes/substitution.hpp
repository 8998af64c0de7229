// The steps of a pass of presolve.
#pragma once
#include <cstring>
#include <memory>

#include "buffers.hpp"
#include "relift/passes/substitution.hpp"

namespace relift::bindings {

// Places in a vector of this size, every one inside it.
inline const long long* places_inside(const Buffer& places, const char* name, size_t size) {
    const long long* found = places.integers<long long>(name, places.size());
    bool are_inside = true;
    for (size_t k = 0; k < places.size(); ++k) are_inside &= found[k] >= 0 && size_t(found[k]) < size;
    if (!are_inside) throw std::invalid_argument(std::string(name) + " lie outside");
    return found;
}

inline Reading reading_of(int is_decimal) { return is_decimal ? Reading::decimal : Reading::bits; }

inline PyObject* py_remaining_entries(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *A_given, *rows_given, *left_given, *columns_given, *entries_given;
        int is_by_rows;
        Py_ssize_t m;
        if (!PyArg_ParseTuple(arguments, "OpnOOOO", &A_given, &is_by_rows, &m, &rows_given, &left_given, &columns_given,
                              &entries_given))
            return nullptr;
        if (m < 0) throw std::invalid_argument("the number of rows is negative");
        const Buffer rows_buffer(rows_given), left(left_given), columns(columns_given, true), entries(entries_given, true);
        const size_t n = left.size(), n_rows = rows_buffer.size();
        const MatrixBuffers buffers(A_given, is_by_rows ? n : size_t(m));
        return by_width(buffers.is_wide(), [&](auto index) -> PyObject* {
            const auto A = buffers.sampled<decltype(index)>();
            if (A.n_major != (is_by_rows ? size_t(m) : n)) throw std::invalid_argument("the matrix has another shape");
            const long long* rows = places_inside(rows_buffer, "rows", size_t(m));
            long long* to = columns.integers<long long>("columns", n_rows);
            double* values = entries.doubles("entries", n_rows);
            const u8* is_left = left.bytes("is_left", n);
            bool has_all;
            {
                const WithoutLock unlocked;
                has_all = remaining_entries(A, is_by_rows != 0, rows, n_rows, is_left, to, values);
            }
            if (!has_all) throw std::invalid_argument("a row has no entry left");
            Py_RETURN_NONE;
        });
    });
}

// Bounds of a side with their images, of vectors or of one number each.
class SidesBuffers {
public:
    explicit SidesBuffers(PyObject* given) {
        PyObject* parts[4];
        if (!PyArg_ParseTuple(given, "OOOO", &parts[0], &parts[1], &parts[2], &parts[3])) throw PythonError();
        for (size_t k = 0; k < 4; ++k) buffers_[k] = std::make_unique<Buffer>(parts[k]);
    }
    ExactSides of_size(size_t size) const {
        return {buffers_[0]->numbers("low", size), buffers_[1]->numbers("high", size),
                buffers_[2]->images("low_image", size), buffers_[3]->images("high_image", size)};
    }

private:
    std::unique_ptr<Buffer> buffers_[4];
};

inline PyObject* py_bounds_of_rows(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *targets_given, *divisors_given, *images_given, *rows_given, *of_rows_given, *own_given, *kept_given;
        Py_ssize_t m, n;
        double rounding;
        if (!PyArg_ParseTuple(arguments, "(OOOO)OnOndO", &rows_given, &targets_given, &divisors_given, &images_given,
                              &of_rows_given, &m, &own_given, &n, &rounding, &kept_given))
            return nullptr;
        if (m < 0 || n < 0) throw std::invalid_argument("a size is negative");
        const Buffer targets_buffer(targets_given), divisors(divisors_given), rows_buffer(rows_given);
        const Buffer images_buffer(images_given), kept(kept_given, true);
        const SidesBuffers of_rows(of_rows_given), own(own_given);
        const size_t n_rows = rows_buffer.size();
        if (targets_buffer.size() != n_rows) throw std::invalid_argument("each row has one target");
        const BoundingRows by{places_inside(rows_buffer, "rows", size_t(m)),
                              places_inside(targets_buffer, "targets", size_t(n)), divisors.doubles("divisors", n_rows),
                              n_rows};
        const u64* given = images_buffer.words("images", n_rows);
        Array<u64> images(given, given + n_rows);
        u8* is_kept = kept.bytes("is_kept", n_rows);
        const ExactSides row_sides = of_rows.of_size(size_t(m)), own_sides = own.of_size(size_t(n));
        std::unique_ptr<BoundsOfRows> found;
        {
            const WithoutLock unlocked;
            found = std::make_unique<BoundsOfRows>(by, images.data(), row_sides, own_sides, size_t(n), rounding, is_kept);
        }
        const size_t count = found->targets.size();
        Room targets(count, 8);
        std::copy_n(found->targets.begin(), count, targets.as<long long>());
        // Values, images and the rows that they came from, -1 where the own bound stays; and whether all are the own ones, to
        // the last bit.
        const auto side = [&](const Array<TightBound>& bounds, const Numbers<double>& before, const Numbers<u64>& images) {
            bool are_own = true;
            Room values(count, sizeof(double)), side_images(count, sizeof(u64)), sources(count, 8);
            for (size_t k = 0; k < count; ++k) {
                const u64 target = u64(found->targets[k]);
                const double own_value = before[target];
                are_own &= std::memcmp(&own_value, &bounds[k].value, sizeof own_value) == 0;
                are_own &= images[target] == bounds[k].image;
                values.as<double>()[k] = bounds[k].value;
                side_images.as<u64>()[k] = bounds[k].image;
                sources.as<long long>()[k] = bounds[k].winner == TightBound::nobody ? -1 : by.rows[bounds[k].winner];
            }
            return Py_BuildValue("NNNO", values.handed_over(), side_images.handed_over(), sources.handed_over(),
                                 are_own ? Py_True : Py_False);
        };
        PyObject* const low = side(found->low, own_sides.low, own_sides.low_image);
        PyObject* const high = side(found->high, own_sides.high, own_sides.high_image);
        return Py_BuildValue("NNN", targets.handed_over(), low, high);
    });
}

inline PyObject* py_add_columns(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *row_given, *place_given, *value_given, *values_given, *images_given;
        Py_ssize_t n_rows;
        int is_decimal;
        if (!PyArg_ParseTuple(arguments, "(OOO)OOpn", &row_given, &place_given, &value_given, &values_given, &images_given,
                              &is_decimal, &n_rows))
            return nullptr;
        if (n_rows < 0) throw std::invalid_argument("the number of rows is negative");
        const Buffer row(row_given), place(place_given), value(value_given);
        const size_t count = row.size();
        if (place.size() != count) throw std::invalid_argument("each entry has a column");
        const MaybeBuffer values_buffer(values_given);
        std::unique_ptr<Buffer> images_buffer;
        size_t n_columns = 0;
        if (values_given != Py_None) {
            images_buffer = std::make_unique<Buffer>(images_given);
            n_columns = images_buffer->size();
        }
        const double* values = values_buffer.doubles("values", n_columns);
        const u64* images = values ? images_buffer->words("images", n_columns) : nullptr;
        const EntriesOfColumns columns{
            places_inside(row, "rows", size_t(n_rows)),
            values ? places_inside(place, "places", n_columns) : nullptr, value.doubles("value", count), count};
        Numbered touched = touched_rows(columns, size_t(n_rows));
        const size_t n_touched = touched.number(), n_sums = values ? n_touched : 0;
        Room rows(n_touched, 8), counts(n_touched, 8);
        Room sums(n_sums, sizeof(double)), exact_sums(n_sums, sizeof(u64)), sizes(n_sums, sizeof(double));
        {
            const WithoutLock unlocked;
            size_t to = 0;
            touched.each([&](size_t i) { rows.as<long long>()[to++] = (long long)i; });
            if (values) {
                const auto added = add_columns(columns, touched, n_touched, values, images, reading_of(is_decimal));
                for (size_t k = 0; k < n_touched; ++k) {
                    sums.as<double>()[k] = added[k].sum, sizes.as<double>()[k] = added[k].size;
                    exact_sums.as<u64>()[k] = added[k].image, counts.as<long long>()[k] = added[k].count;
                }
            } else {
                std::fill_n(counts.as<long long>(), n_touched, 0);
                count_touches(columns, touched, counts.as<long long>());
            }
        }
        return Py_BuildValue("NNNNN", rows.handed_over(), counts.handed_over(), sums.handed_over(),
                             exact_sums.handed_over(), sizes.handed_over());
    });
}

inline PyObject* py_rows_touched(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *rows_given, *touches_given, *sizes_given, *counts_given, *terms_given, *left_given, *alone_given;
        if (!PyArg_ParseTuple(arguments, "(OOO)OOOO", &rows_given, &touches_given, &sizes_given, &counts_given,
                              &terms_given, &left_given, &alone_given))
            return nullptr;
        const Buffer rows_buffer(rows_given), touches(touches_given), counts(counts_given, true), terms(terms_given, true);
        const Buffer left(left_given), alone(alone_given, true);
        const MaybeBuffer sizes(sizes_given);
        const size_t m = counts.size(), n_rows = rows_buffer.size();
        const long long* rows = places_inside(rows_buffer, "rows", m);
        const RowsLeft of{counts.integers<std::int32_t>("counts", m), terms.doubles("terms", m), left.bytes("is_left", m),
                          alone.bytes("is_left_alone", m)};
        const Array<long long> next = rows_touched(rows, touches.integers<long long>("touches", n_rows),
                                                   sizes.doubles("sizes", n_rows), n_rows, of);
        Room found(next.size(), 8);
        std::copy(next.begin(), next.end(), found.as<long long>());
        return found.handed_over();
    });
}

inline PyObject* py_moved_entries(PyObject*, PyObject* arguments) {
    return guarded([&]() -> PyObject* {
        PyObject *vector_given, *words_given, *places_given, *floats_given, *images_given, *terms_given, *left_given;
        int is_taken, is_decimal;
        double rounding;
        if (!PyArg_ParseTuple(arguments, "OO(OOO)pOOpd", &vector_given, &words_given, &places_given, &floats_given,
                              &images_given, &is_taken, &terms_given, &left_given, &is_decimal, &rounding))
            return nullptr;
        const Buffer vector_buffer(vector_given), words_buffer(words_given), places_buffer(places_given);
        const Buffer floats(floats_given), images(images_given), terms_buffer(terms_given);
        const size_t size = terms_buffer.size(), count = places_buffer.size();
        const double* terms = terms_buffer.doubles("terms", size);
        std::unique_ptr<Buffer> left;
        if (left_given != Py_None) left = std::make_unique<Buffer>(left_given);
        const u8* is_left = left ? left->bytes("is_left", size) : nullptr;
        const Addition what{places_inside(places_buffer, "places", size), floats.doubles("floats", count),
                            images.words("images", count), count, is_taken != 0};
        const Numbers<double> vector = vector_buffer.numbers("vector", size);
        const Numbers<u64> words = words_buffer.images("words", size);
        std::unique_ptr<MovedEntries> found;
        {
            const WithoutLock unlocked;
            found = std::make_unique<MovedEntries>(what, vector, words, terms, is_left, reading_of(is_decimal), rounding);
        }
        if (!found->is_a_number) Py_RETURN_NONE;
        const size_t n_moved = found->places.size(), n_lost = found->cancelled.size();
        Room places(n_moved, 8), values(n_moved, sizeof(double)), moved(n_moved, sizeof(u64)), lost(n_lost, 8);
        std::copy_n(found->places.begin(), n_moved, places.as<long long>());
        std::copy_n(found->values.begin(), n_moved, values.as<double>());
        std::copy_n(found->images.begin(), n_moved, moved.as<u64>());
        std::copy_n(found->cancelled.begin(), n_lost, lost.as<long long>());
        return Py_BuildValue("NNNN", places.handed_over(), values.handed_over(), moved.handed_over(), lost.handed_over());
    });
}

inline const PyMethodDef methods_of_substitution[] = {
    {"remaining_entries", py_remaining_entries, METH_VARARGS,
     "remaining_entries(A, is_by_rows, m, rows, is_left, columns, entries): writes column and value of the one entry that "
     "each of some rows has left."},
    {"bounds_of_rows", py_bounds_of_rows, METH_VARARGS,
     "bounds_of_rows((rows, targets, divisors, images), (l, u, l_image, u_image), m, (lb, ub, lb_image, ub_image), n, "
     "rounding, is_kept): targets, and values, images and sources of their lower and their upper bounds, and whether all are "
     "their own; writes which rows have become bounds."},
    {"add_columns", py_add_columns, METH_VARARGS,
     "add_columns((rows, places, values), values, images, is_decimal, n_rows): rows that have entries, how many that are "
     "not 0, and what values of columns add to them: sums, exact ones, and sums of sizes; none of these for None."},
    {"rows_touched", py_rows_touched, METH_VARARGS,
     "rows_touched((rows, touches, sizes), counts, terms, is_left, is_left_alone): takes touches from counts, adds sizes to "
     "terms unless they are None; returns rows of one entry or none that are next."},
    {"moved_entries", py_moved_entries, METH_VARARGS,
     "moved_entries(vector, words, (places, floats, images), is_taken, terms, is_left, is_decimal, rounding): places, "
     "values, images, and places that may have cancelled, of what has moved; None where something is no number."},
};

}  // namespace relift::bindings
