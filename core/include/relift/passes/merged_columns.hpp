// Some rows of a matrix by rows, with the columns of each class added up, as a matrix by columns; in one pass that counts
// and one that adds.
//
// Entries of a row are added in their order, as SciPy does it. Sums that cancelled to rounding, and zeros, are left out.
// The twin of lifting/summed_entries.py.
#pragma once
#include <cmath>

#include "../threads.hpp"

namespace relift::passes {

template <class Index>
class MergedColumns {
public:
    // `w`, if given, are the factors of the columns.
    MergedColumns(const SparseView<Index>& A, const long long* rows, size_t n_rows, const long long* labels,
                  size_t n_classes, const double* w)
        : A_(A), rows_(rows), labels_(labels, labels + A.n_minor), w_(w), n_rows_(n_rows), n_classes_(n_classes),
          classes_(n_classes) {}

    // Fills the offsets, one more than there are classes; returns how many places have entries.
    size_t count(Index* offsets) {
        size_t n_entries = 0;
        each_entry([&](size_t row, size_t label, size_t) {
            Class& own = classes_[label];
            own.next += Index(own.last != row + 1);
            own.last = u32(row + 1);
            ++n_entries;
        });
        size_t n_places = 0;
        for (size_t label = 0; label < n_classes_; ++label) {
            offsets[label] = Index(n_places);
            n_places += size_t(classes_[label].next);
            classes_[label] = {offsets[label], 0};
        }
        offsets[n_classes_] = Index(n_places);
        has_sums_ = n_entries > n_places;
        is_constant_ = !w_ && std::all_of(A_.values, A_.values + A_.n_entries(),
                                          [&](double value) { return value == A_.values[0]; });
        may_cancel_ = has_sums_ && !is_constant_ && has_both_signs();
        return n_places;
    }

    // Fills indices and values; returns how many there are. Offsets change where some are left out.
    size_t fill(Index* offsets, Index* indices, double* values, double cancelled) {
        const size_t n_places = size_t(offsets[n_classes_]);
        if (is_constant_) {  // only what is added to another entry is written by itself
            std::fill_n(values, n_places, A_.values[0]);
            each_entry([&](size_t row, size_t label, size_t) {
                Class& own = classes_[label];
                if (own.last != row + 1) indices[size_t(own.next++)] = Index(row), own.last = u32(row + 1);
                else values[size_t(own.next) - 1] += A_.values[0];
            });
            return has_sums_ || A_.values[0] == 0 ? without_zeros(offsets, indices, values) : n_places;
        }
        Array<double> sizes(may_cancel_ ? n_places : 0);
        each_entry([&](size_t row, size_t label, size_t e) {
            const double value = value_of(e);
            Class& own = classes_[label];
            if (own.last != row + 1) {
                own.last = u32(row + 1);
                const size_t at = size_t(own.next++);
                indices[at] = Index(row);
                values[at] = value;
                if (may_cancel_) sizes[at] = std::fabs(value);
            } else {
                const size_t at = size_t(own.next) - 1;
                values[at] += value;
                if (may_cancel_) sizes[at] += std::fabs(value);
            }
        });
        for (size_t at = 0; at < sizes.size(); ++at)
            if (std::fabs(values[at]) <= cancelled * sizes[at]) values[at] = 0;
        return without_zeros(offsets, indices, values);
    }

private:
    template <class Work> void each_entry(Work&& work) const {
        for (size_t row = 0; row < n_rows_; ++row)
            for (size_t e = size_t(A_.offsets[rows_[row]]), end = size_t(A_.offsets[rows_[row] + 1]); e < end; ++e)
                work(row, size_t(labels_[A_.indices[e]]), e);
    }

    double value_of(size_t e) const { return w_ ? A_.values[e] * w_[size_t(A_.indices[e])] : A_.values[e]; }

    // Of all rows, if some are left out: sums of one sign lose nothing where it is looked for.
    bool has_both_signs() const {
        bool has_negative = false, has_positive = false;
        for (size_t e = 0, end = size_t(A_.n_entries()); e < end; ++e) {
            const double value = value_of(e);
            has_negative |= value < 0;
            has_positive |= value > 0;
        }
        return has_negative && has_positive;
    }

    size_t without_zeros(Index* offsets, Index* indices, double* values) const {
        const size_t n_places = size_t(offsets[n_classes_]);
        size_t n_zeros = 0;
        for (size_t at = 0; at < n_places; ++at) n_zeros += size_t(values[at] == 0);
        if (n_zeros == 0) return n_places;
        size_t to = 0, at = 0;
        for (size_t label = 0; label < n_classes_; ++label) {
            for (const size_t end = size_t(offsets[label + 1]); at < end; ++at)
                if (values[at] != 0) indices[to] = indices[at], values[to++] = values[at];
            offsets[label + 1] = Index(to);
        }
        return to;
    }

    const SparseView<Index>& A_;
    const long long* rows_;
    const Array<u32> labels_;  // half as wide as they are given: they are read in any order
    const double* w_;
    const size_t n_rows_, n_classes_;
    bool has_sums_ = false, is_constant_ = false, may_cancel_ = false;
    struct Class {
        Index next = 0;  // how many places it has, then where the next one is
        u32 last = 0;    // one more than the row in which it was seen last
    };
    Array<Class> classes_;
};

}  // namespace relift::passes
