// What a pass of presolve does to bounds and right-hand sides, in floats and exactly: bounds from rows of one entry, what
// values of variables add to rows, and the numbers that are left. Each in one pass, since passes are short and many where
// chains are followed. The twins are lifting/substituted_values.py and lifting/tightest_bounds.py.
#pragma once
#include <algorithm>
#include <cmath>

#include "../exact_values.hpp"
#include "../sparse_view.hpp"
#include "numbers.hpp"
#include "submatrix.hpp"

namespace relift::passes {

// The one entry that each of some rows, which ascend, has in the columns that are left; false if some row has none.
template <class Index>
bool remaining_entries(const SparseView<Index>& A, bool is_by_rows, const long long* rows, size_t n_rows,
                       const u8* is_left, long long* columns, double* entries) {
    std::fill_n(columns, n_rows, -1);
    if (is_by_rows) {
        for (size_t k = 0; k < n_rows; ++k) require_inside(A, u64(A.offsets[rows[k]]), u64(A.offsets[rows[k] + 1]));
        for (size_t k = 0; k < n_rows; ++k)
            for (size_t e = size_t(A.offsets[rows[k]]), end = size_t(A.offsets[rows[k] + 1]); e < end; ++e)
                if (is_left[A.indices[e]] && A.values[e] != 0) columns[k] = (long long)A.indices[e], entries[k] = A.values[e];
    } else {
        require_inside(A, 0, A.n_entries());
        const Numbered wanted = numbered(rows, n_rows, A.n_minor);
        each_entry_of(A, wanted, 0, A.n_major, [&](size_t j, size_t e) {
            if (!is_left[j] || A.values[e] == 0) return;
            const size_t k = wanted.place(size_t(A.indices[e]));
            columns[k] = (long long)j, entries[k] = A.values[e];
        });
    }
    return std::none_of(columns, columns + n_rows, [](long long column) { return column < 0; });
}

// The inverses of many field elements by one inversion: each first holds the product of all before it. Those that are
// their own inverses, as most entries are, take no part.
inline void invert_all(u64* words, size_t size) {
    const auto is_plain = [](u64 word) { return word <= 1 || word == modulus - 1; };
    Array<u64> before(size);
    u64 product = 1;
    for (size_t k = 0; k < size; ++k)
        if (!is_plain(words[k])) before[k] = product, product = field_multiply(product, words[k]);
    u64 reciprocal = field_inverse(product);
    for (size_t k = size; k-- > 0;) {
        if (is_plain(words[k])) continue;
        const u64 own = field_multiply(before[k], reciprocal);
        reciprocal = field_multiply(reciprocal, words[k]);
        words[k] = own;
    }
}

// Bounds and their exact images.
struct ExactSides {
    Numbers<double> low, high;
    Numbers<u64> low_image, high_image;
};

// The tightest bound of one side, its image, and the candidate that it came from, or nobody.
struct TightBound {
    static constexpr u32 nobody = ~u32(0);
    double value;
    u64 image;
    u32 winner;
};

// The image of a bound over a divisor; infinities keep their words, exchanged by a negative one.
inline u64 scaled_image(u64 image, u64 inverse, bool is_negative) {
    if (image < modulus) return field_multiply(image, inverse);
    return is_negative ? plus_infinity + minus_infinity - image : image;
}

// A quotient; most divisors are 1 or -1, by which a product is the same.
inline double over(double number, double divisor) {
    return std::fabs(divisor) == 1 ? number * divisor : number / divisor;
}

// Rows that bound something each: row k divided by its divisor bounds its target.
struct BoundingRows {
    const long long *rows, *targets;
    const double* divisors;
    size_t count;
};

// What rows bound, ascending, with the tightest of its own bounds and of those that rows give it.
class BoundsOfRows {
public:
    // The images of the divisors become their inverses. Rows that leave no value keep to themselves: is_kept says which do
    // not. Bounds that are equal exactly, and parted by no more than rounding, are joined.
    BoundsOfRows(const BoundingRows& by, u64* images, const ExactSides& of_rows, const ExactSides& own, size_t n_targets,
                 double rounding, u8* is_kept) {
        const double* const entries = by.divisors;
        Numbered bounded(n_targets);
        for (size_t k = 0; k < by.count; ++k) bounded.add(size_t(by.targets[k]));
        const size_t count = bounded.number();
        targets.reserve(count), low.reserve(count), high.reserve(count);
        bounded.each([&](size_t j) {
            targets.push_back((long long)j);
            low.push_back({own.low[j], own.low_image[j], TightBound::nobody});
            high.push_back({own.high[j], own.high_image[j], TightBound::nobody});
        });
        invert_all(images, by.count);
        Array<u8> is_crossed(count, 0);
        Array<u32> place(by.count);
        for (size_t k = 0; k < by.count; ++k) {
            const size_t i = size_t(by.rows[k]), at = bounded.place(size_t(by.targets[k]));
            place[k] = u32(at);
            const bool is_negative = entries[k] < 0;
            const double l = of_rows.low[i], u = of_rows.high[i];
            const double by_l = over(l, entries[k]), by_u = over(u, entries[k]);
            is_crossed[at] |= (std::isinf(by_l) && std::isfinite(l)) || (std::isinf(by_u) && std::isfinite(u));
            const double least = is_negative ? by_u : by_l, most = is_negative ? by_l : by_u;
            // The first of equal ones wins, the own bound before all.
            if (least > low[at].value) low[at].value = least, low[at].winner = u32(k);
            if (most < high[at].value) high[at].value = most, high[at].winner = u32(k);
        }
        for (size_t at = 0; at < count; ++at) {
            for (TightBound* side : {&low[at], &high[at]}) {
                const u32 k = side->winner;
                if (k == TightBound::nobody) continue;
                const bool is_negative = entries[k] < 0, is_low = (side == &low[at]) != is_negative;
                const size_t i = size_t(by.rows[k]);
                const u64 image = is_low ? of_rows.low_image[i] : of_rows.high_image[i];
                side->image = scaled_image(image, images[k], is_negative);
            }
            if (!(low[at].value > high[at].value)) continue;
            const bool are_one = low[at].image == high[at].image &&
                                 low[at].value - high[at].value <= rounding * std::fabs(low[at].value);
            if (are_one) high[at].value = low[at].value;
            else is_crossed[at] = 1;
        }
        for (size_t k = 0; k < by.count; ++k) is_kept[k] = !is_crossed[place[k]];
        size_t to = 0;
        for (size_t at = 0; at < count; ++at) {
            if (is_crossed[at]) continue;
            targets[to] = targets[at], low[to] = low[at], high[to] = high[at];
            ++to;
        }
        targets.resize(to), low.resize(to), high.resize(to);
    }

