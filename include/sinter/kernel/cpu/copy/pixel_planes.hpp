// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/interleave.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Pixels of two to four numbers, one behind the other, and planes of one number each.
namespace sinter::inline SINTER_TARGET::cpu {

template <int N>
SINTER_INLINE void join_planes(const float* const* plane, float* to, std::int64_t pixels) {
    std::int64_t i = 0;
    for (; i + lanes <= pixels; i += lanes) {
        vf r[std::size_t{N}];
        unroll<N>([&](int j) SINTER_ALWAYS { r[j] = load(plane[j] + i); });
        if constexpr (N == 4) interleave_rows(r), store_block<4>(r, to + i * N, 0);
        else store_columns<N>(to + i * N, r);
    }
    for (; i < pixels; ++i)
        for (int j = 0; j < N; ++j) to[i * N + j] = plane[j][i];
}
template <int N>
SINTER_INLINE void split_pixels(const float* from, float* to, std::int64_t pixels, std::int64_t plane_step) {
    std::int64_t i = 0;
    for (; i + lanes <= pixels; i += lanes) {
        vf r[std::size_t{N}];
        if constexpr (N == 4) load_four_columns(r, from + i * N, N);
        else unroll<N>([&](auto j) SINTER_ALWAYS { r[j] = load_column<N, j>(from + i * N); });
        unroll<N>([&](int j) SINTER_ALWAYS { store(to + j * plane_step + i, r[j]); });
    }
    for (; i < pixels; ++i)
        for (int j = 0; j < N; ++j) to[j * plane_step + i] = from[i * N + j];
}

} // namespace sinter::cpu
