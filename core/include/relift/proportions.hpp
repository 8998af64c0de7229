// Whether no row of A, or no column, is a multiple of another, found out when it is first asked for.
//
// Up to scale, rows are told apart as soon as all variables are, unless they are multiples of each other, and columns as
// soon as all rows are: for any sizes, signs and masses, so that no further sum is needed (docs/mathematics.md).
#pragma once
#include "rows_apart.hpp"

namespace relift {

enum class Answer { not_yet, yes, no };

// What one refinement has found out for the next one of the same matrix.
struct KnownProportions {
    Answer rows_apart = Answer::not_yet, columns_apart = Answer::not_yet;
};

// Majors that may be multiples of another one, by three entries of each: where the first, the last and one in between
// stand, how many there are, and how large the others are in units of the last. Rounding is far below `close`, since
// nothing cancels. Each has an entry, and none of its entries is 0.
template <class Index>
std::vector<passes::RowPrint> alike_at_three_places(const SparseView<Index>& matrix, u32 n_threads) {
    Array<u64> words(matrix.n_major);
    const auto place_of = [&](u32 major, int k) {
        const u64 first = u64(matrix.offsets[major]), last = u64(matrix.offsets[major + 1]) - 1;
        return k == 0 ? first : k == 1 ? last : first + (last - first) / 2;
    };
    over_range(matrix.n_major, threads_for(matrix.n_major, n_threads), [&](u64 first, u64 last) {
        for (u32 major = u32(first); major < last; ++major) {
            const u64 length = u64(matrix.offsets[major + 1]) - u64(matrix.offsets[major]);
            const auto index = [&](int k) { return u64(matrix.indices[place_of(major, k)]); };
            words[major] = mix(mix(index(0) << 32 ^ index(1)) ^ (index(2) << 32 ^ length)) | 1;
        }
    });
    u32 n_groups = 0;
    std::vector<passes::RowPrint> prints = passes::prints_of_repeated(words, n_groups, n_threads);
    for (passes::RowPrint& print : prints) {
        const auto size = [&](int k) { return std::fabs(matrix.values[place_of(print.row, k)]); };
        const double first = size(0) / size(1), middle = size(2) / size(1);
        const bool is_rounded_little = std::min({size(0), size(1), size(2), first, middle}) > 1e-290;
        print.sum = is_rounded_little ? first + 1.6180339887498949 * middle : HUGE_VAL;
    }
    return passes::sorted_by_group(prints, n_groups);
}

// Whether two majors of the same length are multiples of each other, but for rounding.
template <class Index>
bool look_like_multiples(const SparseView<Index>& matrix, u32 one, u32 other) {
    const u64 here = u64(matrix.offsets[one]), there = u64(matrix.offsets[other]);
    const u64 length = u64(matrix.offsets[one + 1]) - here;
    if (u64(matrix.offsets[other + 1]) - there != length) return false;
    const double ratio = matrix.values[there] / matrix.values[here];
    for (u64 k = 0; k < length; ++k) {
        const double value = matrix.values[there + k];
        if (matrix.indices[here + k] != matrix.indices[there + k]) return false;
        if (std::fabs(value - ratio * matrix.values[here + k]) > passes::close * std::fabs(value)) return false;
    }
    return true;
}

// Whether no row of a matrix, if it is seen by rows, is empty or a multiple of another; or no column.
template <class Index>
bool none_are_multiples(const SparseView<Index>& matrix, bool are_majors, u32 n_threads) {
    if (!are_ascending(matrix, n_threads)) return false;
    const double *const values = matrix.values, *const end = values + matrix.n_entries();
    if (are_majors && std::find(values, end, 0.0) == end) {
        for (u32 major = 0; major < matrix.n_major; ++major)
            if (matrix.offsets[major] == matrix.offsets[major + 1]) return false;
        const auto prints = alike_at_three_places(matrix, n_threads);
        bool some_are_close = false;
        for (u64 k = 1; k < prints.size() && !some_are_close; ++k) {
            some_are_close = passes::are_close(prints[k - 1], prints[k]);
            if (some_are_close && look_like_multiples(matrix, prints[k - 1].row, prints[k].row)) return false;
        }
        if (!some_are_close) return true;
    }
    Array<u32> counts(are_majors ? matrix.n_major : matrix.n_minor);
    if (!passes::scan_rows(matrix, are_majors, 1, counts.data(), n_threads).empty()) return false;
    return std::find(counts.begin(), counts.end(), 0u) == counts.end();
}

template <class Index>
class Proportions {
public:
    // What is found is left in `kept`, if it is given.
    Proportions(const Problem<Index>& problem, u32 n_threads, KnownProportions* kept)
        : problem_(problem), n_threads_(n_threads), known_(kept ? *kept : own_) {}
    Proportions(const Proportions&) = delete;
    Proportions& operator=(const Proportions&) = delete;

    void know_rows_apart() { known_.rows_apart = Answer::yes; }
    bool know_rows() const { return known_.rows_apart != Answer::not_yet; }
    bool rows_are_apart() { return find(known_.rows_apart, problem_.A_is_by_rows); }
    bool columns_are_apart() { return find(known_.columns_apart, !problem_.A_is_by_rows); }

private:
    bool find(Answer& known, bool are_majors) {
        if (known == Answer::not_yet)
            known = none_are_multiples(problem_.A, are_majors, n_threads_) ? Answer::yes : Answer::no;
        return known == Answer::yes;
    }

    const Problem<Index>& problem_;
    const u32 n_threads_;
    KnownProportions own_;
    KnownProportions& known_;
};

}  // namespace relift
