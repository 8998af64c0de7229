// A look at some rows: do things of one kind and many sizes stand in different classes?
//
// Of each entry two numbers are independent of units and signs: |a| / |q| and |a| times the size of the bounds; divided
// by the largest of the row they are independent of its factor too, and so are right-hand sides. Rows that are equal in
// these, and stand in different classes, speak for masses that differ, and so do entries of one row that are equal in the
// first. It is a look, not a proof, in either direction.
#pragma once
#include <cstring>

#include "distinct_words.hpp"
#include "masses.hpp"
#include "passes/numbers.hpp"

namespace relift {

constexpr u32 most_rows_looked_at = 512;
constexpr u64 most_entries_looked_at = 16384;
constexpr double share_that_speaks = 0.08;

// How many pairs of a class and a kind were seen, and how many of them would go if classes were kinds.
struct Likeness {
    u64 row_pairs = 0, rows_alike = 0, entry_pairs = 0, entries_alike = 0;
    u64 sided_pairs = 0, sided_alike = 0;  // of rows with sizes and a right-hand side that is not 0
    u64 given_pairs = 0, given_alike = 0;  // the same with the numbers as given in place of classes
    // Rows of the very same numbers stand in different classes by what surrounds them, not by rounding.
    bool speaks_in_proportion() const {
        return are_alike_in_proportion() && double(given_alike) > share_that_speaks * double(sided_pairs);
    }
    bool are_alike_in_proportion() const { return double(sided_alike) > share_that_speaks * double(sided_pairs); }
    bool speaks() const {
        return double(rows_alike) > share_that_speaks * double(row_pairs) ||
               double(entries_alike) > share_that_speaks * double(entry_pairs);
    }
};

struct SampledEntry {
    u32 row, column;
    double value;
};

struct SampledRows {
    Array<u32> rows;
    Array<SampledEntry> entries;  // row by row; rows are numbered as in `rows`
};

// Entries of some columns in chosen rows, of which there are so many and which are evenly spread; rows are numbered among
// them. All indices are read, so that what is done for each is little, and without a branch.
template <class Index>
Array<SampledEntry> entries_of_chosen(const SparseView<Index>& A, const Array<u8>& is_chosen, u64 n_chosen, u32 first_column,
                                      u32 last_column) {
    const u64 m = A.n_minor, end = u64(A.offsets[last_column]);
    Array<SampledEntry> found;
    constexpr u64 block = 2048;
    u32 hits[block];
    u32 column = first_column;
    for (u64 first = u64(A.offsets[first_column]); first < end; first += block) {
        const u64 size = std::min(block, end - first);
        require_inside(A, first, first + size);
        u32 n_hits = 0;
        for (u32 k = 0; k < size; ++k) {
            hits[n_hits] = k;
            n_hits += is_chosen[A.indices[first + k]];
        }
        for (u32 hit = 0; hit < n_hits; ++hit) {
            const u64 e = first + hits[hit];
            while (u64(A.offsets[column + 1]) <= e) ++column;
            if (A.values[e] == 0) continue;
            const u64 place = (u64(A.indices[e]) * n_chosen + m - 1) / m;  // the only k for which k m / n_chosen is the row
            found.push_back({u32(place), column, A.values[e]});
        }
    }
    return found;
}

// Entries of rows that are evenly spread, row by row, of a matrix by columns.
template <class Index>
Array<SampledEntry> entries_by_columns(const SparseView<Index>& A, const Array<u32>& rows, u32 n_threads = 1) {
    Array<u8> is_chosen(A.n_minor, 0);
    for (const u32 row : rows) is_chosen[row] = 1;
    const u32 n_parts = threads_for(A.n_entries(), n_threads);
    std::vector<Array<SampledEntry>> parts(n_parts);
    in_parallel(n_parts, [&](u32 k) {
        parts[k] = entries_of_chosen(A, is_chosen, rows.size(), first_major_of(A, k, n_parts), first_major_of(A, k + 1, n_parts));
    });
    Array<u64> start(rows.size() + 1, 0);
    for (const auto& part : parts)
        for (const SampledEntry& entry : part) ++start[entry.row + 1];
    for (u64 k = 0; k < rows.size(); ++k) start[k + 1] += start[k];
    Array<SampledEntry> entries(start.back());
    for (const auto& part : parts)
        for (const SampledEntry& entry : part) entries[start[entry.row]++] = entry;
    return entries;
}

// Rows that are evenly spread, fewer of them if they are long. Indices are checked as far as they are read.
template <class Index>
SampledRows sampled_rows(const Problem<Index>& problem, u32 n_threads = 1) {
    const auto& A = problem.A;
    const u32 m = problem.n_rows;
    SampledRows sample;
    if (m == 0) return sample;
    const u64 length = std::max<u64>(1, A.n_entries() / m);
    const u32 n_chosen = u32(std::min<u64>({m, most_rows_looked_at, std::max<u64>(2, most_entries_looked_at / length)}));
    for (u32 k = 0; k < n_chosen; ++k) sample.rows.push_back(u32(u64(k) * m / n_chosen));
    if (!problem.A_is_by_rows) {
        sample.entries = entries_by_columns(A, sample.rows, n_threads);
        return sample;
    }
    u64 n_sampled = 0;
    for (const u32 row : sample.rows) n_sampled += u64(A.offsets[row + 1]) - u64(A.offsets[row]);
    sample.entries.reserve(n_sampled);
    for (u32 k = 0; k < n_chosen; ++k) {
        const u64 begin = u64(A.offsets[sample.rows[k]]), end = u64(A.offsets[sample.rows[k] + 1]);
        require_inside(A, begin, end);
        for (u64 e = begin; e < end; ++e)
            if (A.values[e] != 0) sample.entries.push_back({k, u32(A.indices[e]), A.values[e]});
    }
    return sample;
}

// Kinds, and pairs of a kind and a class, as words; counted by a table. Where each is in a class of its own, as where
// nothing is alike, there are as many pairs as were added.
class PairCounter {
public:
    explicit PairCounter(bool are_apart) : are_apart_(are_apart) {}
    void clear() {
        kinds_.clear();
        pairs_.clear();
    }
    void add(u64 kind, i64 class_) {
        kinds_.push_back(mix(kind));
        if (!are_apart_) pairs_.push_back(mix(kinds_.back() ^ mix(u64(class_))));
    }
    // Adds the number of distinct pairs, and by how many they exceed the distinct kinds.
    void count(u64& pairs, u64& alike) {
        const u64 n_pairs = are_apart_ ? kinds_.size() : count_mixed(pairs_, table_);
        pairs += n_pairs;
        alike += n_pairs - count_mixed(kinds_, table_);
    }

private:
    bool are_apart_;
    Array<u64> kinds_, pairs_, table_;
};

inline bool have_sizes(const passes::GivenNumbers& numbers) {
    for (u64 k = 0; k < numbers.size; ++k)
        if (is_size(numbers.low[k], numbers.low_image[k]) || is_size(numbers.high[k], numbers.high_image[k])) return true;
    return false;
}

// With only_in_proportion just what speaks_in_proportion() tells is found.
template <class Index>
Likeness look_at_rows(const Problem<Index>& problem, const passes::GivenNumbers& variables,
                      const passes::GivenNumbers& rows, const i64* variable_class, const i64* row_class, bool only_in_proportion = false,
                      u32 n_threads = 1) {
    const auto has_side = [](double side) { return std::isfinite(side) && side != 0; };
    if (only_in_proportion && !have_sizes(variables)) return Likeness();
    constexpr u64 without_cost = ~u64(0);
    // To ten digits, whatever its size: where some entries are much larger than the others, those are not all alike.
    const auto quantised = [](double value) { return (bits_of(value) + (u64(1) << 17)) >> 18; };
    const auto side_word = [](double side, double largest) {  // to ten digits, whatever its size
        if (!std::isfinite(side)) return side > 0 ? ~u64(1) : ~u64(2);
        int exponent = 0;
        const double fraction = std::frexp(std::fabs(side) / largest, &exponent);
        return side == 0 ? u64(0) : mix(u64(std::llround(fraction * 1e10)) ^ mix(u64(i64(exponent))));
    };
    const SampledRows sample = sampled_rows(problem, n_threads);
    const auto& entries = sample.entries;
    const auto bits = [](double value) {
        u64 word;
        std::memcpy(&word, &value, sizeof word);
        return word;
    };
    // Those that are in the class of their own number are in classes of their own.
    const bool rows_are_apart =
        std::all_of(sample.rows.begin(), sample.rows.end(), [&](u32 i) { return row_class[i] == i64(i); });
    const bool variables_are_apart = std::all_of(
        entries.begin(), entries.end(), [&](const auto& entry) { return variable_class[entry.column] == i64(entry.column); });
    PairCounter of_entries(variables_are_apart), of_rows(rows_are_apart), of_sided_rows(rows_are_apart), of_given_rows(false);
    Array<double> dears, larges;  // of the entries of one row
    struct SidedRow { u64 first, last, kind; };
    Array<SidedRow> sided_rows;
    Likeness found;
    for (u64 first = 0, last = 0; first < entries.size(); first = last) {
        double most_dear = 0, largest = 0;
        const u32 i = sample.rows[entries[first].row];
        const double low = rows.low[i], high = rows.high[i];
        if (only_in_proportion && !has_side(low) && !has_side(high)) {
            while (last < entries.size() && entries[last].row == entries[first].row) ++last;
            continue;
        }
        const auto numbers = [&](const SampledEntry& entry, double& dear, double& large) {
            const u32 j = entry.column;
            double size = 0;
            u64 ignored = 0;
            size_of_interval(variables.low[j], variables.high[j], variables.low_image[j], variables.high_image[j], size,
                             ignored);
            dear = variables.cost_image[j] ? std::fabs(entry.value / variables.cost[j]) : 0.0;
            large = std::fabs(entry.value) * size;
        };
        dears.clear();
        larges.clear();
        for (; last < entries.size() && entries[last].row == entries[first].row; ++last) {
            double dear, large;
            numbers(entries[last], dear, large);
            dears.push_back(dear);
            larges.push_back(large);
            most_dear = std::max(most_dear, dear);
            largest = std::max(largest, large);
        }
        if (only_in_proportion && !(largest > 0)) continue;
        u64 kind = 0;
        of_entries.clear();
        for (u64 e = first; e < last; ++e) {
            const double dear = dears[e - first], large = larges[e - first];
            const u64 by_cost = dear > 0 ? quantised(dear / most_dear) : without_cost;
            const u64 by_size = large > 0 ? quantised(large / largest) + 1 : 0;
            kind += mix(by_cost ^ mix(by_size));
            // Entries that have neither a price nor a size say nothing.
            if (!only_in_proportion && (dear > 0 || large > 0)) of_entries.add(by_cost, variable_class[entries[e].column]);
        }
        if (!only_in_proportion) {
            of_entries.count(found.entry_pairs, found.entries_alike);
            of_rows.add(kind, row_class[i]);
        }
        if (largest > 0 && (has_side(low) || has_side(high))) {
            const u64 sided = kind + side_word(low, largest) + side_word(high, largest);
            of_sided_rows.add(sided, row_class[i]);
            sided_rows.push_back({first, last, sided});
        }
    }
    of_rows.count(found.row_pairs, found.rows_alike);
    of_sided_rows.count(found.sided_pairs, found.sided_alike);
    if (!found.are_alike_in_proportion()) return found;
    for (const SidedRow& row : sided_rows) {
        const u32 i = sample.rows[entries[row.first].row];
        u64 given = mix(bits(rows.low[i]) ^ mix(bits(rows.high[i])));
        for (u64 e = row.first; e < row.last; ++e) {
            const u32 j = entries[e].column;
            const u64 bounds = mix(bits(variables.low[j]) ^ mix(bits(variables.high[j])));
            given += mix(bits(entries[e].value) ^ mix(bits(variables.cost[j]) ^ bounds));
        }
        of_given_rows.add(row.kind, i64(given));
    }
    of_given_rows.count(found.given_pairs, found.given_alike);
    return found;
}

}  // namespace relift
