// What presolve must know of the rows of a matrix: how many entries each has, and which may be multiples of another.
//
// Rows that are multiples of each other have the same columns, and the same signs or the opposite ones everywhere: so
// sums of random words of their columns, with the signs of the entries, are equal or opposite. And the sum of
// g_j |a_ij| over the first |a_ij|, with random g_j > 0, is the same for them up to rounding, which is far below the
// tolerance here since no term cancels. The filter never loses a multiple; what passes is compared exactly afterwards.
// Entries that are 0 count as absent.
//
// The words of all rows are found first, then the sums of those rows alone whose word some other row has: in most
// programs few. Of a matrix by rows the first and the last entry are compared before that, so that long rows of the same
// columns are not added up.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "../repeated_words.hpp"
#include "../threads.hpp"

namespace relift::passes {

constexpr double close = 1e-9;

struct RowPrint {
    double first = 0, sum = 0;
    u32 row = 0, group = 0;  // rows of one group have the same columns, and the same signs but for a factor
};

inline u64 word_of(u64 column) {  // splitmix64
    u64 z = column + 0x9E3779B97F4A7C15ull * (column + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) | 1;
}

// Columns of each row must come in order, as they do in a matrix by columns and in one by rows with sorted indices.
inline void add_entry(RowPrint& print, u64 word, double value) {
    if (value == 0) return;
    const double size = std::fabs(value), weight = 1.0 + double(word >> 11) * 0x1p-53;
    if (print.first == 0) print.first = size;
    print.sum += weight * size;
}

// A word with the sign of a value.
inline u64 with_sign_of(double value, u64 word) {
    u64 bits;
    std::memcpy(&bits, &value, sizeof bits);
    const u64 mask = 0 - (bits >> 63);
    return (word ^ mask) - mask;
}

// One of a word and its opposite, the same for both; never 0, which is for rows that are left out.
inline u64 without_sign(u64 word) { return std::max(std::min(word, 0 - word), u64(1)); }

// Of a matrix by columns, sums of the words of the columns, with signs, of each row, and how many there are. Every thread has
// its own; these are exact, so that nothing depends on how many there are.
template <class Index, class Count>
void add_words_of_rows(const SparseView<Index>& A, Array<u64>& words, Count* counts, u32 n_threads) {
    n_threads = scattering_threads(A, n_threads, sizeof(u64) + sizeof(Count));
    std::vector<Array<u64>> own_words(n_threads);
    std::vector<Array<Count>> own_counts(n_threads);
    in_parallel(n_threads, [&](u32 k) {
        own_words[k].assign(k ? A.n_minor : 0, 0);
        own_counts[k].assign(k ? A.n_minor : 0, 0);
        u64* const of_this = k ? own_words[k].data() : words.data();
        Count* const n_of_this = k ? own_counts[k].data() : counts;
        for (size_t major = first_major_of(A, k, n_threads), last = first_major_of(A, k + 1, n_threads); major < last; ++major) {
            const u64 own = word_of(major);
            for (size_t e = size_t(A.offsets[major]), end = size_t(A.offsets[major + 1]); e < end; ++e) {
                const size_t i = size_t(A.indices[e]);
                const bool is_there = A.values[e] != 0;
                of_this[i] += is_there ? with_sign_of(A.values[e], own) : 0;
                n_of_this[i] += is_there;
            }
        }
    });
    if (n_threads == 1) return;
    over_range(A.n_minor, threads_for(A.n_minor, n_threads), [&](u64 first, u64 last) {
        for (u32 k = 1; k < n_threads; ++k)
            for (u64 i = first; i < last; ++i) words[i] += own_words[k][i], counts[i] += own_counts[k][i];
    });
}

// Words of the columns and signs of each row, 0 for rows of fewer entries than the least, and how many entries that are
// not 0 each has.
template <class Index, class Count>
Array<u64> words_of_rows(const SparseView<Index>& A, bool is_by_rows, u64 least, Count* counts, u32 n_threads) {
    const size_t m = is_by_rows ? A.n_major : A.n_minor;
    Array<u64> words(m);
    if (!is_by_rows) {
        std::fill(words.begin(), words.end(), 0);
        std::fill_n(counts, m, 0);
        add_words_of_rows(A, words, counts, n_threads);
        over_range(m, threads_for(m, n_threads), [&](u64 first, u64 last) {
            for (size_t i = first; i < last; ++i)
                words[i] = u64(counts[i]) < least || !counts[i] ? 0 : without_sign(words[i]);
        });
        return words;
    }
    over_majors(A, threads_for(A.n_entries(), n_threads), [&](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) {
            u64 word = 0;
            Count count = 0;
            for (size_t e = size_t(A.offsets[i]), end = size_t(A.offsets[i + 1]); e < end; ++e)
                if (A.values[e] != 0) word += with_sign_of(A.values[e], word_of(u64(A.indices[e]))), ++count;
            words[i] = u64(count) < least || !count ? 0 : without_sign(word);
            counts[i] = count;
        }
    });
    return words;
}

