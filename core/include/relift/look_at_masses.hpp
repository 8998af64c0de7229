// A look at some rows: do things of one kind have different masses? Where next to none do, masses put next to nothing
// together that equal masses keep apart. Like likeness.hpp it is a look, not a proof.
//
// In a class all |a| / p of one row are alike, and all |a| w / v, where w, p and v are the sizes and prices that masses are
// made of (masses.hpp). So sizes and prices that are handed on are looked at too, and not only those that bounds and costs
// tell. Rows of a cone are of one kind if all rows of their cones are.
#pragma once
#include "conic_numbers.hpp"
#include "likeness.hpp"

namespace relift {

constexpr double share_that_gains = 0.02;  // of kinds that have different masses, for a search to be worth its time

// Sizes and prices, and masses as words, which are equal where masses are.
template <class WordOfVariable, class WordOfRow>
struct MassesLookedAt {
    const double *sizes, *prices;
    WordOfVariable word_of_variable;
    WordOfRow word_of_row;
};
template <class WordOfVariable, class WordOfRow>
MassesLookedAt(const double*, const double*, WordOfVariable, WordOfRow) -> MassesLookedAt<WordOfVariable, WordOfRow>;

// To ten digits, whatever its size.
inline u64 quantised(double value) { return (bits_of(value) + (u64(1) << 17)) >> 18; }

template <class Index, class Sides, class Masses>
class LookAtMasses {
public:
    // Sides are the bounds of the rows, as .low[i] and .high[i].
    LookAtMasses(const Problem<Index>& problem, const Sides& sides, const Masses& masses, const ConicNumbers& conic)
        : problem_(problem), sides_(sides), masses_(masses), conic_(conic) {}

    // Whether some of one kind have different masses.
    bool speaks() {
        // Masses are known when all entries have been read: to look at a few more costs little.
        const SampledRows sample = sampled_rows(problem_, most_rows, std::max(least_entries, problem_.A.n_entries() / 16));
        const auto& entries = sample.entries;
        i64 last_cone = -1;
        for (u64 first = 0, last = 0; first < entries.size(); first = last) {
            while (last < entries.size() && entries[last].row == entries[first].row) ++last;
            const u32 row = sample.rows[entries[first].row];
            if (row < conic_.first_row) {
                rows_.add(look_at(row, entries.data() + first, entries.data() + last));
            } else if (std::exchange(last_cone, cone_of(row)) != cone_of(row)) {
                rows_.add(look_at_cone_of(row));
            }
        }
        rows_.count(n_row_pairs_, n_rows_alike_);
        return double(n_rows_alike_) > share_that_gains * double(n_row_pairs_) ||
               double(n_entries_alike_) > share_that_gains * double(n_entry_pairs_);
    }

private:
    struct Kind {
        u64 kind = 0, mass = 0;
    };
    struct Kinds : PairCounter {
        Kinds() : PairCounter(false) {}
        void add(const Kind& of) { PairCounter::add(of.kind, i64(of.mass)); }
    };

    double dear(const SampledEntry& entry) const {
        const double price = masses_.prices[entry.column];
        return price > 0 ? std::fabs(entry.value) / price : 0.0;
    }
    double large(const SampledEntry& entry) const { return std::fabs(entry.value) * masses_.sizes[entry.column]; }

    Kind look_at(u32 row, const SampledEntry* begin, const SampledEntry* end) {
        double most_dear = 0, largest = 0;
        for (const SampledEntry* entry = begin; entry != end; ++entry) {
            most_dear = std::max(most_dear, dear(*entry));
            largest = std::max(largest, large(*entry));
        }
        Kind found;
        found.mass = mix(masses_.word_of_row(row));
        for (const double side : {sides_.low[row], sides_.high[row]})  // the same if the row is turned round
            if (largest > 0) found.kind += mix(quantised(std::isfinite(side) ? std::fabs(side) / largest : -1.0));
        entries_.clear();
        for (const SampledEntry* entry = begin; entry != end; ++entry) {
            const u64 by_price = quantised(most_dear > 0 ? dear(*entry) / most_dear : 0.0);
            const u64 by_size = quantised(largest > 0 ? large(*entry) / largest : 0.0);
            const u64 mass = masses_.word_of_variable(entry->column);
            found.kind += mix(by_price ^ mix(by_size));
            found.mass += mix(mass ^ mix(by_price));
            // Entries that have neither a price nor a size say nothing.
            if (by_price || by_size) entries_.add({by_price, mass});
        }
        entries_.count(n_entry_pairs_, n_entries_alike_);
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

    static constexpr u32 most_rows = 2048;
    static constexpr u64 least_entries = 65536;
    static constexpr u64 most_rows_of_a_cone = 64;  // cones that are alike in these are taken to be of one kind

    const Problem<Index>& problem_;
    const Sides& sides_;
    const Masses& masses_;
    const ConicNumbers& conic_;
    Kinds rows_, entries_;
    u64 n_row_pairs_ = 0, n_rows_alike_ = 0, n_entry_pairs_ = 0, n_entries_alike_ = 0;
};

}  // namespace relift
