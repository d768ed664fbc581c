// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/conv_pool/filter_sums.hpp>
#include <sinter/kernel/cpu/conv_pool/load_winners.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <type_traits>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_weight_gradient where rows of taps and input channels fill vectors: lanes run along
/// (kx, ci), contiguous in the image. For each output channel a list of (place of the winner,
/// value) drives multiply-adds into that channel's gradient, which stays in registers. The order of
/// sums follows the data alone.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_filter_lists {
    static constexpr int rows = OH / P, columns = OW / P;
    using sums = filter_sums<CI, CO, KH, KW, Body>;
    static constexpr int vectors = sums::vectors, filter = sums::filter, channels = sums::channels;
    using image = padded_image<H, W, CI, (rows * P - 1) * S + KH, (columns * P - 1) * S + KW, PT, PL, lanes>;
    static constexpr int pitch = image::width * CI;

    /// A walk covers `taken` vectors of some rows of the filter, a band.
    static constexpr int passes = (vectors + walk_registers - 1) / walk_registers,
                         taken = (vectors + passes - 1) / passes;
    static constexpr int bands = (KH + walk_registers / taken - 1) / (walk_registers / taken);

    /// Lists hold a few rows of windows, so that they and the image fit the first-level cache.
    static constexpr int block = std::clamp(256 / columns, 1, rows), positions = block * columns;
    static constexpr int list = static_cast<int>(round_up(positions, lanes)) + lanes;
    static constexpr std::int64_t image_floats = round_up(image::floats, 16),
                                  list_floats = round_up(std::int64_t{list} * channels, 16);
    static constexpr std::int64_t own = image_floats + 2 * list_floats;
    /// A winner's place is told in pixels from the first window of its block.
    using place = std::conditional_t<(block * P * S * image::width <= 1 << 16), std::uint16_t, std::int32_t>;
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    struct lists {
        place* offset;
        float* value;
        int length[std::size_t{channels}];
        alignas(64) std::int32_t window[std::size_t{list}];   ///< where the windows of a block lie
        explicit lists(float* workspace) : offset(reinterpret_cast<place*>(workspace)), value(workspace + list_floats) {
            for (int p = 0; p < positions; ++p) window[p] = (p / columns * image::width + p % columns) * (P * S);
        }
    };

    /// The lists of rows [first, last) of windows of one image, of the channels [channel, end),
    /// whole vectors.
    static __attribute__((noinline)) void build(const float* g, const std::uint8_t* winner, int first, int last,
                                                int channel, int end, lists& l) {
        const int count = (last - first) * columns;
        g += first * columns * CO;
        winner += first * columns * CO;
        for (int o = channel; o < end; o += lanes) {
            std::fill_n(l.length + o, lanes, 0);
            for (int p0 = 0; p0 < count; p0 += lanes) {
                vf v[lanes], four[4] = {};   // of `four` a lane holds a channel's places in as many windows, as bytes
                // Counted loops around the transpositions: the detour over memory is cheap,
                // unrolled code is not.
                for (int q = 0; q < lanes; ++q) {
                    const int p = p0 + q;
                    v[q] = zero();
                    if (p < count) {
                        vi w;
                        load_winners<CO>(g + p * CO, winner + p * CO, o, v[q], w);
                        four[q / 4] = (vf)((vi)four[q / 4] | w << q % 4 * 8);
                    }
                }
                transpose_lanes(v);
                alignas(64) float places[4 * lanes];
                interleave_rows(four);
                store_block<1>(four, places, lanes);
                const vi at = (vi)load(reinterpret_cast<const float*>(l.window + p0));
                for (int q = 0; q < lanes; ++q) {
                    const vi w = load_bytes(reinterpret_cast<const std::uint8_t*>(places + 4 * q));
                    const vi dy = w * splat(std::int32_t{65536 / P + 1}) >> 16;
                    const vi place =
                        at + dy * splat(std::int32_t{S * image::width - P * S}) + w * splat(std::int32_t{S});
                    int& n = l.length[o + q];
                    n = append(l.offset + (o + q) * list, l.value + (o + q) * list, n, place, v[q],
                               differs(v[q], zero()));
                }
            }
        }
    }

    /// The same of a gradient that lies spread out, zeros and all (P = 1): read once, as it lies.
    static __attribute__((noinline)) void build_spread(const float* g, int first, int last, int channel, int end,
                                                       lists& l) {
        std::fill_n(l.length + channel, round_up(end - channel, lanes), 0);
        for (int y = first; y < last; ++y)
            for (int x = 0; x < columns; x += lanes)
                for (int o = channel; o < end; o += lanes) {
                    vf v[lanes];
                    vi none;
                    for (int q = 0; q < lanes; ++q) {
                        v[q] = zero();
                        if (columns % lanes == 0 || x + q < columns)
                            load_winners<CO, false>(g + (y * columns + x + q) * CO, nullptr, o, v[q], none);
                    }
                    transpose_lanes(v);
                    const int at = ((y - first) * image::width + x) * S;
                    unroll<lanes>([&](int q) SINTER_ALWAYS {
                        int& n = l.length[o + q];
                        n = append_run(l.offset + (o + q) * list, l.value + (o + q) * list, n, at, S, v[q],
                                       differs(v[q], zero()));
                    });
                }
    }

    /// R rows from ky on, V vectors from the v-th on, of the filters of the channels [channel,
    /// end).
    template <int R, int V>
    static __attribute__((noinline)) void sweep(float* sum, const float* x, const lists& l, int ky, int v, int channel,
                                                int end) {
        sum += channel * filter + (ky * vectors + v) * lanes;
        x += ky * pitch + v * lanes;
        for (int o = channel; o < end; ++o, sum += filter) {
            vf c[std::size_t{R * V}];
            load_block<V>(c, sum, vectors * lanes);
            walk_words<V, pitch, lanes, CI>(c, l.offset + o * list, l.value + o * list, l.length[o], x);
            store_block<V>(c, sum, vectors * lanes);
        }
    }
    template <int R>
    static SINTER_INLINE void band(float* sum, const float* x, const lists& l, int ky, int channel, int end) {
        for (int v = 0; v + taken <= vectors; v += taken) sweep<R, taken>(sum, x, l, ky, v, channel, end);
        if constexpr (vectors % taken > 0)
            sweep<R, vectors % taken>(sum, x, l, ky, vectors / taken * taken, channel, end);
    }
    /// Adds to the sums of the channels [channel, end) what an image (a padded copy) and its
    /// gradient make of them.
    static void add(float* sum, const float* copy, const call& c, std::int64_t image, int channel, int end, lists& l) {
        const std::int64_t pooled = image * rows * columns * CO;
        for (int first = 0; first < rows; first += block) {
            const int last = std::min(first + block, rows);
            if constexpr (P == 1)
                build_spread(c.p[conv_weight_gradient_operand::dy] + pooled, first, last, channel, end, l);
            else
                build(c.p[conv_weight_gradient_operand::dy] + pooled,
                      reinterpret_cast<const std::uint8_t*>(c.p[conv_weight_gradient_operand::winners]) + pooled, first,
                      last, channel, end, l);
            const float* const x = copy + first * (P * S * pitch);
            constexpr int higher = KH % bands, least = KH / bands;
            for (int b = 0; b < bands; ++b) {
                const int ky = b * least + std::min(b, higher);
                if (b < higher) {
                    if constexpr (higher > 0) band<least + 1>(sum, x, l, ky, channel, end);
                } else {
                    band<least>(sum, x, l, ky, channel, end);
                }
            }
        }
    }

    static void run(const call& c) {
        float* sum = sums::clear(c);
        float* copy = c.scratch + c.parts * sums::floats + first_part(c) * own;
        lists l(copy + image_floats);
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[conv_weight_gradient_operand::x] + i * (H * W * CI), copy, i == begin);
            add(sum, copy, c, i, 0, CO, l);
        }
    }
};

} // namespace sinter::cpu
