// Some rows of a matrix by rows, with the columns of each class added up, as a matrix by columns; in one pass that counts
// and one that adds.
//
// Entries of a row are added in their order, as SciPy does it. Sums that cancelled to rounding, and zeros, are left out.
// Each thread has rows that follow each other, so that what it adds is what one thread would, and counts the places of
// its own in each class. The twin of lifting/summed_entries.py.
#pragma once
#include <cmath>

#include "../equal_numbers.hpp"

namespace relift::passes {

template <class Index>
class MergedColumns {
public:
    // `w`, if given, are the factors of the columns.
    MergedColumns(const SparseView<Index>& A, const long long* rows, size_t n_rows, const long long* labels,
                  size_t n_classes, const double* w, u32 n_threads)
        : A_(A), rows_(rows), labels_(A.n_minor), w_(w), n_classes_(n_classes), n_threads_(n_threads) {
        over_range(A.n_minor, threads_for(A.n_minor, n_threads),
                   [&](u64 first, u64 last) { std::copy(labels + first, labels + last, labels_.begin() + i64(first)); });
        take_blocks(n_rows);
    }

    // Fills the offsets, one more than there are classes; returns how many places have entries.
    size_t count(Index* offsets) {
        in_parallel(n_blocks(), [&](u32 k) {
            classes_[k].assign(n_classes_, Class());
            each_entry(k, [](Class& own, size_t row, size_t) {
                own.next += Index(own.last != row + 1);
                own.last = u32(row + 1);
            });
        });
        const size_t n_places = place_classes(offsets);
        has_sums_ = n_entries_ > n_places;
        is_constant_ = !w_ && are_equal(A_.values, A_.n_entries(), n_threads_);
        may_cancel_ = has_sums_ && !is_constant_ && has_both_signs();
        return n_places;
    }

    // Fills indices and values; returns how many there are. Offsets change where some are left out.
    size_t fill(Index* offsets, Index* indices, double* values, double cancelled) {
        const size_t n_places = size_t(offsets[n_classes_]);
        if (is_constant_) {  // only what is added to another entry is written by itself
            over_range(n_places, threads_for(n_places, n_threads_),
                       [&](u64 first, u64 last) { std::fill(values + first, values + last, A_.values[0]); });
            in_parallel(n_blocks(), [&](u32 k) {
                each_entry(k, [=, value = A_.values[0]](Class& own, size_t row, size_t) {
                    if (own.last != row + 1) indices[size_t(own.next++)] = Index(row), own.last = u32(row + 1);
                    else values[size_t(own.next) - 1] += value;
                });
            });
            return has_sums_ || A_.values[0] == 0 ? without_zeros(offsets, indices, values) : n_places;
        }
        Array<double> sizes(may_cancel_ ? n_places : 0);
        in_parallel(n_blocks(), [&](u32 k) {
            each_entry(k, [&](Class& own, size_t row, size_t e) {
                const double value = value_of(e);
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
        });
        over_range(sizes.size(), threads_for(sizes.size(), n_threads_), [&](u64 first, u64 last) {
            for (u64 at = first; at < last; ++at)
                if (std::fabs(values[at]) <= cancelled * sizes[at]) values[at] = 0;
        });
        return without_zeros(offsets, indices, values);
    }

private:
    struct Class {
        Index next = 0;  // how many places it has, then where the next one is
        u32 last = 0;    // one more than the row in which it was seen last
    };

    u32 n_blocks() const { return u32(classes_.size()); }

    // Rows of about as many entries each; every thread after the first has words of its own for the classes, for which
    // there must be enough entries.
    void take_blocks(size_t n_rows) {
        const auto n_of = [&](size_t row) { return size_t(A_.offsets[rows_[row] + 1] - A_.offsets[rows_[row]]); };
        for (size_t row = 0; row < n_rows; ++row) n_entries_ += n_of(row);
        const u32 n_blocks = u32(std::min<u64>(threads_for(n_entries_, n_threads_), 1 + n_entries_ / (2 * n_classes_ + 1)));
        classes_.resize(n_blocks);
        first_row_.assign(1, 0);
        for (size_t row = 0, n_before = 0; row < n_rows && first_row_.size() < n_blocks; n_before += n_of(row++))
            if (n_before >= part_of(n_entries_, u32(first_row_.size()), n_blocks)) first_row_.push_back(row);
        first_row_.resize(n_blocks + 1, n_rows);
    }

    // From how many places each class has, in each block, to where they begin.
    size_t place_classes(Index* offsets) {
        const u32 n_parts = threads_for(u64(n_classes_) * n_blocks(), n_threads_);
        std::vector<size_t> begin(n_parts + 1, 0);
        over_parts(n_parts, [&](u32 part, size_t first, size_t last) {
            size_t n_places = 0;
            for (const Array<Class>& own : classes_)
                for (size_t label = first; label < last; ++label) n_places += size_t(own[label].next);
            begin[part + 1] = n_places;
        });
        for (u32 part = 0; part < n_parts; ++part) begin[part + 1] += begin[part];
        over_parts(n_parts, [&](u32 part, size_t first, size_t last) {
            size_t at = begin[part];
            for (size_t label = first; label < last; ++label) {
                offsets[label] = Index(at);
                for (Array<Class>& own : classes_) {
                    const size_t n_own = size_t(own[label].next);
                    own[label] = {Index(at), 0};
                    at += n_own;
                }
            }
        });
        offsets[n_classes_] = Index(begin[n_parts]);
        return begin[n_parts];
    }
    template <class Work> void over_parts(u32 n_parts, Work&& work) const {
        in_parallel(n_parts, [&](u32 part) {
            work(part, size_t(part_of(n_classes_, part, n_parts)), size_t(part_of(n_classes_, part + 1, n_parts)));
        });
    }

    // Calls work(class, row, e) for the entries of a block, with what is its own of the class.
    template <class Work> void each_entry(u32 block, Work&& work) {
        Class* const classes = classes_[block].data();
        const u32* const labels = labels_.data();
        for (size_t row = first_row_[block], last = first_row_[block + 1]; row < last; ++row)
            for (size_t e = size_t(A_.offsets[rows_[row]]), end = size_t(A_.offsets[rows_[row] + 1]); e < end; ++e)
                work(classes[labels[A_.indices[e]]], row, e);
    }

    double value_of(size_t e) const { return w_ ? A_.values[e] * w_[size_t(A_.indices[e])] : A_.values[e]; }

    // Of all rows, if some are left out: sums of one sign lose nothing where it is looked for.
    bool has_both_signs() const {
        const auto has_none = [&](auto&& is_one) { return none_differ(A_.n_entries(), n_threads_, is_one); };
        return !has_none([this](u64 e) { return value_of(e) < 0; }) && !has_none([this](u64 e) { return value_of(e) > 0; });
    }

    size_t without_zeros(Index* offsets, Index* indices, double* values) const {
        const size_t n_places = size_t(offsets[n_classes_]);
        if (none_differ(n_places, n_threads_, [values](u64 at) { return values[at] == 0; })) return n_places;
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
    Array<u32> labels_;  // half as wide as they are given: they are read in any order
    const double* w_;
    const size_t n_classes_;
    const u32 n_threads_;
    size_t n_entries_ = 0;
    bool has_sums_ = false, is_constant_ = false, may_cancel_ = false;
    std::vector<Array<Class>> classes_;  // of each block
    std::vector<size_t> first_row_;
};

}  // namespace relift::passes
