// A look at some rows: are there any that differ as they are given, and are equal up to size, unit and sign?
//
// Of each entry two numbers are independent of units and signs: |a| / |q| and |a| times the size of the bounds; divided
// by the largest of the row they are independent of its factor too. Rows that are equal in these, and not in their
// numbers, speak for classes up to scale, and so do entries of one row that are equal in the first. It is a look, not a
// proof, in either direction.
#pragma once
#include "distinct_words.hpp"
#include "masses.hpp"

namespace relift {

constexpr u32 most_rows_looked_at = 512;
constexpr double share_that_speaks = 0.08;

struct Likeness {
    u64 n_rows = 0, n_entries = 0, rows_alike = 0, entries_alike = 0;
    bool speaks() const {
        return double(rows_alike) > std::max(1.5, share_that_speaks * double(n_rows)) ||
               double(entries_alike) > std::max(0.5, share_that_speaks * double(n_entries));
    }
};

struct SampledEntry {
    u32 row, column;
    double value;
};

// The entries of rows that are evenly spread, row by row.
template <class Index>
Array<SampledEntry> sampled_rows(const Problem<Index>& problem) {
    const u32 m = problem.n_rows, n_chosen = std::min(m, most_rows_looked_at);
    Array<SampledEntry> entries;
    if (n_chosen == 0) return entries;
    const auto row_of = [&](u32 k) { return u32(u64(k) * m / n_chosen); };
    const auto& A = problem.A;
    if (problem.A_is_by_rows) {
        for (u32 k = 0; k < n_chosen; ++k)
            for (u64 e = u64(A.offsets[row_of(k)]), end = u64(A.offsets[row_of(k) + 1]); e < end; ++e)
                if (A.values[e] != 0) entries.push_back({k, u32(A.indices[e]), A.values[e]});
        return entries;
    }
    constexpr u32 none = ~u32(0);
    Array<u32> place(m, none);
    for (u32 k = 0; k < n_chosen; ++k) place[row_of(k)] = k;
    for (u32 j = 0; j < A.n_major; ++j)
        for (u64 e = u64(A.offsets[j]), end = u64(A.offsets[j + 1]); e < end; ++e)
            if (place[A.indices[e]] != none && A.values[e] != 0) entries.push_back({place[A.indices[e]], j, A.values[e]});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const SampledEntry& a, const SampledEntry& b) { return a.row < b.row; });
    return entries;
}

template <class Index>
Likeness look_at_rows(const Problem<Index>& problem, const OwnNumbers& variables, const OwnNumbers& rows) {
    struct Look { u64 dear, large, raw; };
    struct Row { u64 alike, raw; };
    constexpr u64 unpriced_in_rows = ~u64(0);
    const auto quantised = [](double value) { return u64(std::llround(std::min(value, 1.0) * 1e10)); };
    const Array<SampledEntry> entries = sampled_rows(problem);
    Array<Look> looks;
    Array<Row> seen;
    Likeness found;
    found.n_entries = entries.size();
    const u32 n_chosen = std::min(problem.n_rows, most_rows_looked_at);
    for (u64 first = 0, last = 0; first < entries.size(); first = last) {
        double most_dear = 0, largest = 0;
        const auto numbers = [&](const SampledEntry& entry, double& dear, double& large) {
            const u32 j = entry.column;
            double size = 0;
            u64 ignored = 0;
            size_of_interval(variables.low[j], variables.high[j], variables.low_image[j], variables.high_image[j], size,
                             ignored);
            dear = variables.cost_image[j] ? std::fabs(entry.value / variables.cost[j]) : 0.0;
            large = std::fabs(entry.value) * size;
        };
        for (; last < entries.size() && entries[last].row == entries[first].row; ++last) {
            double dear, large;
            numbers(entries[last], dear, large);
            most_dear = std::max(most_dear, dear);
            largest = std::max(largest, large);
        }
        const u32 i = u32(u64(entries[first].row) * problem.n_rows / n_chosen);
        Row row{0, mix(bits_of(rows.low[i])) ^ mix(~bits_of(rows.high[i]))};
        looks.clear();
        for (u64 e = first; e < last; ++e) {
            const u32 j = entries[e].column;
            double dear, large;
            numbers(entries[e], dear, large);
            // Without a cost only the entry itself can be compared.
            const u64 unpriced = bits_of(std::fabs(entries[e].value)) | u64(1) << 63;
            Look look{dear > 0 ? quantised(dear / most_dear) : unpriced, large > 0 ? quantised(large / largest) + 1 : 0, 0};
            look.raw = mix(bits_of(entries[e].value) ^ mix(bits_of(variables.cost[j]) ^
                                                           mix(bits_of(variables.low[j]) ^ mix(bits_of(variables.high[j])))));
            row.alike += mix((dear > 0 ? look.dear : unpriced_in_rows) ^ mix(look.large));
            row.raw += look.raw;
            looks.push_back(look);
        }
        std::sort(looks.begin(), looks.end(), [](const Look& a, const Look& b) {
            return a.dear != b.dear ? a.dear < b.dear : a.raw < b.raw;
        });
        for (u64 k = 1; k < looks.size(); ++k)
            found.entries_alike += looks[k].dear == looks[k - 1].dear && looks[k].raw != looks[k - 1].raw;
        seen.push_back(row);
    }
    found.n_rows = seen.size();
    std::sort(seen.begin(), seen.end(),
              [](const Row& a, const Row& b) { return a.alike != b.alike ? a.alike < b.alike : a.raw < b.raw; });
    for (u64 k = 1; k < seen.size(); ++k)
        found.rows_alike += seen[k].alike == seen[k - 1].alike && seen[k].raw != seen[k - 1].raw;
    return found;
}

}  // namespace relift
