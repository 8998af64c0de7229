// A look at some rows: do things of one kind have different masses? Where next to none do, masses put next to nothing
// together that equal masses keep apart. Like likeness.hpp it is a look, not a proof.
//
// In a class all |a| / p of one row are alike, and all |a| w / v, where w, p and v are the sizes and prices that masses are
// made of (masses.hpp). So sizes and prices that are handed on are looked at too, and not only those that bounds and costs
// tell. Rows of a cone are of one kind if all rows of their cones are. Where things of one kind do have different masses, it
// may be by chance, as numbers of few digits often agree: then what stands in the columns of the entries counts too.
#pragma once
#include "conic_numbers.hpp"
#include "likeness.hpp"

namespace relift {

constexpr double share_that_gains = 0.02;  // of kinds that have different masses, for a search to be worth its time

// What masses are made of, and these as words, which are equal where masses are.
template <class WordOfVariable, class WordOfRow>
struct MassesLookedAt {
    const SizesAndPrices& of;
    WordOfVariable word_of_variable;
    WordOfRow word_of_row;
};
template <class WordOfVariable, class WordOfRow>
MassesLookedAt(const SizesAndPrices&, WordOfVariable, WordOfRow) -> MassesLookedAt<WordOfVariable, WordOfRow>;

// To ten digits, whatever its size.
inline u64 quantised(double value) { return (bits_of(value) + (u64(1) << 17)) >> 18; }

template <class Index, class Sides, class Masses>
class LookAtMasses {
public:
    // Sides are the bounds of the rows, as .low[i] and .high[i].
    LookAtMasses(const Problem<Index>& problem, const Sides& sides, const Masses& masses, const ConicNumbers& conic,
                 u32 n_threads = 1)
        : problem_(problem), sides_(sides), masses_(masses), conic_(conic), n_threads_(n_threads) {}

    // Whether some of one kind have different masses.
    bool speaks() {
        const SampledRows sample = sampled();
        if (!looks_as_if_they_speak(sample)) return false;
        // Where the program is small, or its columns are long, a search costs hardly more.
        const u64 n_entries = problem_.A.n_entries(), n_vertices = u64(problem_.n_variables) + problem_.n_rows;
        if (n_entries < least_for_columns || n_entries > longest_for_columns * n_vertices) return true;
        look_at_columns(sample);
        return looks_as_if_they_speak(sample);
    }

private:
    struct Kind {
        u64 kind = 0, mass = 0;
    };
    // Of a row all |a| w / v, and all |a| r / p in short columns. A long column may be shared by the rows of a class: it is
    // no larger for any of them, but dearer for those of less mass.
    struct KindOfRow {
        u64 word = 0;
        void add(u64 by_price, u64 by_size, bool is_short) { word += mix(by_size ^ (is_short ? mix(by_price) : 0)); }
        void operator+=(const KindOfRow& other) { word += other.word; }
    };
    struct Kinds : PairCounter {
        Kinds() : PairCounter(false) {}
        void add(const Kind& of) { PairCounter::add(of.kind, i64(of.mass)); }
    };

