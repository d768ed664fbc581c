// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What Sinter asks of a compiler's options, and its own.

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "Sinter needs exact float arithmetic: compile without -Ofast, -ffast-math and their parts (write -O3 instead)"
#endif

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
