// Rows of sparse matrices: from triplets to compressed rows, and from blocks to the rows of one matrix.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "../portable.hpp"
#include "keys.hpp"

namespace relift::tables {

struct Found {
    bool has_double = false;  // two entries in one place, which stay beside each other
    bool has_zero = false;
};

// Compressed rows with sorted columns. Values may be missing (null): then `data` is not touched.
inline Found rows_from_triplets(const int32_t* rows, const int32_t* columns, const double* values, size_t n,
                                size_t n_rows, size_t n_columns, int32_t* starts, int32_t* indices, double* data) {
    Found found;
    bool is_sorted = true;
    std::fill(starts, starts + n_rows + 1, 0);
    for (size_t i = 0; i < n; ++i) {
        if (rows[i] < 0 || size_t(rows[i]) >= n_rows || columns[i] < 0 || size_t(columns[i]) >= n_columns)
            throw std::invalid_argument("an entry lies outside of the matrix");
        is_sorted = is_sorted && (i == 0 || rows[i - 1] <= rows[i]);
        ++starts[rows[i] + 1];
        if (values) found.has_zero = found.has_zero || values[i] == 0;
    }
    for (size_t r = 0; r < n_rows; ++r) starts[r + 1] += starts[r];
    if (is_sorted) {
        std::copy(columns, columns + n, indices);
        if (values) std::copy(values, values + n, data);
    } else {
        std::vector<int32_t> next(starts, starts + n_rows);
        for (size_t i = 0; i < n; ++i) {
            const int32_t to = next[size_t(rows[i])]++;
            indices[to] = columns[i];
            if (values) data[to] = values[i];
        }
    }
    std::vector<std::pair<int32_t, double>> row;
    for (size_t r = 0; r < n_rows; ++r) {
        const int32_t begin = starts[r], end = starts[r + 1];
        if (end - begin > 24) {
            if (!std::is_sorted(indices + begin, indices + end)) {
                if (values) {
                    row.clear();
                    for (int32_t k = begin; k < end; ++k) row.emplace_back(indices[k], data[k]);
                    std::stable_sort(row.begin(), row.end(),
                                     [](const auto& a, const auto& b) { return a.first < b.first; });
                    for (int32_t k = begin; k < end; ++k) {
                        indices[k] = row[size_t(k - begin)].first;
                        data[k] = row[size_t(k - begin)].second;
                    }
                } else {
                    std::sort(indices + begin, indices + end);
                }
            }
        } else {
            for (int32_t k = begin + 1; k < end; ++k) {
                const int32_t column = indices[k];
                const double value = values ? data[k] : 0;
                int32_t to = k;
                for (; to > begin && indices[to - 1] > column; --to) {
                    indices[to] = indices[to - 1];
                    if (values) data[to] = data[to - 1];
                }
                indices[to] = column;
                if (values) data[to] = value;
            }
        }
        for (int32_t k = begin + 1; k < end; ++k) found.has_double = found.has_double || indices[k] == indices[k - 1];
    }
    return found;
}

// Writes row of_row[i] of a block (row i, if of_row is null), times scale[i], at next[i] of a larger matrix, and moves
// next[i] behind it.
inline void place_rows(const int32_t* starts, const int32_t* indices, const double* data, size_t n_block_rows,
                       size_t n_block_entries, const int32_t* of_row, const double* scale, size_t n_rows,
                       int32_t first_column, int64_t* next, size_t n_entries, int32_t* to_indices, double* to_data) {
    constexpr size_t ahead = 8;
    for (size_t i = 0; i < n_rows; ++i) {
        if (of_row && i + ahead < n_rows && size_t(of_row[i + ahead]) < n_block_rows)
            RELIFT_PREFETCH(indices + starts[of_row[i + ahead]]);
        const int64_t row = of_row ? of_row[i] : int64_t(i);
        if (row < 0 || size_t(row) >= n_block_rows) throw std::invalid_argument("a row lies outside of its block");
        const int32_t begin = starts[row], end = starts[row + 1];
        if (begin < 0 || end < begin || size_t(end) > n_block_entries || next[i] < 0 ||
            size_t(next[i]) + size_t(end - begin) > n_entries)
            throw std::invalid_argument("the entries of a row do not fit");
        const double factor = scale ? scale[i] : 1.0;
        int64_t to = next[i];
        for (int32_t k = begin; k < end; ++k, ++to) {
            to_indices[to] = indices[k] + first_column;
            to_data[to] = factor * (data ? data[k] : 1.0);
        }
        next[i] = to;
    }
}

}  // namespace relift::tables
