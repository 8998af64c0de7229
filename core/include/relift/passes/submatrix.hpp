// Some rows and columns of a compressed matrix, in one pass that counts and one that copies; or the entries of a few
// minors, in one pass that collects them.
#pragma once
#include <algorithm>
#include <cstring>

#include "../threads.hpp"
#include "numbered.hpp"

namespace relift::passes {

// Some minors, which ascend: one bit each, so that these stay near the processor, and the number of each among them,
// which is read for every entry that is copied and so stands there as it is.
struct SomeMinors {
    Array<u64> bits;
    Array<u32> number;

    SomeMinors(const long long* minors, size_t n_kept, size_t n_minor) : bits(n_minor / 64 + 1, 0), number(n_minor) {
        for (size_t k = 0; k < n_kept; ++k) {
            bits[size_t(minors[k]) / 64] |= u64(1) << (minors[k] % 64);
            number[size_t(minors[k])] = u32(k);
        }
    }
    bool has(size_t minor) const { return bits[minor / 64] >> (minor % 64) & 1; }
};

// Offsets of what is left of some majors; of all minors where none are given.
template <class Index>
size_t count_entries(const SparseView<Index>& M, const long long* majors, size_t n_kept, const SomeMinors* some,
                     Index* offsets, u32 n_threads) {
    const auto n_of = [&](size_t k) {
        const size_t begin = size_t(M.offsets[majors[k]]), end = size_t(M.offsets[majors[k] + 1]);
        if (!some) return end - begin;
        size_t count = 0;
        for (size_t e = begin; e < end; ++e) count += some->has(size_t(M.indices[e]));
        return count;
    };
    size_t count = 0;
    offsets[0] = 0;
    const u32 n_parts = some && n_kept ? threads_for(M.n_entries() / M.n_major * n_kept, n_threads) : 1;
    if (n_parts > 1)
        over_range(n_kept, n_parts, [&](u64 first, u64 last) {
            for (u64 k = first; k < last; ++k) offsets[k + 1] = Index(n_of(k));
        });
    for (size_t k = 0; k < n_kept; ++k) {
        count += n_parts > 1 ? size_t(offsets[k + 1]) : n_of(k);
        offsets[k + 1] = Index(count);
    }
    return count;
}

// Values are not copied where there is no room given for them.
template <class Index>
void copy_entries(const SparseView<Index>& M, const long long* majors, size_t n_kept, const SomeMinors* some,
                  const Index* offsets, Index* indices, double* values, u32 n_threads) {
    over_range(n_kept, threads_for(u64(offsets[n_kept]), n_threads), [&](u64 first, u64 last) {
        for (u64 k = first, next; k < last && !some; k = next) {  // majors that follow each other in one piece
            for (next = k + 1; next < last && majors[next] == majors[next - 1] + 1;) ++next;
            const size_t e = size_t(M.offsets[majors[k]]), to = size_t(offsets[k]), size = size_t(offsets[next]) - to;
            if (values) std::copy_n(M.values + e, size, values + to);
            std::copy_n(M.indices + e, size, indices + to);
        }
        for (u64 k = first; k < last && some; ++k) {
            size_t to = size_t(offsets[k]), e = size_t(M.offsets[majors[k]]);
            const size_t last_to = size_t(offsets[k + 1]);
            if (last_to - to == size_t(M.offsets[majors[k] + 1]) - e) {  // all of them
                if (values) std::copy_n(M.values + e, last_to - to, values + to);
                for (; to < last_to; ++to, ++e) indices[to] = Index(some->number[size_t(M.indices[e])]);
                continue;
            }
            for (; to < last_to; ++e) {  // up to the last one that is kept: where few are, most majors have none
                const size_t minor = size_t(M.indices[e]);
                if (!some->has(minor)) continue;
                indices[to] = Index(some->number[minor]);
                if (values) values[to] = M.values[e];
                ++to;
            }
        }
    });
}

// One entry: its major, which of the wanted minors it has, and its value.
struct ListedEntry {
    long long major, place;
    double value;
};

// Some minors as numbered ones.
inline Numbered numbered(const long long* minors, size_t n_kept, size_t n_minor) {
    Numbered some(n_minor);
    for (size_t k = 0; k < n_kept; ++k) some.add(size_t(minors[k]));
    some.number();
    return some;
}

// Calls work(major, e) for the entries of some minors in a range of majors, in the order of these. All entries are looked
// at in one row, whatever major they have: where majors are short, to go from one to the next costs more than the look.
template <class Index, class Work>
void each_entry_of(const SparseView<Index>& M, const Numbered& minors, size_t major, size_t last_major, Work&& work) {
    const size_t end = size_t(M.offsets[last_major]);
    constexpr size_t block = 256;
    u32 some[block];
    for (size_t first = size_t(M.offsets[major]); first < end; first += block) {
        size_t count = 0;
        const size_t in_block = std::min(block, end - first);
        for (size_t k = 0; k < in_block; ++k) {
            some[count] = u32(k);
            count += minors.has(size_t(M.indices[first + k]));
        }
        for (size_t k = 0; k < count; ++k) {
            const size_t e = first + some[k];
            while (size_t(M.offsets[major + 1]) <= e) ++major;
            work(major, e);
        }
    }
}

// The entries of some minors, which ascend, in the order of the majors.
template <class Index>
Array<ListedEntry> entries_of_minors(const SparseView<Index>& M, const long long* minors, size_t n_minors,
                                     u32 n_threads) {
    const Numbered wanted = numbered(minors, n_minors, M.n_minor);
    const u32 n_parts = threads_for(M.n_entries(), n_threads);
    std::vector<Array<ListedEntry>> parts(n_parts);
    in_parallel(n_parts, [&](u32 k) {
        Array<ListedEntry> listed;  // nobody else writes beside it
        each_entry_of(M, wanted, first_major_of(M, k, n_parts), first_major_of(M, k + 1, n_parts), [&](size_t major, size_t e) {
            listed.push_back({(long long)major, (long long)wanted.place(size_t(M.indices[e])), M.values[e]});
        });
        parts[k] = std::move(listed);
    });
    return joined(std::move(parts));
}

// The entries of some majors, one behind the other: places among the majors, minors and values.
template <class Index>
void entries_of_majors(const SparseView<Index>& M, const long long* majors, size_t n_majors, long long* places,
                       long long* minors, double* values) {
    for (size_t k = 0; k < n_majors; ++k)
        for (size_t e = size_t(M.offsets[majors[k]]), end = size_t(M.offsets[majors[k] + 1]); e < end; ++e)
            *places++ = (long long)k, *minors++ = (long long)M.indices[e], *values++ = M.values[e];
}

// How many entries that are not 0 each row has.
template <class Index>
void count_rows(const SparseView<Index>& A, bool is_by_rows, int* counts) {
    if (is_by_rows) {
        for (size_t i = 0; i < A.n_major; ++i) {
            int count = 0;
            for (size_t e = size_t(A.offsets[i]), end = size_t(A.offsets[i + 1]); e < end; ++e) count += A.values[e] != 0;
            counts[i] = count;
        }
        return;
    }
    std::fill_n(counts, size_t(A.n_minor), 0);
    for (size_t e = size_t(A.offsets[0]), end = size_t(A.offsets[A.n_major]); e < end; ++e)
        counts[size_t(A.indices[e])] += A.values[e] != 0;
}

}  // namespace relift::passes
