// Rows that are exact multiples of an earlier one, among some rows of a matrix by rows with sorted columns.
//
// Each row is divided, in the field, by its first entry that is not 0; equal rows then have equal sums of their words,
// mixed, times random words of their columns. (Halves and quarters are single high bits in the field: unmixed, sums of
// different rows would often be equal.) Rows of equal sums are compared entry by entry before they are believed, in the
// field and as floats: 1 and 2^61 are one element of the field. Entries that are 0 count as absent. The twin of
// lifting/duplicate_rows_reference.py.
#pragma once
#include <cmath>
#include <numeric>
#include <vector>

#include "../exact_values.hpp"
#include "../inverses.hpp"
#include "row_scan.hpp"

namespace relift::passes {

// Rows, by their places among the candidates, and of which multiple of the leader each is, in floats and exactly. The
// search is complete if every row with the words of an earlier one is a multiple of it: then the others have none.
struct Multiples {
    std::vector<long long> member, leader;
    std::vector<double> ratio;
    std::vector<u64> ratio_image;
    bool is_complete = true;
};

// An entry of a candidate: its column, its float, and its word in the row divided by the first entry.
struct DividedEntry {
    u64 column;
    double value;
    u64 word;
};

// The candidates as they are compared: their entries that are not 0, and in the field the first of each and its inverse.
struct DividedRows {
    Array<u64> offsets, first, inverse;
    Array<DividedEntry> entries;
};

template <class Index>
DividedRows divided_rows(const SparseView<Index>& A, const long long* candidates, size_t n, Reading reading) {
    DividedRows rows;
    rows.offsets.resize(n + 1), rows.first.resize(n);
    u64 most = 0;
    for (size_t k = 0; k < n; ++k) most += u64(A.offsets[candidates[k] + 1] - A.offsets[candidates[k]]);
    rows.entries.reserve(most);
    ValueReader image(reading, most);
    for (size_t k = 0; k < n; ++k) {
        rows.offsets[k] = rows.entries.size();
        const size_t begin = size_t(A.offsets[candidates[k]]), end = size_t(A.offsets[candidates[k] + 1]);
        for (size_t e = begin; e < end; ++e)
            if (A.values[e] != 0) rows.entries.push_back({u64(A.indices[e]), A.values[e], image(A.values[e])});
        const bool is_empty = rows.offsets[k] == rows.entries.size();
        rows.first[k] = is_empty ? 1 : rows.entries[rows.offsets[k]].word;
    }
    rows.offsets[n] = rows.entries.size();
    rows.inverse = inverses(rows.first.data(), n);
    for (size_t k = 0; k < n; ++k)
        for (u64 e = rows.offsets[k]; e < rows.offsets[k + 1]; ++e)
            rows.entries[e].word = field_multiply(rows.entries[e].word, rows.inverse[k]);
    return rows;
}

// Whether a candidate is so many times another one: exactly, and in floats up to rounding.
inline bool is_multiple(const DividedRows& rows, u64 one, u64 other, double ratio, double rounding) {
    const u64 count = rows.offsets[one + 1] - rows.offsets[one];
    if (count != rows.offsets[other + 1] - rows.offsets[other]) return false;
    const DividedEntry *a = rows.entries.data() + rows.offsets[one], *b = rows.entries.data() + rows.offsets[other];
    for (u64 e = 0; e < count; ++e) {
        if (a[e].column != b[e].column || a[e].word != b[e].word) return false;
        if (!(std::fabs(a[e].value - ratio * b[e].value) <= rounding * std::fabs(a[e].value))) return false;
    }
    return true;
}

template <class Index>
Multiples find_multiples(const SparseView<Index>& A, const long long* candidates, size_t n, Reading reading,
                         double rounding) {
    const DividedRows rows = divided_rows(A, candidates, n, reading);
    Array<u64> words(n, 0);
    for (size_t k = 0; k < n; ++k)
        for (u64 e = rows.offsets[k]; e < rows.offsets[k + 1]; ++e)
            words[k] += word_of(rows.entries[e].column) * mix(rows.entries[e].word);
    Array<u32> all(n);
    std::iota(all.begin(), all.end(), 0u);
    const Array<u32> first = first_of_repeated(words.data(), all);
    Multiples found;
    for (size_t k = 0; k < n; ++k) {
        const u32 lead = first[k];
        if (lead == nobody || lead == k || rows.offsets[k] == rows.offsets[k + 1]) continue;
        if (rows.offsets[lead] == rows.offsets[lead + 1]) continue;
        const double ratio = rows.entries[rows.offsets[k]].value / rows.entries[rows.offsets[lead]].value;
        if (!is_multiple(rows, k, lead, ratio, rounding)) {
            found.is_complete = false;
            continue;
        }
        found.member.push_back((long long)k);
        found.leader.push_back((long long)lead);
        found.ratio.push_back(ratio);
        found.ratio_image.push_back(field_multiply(rows.first[k], rows.inverse[lead]));
    }
    return found;
}

}  // namespace relift::passes
