// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/base/algorithm.hpp>
#include <sinter/kernel/cpu/finish.hpp>
#include <sinter/kernel/cpu/first_max.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/winograd_transform.hpp>

/// 3 x 3 convolutions of stride 1 by winograd_transform.hpp. All extents are told at run time: equal bodies share a kernel.
namespace sinter::cpu {

/// x [H, W, CI] to y [OH, OW, CO], PT zero rows above and PL zero columns left; CI is a multiple of the vector.
struct winograd_extents {
    int H, W, CI, OH, OW, CO, PT, PL;
    constexpr explicit winograd_extents(const std::int64_t* e)
        : H(at(e, 0)), W(at(e, 1)), CI(at(e, 2)), OH(at(e, 3)), OW(at(e, 4)), CO(at(e, 5)), PT(at(e, 6)), PL(at(e, 7)) {}
    constexpr int panels() const { return (CO + 2 * lanes - 1) / (2 * lanes); }

private:
    static constexpr int at(const std::int64_t* e, int i) { return static_cast<int>(e[i]); }
};

/// Where tiles, and blocks of tiles and of channels, lie.
template <int M>
struct winograd_blocks {
    static constexpr int T = M + 2, places = T * T, panel = 2 * lanes;
    static constexpr int channels = 64;                                    ///< transformed windows of a panel stay in L2
    static constexpr int most_tiles = (1 << 16) / (places * panel);        ///< as do a panel's products
    static constexpr int gap = 16;   ///< floats between places: at a distance of a power of two they would share L1's sets
    winograd_extents x;
    int rows, columns;   ///< of tiles in an image
    constexpr explicit winograd_blocks(const winograd_extents& e) : x(e), rows((e.OH + M - 1) / M), columns((e.OW + M - 1) / M) {}

    constexpr std::int64_t tiles(std::int64_t images) const { return images * rows * columns; }
    constexpr std::int64_t patch_floats(std::int64_t tiles, std::int64_t blocks) const {
        return places * (tiles * x.CI + blocks * gap * ((x.CI + channels - 1) / channels));
    }
    /// Transforms tile `tile`, the `at`th of `n` in a block whose patches are at v: [channel block][place][tile][channel].
    void patch(const float* images, std::int64_t tile, std::int64_t at, std::int64_t n, float* v) const {
        const std::int64_t image = tile / (rows * columns);
        const int place = static_cast<int>(tile % (rows * columns));
        const int y = place / columns * M - x.PT, left = place % columns * M - x.PL;
        const patch_inside in{std::max(0, -y), std::min(T, x.H - y), std::max(0, -left), std::min(T, x.W - left)};
        const float* from = images + ((image * x.H + y) * x.W + left) * x.CI;
        for (int c = 0; c < x.CI; c += channels, from += channels) {
            const int width = std::min(channels, x.CI - c);
            const std::int64_t step = n * width + gap;
            transform_patch<M>(from, std::ptrdiff_t{x.W} * x.CI, x.CI, in, width, v + at * width, step);
            v += places * step;
        }
    }
};

/// to [rows][panel] = (unless first, to +) the sum over t < depth of a[i * row_step + t * sum_step] * b[t][panel], in tiles as
/// equal as can be.
template <class = void>
inline void multiply_rows(bool first, const float* a, std::int64_t row_step, std::int64_t sum_step, std::int64_t depth,
                          const float* b, float* to, std::int64_t rows) {
    static constexpr auto of = []<int... I>(std::integer_sequence<int, I...>) {
        struct { tile_function f[tile_rows]; } t{{multiply_tile<I + 1, 2>...}};
        return t;
    }(std::make_integer_sequence<int, tile_rows>{});
    const std::int64_t count = (rows + tile_rows - 1) / tile_rows;
    for (std::int64_t t = 0; t < count; ++t) {
        const std::int64_t begin = rows * t / count, n = rows * (t + 1) / count - begin;
        float* const sums = to + begin * panel_width;
        of.f[n - 1](first ? no_sum : sums, sums, a + begin * row_step, row_step, sum_step, b, panel_width, depth, 1);
    }
}

/// y = the convolution of x with packed weights. p[0] = x, p[1] = w, c.m = images. Body: off in y, row = pixel, col = channel.
///
/// Where a part has tiles enough to make up for transforming the weights, parts are tiles; else they are panels of output
/// channels, and the patches, which all of them read, are transformed beforehand. Either way a tile's sums have one order.
///
/// With `Pooled`, y is what a max-pool of M x M windows (a tile each) makes of it, and p[2] takes its winners, as in
/// conv_max_pool_forward. Rows and columns that fill no window are dropped.
template <int M, class Body, bool Pooled = false>
struct winograd_convolution {
    using blocks = winograd_blocks<M>;
    static constexpr int places = blocks::places, panel = blocks::panel, gap = blocks::gap, most = blocks::most_tiles;
    static constexpr std::int64_t products = std::int64_t{places} * (most * panel + gap);
    /// The transformed windows of one panel; and of all panels, if they are few enough to stay in L2 from block to block.
    static constexpr std::int64_t windows(const blocks& b) {
        return std::int64_t{places} * (b.x.CI * panel + (b.x.CI + blocks::channels - 1) / blocks::channels * gap);
    }
    static constexpr bool keeps(const blocks& b) { return b.x.panels() * windows(b) <= 1 << 16; }
    static constexpr std::int64_t own(const blocks& b) {
        constexpr std::int64_t passing = std::int64_t{places} * (blocks::channels * panel + gap);
        return products + (keeps(b) ? b.x.panels() * windows(b) : passing);
    }
    static constexpr blocks blocks_of(const std::int64_t* e) {
        winograd_extents x(e);
        if (Pooled) x.OH -= x.OH % M, x.OW -= x.OW % M;
        return blocks{x};
    }
    static constexpr bool shared(std::int64_t tiles, int parts) { return tiles < std::int64_t{32} * parts; }
    /// Blocks of all tiles where patches are shared: at least so many that with the panels there is work for all parts.
    static constexpr std::int64_t cut(std::int64_t tiles, int panels, int parts) {
        const std::int64_t least = (tiles + most - 1) / most;
        return std::min(tiles, std::max<std::int64_t>(least, (parts + panels - 1) / panels));
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t images) {
        const blocks b = blocks_of(e);
        const std::int64_t tiles = b.tiles(images), few = std::min<std::int64_t>(tiles, 32 * parts - 1);
        const std::int64_t together = b.patch_floats(few, cut(few, b.x.panels(), parts));
        const std::int64_t alone = shared(tiles, parts) ? 0 : parts * b.patch_floats(most, 1);
        return parts * own(b) + std::max(together, alone);
    }

