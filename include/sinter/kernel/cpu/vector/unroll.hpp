// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <type_traits>
#include <utility>

#include <sinter/kernel/cpu/vector/simd.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

template <class>
struct unrolled;
template <int... I>
struct unrolled<std::integer_sequence<int, I...>> {
    template <class F>
    SINTER_INLINE void operator()([[maybe_unused]] F f) const {
        (f(std::integral_constant<int, I>{}), ...);
    }
};

/// unroll<N>(f): f(0), ..., f(N - 1) with the index a constant. Arrays indexed by it stay in
/// registers, which g++ does not achieve for counted loops under an unroll pragma. Lambdas that
/// need no constant take an int: compilers have one body to read then, not N, and make the same
/// code of it. An object and not a function that calls another: g++ works through what is in each
/// once more.
template <int N>
inline constexpr unrolled<std::make_integer_sequence<int, N>> unroll{};

} // namespace sinter::cpu
