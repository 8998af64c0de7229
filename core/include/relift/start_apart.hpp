// Whether costs and bounds, as floats, tell all variables apart, and no row is a multiple of another: then every vertex is
// alone, and nothing need be read exactly.
//
// Floats that differ are different numbers in either reading; those that are equal are the same.
#pragma once
#include <vector>

#include "distinct_words.hpp"
#include "passes/numbers.hpp"
#include "rows_apart.hpp"

namespace relift {

enum class StartsApart { alike, open, apart };

// alike: two variables have the same numbers; open: they all differ, but rows may be multiples, or are not to be compared.
// Presolve has found no rows that are.
template <class Index>
StartsApart starts_apart(const Problem<Index>& problem, const std::vector<passes::Numbers<double>>& numbers, u32 n_threads) {
    std::vector<const double*> several;
    for (const auto& vector : numbers)
        if (!vector.is_one()) several.push_back(vector.first);
    const auto word = [&](u32 j) {
        u64 joined = 0;
        for (const double* const vector : several) joined = joined_word(joined, bits_of(vector[j]));
        return joined;
    };
    if (!all_words_distinct(word, problem.n_variables, n_threads)) return StartsApart::alike;
    const bool is_finite = are_finite(problem.A, n_threads) && (!problem.has_P() || are_finite(problem.P, n_threads));
    return is_finite && rows_are_apart(problem, true, n_threads) ? StartsApart::apart : StartsApart::open;
}

}  // namespace relift
