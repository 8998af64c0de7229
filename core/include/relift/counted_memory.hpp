// Arrays whose bytes are counted, so that the kernel can say how much memory it took.
//
// Elements are left uninitialised where std::vector would write zeros that nobody reads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "field.hpp"
#include "spare_memory.hpp"

namespace relift {

struct MemoryCount {
    u64 now = 0, peak = 0;
    void add(u64 bytes) { peak = std::max(peak, now += bytes); }
    void remove(u64 bytes) { now -= bytes; }
    // Those of threads that have worked at the same time; what one has taken another may give back.
    void add_those_of(const std::vector<MemoryCount>& others) {
        u64 together = now;
        for (const MemoryCount& other : others) together += other.peak;
        peak = std::max(peak, together);
        for (const MemoryCount& other : others) now += other.now;
    }
};

// Of the refinement that runs in this thread.
inline MemoryCount& memory_count() {
    static thread_local MemoryCount count;
    return count;
}

template <class T>
struct CountingAllocator {
    using value_type = T;
    CountingAllocator() = default;
    template <class U> CountingAllocator(const CountingAllocator<U>&) {}
    T* allocate(std::size_t n) {
        if (n > std::size_t(-1) / (2 * sizeof(T))) throw std::bad_alloc();
        T* memory = static_cast<T*>(spare_memory().take(n * sizeof(T)));
        memory_count().add(n * sizeof(T));
        return memory;
    }
    void deallocate(T* memory, std::size_t n) {
        memory_count().remove(n * sizeof(T));
        spare_memory().give_back(memory, n * sizeof(T));
    }
    template <class U> void construct(U* at) { ::new (static_cast<void*>(at)) U; }
    template <class U, class... Args> void construct(U* at, Args&&... args) {
        ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
    }
    template <class U> bool operator==(const CountingAllocator<U>&) const { return true; }
    template <class U> bool operator!=(const CountingAllocator<U>&) const { return false; }
};

template <class T> using Array = std::vector<T, CountingAllocator<T>>;

template <class T> void release(Array<T>& array) { Array<T>().swap(array); }

}  // namespace relift
