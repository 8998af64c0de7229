// The matrices of a program seen from variables and from rows, as the worklist needs them.
#pragma once
#include <memory>
#include <utility>

#include "multipliers.hpp"
#include "worklist.hpp"

namespace relift {

// The matrix as u32 arrays seen from its majors: the given arrays where they are of that width, else copies.
template <class Index>
struct MajorSide {
    Array<u32> own_offsets, own_indices;
    const u32 *offsets, *indices;

    explicit MajorSide(const SparseView<Index>& matrix) {
        if constexpr (sizeof(Index) == sizeof(u32)) {
            offsets = reinterpret_cast<const u32*>(matrix.offsets);
            indices = reinterpret_cast<const u32*>(matrix.indices);
        } else {
            own_offsets.assign(matrix.offsets, matrix.offsets + matrix.n_major + 1);
            own_indices.assign(matrix.indices, matrix.indices + matrix.n_entries());
            offsets = own_offsets.data();
            indices = own_indices.data();
        }
    }
};

// The matrix seen from its minors, with weights in that order.
template <class Index>
struct MinorSide {
    Array<u32> offsets, indices;
    Weights weights;

    MinorSide(const SparseView<Index>& matrix, const Weights& given) {
        const u64 n_entries = matrix.n_entries();
        offsets.assign(u64(matrix.n_minor) + 1, 0);
        for (u64 e = 0; e < n_entries; ++e) ++offsets[matrix.indices[e]];
        u32 start = 0;
        for (u32& offset : offsets) start += std::exchange(offset, start);
        indices.resize(n_entries);
        weights.kind = given.kind;
        weights.table = given.table;
        if (given.kind == WeightKind::table) weights.ids.narrow.resize(n_entries);
        if (given.kind == WeightKind::wide_table) weights.ids.wide.resize(n_entries);
        if (given.kind == WeightKind::words) weights.words.resize(n_entries);
        for (u32 major = 0; major < matrix.n_major; ++major)
            for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
                const u32 at = offsets[matrix.indices[e]]++;
                indices[at] = major;
                if (given.kind == WeightKind::table) weights.ids.narrow[at] = given.ids.narrow[e];
                if (given.kind == WeightKind::wide_table) weights.ids.wide[at] = given.ids.wide[e];
                if (given.kind == WeightKind::words) weights.words[at] = given.words[e];
            }
        for (u32 minor = matrix.n_minor; minor > 0; --minor) offsets[minor] = offsets[minor - 1];  // ends to starts
        offsets[0] = 0;
    }
};

// Both matrices seen from all sides, as the worklist needs them.
template <class Index>
class BothSides {
public:
    BothSides(const Problem<Index>& problem, const Weights& P_weights, const Weights& A_weights, Factors factors)
        : majors_(problem.A), minors_(problem.A, A_weights) {
        if (problem.has_P()) {
            P_ = std::make_unique<MajorSide<Index>>(problem.P);
            within = {P_->offsets, P_->indices, &P_weights, 0, 0, factors.variable_source};
        }
        if (problem.n_rows == 0) return;
        const Adjacency of_majors{majors_.offsets, majors_.indices, &A_weights, 0, 0, nullptr};
        const Adjacency of_minors{minors_.offsets.data(), minors_.indices.data(), &minors_.weights, 0, 0, nullptr};
        columns = problem.A_is_by_rows ? of_minors : of_majors;
        rows = problem.A_is_by_rows ? of_majors : of_minors;
        columns.first_target = rows.first_source = problem.n_variables;
        columns.source_factors = factors.variable_source;
        rows.source_factors = factors.row_source;
    }
    BothSides(const BothSides&) = delete;
    BothSides& operator=(const BothSides&) = delete;

    Adjacency within, columns, rows;  // P; from variables to rows; from rows to variables

    // A is by rows where there are links.
    void show_columns_to(Multipliers<Index>& multipliers) {
        multipliers.write_links_to(minors_.offsets.data(), minors_.indices.data(), &minors_.weights);
    }

private:
    MajorSide<Index> majors_;
    MinorSide<Index> minors_;
    std::unique_ptr<MajorSide<Index>> P_;
};

}  // namespace relift
