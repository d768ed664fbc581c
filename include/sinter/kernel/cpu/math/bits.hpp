// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/lane_mask.hpp>

#include <utility>

/// What the elementary functions take from a float's representation.
namespace sinter::inline SINTER_TARGET::cpu {

SINTER_INLINE vf absolute(vf x) { return (vf)((vi)x & splat(std::int32_t{0x7fffffff})); }
/// -|x|.
SINTER_INLINE vf negative(vf x) { return (vf)((vi)x | splat(std::int32_t(0x80000000u))); }
/// The size of `magnitude` (not negative) with the sign of `sign`.
SINTER_INLINE vf with_sign(vf magnitude, vf sign) {
    return (vf)((vi)magnitude | ((vi)sign & splat(std::int32_t(0x80000000u))));
}
/// The integer nearest to x * factor, which is below 2^22; the last bits of `bits` are its own.
struct rounded_product {
    vf value;
    vi bits;
};
SINTER_INLINE rounded_product round_product(vf x, float factor) {
    const vf magic = splat(0x1.8p23f), shifted = fma(x, splat(factor), magic);
    return {shifted - magic, (vi)shifted};
}
/// 2^n, -126 <= n <= 127.
SINTER_INLINE vf power_of_two(vi n) { return (vf)((n + 127) << 23); }

/// `y` but f(x) in the marked lanes, one by one: for arguments so rare that no vector code is worth
/// its size.
template <class F>
__attribute__((noinline, cold)) void patch_lanes(const vf& x, const lane_mask& marked, vf& y, F f) {
    for (int i = 0; i < lanes; ++i)
        if (holds(marked, i)) y[i] = static_cast<float>(f(x[i]));
}

/// `y` but F::far(x) in the marked lanes, which are few: the branch costs less than what they need,
/// done for all. What a lane gets never depends on the others. By value, and nothing else is
/// touched: a loop would keep what is passed in memory, and read again what it has in registers.
template <class F>
__attribute__((noinline, cold, const)) vf put_far(vf x, lane_mask marked, vf y) {
    return select(marked, F::far(x), y);
}
template <class F>
SINTER_INLINE vf with_far(vf x, lane_mask marked, vf y) {
    return __builtin_expect(any(marked), 0) ? put_far<F>(x, marked, y) : y;
}

/// Coefficients from the highest power down to the constant, by Horner's rule.
SINTER_INLINE vf polynomial(vf, vf sum) { return sum; }
template <class... C>
SINTER_INLINE vf polynomial(vf x, vf sum, float next, C... rest) {
    return polynomial(x, fma(sum, x, splat(next)), rest...);
}

namespace detail {
template <class V, std::size_t N, int... I>
SINTER_INLINE V short_polynomial(V x, const V (&c)[N], std::integer_sequence<int, I...>) {
    if constexpr (N == 1) {
        return c[0];
    } else {   // in pairs from the constant on, then the same of x^2
        constexpr int left = (N + 1) / 2, odd = N % 2;
        const V d[std::size_t{left}] = {
            (odd && I == 0 ? c[0] : fma(c[odd ? 2 * I - 1 + !I : 2 * I], x, c[odd ? 2 * I : 2 * I + 1]))...};
        return short_polynomial(x * x, d, std::make_integer_sequence<int, (left + 1) / 2>{});
    }
}
} // namespace detail
/// The same by Estrin's scheme: a chain of a few operations instead of one for each coefficient,
/// for where the processor would wait. Its roundings are a little more.
template <class... C>
SINTER_INLINE vf short_polynomial(vf x, C... c) {
    const vf all[] = {splat(c)...};
    return detail::short_polynomial(x, all, std::make_integer_sequence<int, (sizeof...(C) + 1) / 2>{});
}

} // namespace sinter::cpu