    static void prepare(const call& c) {
        const blocks b = blocks_of(c.e);
        const std::int64_t tiles = b.tiles(c.m), n = cut(tiles, b.x.panels(), c.parts), end = share(tiles, c.part + 1, c.parts);
        if (!shared(tiles, c.parts)) return;
        float* const v = c.scratch + c.parts * own(b);
        std::int64_t t = share(tiles, c.part, c.parts);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t first = tiles * k / n, last = tiles * (k + 1) / n;
            for (; t < std::min(last, end); ++t) b.patch(c.p[0], t, t - first, last - first, v + b.patch_floats(first, k));
        }
    }
    static void run(const call& c) {
        const blocks b = blocks_of(c.e);
        const std::int64_t tiles = b.tiles(c.m);
        float* const v = c.scratch + c.parts * own(b);
        const int panels = b.x.panels();
        if (shared(tiles, c.parts)) {
            const std::int64_t n = cut(tiles, panels, c.parts), end = share(n * panels, c.part + 1, c.parts);
            for (std::int64_t i = share(n * panels, c.part, c.parts); i < end; ++i) {
                const std::int64_t k = i % n, first = tiles * k / n;
                one(b, v + b.patch_floats(first, k), first, tiles * (k + 1) / n, static_cast<int>(i / n), true, c);
            }
            return;
        }
        const std::int64_t begin = share(tiles, c.part, c.parts), all = share(tiles, c.part + 1, c.parts) - begin;
        const std::int64_t n = (all + most - 1) / most;
        float* const mine = v + first_part(c) * b.patch_floats(most, 1);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t first = begin + all * k / n, last = begin + all * (k + 1) / n;
            for (std::int64_t t = first; t < last; ++t) b.patch(c.p[0], t, t - first, last - first, mine);
            for (int p = 0; p < panels; ++p) one(b, mine, first, last, p, !keeps(b) || (k == 0 && c.part == first_part(c)), c);
        }
    }

