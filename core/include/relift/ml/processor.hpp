// Which vector instructions this processor has and this system keeps, asked of the processor itself: the functions of
// compilers for that need a run-time library that not every toolchain has.
#pragma once
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace relift::ml {

enum class Processor { plain, avx2, avx512 };

inline Processor ask_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return Processor::plain;
    const bool has_fma = c >> 12 & 1, saves_state = c >> 27 & 1, has_avx = c >> 28 & 1;
    if (!has_fma || !saves_state || !has_avx) return Processor::plain;
    unsigned saved = 0, upper = 0;  // the register sets that the system saves when it switches threads
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
    if ((saved & 0x6) != 0x6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return Processor::plain;
    const bool has_avx2 = b >> 5 & 1, has_bmi = b >> 3 & 1, has_bmi2 = b >> 8 & 1;
    if (!has_avx2 || !has_bmi || !has_bmi2) return Processor::plain;
    const bool has_f = b >> 16 & 1, has_dq = b >> 17 & 1, has_bw = b >> 30 & 1, has_vl = b >> 31 & 1;
    return has_f && has_dq && has_bw && has_vl && (saved & 0xE6) == 0xE6 ? Processor::avx512 : Processor::avx2;
#else
    return Processor::plain;
#endif
}

}  // namespace relift::ml
