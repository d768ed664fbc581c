// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cpu/winograd/winograd.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dw, packed, of winograd_convolution (same extents): the adjoint of its transforms around the
/// sums over tiles of patches times output gradients. Operands: x, dy; c.m = images. Body: off in
/// the packed weights, row = weight row, col = channel; padding lanes are zero.
///
/// Where sums of all parts take less memory than all tiles do, each part sums its own tiles and
/// finish() adds the parts in their order. Otherwise prepare() transforms all tiles, and each part
/// sums some panels and blocks of channels over all of them.
template <int M, int K, class Body>
struct winograd_weight_gradient {
    using blocks = winograd_blocks<M, K>;
    static constexpr int phases = 2, taps = K * K, places = blocks::places, panel = blocks::panel, gap = blocks::gap;
    static constexpr int channels = blocks::channels;
    static constexpr std::int64_t most = 64;      ///< tiles of a block: those of a place and channels stay in L1
    static constexpr std::int64_t most_own =
        32;   ///< of one that a part transforms for itself: all of it is near L2's size, with the sums

    struct plan {
        blocks b;
        std::int64_t tiles, n;   ///< of all images; their blocks
        int panels, channel_blocks, parts;
        bool shared;             ///< tiles are transformed beforehand
        plan(const call& c) : plan(c.e, c.m, c.parts) {}
        constexpr plan(const std::int64_t* e, std::int64_t images, int n_parts)
            : b{winograd_extents(e)}, tiles(b.tiles(images)), n((tiles + most - 1) / most), panels(b.x.panels()),
              channel_blocks((b.x.CI + channels - 1) / channels), parts(n_parts),
              shared(tiles * per_tile() <= parts * sum_floats()) {}
        constexpr std::int64_t per_tile() const { return std::int64_t{places} * (b.x.CI + panels * panel); }
        constexpr std::int64_t block_sums() const { return std::int64_t{places} * (channels * panel + gap); }
        constexpr std::int64_t sum_floats() const { return panels * channel_blocks * block_sums(); }
        /// Of the transformed outputs' gradients: [block of tiles][panel][place][tile][channel].
        constexpr std::int64_t output_floats(std::int64_t some, std::int64_t in_blocks) const {
            return std::int64_t{places} * panels * (some * panel + in_blocks * gap);
        }
        constexpr std::int64_t own() const { return b.patch_floats(most_own, 1) + output_floats(most_own, 1); }
        constexpr std::int64_t scratch() const {
            if (shared) return parts * block_sums() + b.patch_floats(tiles, n) + output_floats(tiles, n);
            return parts * (sum_floats() + own());
        }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t images) {
        const plan all(e, images, parts);   // and of fewer images, some of which may be the most that are shared
        if (all.shared) return all.scratch();
        const std::int64_t few = parts * all.sum_floats() / all.per_tile() / all.b.tiles(1);
        return std::max(all.scratch(), plan(e, few, parts).scratch());
    }

