// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <type_traits>
#include <utility>

#include <sinter/kernel/cpu/vector/simd.hpp>

namespace sinter::cpu {

template <class F, int... I>
SINTER_INLINE void unroll_indices(F f, std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, I>{}), ...);
}

/// f(0), ..., f(N - 1) with the index a constant. Arrays indexed by it stay in registers, which g++ does not
/// achieve for counted loops under an unroll pragma. Lambdas that need no constant take an int: compilers have one body to read
/// then, not N, and make the same code of it.
template <int N, class F>
SINTER_INLINE void unroll(F f) {
    unroll_indices(f, std::make_integer_sequence<int, N>{});
}

} // namespace sinter::cpu
