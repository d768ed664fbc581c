// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The loops in which weights' gradients of convolutions of any window spend their time: some rows
/// of one panel's sums.
namespace sinter::inline SINTER_TARGET::cpu {

/// What `rows` rows of `columns` results add to sums: products of what they overlap, copied
/// sources, with their gradients. A panel has a row of sums for each channel that a tap sees.
struct summed_rows {
    const float* x;                           ///< what the first result overlaps
    float* sums;                              ///< the first row of sums; the others lie behind it
    std::int64_t step, row_step,
        term_step;   ///< floats of x from result to result, row to row, and from a row of sums to the next
    const float* dy;
    std::int64_t dy_step, dy_row_step;
    int rows, columns;
};
/// Adds to `count` rows of sums.
using weight_tile = void (*)(const summed_rows& s, int count);

/// A source's channel times the panel's NR vectors of gradients; MR is `count` or one more.
template <int MR, int NR>
__attribute__((noinline)) void sum_broadcast(const summed_rows& s, int count) {
    constexpr int width = NR * lanes;
    float* const sums = s.sums;
    vf c[std::size_t{MR * NR}];
    unroll<MR>([&](int i) SINTER_ALWAYS {
        unroll<NR>([&](int j)
                       SINTER_ALWAYS { c[i * NR + j] = i < count ? load(sums + i * width + j * lanes) : zero(); });
    });
    for (int r = 0; r < s.rows; ++r)
        accumulate<MR, NR, 1, false>(c, s.x + r * s.row_step, 1, s.step, s.dy + r * s.dy_row_step, s.dy_step,
                                     s.columns);
    unroll<MR>([&](int i) SINTER_ALWAYS {
        if (i < count) unroll<NR>([&](int j) SINTER_ALWAYS { store(sums + i * width + j * lanes, c[i * NR + j]); });
    });
}
/// A vector of sources times a vector of gradients, each lane of its own group: A rows of sums.
/// Several results at a time are summed apart where so few sums would wait for each other.
template <int A>
__attribute__((noinline)) void sum_by_lane(const summed_rows& s, int) {
    constexpr int apart = A >= 8 ? 1 : A > 4 ? 2 : A > 2 ? 3 : A > 1 ? 4 : 8, pointers = (A + 2) / 3;
    const std::int64_t step = s.step, term_step = s.term_step, dy_step = s.dy_step;
    vf c[std::size_t{apart * A}];
    clear_block(c);
    for (int r = 0; r < s.rows; ++r) {
        const float *x[std::size_t{pointers}], *dy = s.dy + r * s.dy_row_step;
        unroll<pointers>([&](int i) SINTER_ALWAYS {
            x[i] = s.x + r * s.row_step + 3 * i * term_step;
            asm("" : "+r"(x[i]));
        });
        const auto add = [&](int set) SINTER_ALWAYS {
            vf d = load(dy);
            pin(d);
            unroll<A>([&](int i) SINTER_ALWAYS {
                c[set * A + i] = fma(load(x[i / 3] + i % 3 * term_step), d, c[set * A + i]);
            });
            unroll<pointers>([&](int i) SINTER_ALWAYS { x[i] += step; });
            dy += dy_step;
        };
        int n = s.columns;
        for (; n >= apart; n -= apart) unroll<apart>(add);
        for (; n > 0; --n) add(0);
    }
    unroll<A>([&](int i) SINTER_ALWAYS {
        vf sum = load(s.sums + i * lanes);
        unroll<apart>([&](int k) SINTER_ALWAYS { sum += c[k * A + i]; });
        store(s.sums + i * lanes, sum);
    });
}

/// Rows of sums at once: of two vectors; of one, whose accumulators are half as many; by lane.
inline constexpr int most_wide_sums = tile_rows, most_single_sums = registers >= 32 ? 16 : 12, most_lane_sums = 8;

template <int NR, int... I>
weight_tile broadcast_tile_of(int count, std::integer_sequence<int, I...>) {
    static constexpr weight_tile of[] = {sum_broadcast<2 * I + 2, NR>...};
    return of[(count - 1) / 2];
}
/// The tile of `count` rows of sums, for a panel of one vector or two. Templates, as what they hand
/// out is not compiled until it is used.
template <class = void>
weight_tile broadcast_tile_of(int count, int width) {
    return width > lanes ? broadcast_tile_of<2>(count, indices<most_wide_sums / 2>{})
                         : broadcast_tile_of<1>(count, indices<most_single_sums / 2>{});
}
template <int... I>
weight_tile lane_tile_of(int count, std::integer_sequence<int, I...>) {
    static constexpr weight_tile of[] = {sum_by_lane<I + 1>...};
    return of[count - 1];
}
template <class = void>
weight_tile lane_tile_of(int count) { return lane_tile_of(count, indices<most_lane_sums>{}); }

} // namespace sinter::cpu