    static void prepare(const call& c) {
        const plan q(c);
        if (!q.shared) return;
        float* const v = c.scratch + q.parts * q.block_sums();
        float* const z = v + q.b.patch_floats(q.tiles, q.n);
        const std::int64_t end = share(q.tiles, c.part + 1, c.parts);
        const bool non_temporal = leaves_caches(q.tiles * q.per_tile());
        std::int64_t t = share(q.tiles, c.part, c.parts);
        for (std::int64_t k = 0; k < q.n; ++k) {
            const std::int64_t first = q.tiles * k / q.n, last = q.tiles * (k + 1) / q.n;
            if (const std::int64_t to = std::min(last, end); t < to) {
                (non_temporal ? transform<true> : transform<false>)(q, c, t, to, t - first, last - first,
                                                                    v + q.b.patch_floats(first, k),
                                                                    z + q.output_floats(first, k));
                t = to;
            }
        }
        lines_are_stored();
    }
    static void run(const call& c) {
        const plan q(c);
        if (q.shared) {
            float* const sums = c.scratch + c.part * q.block_sums();
            const float* const v = c.scratch + q.parts * q.block_sums();
            const float* const z = v + q.b.patch_floats(q.tiles, q.n);
            const int all = q.panels * q.channel_blocks, last = static_cast<int>(share(all, c.part + 1, c.parts));
            for (int i = static_cast<int>(share(all, c.part, c.parts)); i < last; ++i) {
                for (std::int64_t k = 0; k < q.n; ++k) {
                    const std::int64_t first = q.tiles * k / q.n, end = q.tiles * (k + 1) / q.n, tiles = end - first;
                    winograd_prefetched prefetched(z, 0);
                    const bool overlaps = body.list && k + 1 == q.n;
                    if (overlaps) prefetch(q, i, prefetched, c);
                    const transformed to_come =
                        at(q, i, v + q.b.patch_floats(end, k + 1), z + q.output_floats(end, k + 1), tiles);
                    add(q, i, k == 0, v + q.b.patch_floats(first, k), z + q.output_floats(first, k), tiles, sums,
                        prefetched, overlaps, overlaps ? nullptr : &to_come);
                }
                emit(q, i, sums, 1, 0, c);
            }
            return;
        }
        float* const sums = c.scratch + c.part * (q.sum_floats() + q.own());
        float *const v = sums + q.sum_floats(), *const z = v + q.b.patch_floats(most_own, 1);
        const std::int64_t begin = share(q.tiles, c.part, c.parts), mine = share(q.tiles, c.part + 1, c.parts) - begin;
        const std::int64_t n = (mine + most_own - 1) / most_own;
        if (!n) std::fill_n(sums, q.sum_floats(), 0.f);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t first = begin + mine * k / n, tiles = begin + mine * (k + 1) / n - first;
            transform<false>(q, c, first, first + tiles, 0, tiles, v, z);
            winograd_prefetched prefetched =
                block(q, first + tiles, std::min(first + 2 * tiles, begin + mine), tiles, c);
            add_all(q, k == 0, v, z, tiles, sums, prefetched);
        }
    }
    static void finish(const call& c) {
        const plan q(c);
        if (q.shared) return;
        const int all = q.panels * q.channel_blocks, last = static_cast<int>(share(all, c.part + 1, c.parts));
        for (int i = static_cast<int>(share(all, c.part, c.parts)); i < last; ++i)
            emit(q, i, c.scratch + i * q.block_sums(), c.parts, q.sum_floats() + q.own(), c);
    }

