// Whether all of many numbers are one, as bounds, costs and entries of covers often are.
#pragma once
#include <atomic>
#include <cstring>

#include "threads.hpp"

namespace relift {

// Whether differs(k) holds for none of so many k, which is asked in blocks, without a branch inside: most that differ do
// so early, and the others are as long as memory takes to come.
template <class Differs>
bool none_differ(u64 size, u32 n_threads, const Differs& differs) {
    constexpr u64 block = 1024;
    std::atomic<bool> all_agree{true};
    over_range(size, threads_for(size, n_threads), [&](u64 first, u64 last) {
        const Differs own(differs);  // whose captures stay in registers
        while (first < last && all_agree.load(std::memory_order_relaxed)) {
            u64 some_differ = 0;
            for (const u64 end = std::min(first + block, last); first < end; ++first) some_differ |= u64(own(first));
            if (some_differ) all_agree = false;
        }
    });
    return all_agree;
}

// Whether all numbers equal the first one; zeros of both signs are equal, and what is no number equals nothing.
inline bool are_equal(const double* values, u64 size, u32 n_threads) {
    return size == 0 || none_differ(size, n_threads, [values, first = values[0]](u64 k) { return values[k] != first; });
}

// Whether all are the first one to the last bit.
inline bool are_same(const double* values, u64 size, u32 n_threads) {
    if (size == 0) return true;
    u64 first;
    std::memcpy(&first, values, sizeof first);
    return none_differ(size, n_threads, [values, first](u64 k) {
        u64 word;
        std::memcpy(&word, values + k, sizeof word);
        return word != first;
    });
}

}  // namespace relift
