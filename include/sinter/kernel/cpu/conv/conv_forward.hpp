// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv/conv_source.hpp>
#include <sinter/kernel/cpu/conv/narrow_forward.hpp>
#include <sinter/kernel/cpu/conv/sparse_forward.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Hands a row of N pixels of one panel (V vectors each, `Valid` channels in all) from its buffer
/// to the body.
template <class Body, int N, int V, int Valid>
SINTER_INLINE void emit_row(const float* row, std::int64_t off, std::int64_t pixel, int col, int channels,
                            const call& c) {
    unroll<V>([&](auto j) SINTER_ALWAYS {
        constexpr int first = j * lanes, n = std::min(Valid - first, lanes);
        if constexpr (n <= 0) return;
        else if constexpr (requires { Body::template vectors<true>(row, 0, 0, 0, off, off, pixel, 0, c); })
            Body::template vectors<n == lanes>(row + first, V * lanes, N, n, off + first, channels, pixel, col + first,
                                               c);
        else
            for (int i = 0; i < N; ++i) {
                const vf v = load(row + i * V * lanes + first);
                const std::int64_t at = off + static_cast<std::int64_t>(i) * channels + first;
                if constexpr (n == lanes) Body::vector(v, at, pixel + i, col + first, c);
                else Body::vector(v, n, at, pixel + i, col + first, c);
            }
    });
}

/// Prefetches what the body will touch in such a row, of images of `Floats`, before its sums are
/// computed: pixels' pieces lie too far apart for the processor to foresee them. Small images are
/// in cache.
template <class Body, std::int64_t Floats, int N, int Valid>
SINTER_INLINE void expect_row(std::int64_t off, int channels, const call& c) {
    if constexpr (Floats >= 1 << 16 && requires { Body::prefetch(N, Valid, off, channels, c); })
        Body::prefetch(N, Valid, off, channels, c);
}

/// Hands a row's sums to the body tile by tile, from registers or, where it sums columns or is much
/// code, vector by vector from a buffer of the tile; and prefetches what it will touch in the next
/// row.
template <class Body, int V, int Valid>
struct row_body {
    std::int64_t off, pixel, next;
    int col, channels;
    const call& c;
    template <int M, int>
    SINTER_INLINE void take(const vf (&v)[std::size_t{M * V}], int first) const {
        const std::int64_t at = off + static_cast<std::int64_t>(first) * channels;
        if constexpr (requires { Body::prefetch(M, Valid, off, channels, c); })
            Body::prefetch(M, Valid, at + next, channels, c);
        if constexpr (!is_moderate<Body>() || requires { requires Body::sums > 0; }) {
            alignas(64) float tile[std::size_t{M * V * lanes}];
            store_block<V>(v, tile, V * lanes);
            emit_row<Body, M, V, Valid>(tile, at, pixel + first, col, channels, c);
        } else {
            unroll<M * V>([&](auto k) SINTER_ALWAYS {
                constexpr int i = k / V, j = k % V * lanes, n = std::min(Valid - j, lanes);
                if constexpr (n == lanes) Body::vector(v[k], at + i * channels + j, pixel + first + i, col + j, c);
                else if constexpr (n > 0) Body::vector(v[k], n, at + i * channels + j, pixel + first + i, col + j, c);
            });
        }
    }
};

/// y [m, OH, OW, CO] = the cross-correlation of x [m, H, W, CI] with w [KH, KW, CI, CO], stride S,
/// PT zero rows above and PL zero columns left of the image; what is missing below and to the right
/// is zero too. Operands: x, w packed as [KH * KW * CI][CO]. Body: off in y, row = pixel of y, col
/// = channel.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_forward {
    using source = conv_source<H, W, CI, OH, OW, KH, KW, S, PT, PL>;
    static constexpr int phases = 1, depth = KH * KW * CI;
    static constexpr std::int64_t scratch(int parts) { return parts * source::floats; }
    static void finish(const call&) {}

    /// Where no tile reads beside the image all are alike: the body in each of them is little code.
    static constexpr bool by_tiles = source::left <= 0 && (OW - 1) * S - source::left + KW <= source::width;

    template <int V, int Valid>
    static SINTER_INLINE void panel_row(const float* x, const float* w, int oy, std::int64_t image, int col,
                                        const call& c) {
        const std::int64_t pixel = (image * OH + oy) * OW;
        if constexpr (by_tiles) {
            source::template row<OW, V>(x, w, oy,
                                        row_body<Body, V, Valid>{pixel * CO + col, pixel, OW * CO, col, CO, c});
        } else {
            alignas(64) float row[row_floats(OW)];
            expect_row<Body, std::int64_t{OH} * OW * CO, OW, Valid>(pixel * CO + col, CO, c);
            source::template row<OW, V>(x, w, oy, row_buffer{row, V * lanes});
            emit_row<Body, OW, V, Valid>(row, pixel * CO + col, pixel, col, CO, c);
        }
    }

    /// Few weights are all used for a row before the next one, whose results then lie side by side:
    /// panel by panel a sweep over the image would write every so many lines of it. Not measured
    /// where a panel is two lines.
    static constexpr int panel = 2 * lanes, whole = CO / panel, rest = CO % panel;
    static constexpr bool row_by_row = panel <= floats_a_line && CO > panel && depth * CO <= first_level_floats;

    static void run_row_by_row(const call& c) {
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            const float* const x = source::image(c.p[conv_operand::source], i, c, i == begin);
            for (int oy = 0; oy < OH; ++oy) {
                for (int p = 0; p < whole; ++p)
                    panel_row<2, panel>(x, c.p[conv_operand::weights] + p * (panel * depth), oy, i, p * panel, c);
                if constexpr (rest > 0)
                    panel_row<(rest > lanes) + 1, rest>(x, c.p[conv_operand::weights] + whole * (panel * depth), oy, i,
                                                        whole * panel, c);
            }
        }
    }

    static void run(const call& c) {
        if constexpr (row_by_row) return run_row_by_row(c);
        else
            for_source_and_panels<source, CO, depth>(
                c, [&](auto valid, const float* x, const float* w, std::int64_t i, int col) SINTER_ALWAYS {
                    for (int oy = 0; oy < OH; ++oy) {
                        if (col == 0) source::prefetch_beyond(x, oy);
                        panel_row<(valid > lanes) + 1, valid>(x, w, oy, i, col, c);
                    }
                });
    }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
struct nest<op::conv, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0> {
    using dense = conv_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using sparse = sparse_forward<dense, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using narrow = narrow_forward<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using type = std::conditional_t<narrow::pays, narrow, std::conditional_t<sparse::pays, sparse, dense>>;
};

} // namespace sinter::cpu
