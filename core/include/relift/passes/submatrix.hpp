// Some rows and columns of a compressed matrix, in one pass that counts and one that copies; or the entries of a few
// minors, in one pass that collects them.
#pragma once
#include <algorithm>

#include "../threads.hpp"

namespace relift::passes {

// Where each minor goes: its new number, or -1.
template <class Index>
size_t count_entries(const SparseView<Index>& M, const long long* majors, size_t n_kept, const long long* place,
                     Index* offsets) {
    size_t count = 0;
    offsets[0] = 0;
    for (size_t k = 0; k < n_kept; ++k) {
        const size_t begin = size_t(M.offsets[majors[k]]), end = size_t(M.offsets[majors[k] + 1]);
        if (!place)
            count += end - begin;
        else
            for (size_t e = begin; e < end; ++e) count += place[M.indices[e]] >= 0;
        offsets[k + 1] = Index(count);
    }
    return count;
}

template <class Index>
void copy_entries(const SparseView<Index>& M, const long long* majors, size_t n_kept, const long long* place,
                  const Index* offsets, Index* indices, double* values, u32 n_threads) {
    over_range(n_kept, threads_for(u64(offsets[n_kept]), n_threads), [&](u64 first, u64 last) {
        for (u64 k = first; k < last; ++k) {
            size_t to = size_t(offsets[k]), e = size_t(M.offsets[majors[k]]);
            const size_t last_to = size_t(offsets[k + 1]);
            if (last_to - to == size_t(M.offsets[majors[k] + 1]) - e) {  // all of them
                std::copy_n(M.values + e, last_to - to, values + to);
                if (!place) std::copy_n(M.indices + e, last_to - to, indices + to);
                else for (; to < last_to; ++to, ++e) indices[to] = Index(place[M.indices[e]]);
                continue;
            }
            for (; to < last_to; ++e) {  // up to the last one that is kept: where few are, most majors have none
                const long long at = place[M.indices[e]];
                if (at < 0) continue;
                indices[to] = Index(at);
                values[to++] = M.values[e];
            }
        }
    });
}

// One entry: its major, which of the wanted minors it has, and its value.
struct ListedEntry {
    long long major, place;
    double value;
};

// The entries of some minors, which ascend, in the order of the majors. Whether a minor is wanted is one bit, so that
// these stay near the processor.
template <class Index>
Array<ListedEntry> entries_of_minors(const SparseView<Index>& M, const long long* minors, size_t n_minors) {
    Array<u64> wanted(size_t(M.n_minor) / 64 + 1, 0);
    for (size_t k = 0; k < n_minors; ++k) wanted[size_t(minors[k]) / 64] |= u64(1) << (minors[k] % 64);
    Array<ListedEntry> listed;
    for (size_t major = 0; major < M.n_major; ++major)
        for (size_t e = size_t(M.offsets[major]), end = size_t(M.offsets[major + 1]); e < end; ++e) {
            const size_t minor = size_t(M.indices[e]);
            if (!(wanted[minor / 64] >> (minor % 64) & 1)) continue;
            const auto place = std::lower_bound(minors, minors + n_minors, (long long)minor) - minors;
            listed.push_back({(long long)major, (long long)place, M.values[e]});
        }
    return listed;
}

}  // namespace relift::passes