    // Rows that are evenly spread, and the longest rows of some variables: what is alike may stand together in a few long
    // rows. Masses are known when all entries have been read, so that to look at a few more costs little.
    SampledRows sampled() {
        const auto& A = problem_.A;
        const u64 m = problem_.n_rows, most_entries = std::max(least_entries, A.n_entries() / 16);
        SampledRows sample;
        Array<u32> lengths;
        find_lengths(lengths);
        Array<u32> place(m, nowhere);  // of the rows that are chosen, in the sample
        u64 n_chosen = 0;
        const auto choose = [&](u64 row) {
            if (place[row] != nowhere || n_chosen >= most_entries) return;
            place[row] = 0;
            n_chosen += lengths[row];
        };
        for (const u32 row : longest_rows_of_some(lengths)) choose(row);
        n_chosen /= 2;  // of both an equal share at least
        const u64 n_spread = std::min<u64>(m, most_rows);
        for (u64 k = 0; k < n_spread; ++k) choose(k * m / n_spread);
        Array<u64> start(1, 0);
        for (u32 row = 0; row < m; ++row) {
            if (place[row] == nowhere) continue;
            place[row] = u32(sample.rows.size());
            sample.rows.push_back(row);
            start.push_back(start.back() + lengths[row]);
        }
        sample.entries.resize(start.back());
        const auto take = [&](u32 row, u32 column, u64 e) {
            sample.entries[start[place[row]]++] = {place[row], column, A.values[e]};
        };
        if (problem_.A_is_by_rows) {
            for (const u32 row : sample.rows)
                for (u64 e = u64(A.offsets[row]), end = u64(A.offsets[row + 1]); e < end; ++e) take(row, u32(A.indices[e]), e);
        } else {
            const u32 n_parts = threads_for(A.n_entries(), n_threads_);
            const auto put = [&](const SampledEntry& entry) { sample.entries[start[entry.row]++] = entry; };
            std::vector<Array<SampledEntry>> parts(n_parts);  // of all threads but the first, which puts its entries in place
            in_parallel(n_parts, [&](u32 k) {
                const u32 first = first_major_of(A, k, n_parts), last = first_major_of(A, k + 1, n_parts);
                if (k == 0) find_entries(place, first, last, put);
                else find_entries(place, first, last, [&](const SampledEntry& entry) { parts[k].push_back(entry); });
            });
            for (const auto& part : parts) std::for_each(part.begin(), part.end(), put);
        }
        const auto is_zero = [](const SampledEntry& entry) { return entry.value == 0; };
        sample.entries.erase(std::remove_if(sample.entries.begin(), sample.entries.end(), is_zero), sample.entries.end());
        return sample;
    }

    // Calls found(entry) for the entries of columns in rows that have a place, by which a row is told. Which have one is as
    // good as random: nothing branches on it.
    template <class Found>
    void find_entries(const Array<u32>& place, u32 first_column, u32 last_column, const Found& found) const {
        const auto& A = problem_.A;
        constexpr u64 block = 1024;
        u32 hits[block];
        u32 column = first_column;
        const u64 end = u64(A.offsets[last_column]);
        for (u64 first = u64(A.offsets[first_column]); first < end; first += block) {
            const u64 size = std::min(block, end - first);
            u32 n_hits = 0;
            for (u32 k = 0; k < size; ++k) {
                hits[n_hits] = k;
                n_hits += place[A.indices[first + k]] != nowhere;
            }
            for (u32 hit = 0; hit < n_hits; ++hit) {
                const u64 e = first + hits[hit];
                while (u64(A.offsets[column + 1]) <= e) ++column;
                found({place[A.indices[e]], column, A.values[e]});
            }
        }
    }

    // Of the rows, and of the columns.
    void find_lengths(Array<u32>& of_rows) {
        const auto& A = problem_.A;
        Array<u32> majors(A.n_major), minors(A.n_minor, 0);
        for (u32 major = 0; major < A.n_major; ++major) majors[major] = u32(A.offsets[major + 1] - A.offsets[major]);
        scatter_exactly(A, n_threads_, minors.data(), [&](u32 first, u32 last, u32* counts) {
            for (u64 e = u64(A.offsets[first]), end = u64(A.offsets[last]); e < end; ++e) ++counts[A.indices[e]];
        });
        of_rows = std::move(problem_.A_is_by_rows ? majors : minors);
        lengths_ = std::move(problem_.A_is_by_rows ? minors : majors);
    }

    Array<u32> longest_rows_of_some(const Array<u32>& lengths) const {
        const auto& A = problem_.A;
        const u64 n = problem_.n_variables;
        Array<u32> place(n, nowhere), found;
        for (u64 k = 0; k < most_variables && n > 0; ++k) {
            u32& own = place[mix(k) % n];
            if (own != nowhere) continue;
            own = u32(found.size());
            found.push_back(nowhere);
        }
        const auto meet = [&](u32 row, u32 column) {
            u32& best = found[place[column]];
            if (best == nowhere || lengths[row] > lengths[best]) best = row;
        };
        for (u32 major = 0; major < A.n_major; ++major) {
            if (!problem_.A_is_by_rows && place[major] == nowhere) continue;
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e) {
                const u32 minor = u32(A.indices[e]);
                if (!problem_.A_is_by_rows) meet(minor, major);
                else if (place[minor] != nowhere) meet(major, minor);
            }
        }
        found.erase(std::remove(found.begin(), found.end(), nowhere), found.end());
        return found;
    }

