// The kernels of this folder, compiled for AVX-512, for AVX2 with FMA and for the plain processor; which one runs is
// decided when they are called: RELIFT_ML_CALL(kernel_sums(...)).
//
// Vector code must be compiled for its processor from the start (the compiler splits vectors before it inlines), so
// each file is included once for each processor, in a namespace of its own.
#pragma once
#include "points.hpp"
#include "processor.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // lanes are never passed between object files
#endif

#if defined(__GNUC__) && defined(__x86_64__) && !defined(RELIFT_ML_PLAIN)
#define RELIFT_ML_HAS_TARGETS 1
#if defined(__clang__)

#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,avx512f,avx512dq,avx512bw,avx512vl"))), \
                             apply_to = function)
#define RELIFT_ML_TARGET avx512
#include "all_kernels.hpp"
#undef RELIFT_ML_TARGET
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#define RELIFT_ML_TARGET avx2
#include "all_kernels.hpp"
#undef RELIFT_ML_TARGET
#pragma clang attribute pop

#else

#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,avx512f,avx512dq,avx512bw,avx512vl")
#define RELIFT_ML_TARGET avx512
#include "all_kernels.hpp"
#undef RELIFT_ML_TARGET
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2")
#define RELIFT_ML_TARGET avx2
#include "all_kernels.hpp"
#undef RELIFT_ML_TARGET
#pragma GCC pop_options
#endif
#endif

#define RELIFT_ML_TARGET plain
#include "all_kernels.hpp"
#undef RELIFT_ML_TARGET

namespace relift::ml {

inline Processor processor() {
#ifdef RELIFT_ML_HAS_TARGETS
    static const Processor found = ask_processor();
    return found;
#else
    return Processor::plain;
#endif
}

}  // namespace relift::ml

#ifdef RELIFT_ML_HAS_TARGETS
#define RELIFT_ML_CALL(call)                                                                     \
    (relift::ml::processor() == relift::ml::Processor::avx512 ? relift::ml::avx512::call         \
     : relift::ml::processor() == relift::ml::Processor::avx2 ? relift::ml::avx2::call           \
                                                              : relift::ml::plain::call)
#else
#define RELIFT_ML_CALL(call) relift::ml::plain::call
#endif