// Sums of the rows that share their columns with another one; the prints are by row, ascending.
template <class Index>
void add_sums(const SparseView<Index>& A, bool is_by_rows, std::vector<RowPrint>& prints, u32 n_threads) {
    if (is_by_rows) {
        over_range(prints.size(), threads_for(A.n_entries(), n_threads), [&](u64 begin, u64 end) {
            for (u64 k = begin; k < end; ++k)
                for (size_t e = size_t(A.offsets[prints[k].row]); e < size_t(A.offsets[prints[k].row + 1]); ++e)
                    add_entry(prints[k], word_of(u64(A.indices[e])), A.values[e]);
        });
        return;
    }
    std::vector<u32> place(A.n_minor, nobody);
    for (size_t k = 0; k < prints.size(); ++k) place[prints[k].row] = u32(k);
    for (size_t major = 0; major < A.n_major; ++major) {
        const u64 own = word_of(major);
        for (size_t e = size_t(A.offsets[major]), end = size_t(A.offsets[major + 1]); e < end; ++e) {
            const u32 k = place[size_t(A.indices[e])];
            if (k != nobody) add_entry(prints[k], own, A.values[e]);
        }
    }
}

// The sums of the first and the last entry of each row over the first, for a matrix by rows: the same for multiples too.
template <class Index>
void add_ends(const SparseView<Index>& A, std::vector<RowPrint>& prints) {
    for (RowPrint& print : prints) {
        size_t e = size_t(A.offsets[print.row]), last = size_t(A.offsets[print.row + 1]) - 1;
        while (A.values[e] == 0) ++e;  // rows of a group have entries
        while (A.values[last] == 0) --last;
        print.first = std::fabs(A.values[e]);
        print.sum = print.first + (last > e ? std::fabs(A.values[last]) : 0);
    }
}

// Prints of the rows whose word some other row has, by row; groups are numbered by their first rows.
inline std::vector<RowPrint> prints_of_repeated(const Array<u64>& words, u32& n_groups, u32 n_threads) {
    const Array<u32> some = maybe_repeated(words.data(), words.size(), false, n_threads);
    const Array<u32> first = first_of_repeated(words.data(), some);
    std::vector<RowPrint> prints;
    prints.reserve(some.size() - size_t(std::count(first.begin(), first.end(), nobody)));
    Array<u32> number(some.size());
    n_groups = 0;
    for (size_t k = 0; k < some.size(); ++k) {
        if (first[k] == nobody) continue;
        if (first[k] == k) number[k] = n_groups++;
        prints.push_back({0, 0, some[k], number[first[k]]});
    }
    return prints;
}

