// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <cstring>

/// Products of rows with a right operand of one vector of columns. A tile of a single vector loads
/// a factor for every multiply-add, which is more than processors can; so factors are loaded in
/// pairs, as the right operand's rows lie, too: [depth / 2][lanes][2]. Even and odd terms are
/// summed apart, as accumulate<MR, 1> does.
namespace sinter::inline SINTER_TARGET::cpu {

/// Both of a pair of floats in every pair of lanes.
SINTER_INLINE vf splat_pair(const float* p) {
    typedef std::uint64_t pairs __attribute__((vector_size(4 * lanes)));
    std::uint64_t both;
    std::memcpy(&both, p, 8);
    return (vf)(both - pairs{});
}

/// to = rows [lanes] of one whole panel, as pairs: [panel_width / 2][lanes][2].
template <class = void>
__attribute__((noinline)) inline void transpose_into_pairs(const float* from, float* to) {
    constexpr int half = lanes / 2;
    for (int i = 0; i < 2; ++i, from += half * panel_width, to += lanes)   // rows whose pairs fill a vector
        for (int j = 0; j < panel_width; j += lanes) {
            vf r[half];
            load_block<1>(r, from + j, panel_width);
            const auto exchange = [&](auto distance) SINTER_ALWAYS {
                constexpr int D = decltype(distance)::value;
                if constexpr (D < half)
                    unroll<half>([&](int k) SINTER_ALWAYS {
                        if (!(k & D)) swap_pair<2 * D>(r[k], r[k + D]);
                    });
            };
            exchange(std::integral_constant<int, 1>{});
            exchange(std::integral_constant<int, 2>{});
            exchange(std::integral_constant<int, 4>{});
            store_block<1>(r, to + j * lanes, 2 * lanes);
        }
}

/// to[i] = row[i] times b. The depth is even.
template <std::size_t MR>
SINTER_INLINE void multiply_paired_tile(float* to, const float* const (&row)[MR], const float* b, std::int64_t depth) {
    vf c[std::size_t{2 * MR}];
    clear_block(c);
    for (std::int64_t t = 0; t < depth; t += 2, b += 2 * lanes) {
        const vf low = load(b), high = load(b + lanes);
        unroll<MR>([&](int k) SINTER_ALWAYS {
            const vf both = splat_pair(row[k] + t);
            c[2 * k] = fma(both, low, c[2 * k]);
            c[2 * k + 1] = fma(both, high, c[2 * k + 1]);
        });
    }
    unroll<MR>([&](int k) SINTER_ALWAYS {
        const vf even = shuffle<every_second<0>>(c[2 * k], c[2 * k + 1]),
                 odd = shuffle<every_second<1>>(c[2 * k], c[2 * k + 1]);
        store(to + k * lanes, even + odd);
    });
}

} // namespace sinter::cpu
