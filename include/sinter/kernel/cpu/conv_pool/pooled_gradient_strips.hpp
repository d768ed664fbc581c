// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/gradient_rows.hpp>
#include <sinter/kernel/cpu/conv_pool/load_winners.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_gradient_columns.hpp>
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// pooled_gradient_rows for targets whose registers hold all of dx below one column of the
/// convolution's result and a strip of windows: what won in each window is then walked once, by
/// masks of bits, and its sums wait in registers for those of the next. Rows of zeros around each
/// channel's weights serve the winners in all rows of a window alike.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_gradient_strips {
    static constexpr int rows = OH / P, columns = OW / P, channels = CO, pool = P;
    using layout = gradient_rows<H, W, CI, CO, KH, KW, S, PT, PL, columns * P, Body>;
    static constexpr int vectors = layout::vectors, row = layout::row, pitch = layout::pitch;
    static constexpr int reach = (P - 1) * S + KH;   ///< rows of dx below one window
    /// Vectors of a row that one walk takes: all of them, or, of few registers, as many as have
    /// room for what is below one window.
    static constexpr int workspace = registers - 4, most_vectors = std::max(1, workspace / reach),
                         taken =
                             registers < 32 && vectors % most_vectors == 0 ? std::min(vectors, most_vectors) : vectors;
    /// Windows in a strip.
    static constexpr int most = (workspace - (reach - P * S) * taken) / (P * S * taken),
                         strips = most > 0 ? (rows + most - 1) / most : rows, strip = (rows + strips - 1) / strips;
    static constexpr bool pays = most > 0 && reach * taken >= 8;   ///< enough sums to wait for none

    static constexpr int padding = (P - 1) * S, filter = (KH + 2 * padding) * row;   ///< floats, of one output channel
    static constexpr int height = std::max((strips * strip * P - 1) * S + KH, H + PT);
    static constexpr std::int64_t weight_floats = std::int64_t{CO} * filter,
                                  image_floats = round_up(std::int64_t{height} * pitch + row, 16);
    /// A bit for each row of a window and channel.
    static constexpr int wide = (CO + lanes - 1) / lanes * lanes, words = (P * wide + mask_bits - 1) / mask_bits;
    static constexpr std::int64_t floats = round_up(weight_floats + image_floats + 2 * P * words * strips * strip, 16);
    static SINTER_INLINE std::uint64_t* bits_of(const gradient_columns& k) {
        return reinterpret_cast<std::uint64_t*>(k.winners);
    }

    /// Which channels won where in each window of a column: [place in a row][window][word].
    static __attribute__((noinline)) void build(const gradient_columns& k, const std::uint8_t* winner) {
        constexpr int column = strips * strip * words;
        const float* g = k.g;
        std::uint64_t* to = bits_of(k);
        for (int py = 0; py < rows; ++py, g += columns * CO, winner += columns * CO, to += words) {
            std::uint64_t bits[std::size_t{P * words}] = {};
            for (int o = 0; o < CO; o += lanes) {
                vf v;
                vi w;
                load_winners<CO>(g, winner, o, v, w);
                const lane_mask alive = differs(v, zero());
                const auto add_place = [&](int q) SINTER_ALWAYS {
                    const int at = q / P * wide + o;
                    bits[q % P * words + at / mask_bits] |= lane_bits(both(alive, equals(w, splat(std::int32_t(q)))))
                                                            << at % mask_bits;
                };
                if constexpr (P * P <= 4) unroll<P * P>(add_place);
                else for (int q = 0; q < P * P; ++q) add_place(q);
            }
            for (int dx = 0; dx < P; ++dx) std::copy_n(bits + dx * words, words, to + dx * column);
        }
        for (int dx = 0; dx < P; ++dx) std::fill_n(to + dx * column, (strips * strip - rows) * words, std::uint64_t{0});
    }

    /// One window's winners, into the registers from First on.
    template <int First, std::size_t N, int... I>
    static SINTER_INLINE void window(vf (&c)[N], const std::uint64_t* won, const float* g, const float* weights,
                                     std::integer_sequence<int, I...>) {
        for (int k = 0; k < words; ++k)
            for_bits(won[k], [&](std::int64_t bit) SINTER_ALWAYS {
                const int at = k * mask_bits + static_cast<int>(bit), dy = at / wide, o = at % wide;
                const vf a = splat(g[o]);
                const float* w = weights + o * filter + (P - 1 - dy) * (S * row);
                ((c[First + I] = fma(a, load(w + I / taken * row + I % taken * lanes), c[First + I])), ...);
            });
    }

    /// What place dx of a column of windows adds to dx, below `column` of the convolution's result.
    static __attribute__((noinline)) void add(const gradient_columns& k, int dx, int column) {
        float* to = k.dx + column * S * CI;
        const std::uint64_t* won = bits_of(k) + dx * (strips * strip * words);
        const float* g = k.g;
        for (int s = 0; s < strips; ++s, to += strip * P * S * pitch, won += strip * words, g += strip * columns * CO)
            // One walk right behind the other over the same winners: a processor that looks back
            // far enough foresees its end.
            for (int v = 0; v < vectors; v += taken) {
                vf c[std::size_t{((strip * P - 1) * S + KH) * taken}];
                clear_block(c);
                unroll<strip>([&](auto i) SINTER_ALWAYS {
                    window<i * P * S * taken>(c, won + i * words, g + i * columns * CO, k.weights + v * lanes,
                                              indices<reach * taken>{});
                });
                add_block<taken>(c, to + v * lanes, pitch);
            }
    }

    static void run(const call& c) { run_gradient_columns<pooled_gradient_strips>(c); }
};

} // namespace sinter::cpu
