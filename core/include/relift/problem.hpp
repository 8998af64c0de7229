// What is refined, how, and what comes back.
//
// Vertices are the n variables and the m rows of a program; edges are the entries of the symmetric P between
// variables and those of A between rows and variables.
#pragma once
#include <vector>

#include "exact_values.hpp"
#include "sparse_view.hpp"

namespace relift {

// One word for each vertex, or one for all of them (step 0).
struct Words {
    const u64* first = nullptr;
    u64 step = 1;
    Words() = default;
    Words(const u64* words, u64 step_ = 1) : first(words), step(step_) {}
    u64 operator[](u64 i) const { return first[i * step]; }
};

template <class Index>
struct Problem {
    u32 n_variables = 0, n_rows = 0;
    SparseView<Index> P;                       // n x n, both triangles; without offsets if there is none
    SparseView<Index> A;                       // m x n, by columns or by rows
    bool A_is_by_rows = false;
    std::vector<Words> variable_images;        // the initial colour of a variable is the tuple of its words
    Words row_lower, row_upper;                // images of l and u
    std::vector<Words> row_extra;              // further words of the rows
    const double *l = nullptr, *u = nullptr;

    bool has_P() const { return P.offsets != nullptr; }
};

struct Options {
    bool counting = false;  // compare multisets of entries, not sums
    Reading reading = Reading::decimal;
    bool scale_rows = false;
    u64 seed = 0;
    u32 n_threads = 1;  // the most that may be used; nothing depends on it but the time
    bool needs_scales = false;  // give up, with everything alone, where some row is not divided by its weighted sum
    u64 most_classes = ~u64(0);   // give up, with everything alone, where rounds have found clearly more than so many
    bool rows_are_apart = false;  // it is known that no row is a multiple of another, nor, up to multipliers, empty
    bool some_start_alike = false;  // it is known that not all variables have different words
};

struct Output {
    i64 *variable_labels, *row_labels;  // numbered by smallest member
    double* row_scales;                 // what each row was divided by; not written where all share one scale
    u64* row_scale_images;              // the same, exactly
};

// A number that all rows are divided by, in floats and exactly, if there is one.
struct SharedScale {
    bool exists = false;
    double scale = 1;
    u64 exact = 1;
};

struct Statistics {
    u64 passes = 0, splitters = 0, peak_bytes = 0;  // a pass goes over all entries once; two make a round
    u64 rows_without_total = 0;                     // rows that were not divided by their weighted sum, or
                                                    // vertices whose scale was lost in cancellation
    SharedScale shared_scale;                       // of the rows
    bool all_are_apart = false;                     // every vertex is alone, before sums: the output is not written
};

// Calls work(row, column, entry) for every stored entry of some majors of A.
template <class Index, class Work>
void for_each_entry_of_A(const Problem<Index>& problem, u32 first_major, u32 last_major, Work&& work) {
    const auto A = problem.A;
    const auto walk = [&](auto&& visit) {
        for (u32 major = first_major; major < last_major; ++major)
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                visit(major, u32(A.indices[e]), e);
    };
    if (problem.A_is_by_rows) walk([&](u32 major, u32 minor, u64 e) { work(major, minor, e); });
    else walk([&](u32 major, u32 minor, u64 e) { work(minor, major, e); });
}

// The same for all.
template <class Index, class Work>
void for_each_entry_of_A(const Problem<Index>& problem, Work&& work) {
    for_each_entry_of_A(problem, 0, problem.A.n_major, work);
}

}  // namespace relift