    Array<long long> targets;
    Array<TightBound> low, high;
};

// Entries of some columns, with the place of each among these.
struct EntriesOfColumns {
    const long long *row, *place;
    const double* value;
    size_t count;
};

// Which rows some entries touch, ascending, and how many of them that are not 0 each has.
inline Numbered touched_rows(const EntriesOfColumns& columns, size_t n_rows) {
    Numbered touched(n_rows);
    for (size_t k = 0; k < columns.count; ++k) touched.add(size_t(columns.row[k]));
    return touched;
}

inline void count_touches(const EntriesOfColumns& columns, const Numbered& touched, long long* counts) {
    for (size_t k = 0; k < columns.count; ++k) counts[touched.place(size_t(columns.row[k]))] += columns.value[k] != 0;
}

// What values of columns add to a row: the sum, exactly too, the sum of the sizes of its terms, and how many entries that
// are not 0 there are.
struct AddedToRow {
    double sum = 0, size = 0;
    u64 image = 0;
    long long count = 0;
};

inline Array<AddedToRow> add_columns(const EntriesOfColumns& columns, const Numbered& touched, size_t n_touched,
                                     const double* values, const u64* images, Reading reading) {
    Array<AddedToRow> added(n_touched);
    ValueReader image(reading, columns.count);
    for (size_t k = 0; k < columns.count; ++k) {
        AddedToRow& to = added[touched.place(size_t(columns.row[k]))];
        const size_t j = size_t(columns.place[k]);
        const double entry = columns.value[k], product = entry * values[j];
        to.sum += product;
        to.size += std::fabs(product);
        to.image = field_add(to.image, field_multiply(image(entry), images[j]));
        to.count += entry != 0;
    }
    return added;
}

// Rows and what is known of them: how many entries each has left, the sizes of all terms that were added to it, whether it
// is still there, and whether it is left alone.
struct RowsLeft {
    std::int32_t* counts;
    double* terms;
    const u8* is_left;
    u8* is_left_alone;
};

// Takes what a pass has substituted from the rows that it touches; sizes may be null. Rows in which nothing is left are no
// longer left alone. Returns those of one entry or none that are to be substituted next.
inline Array<long long> rows_touched(const long long* rows, const long long* counts, const double* sizes, size_t n_rows,
                                     const RowsLeft& of) {
    Array<long long> next;
    for (size_t k = 0; k < n_rows; ++k) {
        const size_t i = size_t(rows[k]);
        if (sizes) of.terms[i] += sizes[k];
        const long long left = of.counts[i] - counts[k];
        of.counts[i] = std::int32_t(left);
        if (left == 0) of.is_left_alone[i] = 0;
        if (left < 2 && of.is_left[i] && !of.is_left_alone[i]) next.push_back((long long)i);
    }
    return next;
}

// What is added to some entries of a vector, which ascend, or taken from them.
struct Addition {
    const long long* places;
    const double* floats;
    const u64* images;
    size_t count;
    bool is_taken;
};

// Entries of a vector after an addition, and which of them may have cancelled. Infinities stay, and so do entries that
// are not left. Floats that stand for one exact number are made equal, as far as rounding can have parted them: to the
// first that reads as the exact one, if any, else to the first, and to 0 for 0.
class MovedEntries {
public:
    MovedEntries(const Addition& what, Numbers<double> vector, Numbers<u64> words, const double* terms, const u8* is_left,
                 Reading reading, double rounding) {
        ValueReader image(reading, what.count);
        Array<u8> is_read(what.count);
        places.resize(what.count), values.resize(what.count), images.resize(what.count);
        bool are_read = true;
        size_t count = 0;
        for (size_t k = 0; k < what.count; ++k) {
            const size_t at = size_t(what.places[k]);
            const double before = vector[at];
            if (!std::isfinite(before) || (is_left && !is_left[at])) continue;
            const double after = what.is_taken ? before - what.floats[k] : before + what.floats[k];
            const u64 part = what.is_taken ? field_negate(what.images[k]) : what.images[k];
            places[count] = (long long)at, values[count] = after, images[count] = field_add(words[at], part);
            is_a_number &= after == after;
            is_read[count] = after == after && image(after) == images[count];
            are_read &= is_read[count++] != 0;
        }
        places.resize(count), values.resize(count), images.resize(count);
        if (!is_a_number) return;
        if (are_read)
            for (double& value : values) value += 0.0;  // -0.0 is 0.0
        else settle(is_read, terms, rounding);
        for (size_t k = 0; k < places.size() && !are_read; ++k)
            if (std::fabs(values[k]) < terms[places[k]] && image(values[k]) != images[k]) cancelled.push_back(places[k]);
    }

    Array<long long> places, cancelled;
    Array<double> values;
    Array<u64> images;
    bool is_a_number = true;  // each of them; if not, nothing else is to be read

private:
    void settle(const Array<u8>& is_read, const double* terms, double rounding) {
        constexpr u32 nobody = ~u32(0);
        size_t room = 16;
        while (room < 2 * places.size()) room *= 2;
        Array<u32> table(room, nobody), first(places.size());  // the chosen entry of each word
        for (size_t k = 0; k < places.size(); ++k) {
            size_t slot = size_t(mix(images[k])) & (room - 1);
            while (table[slot] != nobody && images[table[slot]] != images[k]) slot = (slot + 1) & (room - 1);
            if (table[slot] == nobody || (is_read[k] && !is_read[table[slot]])) table[slot] = u32(k);
            first[k] = u32(slot);
        }
        const Array<double> floats = values;
        for (size_t k = 0; k < places.size(); ++k) {
            const double chosen = images[k] ? floats[table[first[k]]] : 0.0;
            const bool is_rounding = std::fabs(chosen - floats[k]) <= rounding * (std::fabs(floats[k]) + terms[places[k]]);
            if (is_rounding) values[k] = chosen;
        }
    }
};

}  // namespace relift::passes
