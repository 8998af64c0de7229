// Work in blocks on several threads.
//
// Threads are started for one loop and joined at its end: nothing is left between calls, so that a process may fork,
// and starting them costs a small part of the smallest loop that is shared. What a block computes must not depend
// on how many blocks there are; then results do not depend on the number of threads.
#pragma once
#include <exception>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "counted_memory.hpp"
#include "sparse_view.hpp"

namespace relift {

// A thread with less to do than these many entries costs more than it saves.
constexpr u64 least_entries_of_a_thread = u64(1) << 17;
constexpr u32 most_threads = 64;

// How many threads share a loop over so many entries, if so many may be used.
inline u32 threads_for(u64 n_entries, u32 n_threads) {
    return u32(std::max<u64>(1, std::min<u64>({n_entries / least_entries_of_a_thread, n_threads, most_threads})));
}

// Calls work(context, k) for k = 0 .. n-1, each in a thread of its own, the caller's among them; where the system gives
// no more threads the caller does their work too. The first exception, by k, comes through once all have ended.
inline void run_in_threads(u32 n, void (*work)(const void* context, u32 k), const void* context) {
    std::vector<std::exception_ptr> errors(n);
    std::vector<MemoryCount> counts(n);
    std::vector<std::thread> others;
    others.reserve(n - 1);
    const auto do_block = [&](u32 k) noexcept {
        try {
            work(context, k);
        } catch (...) {
            errors[k] = std::current_exception();
        }
    };
    const auto in_thread = [&](u32 k) noexcept {
        do_block(k);
        counts[k] = memory_count();  // a new thread has counted from 0
    };
    u32 n_started = 1;
    try {
        for (; n_started < n; ++n_started) others.emplace_back(in_thread, n_started);
    } catch (...) {  // no thread, or no memory for one
    }
    do_block(0);
    for (u32 k = n_started; k < n; ++k) do_block(k);
    for (std::thread& other : others) other.join();
    memory_count().add_those_of(counts);
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

// The same with anything that can be called with k. What starts threads is compiled once, not for each loop.
template <class Work>
void in_parallel(u32 n, Work&& work) {
    using Given = const std::remove_reference_t<Work>;
    if (n == 1) work(u32(0));
    else if (n > 1) run_in_threads(n, [](const void* given, u32 k) { (*static_cast<Given*>(given))(k); }, &work);
}

// Where the k-th of n parts of a range begins.
inline u64 part_of(u64 size, u32 k, u32 n) { return size / n * k + size % n * k / n; }

// Calls work(first, last) for the parts of a range of elements.
template <class Work>
void over_range(u64 size, u32 n_parts, Work&& work) {
    in_parallel(n_parts, [&](u32 k) { work(part_of(size, k, n_parts), part_of(size, k + 1, n_parts)); });
}

// The majors whose entries are about the k-th of n parts.
template <class Index>
u32 first_major_of(const SparseView<Index>& matrix, u32 k, u32 n) {
    if (k == 0) return 0;
    if (k == n) return matrix.n_major;
    const Index start = Index(part_of(matrix.n_entries(), k, n));
    return u32(std::lower_bound(matrix.offsets, matrix.offsets + matrix.n_major, start) - matrix.offsets);
}

// Calls work(first, last) for blocks of majors with about as many entries each.
template <class Index, class Work>
void over_majors(const SparseView<Index>& matrix, u32 n_blocks, Work&& work) {
    in_parallel(n_blocks, [&](u32 k) {
        work(first_major_of(matrix, k, n_blocks), first_major_of(matrix, k + 1, n_blocks));
    });
}

// How many threads scatter into minors, each into sums of its own: further ones may take half a word for each entry.
template <class Index>
u32 scattering_threads(const SparseView<Index>& matrix, u32 n_threads, u64 bytes_of_sum = sizeof(u64)) {
    const u64 most_parts = matrix.n_minor ? matrix.n_entries() * 4 / (matrix.n_minor * bytes_of_sum) : 0;
    return threads_for(matrix.n_entries(), u32(std::min<u64>(n_threads, 1 + most_parts)));
}

// Calls work(first, last, sums) for blocks of majors, which scatter into sums of minors: those of the first thread are
// the given ones, which begin as they are, and those of the others are added to these. Sums must be exact.
template <class Sum, class Index, class Work>
void scatter_exactly(const SparseView<Index>& matrix, u32 n_threads, Sum* sums, Work&& work) {
    n_threads = scattering_threads(matrix, n_threads, sizeof(Sum));
    std::vector<Array<Sum>> own(n_threads);
    in_parallel(n_threads, [&](u32 k) {
        if (k) own[k].assign(matrix.n_minor, Sum());
        work(first_major_of(matrix, k, n_threads), first_major_of(matrix, k + 1, n_threads), k ? own[k].data() : sums);
    });
    if (n_threads == 1) return;
    over_range(matrix.n_minor, threads_for(matrix.n_minor, n_threads), [&](u64 first, u64 last) {
        for (u32 k = 1; k < n_threads; ++k)
            for (u64 minor = first; minor < last; ++minor) sums[minor] += own[k][minor];
    });
}

// One list of several that follow each other.
template <class Found>
Array<Found> joined(std::vector<Array<Found>> parts) {
    for (u64 k = 1; k < parts.size(); ++k) parts[0].insert(parts[0].end(), parts[k].begin(), parts[k].end());
    return std::move(parts[0]);
}

// The numbers below a size of which something holds, ascending; nothing branches on it.
template <class Holds>
Array<u32> those_of_which(u64 size, u32 n_threads, const Holds& holds) {
    const u32 n_parts = threads_for(size, n_threads);
    std::vector<Array<u32>> parts(n_parts);
    in_parallel(n_parts, [&](u32 k) {
        const Holds own(holds);  // whose captures stay in registers, since nobody else knows of it
        constexpr u64 block = 512;
        u32 some[block];
        for (u64 first = part_of(size, k, n_parts), end = part_of(size, k + 1, n_parts); first < end; first += block) {
            const u64 last = std::min(first + block, end);
            u64 count = 0;
            for (u64 i = first; i < last; ++i) {
                some[count] = u32(i);
                count += own(i);
            }
            parts[k].insert(parts[k].end(), some, some + count);
        }
    });
    return joined(std::move(parts));
}

// What majors scatter, scatter(first, last), in order, beside what they gather, gather(first, last). One thread does
// both in turns, so that entries come from memory once; of several one scatters and the others gather, so that
// floats are added in the same order whatever the number of threads.
template <class Index, class Scatter, class Gather>
void scatter_beside_gather(const SparseView<Index>& matrix, u32 n_threads, Scatter&& scatter, Gather&& gather) {
    n_threads = threads_for(matrix.n_entries(), n_threads);
    if (n_threads > 1)
        return in_parallel(n_threads, [&](u32 k) {
            if (k == 0) scatter(u32(0), matrix.n_major);
            else gather(first_major_of(matrix, k - 1, n_threads - 1), first_major_of(matrix, k, n_threads - 1));
        });
    constexpr u32 majors_in_a_turn = 16;
    for (u32 first = 0; first < matrix.n_major; first += majors_in_a_turn) {
        const u32 last = std::min(first + majors_in_a_turn, matrix.n_major);
        scatter(first, last);
        gather(first, last);
    }
}

// Throws unless all indices lie inside the matrix; the offsets must have been checked.
template <class Index>
void check_indices(const SparseView<Index>& matrix, u32 n_threads) {
    over_range(matrix.n_entries(), threads_for(matrix.n_entries(), n_threads),
               [&](u64 first, u64 last) { require_inside(matrix, first, last); });
}

// Throws unless every access that the kernel makes stays inside the arrays.
template <class Index>
void check_structure(const SparseView<Index>& matrix, u64 n_offsets, u64 n_indices, u64 n_values, u32 n_threads = 1) {
    check_offsets(matrix, n_offsets, n_indices, n_values,
                  [&](u64 size, auto&& work) { over_range(size, threads_for(size, n_threads), work); });
    check_indices(matrix, n_threads);
}

}  // namespace relift
