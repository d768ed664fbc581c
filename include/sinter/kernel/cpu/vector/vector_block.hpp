// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <utility>

#include <sinter/kernel/cpu/vector/simd.hpp>

/// Blocks of accumulators: N vectors in rows of V, between registers and memory. Written as plain
/// pack expansions: a lambda for every element (see unroll) costs compilers twice the time.
namespace sinter::inline SINTER_TARGET::cpu {

template <int N>
using indices = std::make_integer_sequence<int, N>;

template <std::size_t N, int... I>
SINTER_INLINE void clear_block(vf (&c)[N], std::integer_sequence<int, I...>) {
    ((c[I] = zero()), ...);
}
template <std::size_t N>
SINTER_INLINE void clear_block(vf (&c)[N]) {
    clear_block(c, indices<N>{});
}

/// c[r][v] = the vector at p + r * row_step + v * step.
template <int V, std::size_t N, int... I>
SINTER_INLINE void load_block(vf (&c)[N], const float* p, std::ptrdiff_t row_step, std::ptrdiff_t step,
                              std::integer_sequence<int, I...>) {
    ((c[I] = load(p + I / V * row_step + I % V * step)), ...);
}
template <int V, std::size_t N>
SINTER_INLINE void load_block(vf (&c)[N], const float* p, std::ptrdiff_t row_step, std::ptrdiff_t step = lanes) {
    load_block<V>(c, p, row_step, step, indices<N>{});
}

template <int V, std::size_t N, int... I>
SINTER_INLINE void store_block(const vf (&c)[N], float* p, std::ptrdiff_t row_step, std::ptrdiff_t step,
                               std::integer_sequence<int, I...>) {
    (store(p + I / V * row_step + I % V * step, c[I]), ...);
}
template <int V, std::size_t N>
SINTER_INLINE void store_block(const vf (&c)[N], float* p, std::ptrdiff_t row_step, std::ptrdiff_t step = lanes) {
    store_block<V>(c, p, row_step, step, indices<N>{});
}

/// The same, added to what is there.
template <int V, std::size_t N, int... I>
SINTER_INLINE void add_block(const vf (&c)[N], float* p, std::ptrdiff_t row_step, std::ptrdiff_t step,
                             std::integer_sequence<int, I...>) {
    (store(p + I / V * row_step + I % V * step, load(p + I / V * row_step + I % V * step) + c[I]), ...);
}
template <int V, std::size_t N>
SINTER_INLINE void add_block(const vf (&c)[N], float* p, std::ptrdiff_t row_step, std::ptrdiff_t step = lanes) {
    add_block<V>(c, p, row_step, step, indices<N>{});
}

} // namespace sinter::cpu
