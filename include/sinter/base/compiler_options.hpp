// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What Sinter asks of a compiler's options, and its own.

// Without these nothing compiles. A header that is not there ends the compilation with one message;
// behind #error thousands would follow.
#if __cplusplus < 202002L
#include "Sinter needs C++20: compile with -std=c++20 or newer"
#elif !defined(__cpp_exceptions)
#include "Sinter reports errors by exceptions: compile without -fno-exceptions"
#endif

// The last one is of 32-bit x86 and -mfpmath=387, whose registers hold more digits than a float.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "Sinter needs exact float arithmetic: compile without -Ofast, -ffast-math and their parts (write -O3 instead)"
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "Sinter needs exact float arithmetic: compile for SSE2 (-msse2 -mfpmath=sse) and without -ffast-math's parts"
#endif
static_assert(sizeof(1.0) == sizeof(double),
              "Sinter needs constants of double precision: compile without -fsingle-precision-constant");

// A pragma, for -Wpedantic complains of #warning.
#if !defined(__OPTIMIZE__) && !defined(SINTER_ALLOW_UNOPTIMISED) && !defined(__CUDA_ARCH__)
#pragma GCC warning "Sinter trains some forty times slower without optimisation: add -O3 or -DSINTER_ALLOW_UNOPTIMISED"
#endif

/// Into how many parts kernels divide their work, and so how many threads find some: 8, 16, 32 or
/// 64. Sums of several parts depend on it in their last bits; on the number of threads nothing
/// does. More parts take more scratch memory. Every file of a program that shares models must be
/// compiled with the same number.
#ifndef SINTER_PARTS
#define SINTER_PARTS 8
#elif SINTER_PARTS != 8 && SINTER_PARTS != 16 && SINTER_PARTS != 32 && SINTER_PARTS != 64
#error "SINTER_PARTS is the number of parts that work is divided into: needed is 8, 16, 32 or 64"
#endif
