// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <sinter/kernel/cpu/pool/first_max.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/cpu/winograd/winograd_blocks.hpp>
#include <sinter/kernel/cpu/winograd/winograd_product.hpp>
#include <sinter/kernel/panels.hpp>

/// Convolutions of stride 1 by winograd_transform.hpp.
namespace sinter::inline SINTER_TARGET::cpu {

/// A panel's products of one tile (as transform_products takes them) to the largest of each P x P
/// of its outputs: windows side by side, their rows `row` apart; and to the places of the first
/// that are as large, for the windows of `rows` x `columns` and `channels` that there are, if
/// anyone wants them: a row's `won_row` apart, a window's `won_step`.
template <int M, int K, int P>
__attribute__((noinline)) void pool_products(const float* m, std::ptrdiff_t step, float* best, std::ptrdiff_t row,
                                             std::uint8_t* won, std::int64_t won_row, std::int64_t won_step, int rows,
                                             int columns, int channels) {
    using axis = winograd_axis<M, K>;
    for (int j = 0; j < panel_width; j += lanes) {
        vf y[std::size_t{M}][std::size_t{M}];
        transform_both<axis::size, M>([](const vf* d, vf* q) SINTER_ALWAYS { axis::outputs(d, q); },
                                      [&](int a, int b)
                                          SINTER_ALWAYS { return load(m + (a * axis::size + b) * step + j); },
                                      [&](int a, int b, vf q) SINTER_ALWAYS { y[a][b] = q; });
        unroll<(M / P) * (M / P)>([&](auto window) SINTER_ALWAYS {
            constexpr int a = window / (M / P), b = window % (M / P);
            vf of[std::size_t{P * P}];
            unroll<P * P>([&](auto k) SINTER_ALWAYS { of[k] = y[a * P + k / P][b * P + k % P]; });
            const first_max largest = largest_of(of);
            store(best + a * row + b * panel_width + j, largest.best);
            if (!won || a >= rows || b >= columns || j >= channels) return;
            std::uint8_t* const to = won + a * won_row + b * won_step + j;
            if (channels - j >= lanes) store_bytes(to, largest.place);
            else for (int k = 0; k < channels - j; ++k) to[k] = static_cast<std::uint8_t>(largest.place[k]);
        });
    }
}

/// y = the convolution of x with packed weights. Operands: x, w; c.m = images. Body: off in y, row
/// = pixel, col = channel.
///
/// Where a part has tiles enough to make up for transforming the weights, parts are tiles; else
/// they are panels of output channels, and the patches, which all of them read, are transformed
/// beforehand. Either way a tile's sums have one order.
///
/// With a pool P, y is what a max-pool of P x P windows, of which a tile holds some, makes of it,
/// and there are its winners, as in conv_max_pool_forward. Rows and columns that fill no window are
/// dropped.
template <int M, int K, class Body, int P = 0>
struct winograd_convolution {
    static_assert(P == 0 || M % P == 0);
    using blocks = winograd_blocks<M, K>;
    static constexpr int places = blocks::places, panel = blocks::panel, gap = blocks::gap, most = blocks::most_tiles;
    /// Tiles of a block whose patches are shared and pass by: a panel's windows are transformed
    /// anew for each block.
    static constexpr int most_passing = (lanes >= 16 && places == 36 ? 5 << 15 : 1 << 16) / (places * panel);
    static constexpr std::int64_t products(bool passing) {
        return std::int64_t{places} * ((passing ? most_passing : most) * panel + gap);
    }
    /// The transformed windows of one panel; and of all panels, if they are few enough to stay in
    /// L2 from block to block.
    static constexpr std::int64_t windows(const blocks& b) {
        return std::int64_t{places} * (b.x.CI * panel + (b.x.CI + blocks::channels - 1) / blocks::channels * gap);
    }
    static constexpr bool keeps(const blocks& b) {
        return b.x.panels() * windows(b) <= (lanes >= 16 ? 3 << 16 : 1 << 16);
    }
    /// Tiles of a block that a part transforms for itself: beside many such windows the
    /// second-level cache has less room.
    static constexpr int most_own(const blocks& b) {
        return keeps(b) && b.x.panels() * windows(b) > second_level_floats / 4 ? most / 2 : most;
    }
    static constexpr std::int64_t own_windows(const blocks& b) {
        return keeps(b) ? b.x.panels() * windows(b) : std::int64_t{places} * (blocks::channels * panel + gap);
    }
    static constexpr std::int64_t own(const blocks& b, bool passing) { return own_windows(b) + products(passing); }
    static constexpr blocks blocks_of(const std::int64_t* e) {
        winograd_extents x(e);
        if constexpr (P > 0) x.OH -= x.OH % P, x.OW -= x.OW % P;
        return blocks{x};
    }
    static constexpr int shared_tiles = 64;   ///< for each part: of fewer, patches are shared
    static constexpr bool shared(std::int64_t tiles, int parts) { return tiles < std::int64_t{shared_tiles} * parts; }
    /// Blocks of all tiles where patches are shared: at least so many that with the panels there is
    /// work for all parts.
    static constexpr std::int64_t cut(std::int64_t tiles, int panels, int parts) {
        const std::int64_t least = (tiles + most_passing - 1) / most_passing;
        return std::min(tiles, std::max<std::int64_t>(least, (parts + panels - 1) / panels));
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t images) {
        const blocks b = blocks_of(e);
        const std::int64_t tiles = b.tiles(images), few = std::min<std::int64_t>(tiles, shared_tiles * parts - 1);
        const std::int64_t together = parts * own(b, true) + b.patch_floats(few, cut(few, b.x.panels(), parts));
        return std::max(together, shared(tiles, parts) ? 0 : parts * (own(b, false) + b.patch_floats(most, 1)));
    }

