// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/conv_sums.hpp>
#include <sinter/kernel/cpu/conv/narrow_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/conv/sparse_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/window_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/window_overlap.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dw [KH, KW, CI, CO], packed: the gradient of conv_forward's weights (same extents). Operands: x
/// [m, H, W, CI], dy [m, OH, OW, CO]; every part sums its images in scratch, finish() adds the
/// parts in their order. Of a large gradient parts sum some panels over all images instead: a copy
/// for each would be memory and time. Body: off in the packed weights, row = weight row (ky, kx,
/// ci), col = channel; padding lanes are zero.
///
/// A tile of the gradient (rows of one tap, two vectors of output channels) stays in registers over
/// a block of pixels that fits the first-level cache, and skips pixels whose tap lies in the
/// padding. With fewer than four input channels a tap cannot fill a tile: then rows of a whole line
/// of taps, which lie side by side in a padded copy of the image, make up tiles or, if those are
/// few, rows of any taps.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_weight_gradient {
    static constexpr bool copies = CI < 4, by_images = copies || std::int64_t{KH} * KW * CI * CO <= (1 << 17);
    using sums = conv_sums<KH * KW * CI, CO, Body, by_images>;
    using padded = padded_image<H, W, CI, (OH - 1) * S + KH, (OW - 1) * S + KW, PT, PL>;
    static constexpr int phases = 2, panel = 2 * lanes, depth = KH * KW * CI;
    static constexpr std::int64_t image_floats = copies ? round_up(padded::floats, 16) : 0;
    static constexpr std::int64_t scratch(int parts) {
        return sums::copies(parts) * sums::floats + parts * (image_floats + panel_copy);
    }
    static void finish(const call& c) { sums::finish(c); }

    static constexpr int tile_rows = registers >= 32 ? 12 : 6;
    static constexpr bool by_lines = copies && KW * CI >= 16, gathers = copies && !by_lines;
    static constexpr int tap_rows = by_lines ? KW * CI : gathers ? depth : CI;   ///< of which tiles are made
    static constexpr int tiles = (tap_rows + tile_rows - 1) / tile_rows, least = tap_rows / tiles,
                         larger = tap_rows % tiles;
    /// Large gradients stay in registers for longer than small ones, and gathered tiles, whose
    /// places are looked up.
    static constexpr int block_pixels = gathers || depth * CO > (1 << 16) ? 1024 : 256;
    static constexpr int block_rows = std::clamp(block_pixels / OW, 1, OH);
    static constexpr int block_images = copies ? 1 : std::max(1, block_pixels / (OH * OW));

    /// A block's panel of dy is copied where many tiles read it and its pixels lie far apart: their
    /// lines would meet in the same sets.
    static constexpr bool packs = !copies && KH * KW * tiles >= 16 && CO > panel;
    template <int V>
    static constexpr int step = packs ? V * lanes : CO;   ///< from pixel to pixel of dy
    static constexpr std::int64_t panel_copy =
        packs ? round_up(std::int64_t{block_rows} * OW * block_images * panel, 16) : 0;

    struct pixels {
        int images, rows, columns;
    };   // that a tile sums over

    /// Where the next block lies, which every iteration of a tile's loop prefetches a piece of. Of
    /// windows with many taps a piece is less than a float, and of windows that leave rows out much
    /// would be prefetched in vain.
    struct next_block {
        const float *x, *dy;
    };
    static constexpr int iterations =
        (CO + panel - 1) / panel * tiles * (gathers ? 1 : KH) * (copies ? 1 : KW);   ///< over a pixel
    static constexpr int x_step = copies || S > 1 ? 0 : (CI + iterations / 2) / iterations;
    static constexpr int dy_step = gathers && block_rows == OH ? 0 : (CO + iterations / 2) / iterations;

    /// One pixel's share of a tile; I counts accumulators.
    template <int M, int V, int Valid, int... I>
    static SINTER_INLINE void pixel(vf (&c)[std::size_t{M * V}], const float* a, const std::ptrdiff_t* at,
                                    const float* b, std::integer_sequence<int, I...>) {
        vf v[2];
        v[0] = V > 1 || Valid == lanes ? load(b) : load(b, Valid % lanes);
        if constexpr (V > 1) v[1] = Valid == V * lanes ? load(b + lanes) : load(b + lanes, Valid % lanes);
        if constexpr (M > 1 && M <= 4) {
            pin(v[0]);
            if constexpr (V > 1) pin(v[1]);
        }
        ((c[I] = fma(splat(gathers ? a[at[I / V]] : a[I / V]), v[I % V], c[I])), ...);
    }

    /// sum[i][j] += x at tap row i times dy at channel j over the pixels. Where rows are gathered,
    /// `row` counts those of all taps.
    template <int M, int V, int Valid>
    static __attribute__((noinline)) void tile(float* sum, const float* x, const float* dy, int row, pixels n,
                                               next_block& next) {
        constexpr int width = copies ? padded::width : W, height = copies ? padded::height : H;
        std::ptrdiff_t at[std::size_t{M}];
        if constexpr (gathers)
            for (int i = 0; i < M; ++i)
                at[i] = ((row + i) / (KW * CI) * width + (row + i) / CI % KW) * CI + (row + i) % CI;
        vf c[std::size_t{M * V}];
        load_block<V>(c, sum, V * lanes);
        next_block prefetch = next;
        for (int image = 0; image < n.images; ++image, x += height * width * CI, dy += OH * OW * step<V>)
            for (int y = 0; y < n.rows; ++y) {
                const float* a = x + y * (S * width * CI);
                const float* b = dy + y * (OW * step<V>);
                for (int i = 0; i < n.columns; ++i, a += S * CI, b += step<V>) {
                    pixel<M, V, Valid>(c, a, at, b, indices<M * V>{});
                    if constexpr (x_step > 0) __builtin_prefetch(prefetch.x += x_step, 0, 2);
                    if constexpr (dy_step > 0) __builtin_prefetch(prefetch.dy += dy_step, 0, 2);
                }
            }
        next = prefetch;
        store_block<V>(c, sum, V * lanes);
    }

    template <int V, int Valid>
    static void tap(float* sum, const float* x, const float* dy, pixels n, next_block& next) {
        int row = 0;
        for (int t = 0; t < tiles; ++t) {
            const float* from = gathers ? x : x + row;
            if (t < larger) {
                if constexpr (larger > 0) tile<least + 1, V, Valid>(sum + row * V * lanes, from, dy, row, n, next);
            } else {
                tile<least, V, Valid>(sum + row * V * lanes, from, dy, row, n, next);
            }
            row += least + (t < larger);
        }
    }

    /// dy of a panel's channels in a block, as [pixels][V * lanes].
    template <int V, int Valid>
    static const float* pack(const float* dy, int images, int first, int last, float* to) {
        if constexpr (!packs) return dy;
        const int n = images > 1 ? images * OH * OW : (last - first) * OW;
        const float* from = dy + (images > 1 ? 0 : first) * OW * CO;
        for (int i = 0; i < n; ++i, from += CO)
            for (int j = 0; j < V * lanes; j += lanes)
                store(to + i * V * lanes + j, Valid - j >= lanes ? load(from + j) : load(from + j, Valid - j));
        return to;
    }

    /// One panel: images from x and dy on, output rows [first, last).
    template <int V, int Valid>
    static void block(float* sum, const float* x, const float* dy, int images, int first, int last, next_block& next) {
        if constexpr (copies) {
            x += first * (S * padded::width * CI);
            dy += first * (OW * step<V>);
            for (int ky = 0; ky < (by_lines ? KH : 1); ++ky)
                tap<V, Valid>(sum + ky * tap_rows * V * lanes, x + ky * (padded::width * CI), dy, {1, last - first, OW},
                              next);
        } else {
            for (int ky = 0; ky < KH; ++ky)
                for (int kx = 0; kx < KW; ++kx, sum += CI * V * lanes) {
                    const window_overlap rows(H, ky, S, PT, first, last), columns(W, kx, S, PL, 0, OW);
                    const int top = rows.begin, left = columns.begin;
                    if (rows.any() && columns.any())
                        tap<V, Valid>(sum, x + ((top * S - PT + ky) * W + left * S - PL + kx) * CI,
                                      dy + ((packs ? top - first : top) * OW + left) * step<V>,
                                      {images, rows.count(), columns.count()}, next);
                }
        }
    }

    static void run(const call& c) {
        if (!by_images && c.end > c.first && c.part != c.first) return;   // the thread's first part does them all
        constexpr int panels = sums::whole + (sums::rest > 0);
        const int first_panel = by_images ? 0 : static_cast<int>(share(panels, c.part, c.parts));
        const int last_panel =
            by_images ? panels : static_cast<int>(share(panels, c.end > c.first ? c.end : c.part + 1, c.parts));
        float* const sum = c.scratch + (by_images ? c.part * sums::floats : 0);
        const std::int64_t last_sum =
            last_panel <= sums::whole ? std::int64_t{last_panel} * panel * depth : panel_floats(depth, CO, lanes);
        std::fill(sum + std::int64_t{first_panel} * panel * depth, sum + last_sum, 0.f);
        float* copy = c.scratch + c.parts * sums::floats + c.part * image_floats;
        float* const packed =
            c.scratch + sums::copies(c.parts) * sums::floats + c.parts * image_floats + c.part * panel_copy;
        const std::int64_t begin = by_images ? share(c.m, c.part, c.parts) : 0,
                           end = by_images ? share(c.m, c.part + 1, c.parts) : c.m;
        for (std::int64_t i = begin; i < end; i += block_images) {
            const int images = static_cast<int>(std::min<std::int64_t>(block_images, end - i));
            const float* x = c.p[conv_weight_gradient_operand::x] + i * (H * W * CI);
            const float* dy = c.p[conv_weight_gradient_operand::dy] + i * (OH * OW * CO);
            if constexpr (copies) {
                padded::copy(x, copy, i == begin);
                x = copy;
            }
            for (int y = 0; y < OH; y += block_rows) {
                const int last = std::min(y + block_rows, OH);
                next_block next{x + (images > 1 ? images * H : last * S) * (W * CI),
                                dy + (images > 1 ? images * OH : last) * (OW * CO)};
                if constexpr (sums::whole > 0)
                    for (int p = first_panel; p < std::min(last_panel, sums::whole); ++p)
                        block<2, panel>(sum + std::int64_t{p} * panel * depth, x,
                                        pack<2, panel>(dy + p * panel, images, y, last, packed), images, y, last, next);
                if constexpr (sums::rest > 0)
                    if (last_panel > sums::whole)
                        block<(sums::rest > lanes) + 1, sums::rest>(
                            sum + std::int64_t{sums::whole} * panel * depth, x,
                            pack<(sums::rest > lanes) + 1, sums::rest>(dy + sums::whole * panel, images, y, last,
                                                                       packed),
                            images, y, last, next);
            }
        }
    }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL>
struct nest<op::conv_weight_gradient, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, 0> {
    using by_windows = window_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using in_place = conv_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using any = std::conditional_t<by_windows::pays, by_windows, in_place>;
    using sparse = sparse_weight_gradient<any, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using narrow = narrow_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using type = std::conditional_t<narrow::pays, narrow, std::conditional_t<sparse::pays, sparse, any>>;
};

} // namespace sinter::cpu
