// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// What the preprocessor cannot see of options that rewrite float arithmetic, and
/// base/compiler_options.hpp thus not refuse: clang 14 has no macro for -freciprocal-math,
/// -fno-signed-zeros, -funsafe-math-optimizations, -fno-honor-nans and -fno-honor-infinities, and
/// neither g++ nor clang has one for pragmas in front of Sinter's headers. It is seen in what they
/// make of this. option_error where one is in force, or where this thread rounds otherwise than to
/// nearest.
SINTER_COLD inline void check_float_arithmetic() {
    // The compiler does not know these numbers.
    const volatile float numbers[] = {0x1p30f, 1.f, -0.f, 5.f, __builtin_nanf(""), __builtin_inff(), 0x1p-30f};
    const float large = numbers[0], one = numbers[1], zero = numbers[2], five = numbers[3], nan = numbers[4],
                infinite = numbers[5], small = numbers[6];
    const volatile float above = one + small, below = one - small;   // single operations, which no option changes
    if (above != one || below != one)
        throw option_error("Sinter needs float arithmetic that rounds to nearest", "the rounding mode (fesetround)",
                           above != one ? "upward" : "downward or towards zero", "FE_TONEAREST");
    const char* const option = (large + one) - large != 0.f           ? "-fassociative-math"
                               : __builtin_signbit(zero + 0.f)        ? "-fno-signed-zeros"
                               : five / 3.f != 0x1.aaaaaap+0f          ? "-freciprocal-math"
                               : !(nan != nan)                        ? "-fno-honor-nans"
                               : !__builtin_isinf(infinite)            ? "-fno-honor-infinities"
                                                                      : nullptr;
    if (option)
        throw option_error("Sinter needs exact float arithmetic", "options of the compiler", option,
                           "none of -ffast-math's parts");
}

} // namespace sinter::runtime
