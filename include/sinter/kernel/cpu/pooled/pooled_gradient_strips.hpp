// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/convolution/gradient_rows.hpp>
#include <sinter/kernel/cpu/pooled/load_winners.hpp>
#include <sinter/kernel/cpu/pooled/pooled_gradient_lists.hpp>
#include <sinter/kernel/cpu/product/sparse_list.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>

namespace sinter::cpu {

/// pooled_gradient_rows for targets whose registers hold all of dx below one column of the convolution's result and a strip of
/// windows: the list of each window is then walked once, and its sums wait in registers for those of the next. Rows of zeros
/// around each channel's weights serve the winners in all rows of a window alike.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_gradient_strips {
    static constexpr int rows = OH / P, columns = OW / P, channels = CO, pool = P;
    using layout = gradient_rows<H, W, CI, CO, KH, KW, S, PT, PL, columns * P, Body>;
    static constexpr int vectors = layout::vectors, row = layout::row, pitch = layout::pitch;
    static constexpr int reach = (P - 1) * S + KH;   ///< rows of dx below one window
    /// Windows in a strip.
    static constexpr int most = (registers - 4 - (reach - P * S) * vectors) / (P * S * vectors),
                         strips = most > 0 ? (rows + most - 1) / most : rows, strip = (rows + strips - 1) / strips;
    static constexpr bool pays = most > 0 && reach * vectors >= 8;   ///< enough sums to wait for none

    static constexpr int padding = (P - 1) * S, filter = (KH + 2 * padding) * row;   ///< floats, of one output channel
    static constexpr int height = std::max((strips * strip * P - 1) * S + KH, H + PT);
    static constexpr int list = rows * CO + lanes;
    static constexpr std::int64_t weight_floats = std::int64_t{CO} * filter, image_floats = std::int64_t{height} * pitch + row;
    static constexpr std::int64_t floats =
        round_up(weight_floats + image_floats + 2 * P * list + P * (strips * strip + 1), 16);

    /// The lists of the P columns under one column of windows, and where each window's begins.
    static __attribute__((noinline)) void build(const float* g, const std::uint8_t* winner, const gradient_lists& k) {
        vi lane;
        for (int i = 0; i < lanes; ++i) lane[i] = i;
        int n[P] = {};
        for (int py = 0; py < rows; ++py, g += columns * CO, winner += columns * CO) {
            for (int dx = 0; dx < P; ++dx) k.start[dx * (strips * strip + 1) + py] = n[dx];
            for (int o = 0; o < CO; o += lanes) {
                vf v;
                vi w;
                load_winners<CO>(g, winner, o, v, w);
                const vi dy = w * splat(std::int32_t{65536 / P + 1}) >> 16, column = w - dy * splat(std::int32_t{P});
                const vi at = (lane + splat(std::int32_t(o))) * splat(std::int32_t(filter)) +
                              (splat(std::int32_t{P - 1}) - dy) * splat(std::int32_t{S * row});
                for (int dx = 0; dx < P; ++dx)
                    n[dx] = append(k.offset + dx * list, k.value + dx * list, n[dx], at, v,
                                   (v != zero()) & (column == splat(std::int32_t(dx))));
            }
        }
        for (int dx = 0; dx < P; ++dx)
            for (int py = rows; py <= strips * strip; ++py) k.start[dx * (strips * strip + 1) + py] = n[dx];
    }

    /// One window's list, into the registers from First on.
    template <int First, int N, int... I>
    static SINTER_INLINE void window(vf (&c)[N], const std::int32_t* offset, const float* value, int n, const float* weights,
                                     std::integer_sequence<int, I...>) {
        for (int e = 0; e < n; ++e) {
            const vf a = splat(value[e]);
            const float* w = weights + offset[e];
            ((c[First + I] = fma(a, load(w + I * lanes), c[First + I])), ...);
        }
    }

    /// What place dx of a column of windows adds to dx, below `column` of the convolution's result.
    static __attribute__((noinline)) void add(const gradient_lists& k, int dx, int column) {
        float* to = k.dx + column * S * CI;
        const std::int32_t* start = k.start + dx * (strips * strip + 1);
        for (int s = 0; s < strips; ++s, start += strip, to += strip * P * S * pitch) {
            vf c[((strip * P - 1) * S + KH) * vectors];
            clear_block(c);
            unroll<strip>([&](auto i) SINTER_ALWAYS {
                window<i * P * S * vectors>(c, k.offset + dx * list + start[i], k.value + dx * list + start[i],
                                            start[i + 1] - start[i], k.weights, indices<reach * vectors>{});
            });
            add_block<vectors>(c, to, pitch);
        }
    }

    static void run(const call& c) { run_gradient_lists<pooled_gradient_strips>(c); }
};

} // namespace sinter::cpu