private:
    static constexpr epilogue body = epilogue_of<Body>();

    /// The tiles [tile, last), the first of them the `at`th of `n` in a block.
    template <bool NonTemporal>
    static void transform(const plan& q, const call& c, std::int64_t tile, std::int64_t last, std::int64_t at,
                          std::int64_t n, float* v, float* z) {
        const winograd_extents& x = q.b.x;
        q.b.template patches<NonTemporal>(c.p[conv_weight_gradient_operand::x], tile, last, at, n, v);
        const std::int64_t step = n * panel + gap;
        for (; tile < last; ++tile, ++at) {
            const std::int64_t image = tile / (q.b.rows * q.b.columns);
            const int place = static_cast<int>(tile % (q.b.rows * q.b.columns));
            const int oy = place / q.b.columns * M, ox = place % q.b.columns * M;
            const float* y = c.p[conv_weight_gradient_operand::dy] + ((image * x.OH + oy) * x.OW + ox) * x.CO;
            float* to = z + at * panel;
            for (int col = 0; col < x.CO; col += panel, y += panel, to += places * step)
                transform_output_gradients<M, K, NonTemporal>(y, std::ptrdiff_t{x.OW} * x.CO, x.CO, x.OH - oy,
                                                              x.OW - ox, x.CO - col, to, step);
        }
    }
    /// What the tiles [first, last) will be transformed from, prefetched by the products of
    /// `tiles`.
    static winograd_prefetched block(const plan& q, std::int64_t first, std::int64_t last, std::int64_t tiles,
                                     const call& c) {
        const winograd_extents& x = q.b.x;
        const std::int64_t calls =
            q.panels * places * (x.CI / channels * winograd_calls(channels) + winograd_calls(x.CI % channels));
        const float *const from = c.p[conv_weight_gradient_operand::x] + q.b.input(first) * x.CI,
                           *const dy = c.p[conv_weight_gradient_operand::dy] + q.b.result(first) * x.CO;
        const std::int64_t floats = (q.b.input(last) - q.b.input(first)) * x.CI,
                           dy_floats = (q.b.result(last) - q.b.result(first)) * x.CO;
        winograd_prefetched prefetched(from, (floats + calls * tiles - 1) / (calls * tiles));
        prefetched.floats(dy, (dy_floats + calls - 1) / calls);
        return prefetched;
    }
    /// Block `i` of panels and channels, its taps by its channels: where row `k` of them lies in
    /// the packed weights.
    static std::int64_t weight_row(const plan& q, int i, int k) {
        const int ci = i % q.channel_blocks * channels, n = std::min(channels, q.b.x.CI - ci);
        return std::int64_t{k / n} * q.b.x.CI + ci + k % n;
    }
    static std::int64_t weight_offset(const plan& q, int i, std::int64_t row) {
        const int p = i / q.channel_blocks;
        return std::int64_t{p} * panel * taps * q.b.x.CI + row * panel_columns(q.b.x.CO, p, panel, lanes);
    }
    /// Its weights, prefetched by the last products before they are emitted.
    static void prefetch(const plan& q, int i, winograd_prefetched& prefetched, const call& c) {
        const int n = std::min(channels, q.b.x.CI - i % q.channel_blocks * channels);
        const int width = panel_columns(q.b.x.CO, i / q.channel_blocks, panel, lanes);
        const std::int64_t calls = places * winograd_calls(n), each = (taps * n + calls - 1) / calls;
        prefetched.body(body, c, each, width, 0, width, each * width);
    }
    /// Where a block's patches and outputs' gradients of one channel block and panel begin.
    struct transformed {
        const float *v, *z;
    };
    static transformed at(const plan& q, int i, const float* v, const float* z, std::int64_t tiles) {
        const int ci = i % q.channel_blocks * channels;
        return {v + places * (tiles * ci + i % q.channel_blocks * gap),
                z + i / q.channel_blocks * places * (tiles * panel + gap)};
    }
    /// Block `i`: sums over a block of tiles. `overlaps`: weights are prefetched meanwhile.
    /// `to_come`: tiles that each place prefetches for the next, and the last for the next call.
    static void add(const plan& q, int i, bool first, const float* v, const float* z, std::int64_t tiles, float* sums,
                    winograd_prefetched& prefetched, bool overlaps, const transformed* to_come) {
        const int n = std::min(channels, q.b.x.CI - i % q.channel_blocks * channels);
        const transformed from = at(q, i, v, z, tiles);
        v = from.v, z = from.z;
        for (int f = 0; f < places; ++f, v += tiles * n + gap, z += tiles * panel + gap, sums += n * panel + gap) {
            if (overlaps) prefetched.body_at(weight_offset(q, i, weight_row(q, i, taps * n * f / places)));
            if (to_come) {
                const std::int64_t calls = winograd_calls(n);
                prefetched = {f + 1 < places ? v + tiles * n + gap : to_come->v, (n + calls - 1) / calls};
                prefetched.floats(f + 1 < places ? z + tiles * panel + gap : to_come->z,
                                  (tiles * panel + calls - 1) / calls);
            }
            multiply_rows<true>(first, v, n, tiles, z, sums, n, prefetched);
        }
    }
    /// All blocks, place by place: a place's patches stay in the first-level cache while panels
    /// pass by, and the gradients behind it.
    static void add_all(const plan& q, bool first, const float* v, const float* z, std::int64_t tiles, float* sums,
                        winograd_prefetched& prefetched) {
        for (int f = 0; f < places; ++f)
            for (int b = 0; b < q.channel_blocks; ++b)
                for (int p = 0; p < q.panels; ++p) {
                    const int i = p * q.channel_blocks + b, n = std::min(channels, q.b.x.CI - b * channels);
                    const transformed from = at(q, i, v, z, tiles);
                    multiply_rows<true>(first, from.v + f * (tiles * n + gap), n, tiles,
                                        from.z + f * (tiles * panel + gap),
                                        sums + i * q.block_sums() + f * (n * panel + gap), n, prefetched);
                }
    }
    static void emit(const plan& q, int i, const float* sums, int copies, std::int64_t copy, const call& c) {
        const int p = i / q.channel_blocks, width = panel_columns(q.b.x.CO, p, panel, lanes);
        const int all = std::min(channels, q.b.x.CI - i % q.channel_blocks * channels);
        constexpr int most_rows = 288 / taps;
        alignas(64) float g[std::size_t{taps * most_rows * panel}];
        for (int r = 0; r < all; r += most_rows) {
            const int n = std::min(most_rows, all - r);
            transform_window_gradients<M, K>(sums + r * panel, all * panel + gap, copies, copy, n, q.b.x.CO - p * panel,
                                             g);
            for (int k = 0; k < taps; ++k) {
                const std::int64_t row = weight_row(q, i, k * all + r);
                body.finish({g + k * n * panel, n, width, panel, weight_offset(q, i, row), width, row, p * panel}, c);
            }
        }
    }
};

template <class Body, int M, int K>
struct nest<op::conv_weight_gradient, Body, 0, M, K, 0, 0, 0, 0, 0, 0, 0, 0, 0> {
    using type = winograd_weight_gradient<M, K, Body>;
};

} // namespace sinter::cpu