    static void prepare(const call& c) {
        const blocks b = blocks_of(c.e);
        const std::int64_t tiles = b.tiles(c.m), n = cut(tiles, b.x.panels(), c.parts),
                           end = share(tiles, c.part + 1, c.parts);
        if (!shared(tiles, c.parts)) return;
        float* const v = c.scratch + c.parts * own(b, true);
        const auto patches = leaves_caches(b.patch_floats(tiles, n)) ? &blocks::template patches<true>
                                                                     : &blocks::template patches<false>;
        std::int64_t t = share(tiles, c.part, c.parts);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t first = tiles * k / n, last = tiles * (k + 1) / n;
            if (const std::int64_t to = std::min(last, end); t < to) {
                (b.*patches)(c.p[conv_operand::source], t, to, t - first, last - first, v + b.patch_floats(first, k));
                t = to;
            }
        }
        lines_are_stored();
    }
    static void run(const call& c) {
        const blocks b = blocks_of(c.e);
        const std::int64_t tiles = b.tiles(c.m);
        const bool passing = shared(tiles, c.parts);
        float *const v = c.scratch + c.parts * own(b, passing), *const workspace =
                                                                    c.scratch + first_part(c) * own(b, passing);
        const int panels = b.x.panels();
        if (passing) {
            const std::int64_t n = cut(tiles, panels, c.parts), end = share(n * panels, c.part + 1, c.parts);
            for (std::int64_t i = share(n * panels, c.part, c.parts); i < end; ++i) {
                const std::int64_t k = i % n, first = tiles * k / n;
                const std::int64_t last = tiles * (k + 1) / n;
                one(b, v + b.patch_floats(first, k), first, last, last, static_cast<int>(i / n), true, workspace, c);
            }
            return;
        }
        const std::int64_t begin = share(tiles, c.part, c.parts), all = share(tiles, c.part + 1, c.parts) - begin;
        const std::int64_t n = (all + most_own(b) - 1) / most_own(b);
        float* const mine = v + first_part(c) * b.patch_floats(most, 1);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t first = begin + all * k / n, last = begin + all * (k + 1) / n;
            b.template patches<false>(c.p[conv_operand::source], first, last, 0, last - first, mine);
            const bool fresh = !keeps(b) || (k == 0 && c.part == first_part(c));
            for (int p = 0; p < panels; ++p) one(b, mine, first, last, begin + all, p, fresh, workspace, c);
        }
    }

