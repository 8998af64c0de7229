// Masses in floats, where each is in a class of its own.
#pragma once
#include "look_at_masses.hpp"

namespace relift {

template <class Index>
class MassesInFloats {
public:
    Array<double> variables, rows;  // all rows of a cone count equally much

    // What is given is to stay while it is looked at.
    MassesInFloats(const Problem<Index>& problem, const passes::GivenNumbers& of_variables,
                   const passes::GivenNumbers& of_rows, const ConicNumbers& conic, u32 n_threads = 1)
        : variables(problem.n_variables), rows(problem.n_rows), problem_(problem), given_rows_(of_rows), conic_(conic),
          n_threads_(n_threads),
          of_(find_masses(problem, of_variables, of_rows, variables.data(), rows.data(), n_threads)) {
        equalise_in_cones();
    }

    // Whether a search with them may find clearly more than one with equal masses. Numbers that are in proportion but for
    // rounding, which exact masses may part, are taken to be so.
    bool speak() const {
        const MassesLookedAt masses{of_, [this](u32 j) { return quantised(variables[j]); },
                                    [this](u32 i) { return quantised(rows[i]); }};
        return LookAtMasses(problem_, given_rows_, masses, conic_, n_threads_).speaks();
    }

private:
    // By the least mass among them.
    void equalise_in_cones() {
        const auto cone_of = [this](u64 row) { return conic_.cone_of_row[row - conic_.first_row]; };
        for (u64 first = conic_.first_row, last; first < problem_.n_rows; first = last) {
            double least = rows[first];
            for (last = first; last < problem_.n_rows && cone_of(last) == cone_of(first); ++last)
                least = std::min(least, rows[last]);
            std::fill(rows.begin() + i64(first), rows.begin() + i64(last), least);
        }
    }

    const Problem<Index>& problem_;
    const passes::GivenNumbers& given_rows_;
    const ConicNumbers& conic_;
    const u32 n_threads_;
    const SizesAndPrices of_;
};

}  // namespace relift
