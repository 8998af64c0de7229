// Whether no two variables stand in the same rows. Where every row is alone in its class, so is every variable then,
// whatever the numbers, sizes, signs and masses: members of a class have entries in the same classes of rows.
#pragma once
#include "distinct_words.hpp"
#include "problem.hpp"

namespace relift {

// A word for each row, sums of which say next to always which rows they are of.
inline u64 word_of_row(u32 row) {
    const u64 word = spread(u64(row) + 1);
    return spread(word ^ word >> 29) ^ spread(word ^ word >> 31) >> 32;
}

// It is not said where a variable stands in no row. Entries that are 0 do not count.
template <class Index>
bool supports_are_distinct(const Problem<Index>& problem, u64 n_variables, u32 n_threads = 1) {
    const auto& A = problem.A;
    Array<u64> words(problem.n_variables, 0);
    if (problem.A_is_by_rows) {
        scatter_exactly(A, n_threads, words.data(), [&](u32 first, u32 last, u64* sums) {
            for (u32 row = first; row < last; ++row) {
                const u64 word = word_of_row(row);
                for (u64 e = u64(A.offsets[row]), end = u64(A.offsets[row + 1]); e < end; ++e)
                    sums[A.indices[e]] += A.values[e] != 0 ? word : 0;
            }
        });
    } else {
        over_majors(A, threads_for(A.n_entries(), n_threads), [&](u32 first, u32 last) {
            for (u32 column = first; column < last; ++column)
                for (u64 e = u64(A.offsets[column]), end = u64(A.offsets[column + 1]); e < end; ++e)
                    words[column] += A.values[e] != 0 ? word_of_row(u32(A.indices[e])) : 0;
        });
    }
    words.resize(n_variables);
    return std::find(words.begin(), words.end(), u64(0)) == words.end() && all_distinct(words.data(), u32(n_variables), n_threads);
}

}  // namespace relift
