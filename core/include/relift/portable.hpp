// What compilers name differently: hints, bit scans. A compiler without a hint does without it; the results are the same.
#pragma once
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RELIFT_PREFETCH(address) __builtin_prefetch(address)
#define RELIFT_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#define RELIFT_NOINLINE __attribute__((noinline))
#else
#define RELIFT_PREFETCH(address) ((void)(address))
#define RELIFT_PREFETCH_TO_WRITE(address) ((void)(address))
#define RELIFT_NOINLINE __declspec(noinline)
#endif

namespace relift {

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

}  // namespace relift