    bool looks_as_if_they_speak(const SampledRows& sample) {
        const auto& entries = sample.entries;
        i64 last_cone = -1;
        rows_.clear();
        n_row_pairs_ = n_rows_alike_ = n_entry_pairs_ = n_entries_alike_ = 0;
        for (u64 first = 0, last = 0; first < entries.size(); first = last) {
            while (last < entries.size() && entries[last].row == entries[first].row) ++last;
            const u32 row = sample.rows[entries[first].row];
            if (row < conic_.first_row) {
                rows_.add(look_at(row, entries.data() + first, entries.data() + last));
                // What rows are left can add is known: no more than all entries are of different kinds.
                if (conic_.n_cones == 0 && are_many(n_entries_alike_, entries.size())) return true;
            } else if (std::exchange(last_cone, cone_of(row)) != cone_of(row)) {
                rows_.add(look_at_cone_of(row));
            }
        }
        rows_.count(n_row_pairs_, n_rows_alike_);
        return are_many(n_rows_alike_, n_row_pairs_) || are_many(n_entries_alike_, n_entry_pairs_);
    }
    static bool are_many(u64 n_alike, u64 n) { return double(n_alike) > share_that_gains * double(n); }

    // A word of each column that is looked at: all |a| r / p in it, with r those of its rows, and of what kind these are.
    void look_at_columns(const SampledRows& sample) {
        const SizesAndPrices& of = masses_.of;
        Array<KindOfRow> rows(problem_.n_rows);
        add_up(rows.data(), true, [&](KindOfRow* kinds, u32 row, u32 column, u64 entry) {
            const double size = std::fabs(problem_.A.values[entry]), p = of.prices.floats[column];
            const double v = of.row_sizes.floats[row], r = of.row_prices.floats[row];
            kinds[row].add(p > 0 ? quantised(size * r / p) : 0, v > 0 ? quantised(size * of.sizes.floats[column] / v) : 0,
                           is_short(column));
        });
        over_range(problem_.n_rows, threads_for(problem_.n_rows, n_threads_), [&](u64 first, u64 last) {
            for (u64 row = first; row < last; ++row) rows[row].word ^= word_of_sides(u32(row), of.row_sizes.floats[row]);
        });
        columns_.assign(problem_.n_variables, 0);
        Array<u8> is_seen(problem_.n_variables, conic_.n_cones > 0);  // of a cone all rows are looked at
        for (const SampledEntry& entry : sample.entries) is_seen[entry.column] = 1;
        add_up(columns_.data(), false, [&](u64* words, u32 row, u32 column, u64 entry) {
            const double size = std::fabs(problem_.A.values[entry]), p = of.prices.floats[column];
            if (!is_seen[column] || size == 0) return;
            words[column] += mix(rows[row].word ^ mix(p > 0 ? quantised(size * of.row_prices.floats[row] / p) : 0));
        });
    }

    // Calls add(sums, row, column, entry) for every entry; sums are those of rows, or of columns.
    template <class Sum, class Add>
    void add_up(Sum* sums, bool are_of_rows, Add&& add) const {
        const auto& A = problem_.A;
        const auto add_block = [&](u32 first, u32 last, Sum* some) {
            for_each_entry_of_A(problem_, first, last, [&](u32 row, u32 column, u64 e) { add(some, row, column, e); });
        };
        if (are_of_rows != problem_.A_is_by_rows) return scatter_exactly(A, n_threads_, sums, add_block);
        over_majors(A, threads_for(A.n_entries(), n_threads_), [&](u32 first, u32 last) { add_block(first, last, sums); });
    }