private:
    /// One panel of the tiles [first, last), whose patches are at v. `fresh`: its windows are to be transformed.
    static void one(const blocks& b, const float* v, std::int64_t first, std::int64_t last, int p, bool fresh,
                    const call& c) {
        float *const m = c.scratch + first_part(c) * own(b), *u = m + products + (keeps(b) ? p * windows(b) : 0);
        const int width = panel_columns(b.x.CO, p, panel, lanes);
        const std::int64_t tiles = last - first, product_step = tiles * panel + gap;
        const float* w = c.p[1] + std::int64_t{p} * panel * 9 * b.x.CI;
        for (int ci = 0; ci < b.x.CI; ci += blocks::channels) {
            const int n = std::min(blocks::channels, b.x.CI - ci);
            if (fresh) transform_windows<M>(w + ci * width, b.x.CI, width, n, u, n * panel + gap);
            for (int f = 0; f < places; ++f, v += tiles * n + gap)
                multiply_rows(ci == 0, v, n, 1, n, u + f * (n * panel + gap), m + f * product_step, tiles);
            if (keeps(b)) u += places * (n * panel + gap);
        }
        finish(b, m, product_step, first, last, p * panel, c);
    }
    /// Back to outputs: tiles that lie side by side become rows of pixels, which are handed to the body.
    static void finish(const blocks& b, const float* m, std::int64_t step, std::int64_t first, std::int64_t last, int col,
                       const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        constexpr int most_beside = 8;
        alignas(64) float y[M * M * most_beside * panel];
        for (std::int64_t t = first; t < last;) {
            const std::int64_t row = t / b.columns, image = row / b.rows;
            const int x = static_cast<int>(t % b.columns), oy = static_cast<int>(row % b.rows) * M;
            const int n = static_cast<int>(std::min<std::int64_t>({b.columns - x, last - t, most_beside}));
            for (int i = 0; i < n; ++i, m += panel) transform_products<M>(m, step, y + i * M * panel, n * M * panel);
            const int channels = std::min(panel, b.x.CO - col);
            if constexpr (Pooled) {
                const std::int64_t pixel = row * b.columns + x;
                for (int i = 0; i < n; ++i) pool(y, i, n, channels, winners(c, (pixel + i) * b.x.CO + col));
                f.finish({y, n, channels, panel, pixel * b.x.CO + col, b.x.CO, pixel, col}, c);
            } else {
                for (int a = 0; a < std::min(M, b.x.OH - oy); ++a) {
                    const std::int64_t pixel = (image * b.x.OH + oy + a) * b.x.OW + x * M;
                    f.finish({y + a * n * M * panel, std::min(n * M, b.x.OW - x * M), channels, panel, pixel * b.x.CO + col, b.x.CO,
                              pixel, col}, c);
                }
            }
            t += n;
        }
    }
    static std::uint8_t* winners(const call& c, std::int64_t off) {
        return c.p[2] ? reinterpret_cast<std::uint8_t*>(c.p[2]) + off : nullptr;
    }
    /// The largest outputs of tile i of n side by side, to where no later tile lies: y[i * panel].
    static void pool(float* y, int i, int n, int channels, std::uint8_t* won) {
        for (int j = 0; j < panel; j += lanes) {
            const float* const from = y + i * M * panel + j;
            first_max largest{load(from)};
            for (int q = 1; q < M * M; ++q) largest.see(load(from + (q / M * n * M + q % M) * panel), q);
            store(y + i * panel + j, largest.best);
            if (!won || j >= channels) continue;
            if (channels - j >= lanes) store_bytes(won + j, largest.place);
            else for (int k = 0; k < channels - j; ++k) won[j + k] = static_cast<std::uint8_t>(largest.place[k]);
        }
    }
};

template <class Body, int M>
struct nest<op::conv, Body, 0, M, M, 0, 0, 0, 0, 0, 0, 0, 0, 0> { using type = winograd_convolution<M, Body, true>; };
/// Both directions: a convolution's input gradient is one of the gradient with the weights that conv_transpose_weights gives.
template <class Body, int M>
struct nest<op::conv, Body, 0, M, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0> { using type = winograd_convolution<M, Body>; };
template <class Body, int M>
struct nest<op::conv_input_gradient, Body, 0, M, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0> { using type = winograd_convolution<M, Body>; };

} // namespace sinter::cpu
