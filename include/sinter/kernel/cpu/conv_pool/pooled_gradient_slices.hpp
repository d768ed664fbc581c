// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/emit_pixels.hpp>
#include <sinter/kernel/cpu/conv_pool/load_winners.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_input_gradient where lanes run along input channels. For each window and place in it
/// a mask of the output channels that won there; the patch of dx that the place reaches stays in
/// registers for one vector of input channels while its bits are walked, and that vector's weights
/// [channel][tap][lanes] lie in the first-level cache.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_gradient_slices {
    static constexpr int rows = OH / P, columns = OW / P, places = P * P, taps = KH * KW;
    static constexpr int slices = (CI + lanes - 1) / lanes;
    static constexpr int height = std::max((rows * P - 1) * S + KH, H + PT),
                         width = std::max((columns * P - 1) * S + KW, W + PL);

    /// Output channels at a time: their weights should leave room in 32 KB. Where vectors are
    /// lines, masks twice as long are worth more than that.
    static constexpr int workspace = lanes >= 16 ? 10240 : 5120;
    static constexpr int channels =
        std::clamp(workspace / (taps * lanes) / lanes * lanes, lanes, static_cast<int>(round_up(CO, lanes)));
    static constexpr int blocks = (CO + channels - 1) / channels, words = (channels + mask_bits - 1) / mask_bits;
    /// Rows of windows at a time.
    static constexpr int strip = std::clamp(64 / columns, 1, rows), windows = strip * columns;
    static constexpr bool keeps = blocks > 1 || strip < rows;   ///< dx is not complete after one pass

    static constexpr std::int64_t weight_floats = std::int64_t{slices} * blocks * channels * taps * lanes;
    static constexpr std::int64_t image_floats = std::int64_t{height} * width * lanes * (keeps ? slices : 1);
    static constexpr std::int64_t won_floats = std::int64_t{windows} * places * words * 2;
    static constexpr std::int64_t floats = round_up(weight_floats + image_floats + won_floats, 16);

    /// Rows of taps that one walk takes, and whether it takes the windows' rows of places together:
    /// fewer patches to load.
    static constexpr int band = std::max(1, std::min(KH, walk_registers / KW));
    static constexpr bool wide = KW > walk_registers;
    static constexpr int across = wide ? walk_registers : KW;

    /// Panels [KH * KW * CO][CI], taps reversed, to [slice][block][channel][tap][lanes].
    static __attribute__((noinline)) void arrange(const float* from, float* to) {
        for (int s = 0; s < slices; ++s) {
            const int panel = s / 2, panel_lanes = panel_columns(CI, panel, 2 * lanes, lanes);
            const float* p = from + std::int64_t{panel} * 2 * lanes * taps * CO + s % 2 * lanes;
            for (int o = 0; o < blocks * channels; ++o)
                for (int t = 0; t < taps; ++t, to += lanes)
                    store(to, o < CO ? load(p + (std::int64_t{taps - 1 - t} * CO + o) * panel_lanes) : zero());
        }
    }

    /// Which of a block's channels won where, in `count` windows.
    static __attribute__((noinline)) void build(const float* g, const std::uint8_t* winner, int count, int first,
                                                std::uint64_t* won) {
        const int last = std::min(first + channels, CO);
        for (int p = 0; p < count; ++p, g += CO, winner += P > 1 ? CO : 0, won += places * words) {
            std::uint64_t bits[std::size_t{places * words}] = {};
            for (int o = first; o < last; o += lanes) {
                vf v;
                vi w{};
                load_winners<CO, (P > 1)>(g, winner, o, v, w);
                const lane_mask alive = differs(v, zero());
                const auto add_to = [&](int q) SINTER_ALWAYS {
                    const int at = o - first;
                    bits[q * words + at / mask_bits] |= lane_bits(both(alive, equals(w, splat(std::int32_t(q)))))
                                                        << at % mask_bits;
                };
                if constexpr (places <= 4) unroll<places>(add_to);
                else for (int q = 0; q < places; ++q) add_to(q);
            }
            std::copy_n(bits, places * words, won);
        }
    }
    /// f(gradient in all lanes, weights) for each channel that won at one place.
    template <class F>
    static SINTER_INLINE void for_winners(const std::uint64_t* won, const float* g, const float* weights, F f) {
        for (int k = 0; k < words; ++k, g += mask_bits, weights += mask_bits * taps * lanes)
            for_bits(won[k], [&](std::int64_t o) SINTER_ALWAYS { f(splat(g[o]), weights + o * (taps * lanes)); });
    }

    template <int C, int Row, std::size_t N, int... T>
    static SINTER_INLINE void add_taps(vf (&c)[N], vf a, const float* w, std::integer_sequence<int, T...>) {
        ((c[T] = fma(a, load(w + (T / C * Row + T % C) * lanes), c[T])), ...);
    }
    /// The patch of R x C taps from (ky, kx) on, for all places of `strips` rows of windows.
    template <int R, int C>
    static __attribute__((noinline)) void sweep(const std::uint64_t* won, const float* g, int strips,
                                                const float* weights, float* dx, int ky, int kx) {
        weights += (ky * KW + kx) * lanes;
        dx += (ky * width + kx) * lanes;
        for (int py = 0; py < strips; ++py)
            for (int px = 0; px < columns; ++px, g += CO)
                for (int q = 0; q < places; ++q, won += words) {
                    float* d = dx + ((py * P + q / P) * S * width + (px * P + q % P) * S) * lanes;
                    vf c[std::size_t{R * C}];
                    // From zero, so that a place need not wait for the last one's patch to come
                    // back from memory.
                    clear_block(c);
                    for_winners(won, g, weights, [&](vf a, const float* w) SINTER_ALWAYS {
                        add_taps<C, KW>(c, a, w, indices<R * C>{});
                    });
                    add_block<C>(c, d, width * lanes);
                }
    }

    /// Where registers hold the patch that all places of a window reach, it waits in them for all
    /// of them.
    static constexpr int patch_rows = (P - 1) * S + KH, patch_columns = (P - 1) * S + KW;
    static constexpr bool whole = patch_rows * patch_columns <= walk_registers;
    template <int Q, std::size_t N, int... T>
    static SINTER_INLINE void add_place(vf (&c)[N], vf a, const float* w, std::integer_sequence<int, T...>) {
        ((c[(T / KW + Q / P * S) * patch_columns + T % KW + Q % P * S] =
              fma(a, load(w + T * lanes), c[(T / KW + Q / P * S) * patch_columns + T % KW + Q % P * S])), ...);
    }
    static __attribute__((noinline)) void sweep_windows(const std::uint64_t* won, const float* g, int strips,
                                                        const float* weights, float* dx) {
        for (int py = 0; py < strips; ++py)
            for (int px = 0; px < columns; ++px, g += CO) {
                vf c[std::size_t{patch_rows * patch_columns}];
                clear_block(c);
                unroll<places>([&](auto q) SINTER_ALWAYS {
                    for_winners(won, g, weights,
                                [&](vf a, const float* w) SINTER_ALWAYS { add_place<q>(c, a, w, indices<taps>{}); });
                    won += words;
                });
                add_block<patch_columns>(c, dx + (py * P * S * width + px * P * S) * lanes, width * lanes);
            }
    }

    /// The same for the places of one row in a window. Not measured with more registers.
    static constexpr bool by_rows = P > 1 && registers < 32 && KH * patch_columns <= walk_registers;
    static __attribute__((noinline)) void sweep_rows(const std::uint64_t* won, const float* g, int strips,
                                                     const float* weights, float* dx) {
        for (int py = 0; py < strips; ++py)
            for (int px = 0; px < columns; ++px, g += CO)
                for (int dy = 0; dy < P; ++dy) {
                    vf c[std::size_t{KH * patch_columns}];
                    clear_block(c);
                    unroll<P>([&](auto q) SINTER_ALWAYS {
                        for_winners(won, g, weights, [&](vf a, const float* w) SINTER_ALWAYS {
                            add_place<q>(c, a, w, indices<taps>{});
                        });
                        won += words;
                    });
                    add_block<patch_columns>(c, dx + ((py * P + dy) * S * width + px * P * S) * lanes, width * lanes);
                }
    }

    static SINTER_INLINE void add(const std::uint64_t* won, const float* g, int strips, const float* weights,
                                  float* dx) {
        if constexpr (whole) {
            sweep_windows(won, g, strips, weights, dx);
        } else if constexpr (by_rows) {
            sweep_rows(won, g, strips, weights, dx);
        } else {
            for (int kx = 0; kx + across <= KW; kx += across) {
                for (int ky = 0; ky + band <= KH; ky += band) sweep<band, across>(won, g, strips, weights, dx, ky, kx);
                if constexpr (KH % band > 0)
                    sweep<KH % band, across>(won, g, strips, weights, dx, KH / band * band, kx);
            }
            if constexpr (KW % across > 0)
                for (int ky = 0; ky < KH; ++ky)
                    sweep<1, KW % across>(won, g, strips, weights, dx, ky, KW / across * across);
        }
    }

    static void emit(const float* dx, std::int64_t image, int s, const call& c) {
        for (int y = 0; y < H; ++y) {
            const std::int64_t pixel = (image * H + y) * W, off = pixel * CI + s * lanes;
            const float* from = dx + ((y + PT) * width + PL) * lanes;
            if (CI % lanes == 0 || s < CI / lanes)
                emit_pixels<Body, lanes>(from, lanes, W, off, CI, pixel, s * lanes, c);
            else emit_pixels<Body, CI % lanes>(from, lanes, W, off, CI, pixel, s * lanes, c);
        }
    }

    static void run(const call& c) {
        float* const weights = c.scratch + first_part(c) * floats;
        float* const patches = weights + weight_floats;
        std::uint64_t* const won = reinterpret_cast<std::uint64_t*>(patches + image_floats);
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        if (c.part == first_part(c)) arrange(c.p[conv_operand::weights], weights);
        constexpr std::int64_t slice_weights = std::int64_t{blocks} * channels * taps * lanes,
                               slice = std::int64_t{height} * width * lanes;
        for (std::int64_t i = begin; i < end; ++i) {
            for (int y = 0; y < rows; y += strip) {
                const int strips = std::min(strip, rows - y);
                const std::int64_t at = (i * rows + y) * columns * CO;
                for (int b = 0; b < blocks; ++b) {
                    build(c.p[conv_operand::source] + at,
                          reinterpret_cast<const std::uint8_t*>(c.p[conv_operand::winners]) + at, strips * columns,
                          b * channels, won);
                    const bool first = y == 0 && b == 0, last = y + strip >= rows && b == blocks - 1;
                    for (int s = 0; s < slices; ++s) {
                        float* dx = patches + (keeps ? s * slice : 0);
                        if (first) std::fill_n(dx, slice, 0.f);
                        add(won, c.p[conv_operand::source] + at + b * channels, strips,
                            weights + s * slice_weights + b * channels * taps * lanes, dx + y * P * S * width * lanes);
                        if (last) emit(dx, i, s, c);
                    }
                }
            }
        }
    }
};

} // namespace sinter::cpu