    bool is_short(u32 column) const { return lengths_[column] <= longest_short_column; }

    // Bounds of a row of a size, the same if it is turned round.
    u64 word_of_sides(u32 row, double size) const {
        u64 word = 0;
        for (const double side : {sides_.low[row], sides_.high[row]})
            if (size > 0) word += mix(quantised(std::isfinite(side) ? std::fabs(side) / size : -1.0));
        return word;
    }

    double dear(const SampledEntry& entry) const {
        const double price = masses_.of.prices.floats[entry.column];
        return price > 0 ? std::fabs(entry.value) / price : 0.0;
    }
    double large(const SampledEntry& entry) const {
        return std::fabs(entry.value) * masses_.of.sizes.floats[entry.column];
    }

    Kind look_at(u32 row, const SampledEntry* begin, const SampledEntry* end) {
        double most_dear = 0, largest = 0;
        for (const SampledEntry* entry = begin; entry != end; ++entry) {
            most_dear = std::max(most_dear, dear(*entry));
            largest = std::max(largest, large(*entry));
        }
        Kind found;
        found.mass = mix(masses_.word_of_row(row));
        KindOfRow of_row;
        entries_.clear();
        for (const SampledEntry* entry = begin; entry != end; ++entry) {
            const u64 by_price = quantised(most_dear > 0 ? dear(*entry) / most_dear : 0.0);
            const u64 by_size = quantised(largest > 0 ? large(*entry) / largest : 0.0);
            const u64 mass = masses_.word_of_variable(entry->column);
            const u64 of_column = columns_.empty() ? 0 : columns_[entry->column];
            of_row.add(by_price, mix(by_size) ^ of_column, is_short(entry->column));
            found.mass += mix(mass ^ mix(by_price));
            // Entries that have neither a price nor a size say nothing.
            if (by_price || by_size) entries_.add({by_price ^ mix(of_column), mass});
        }
        entries_.count(n_entry_pairs_, n_entries_alike_);
        found.kind = of_row.word ^ word_of_sides(row, largest);
        return found;
    }

    // The matrix is by rows where there are cones.
    Kind look_at_cone_of(u64 row) {
        const i64 cone = cone_of(row);
        while (row > conic_.first_row && cone_of(row - 1) == cone) --row;
        const u64 end = std::min<u64>(problem_.n_rows, row + most_rows_of_a_cone);
        Kind found;
        Array<SampledEntry> entries;
        for (; row < end && cone_of(row) == cone; ++row) {
            entries.clear();
            for (u64 e = u64(problem_.A.offsets[row]), last = u64(problem_.A.offsets[row + 1]); e < last; ++e)
                if (problem_.A.values[e] != 0) entries.push_back({0, u32(problem_.A.indices[e]), problem_.A.values[e]});
            const Kind of_row = look_at(u32(row), entries.data(), entries.data() + entries.size());
            found.kind += mix(of_row.kind ^ conic_.kinds[row - conic_.first_row]);
            found.mass += of_row.mass;
        }
        return found;
    }
    i64 cone_of(u64 row) const { return conic_.cone_of_row[row - conic_.first_row]; }

    static constexpr u64 longest_short_column = 2;
    static constexpr u32 most_rows = 1024, most_variables = 256, nowhere = ~u32(0);
    static constexpr u64 least_entries = 8192, least_for_columns = 1 << 16, longest_for_columns = 8;
    static constexpr u64 most_rows_of_a_cone = 64;  // cones that are alike in these are taken to be of one kind

    const Problem<Index>& problem_;
    const Sides& sides_;
    const Masses& masses_;
    const ConicNumbers& conic_;
    const u32 n_threads_;
    Kinds rows_, entries_;
    Array<u64> columns_;  // empty until columns are looked at
    Array<u32> lengths_;  // of the columns
    u64 n_row_pairs_ = 0, n_rows_alike_ = 0, n_entry_pairs_ = 0, n_entries_alike_ = 0;
};

}  // namespace relift
