// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/column_overlap.hpp>
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The loops in which convolutions of any window spend their time: tiles of a row's results, summed
/// over the taps that they overlap.
namespace sinter::inline SINTER_TARGET::cpu {

/// One tap, or one row of them: floats from a tile's first source, and the row of the panel's
/// weights.
struct overlapped_tap {
    std::int64_t source, weights;
};
/// The taps that a row's results overlap: each of `rows` with each of `taps`, and of each `depth`
/// terms, whose sources lie `term_step` floats apart.
struct overlapped_taps {
    const overlapped_tap* rows;
    int row_count;
    const overlapped_tap* taps;
    int tap_count;
    std::int64_t depth, term_step;

    template <class F>
    SINTER_INLINE void each(F f) const {
        for (const overlapped_tap* r = rows; r < rows + row_count; ++r)
            for (const overlapped_tap* t = taps; t < taps + tap_count; ++t)
                f(r->source + t->source, r->weights + t->weights);
    }
};

/// What a tile is summed from: the copied sources of its first result, `step` floats from result to
/// result, and a panel of weights. Its sums go to `to`, a result's every `to_step` floats.
using tap_tile = void (*)(float* to, std::int64_t to_step, const float* x, std::int64_t step,
                          const overlapped_taps& taps, const float* w);

/// A source's channel times a row of the panel, whose NR vectors are results of one group.
template <int MR, int NR>
__attribute__((noinline)) void multiply_broadcast(float* to, std::int64_t to_step, const float* x, std::int64_t step,
                                                  const overlapped_taps& taps, const float* w) {
    constexpr int width = NR * lanes;
    vf c[std::size_t{MR * NR}];
    clear_block(c);
    taps.each([&](std::int64_t source, std::int64_t row) SINTER_ALWAYS {
        accumulate<MR, NR, 1, false>(c, x + source, step, taps.term_step, w + row * width, width, taps.depth);
    });
    store_block<NR>(c, to, to_step);
}
/// The same of one vector, of K taps side by side: such a tile would wait for loads, were a source
/// not read once for all of them.
template <int MR, int K>
__attribute__((noinline)) void multiply_beside(float* to, std::int64_t to_step, const float* x, std::int64_t step,
                                               const overlapped_taps& taps, const float* w) {
    const std::int64_t depth = taps.depth / K;
    vf c[std::size_t{MR}];
    clear_block(c);
    taps.each([&](std::int64_t source, std::int64_t row) SINTER_ALWAYS {
        for (std::int64_t d = 0; d < depth; ++d) {
            vf b[std::size_t{K}];
            load_block<1>(b, w + (row + d) * lanes, depth * lanes);
            add_columns<MR, K, 1>(
                x + source + d, step, [](const float* p, int, vf& v) SINTER_ALWAYS { return v = splat(*p), true; }, b,
                c);
        }
    });
    store_block<1>(c, to, to_step);
}
/// A vector of sources times a vector of weights: of each lane's own group.
template <int MR>
__attribute__((noinline)) void multiply_by_lane(float* to, std::int64_t to_step, const float* x, std::int64_t step,
                                                const overlapped_taps& taps, const float* w) {
    constexpr int pointers = (MR + 2) / 3;   // as accumulate has them
    const std::int64_t term_step = taps.term_step;
    vf c[std::size_t{MR}];
    clear_block(c);
    taps.each([&](std::int64_t source, std::int64_t row) SINTER_ALWAYS {
        const float *from[std::size_t{pointers}], *by = w + row * lanes;
        unroll<pointers>([&](int i) SINTER_ALWAYS {
            from[i] = x + source + 3 * i * step;
            asm("" : "+r"(from[i]));
        });
        for (std::int64_t n = taps.depth; n > 0; --n, by += lanes) {
            vf v = load(by);
            pin(v);
            unroll<MR>([&](int i) SINTER_ALWAYS { c[i] = fma(load(from[i / 3] + i % 3 * step), v, c[i]); });
            unroll<pointers>([&](int i) SINTER_ALWAYS { from[i] += term_step; });
        }
    });
    store_block<1>(c, to, to_step);
}

/// Results of the largest tile: all registers but a few.
template <bool Narrow>
inline constexpr int tap_tile_rows = Narrow && registers < 32 ? 12 : tile_rows;

template <bool Narrow, int NR, int... I>
tap_tile tap_tile_of(int height, std::integer_sequence<int, I...>) {
    if constexpr (Narrow) {
        static constexpr tap_tile of[] = {multiply_by_lane<2 * I + 2>...};
        return of[height / 2 - 1];
    } else {
        static constexpr tap_tile of[] = {multiply_broadcast<2 * I + 2, NR>...};
        return of[height / 2 - 1];
    }
}
template <int K, int... I>
tap_tile tap_tile_beside(int height, std::integer_sequence<int, I...>) {
    static constexpr tap_tile of[] = {multiply_beside<tile_rows - 2 * I, K>...};
    return of[(tile_rows - height) / 2];
}
/// The tile of an even height, for a panel of one vector or two. `beside`: so many taps lie side by
/// side, results one column apart.
template <bool Narrow>
tap_tile tap_tile_of(int height, int width, int beside) {
    constexpr indices<tap_tile_rows<Narrow> / 2> heights{};
    if constexpr (Narrow) return tap_tile_of<true, 1>(height, heights);
    else if (width > lanes) return tap_tile_of<false, 2>(height, heights);
    else if (beside == 3 && height > tile_rows / 2)
        return tap_tile_beside<3>(height, indices<(tile_rows + 2) / 4>{});   // few read little
    else return tap_tile_of<false, 1>(height, heights);
}

} // namespace sinter::cpu