// The same prints, those of a group together, by their sums.
inline std::vector<RowPrint> sorted_by_group(const std::vector<RowPrint>& prints, u32 n_groups) {
    std::vector<u32> next(n_groups + 1, 0);
    for (const RowPrint& print : prints) ++next[print.group + 1];
    for (u32 g = 0; g < n_groups; ++g) next[g + 1] += next[g];
    std::vector<RowPrint> sorted(prints.size());
    for (const RowPrint& print : prints) sorted[next[print.group]++] = print;  // starts become ends
    for (u32 g = 0; g < n_groups; ++g)
        std::sort(sorted.begin() + (g ? next[g - 1] : 0), sorted.begin() + next[g],
                  [](const RowPrint& a, const RowPrint& b) { return a.sum < b.sum; });
    return sorted;
}

// Of two prints that follow each other by their sums.
inline bool are_close(const RowPrint& a, const RowPrint& b) {
    return a.group == b.group && !(b.sum - a.sum > close * b.sum);
}

// Below this a float has too few digits for sums.
constexpr double tiny = 1e-290;

// The prints that are close to another one of their group, in their order, with sums that are divided by the first
// entries. Mostly all sums of a group are close to each other, which the smallest and the largest one tell; only the
// others are sorted. A group with a sum that floats have no room for is kept as it is.
inline std::vector<RowPrint> close_to_another(std::vector<RowPrint> prints, u32 n_groups) {
    struct Range { double least, most; };
    Array<Range> ranges(n_groups, Range{std::numeric_limits<double>::infinity(), 0.0});
    for (RowPrint& print : prints) {
        print.sum = print.first < tiny ? std::numeric_limits<double>::infinity() : print.sum / print.first;
        Range& range = ranges[print.group];
        range = {std::min(range.least, print.sum), std::max(range.most, print.sum)};
    }
    std::vector<RowPrint> open;
    for (size_t k = 0; k < prints.size(); ++k) {
        const Range& range = ranges[prints[k].group];
        if (!(range.most - range.least > close * range.least) || std::isinf(range.most)) continue;
        open.push_back(prints[k]);
        open.back().row = u32(k);  // its place
    }
    if (open.empty()) return prints;
    open = sorted_by_group(open, n_groups);
    std::vector<char> is_alone(prints.size(), 0);
    for (size_t k = 0; k < open.size(); ++k) {
        const bool is_near_last = k > 0 && are_close(open[k - 1], open[k]);
        is_alone[open[k].row] = !(is_near_last || (k + 1 < open.size() && are_close(open[k], open[k + 1])));
    }
    size_t to = 0;
    for (size_t k = 0; k < prints.size(); ++k)
        if (!is_alone[k]) prints[to++] = prints[k];
    prints.resize(to);
    return prints;
}

// Fills counts (of entries that are not 0), and returns the rows of at least so many entries that may be multiples of
// another one, ascending.
template <class Index, class Count>
std::vector<long long> scan_rows(const SparseView<Index>& A, bool is_by_rows, u64 least, Count* counts,
                                 u32 n_threads) {
    std::vector<RowPrint> prints;
    u32 n_groups = 0;
    {
        const Array<u64> words = words_of_rows(A, is_by_rows, least, counts, n_threads);
        prints = prints_of_repeated(words, n_groups, n_threads);
    }
    if (is_by_rows && !prints.empty()) {
        add_ends(A, prints);
        prints = close_to_another(std::move(prints), n_groups);
        const auto is_told_by_ends = [&](const RowPrint& print) { return counts[print.row] <= 2; };
        if (!std::all_of(prints.begin(), prints.end(), is_told_by_ends)) {
            for (RowPrint& print : prints) print.first = print.sum = 0;
            add_sums(A, is_by_rows, prints, n_threads);
            prints = close_to_another(std::move(prints), n_groups);
        }
    } else if (!prints.empty()) {
        add_sums(A, is_by_rows, prints, n_threads);
        prints = close_to_another(std::move(prints), n_groups);
    }
    std::vector<long long> found;
    found.reserve(prints.size());
    for (const RowPrint& print : prints) found.push_back((long long)print.row);
    return found;
}

}  // namespace relift::passes