private:
    static constexpr epilogue body = epilogue_of<Body>();

    /// A panel's share of the images' pixels that the block of tiles [first, last) will be
    /// transformed from, for as many iterations.
    static winograd_prefetched images(const blocks& b, std::int64_t first, std::int64_t last, int p,
                                      std::int64_t transposes, const call& c) {
        const std::int64_t from = b.input(first) * b.x.CI, all = b.input(last) * b.x.CI - from;
        return {c.p[conv_operand::source] + from + all * p / b.x.panels(),
                (all + b.x.panels() * transposes - 1) / (b.x.panels() * transposes)};
    }
    /// One panel of the tiles [first, last), whose patches are at v; tiles before `end` will be
    /// transformed. `fresh`: the panel's windows are to be transformed.
    static void one(const blocks& b, const float* v, std::int64_t first, std::int64_t last, std::int64_t end, int p,
                    bool fresh, float* workspace, const call& c) {
        float *const m = workspace + own_windows(b), *u = workspace + (keeps(b) ? p * windows(b) : 0);
        const int width = panel_columns(b.x.CO, p, panel, lanes);
        const std::int64_t tiles = last - first, product_step = tiles * panel + gap;
        const float* w = c.p[conv_operand::weights] + std::int64_t{p} * panel * K * K * b.x.CI;
        const std::int64_t calls = places * winograd_calls(tiles);
        winograd_prefetched prefetched = images(b, last, std::min(last + tiles, end), p, calls * b.x.CI, c);
        for (int ci = 0; ci < b.x.CI; ci += blocks::channels) {
            const int n = std::min(blocks::channels, b.x.CI - ci);
            if (P == 0 && body.list && ci + n == b.x.CI) {
                const std::int64_t from = b.result(first), each = (b.result(last) - from + calls - 1) / calls;
                prefetched.body(body, c, each, std::min(panel, b.x.CO - p * panel), from * b.x.CO + p * panel, b.x.CO,
                                each * b.x.CO);
            }
            if (fresh) transform_windows<M, K>(w + ci * width, b.x.CI, width, n, u, n * panel + gap);
            for (int f = 0; f < places; ++f, v += tiles * n + gap) {
                if (last == end)
                    prefetched.stream(v + tiles * n + gap,
                                      tiles / winograd_calls(tiles) + 1);   // the next place's patches
                multiply_rows<false>(ci == 0, v, n, n, u + f * (n * panel + gap), m + f * product_step, tiles,
                                     prefetched);
            }
            if (keeps(b)) u += places * (n * panel + gap);
        }
        finish(b, m, product_step, first, last, p * panel, c);
    }
    /// Back to outputs: tiles that lie side by side become rows of pixels, which are handed to the
    /// body.
    static void finish(const blocks& b, const float* m, std::int64_t step, std::int64_t first, std::int64_t last,
                       int col, const call& c) {
        constexpr int most_beside = 8;
        alignas(64) float y[std::size_t{M * M * most_beside * panel}];
        constexpr int window = P ? P : 1, side = M / window;   // outputs of a result, results of a tile along each axis
        const int height = b.x.OH / window, width = b.x.OW / window, channels = std::min(panel, b.x.CO - col);
        for (std::int64_t t = first; t < last;) {
            const std::int64_t row = t / b.columns, image = row / b.rows;
            const int x = static_cast<int>(t % b.columns) * side, oy = static_cast<int>(row % b.rows) * side;
            const int n = static_cast<int>(std::min<std::int64_t>({b.columns - t % b.columns, last - t, most_beside}));
            const int rows = std::min(side, height - oy), columns = std::min(n * side, width - x);
            const std::int64_t pixel = (image * height + oy) * width + x;
            for (int i = 0; i < n; ++i, m += panel) {
                float* const to = y + i * side * panel;
                if constexpr (P == 0) transform_products<M, K>(m, step, to, n * M * panel);
                else
                    pool_products<M, K, P>(m, step, to, n * side * panel, winners(c, (pixel + i * side) * b.x.CO + col),
                                           width * b.x.CO, b.x.CO, rows, columns - i * side, channels);
            }
            for (int a = 0; a < rows; ++a) {
                const std::int64_t at = pixel + a * width;
                body.finish({y + a * n * side * panel, columns, channels, panel, at * b.x.CO + col, b.x.CO, at, col},
                            c);
            }
            t += n;
        }
    }
    static std::uint8_t* winners(const call& c, std::int64_t off) {
        return c.p[conv_operand::winners] ? reinterpret_cast<std::uint8_t*>(c.p[conv_operand::winners]) + off : nullptr;
    }
};

/// Both directions: a convolution's input gradient is one of the gradient with the weights that
/// conv_transpose_weights gives.
template <class Body, int M, int K, int P>
struct nest<op::conv, Body, 0, M, K, P, 0, 0, 0, 0, 0, 0, 0, 0> { using type = winograd_convolution<M, K, Body, P>; };
template <class Body, int M, int K>
struct nest<op::conv_input_gradient, Body, 0, M, K, 0, 0, 0, 0, 0, 0, 0, 0, 0> {
    using type = winograd_convolution<M, K, Body>;
};

} // namespace sinter::cpu
