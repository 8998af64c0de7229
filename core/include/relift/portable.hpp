// What compilers and systems name differently: hints, bit scans. Where there is no such hint one does without it; the
// results are the same.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RELIFT_PREFETCH(address) __builtin_prefetch(address)
#define RELIFT_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#define RELIFT_NOINLINE __attribute__((noinline))
#define RELIFT_ALWAYS_INLINE __attribute__((always_inline))
#else
#define RELIFT_PREFETCH(address) ((void)(address))
#define RELIFT_PREFETCH_TO_WRITE(address) ((void)(address))
#define RELIFT_NOINLINE __declspec(noinline)
#define RELIFT_ALWAYS_INLINE
#endif

namespace relift {

// How many entries ahead loops ask for what they will need, where there is more of it than stays near the processor.
constexpr std::uint32_t prefetch_distance = 24;
constexpr std::uint64_t bytes_that_stay_in_cache = std::uint64_t(1) << 19;

// Zeros below the lowest one of a word that is not 0.
inline int trailing_zeros(std::uint32_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctz(word);
#elif defined(_MSC_VER)
    unsigned long place;
    _BitScanForward(&place, word);
    return int(place);
#else
    int count = 0;
    for (; !(word & 1); word >>= 1) ++count;
    return count;
#endif
}

// Asks for large pages for new memory of some megabytes, as NumPy does: the system then maps it in far fewer steps.
inline void ask_for_large_pages(void* memory, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = 4096;
    if (bytes < (std::size_t(1) << 21)) return;
    const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
    const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
    (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish: it may be refused
#else
    (void)memory;
    (void)bytes;
#endif
}

}  // namespace relift
