// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/conv_sums.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_weight_gradient of 2 x 2 windows for the few input channels of a first layer, which
/// would leave vectors of taps mostly empty: lanes run along output channels. The four inputs that
/// a tap may meet in a window lie side by side (a quad), so that one permutation hands every lane
/// its winner's: one multiply-add where a dense gradient needs four.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct pooled_filter_quads {
    static constexpr int rows = OH / 2, columns = OW / 2, depth = KH * KW * CI;
    using sums = conv_sums<depth, CO, Body>;
    using image = padded_image<H, W, CI, (rows * 2 - 1) * S + KH, (columns * 2 - 1) * S + KW, PT, PL, lanes>;
    static constexpr int pitch = image::width * CI, quad_rows = image::height - S, quad_pitch = pitch - S * CI;
    static constexpr std::int64_t image_floats = round_up(image::floats, 16),
                                  quad_floats = round_up((quad_rows * quad_pitch + lanes) * 4, 16);
    static constexpr std::int64_t own = image_floats + quad_floats;
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    /// The quads of a padded image, `lanes` at a time; writes that many less one beyond each row.
    static __attribute__((noinline)) void gather(const float* x, float* to) {
        for (int y = 0; y < quad_rows; ++y)
            for (int i = 0; i < quad_pitch; i += lanes) {
                const float* p = x + y * pitch + i;
                vf r[4] = {load(p), load(p + S * CI), load(p + S * pitch), load(p + S * pitch + S * CI)};
                interleave_rows(r);
                store_block<1>(r, to + (y * quad_pitch + i) * 4, lanes);
            }
    }

    static constexpr int tap(int t) { return (t / (KW * CI) * quad_pitch + t % (KW * CI)) * 4; }
    /// Quads that one load brings; `which` tells the lanes of each.
    static constexpr int loaded = has_tables ? lanes / 4 : 1;
    template <int T, int I, std::size_t N>
    static SINTER_INLINE void window(vf (&c)[N], const float* at, const vi (&which)[loaded], vf v) {
        if constexpr (loaded == 1) {
            unroll<N>([&](auto i) SINTER_ALWAYS { c[i] = fma(permute_quad(at + tap(T + i), which[0]), v, c[i]); });
        } else if constexpr (I < N) {
            constexpr int n =
                std::min({loaded, KW * CI - (T + I) % (KW * CI), static_cast<int>(N) - I});   // side by side
            vf quads = load(at + tap(T + I));
            pin(quads);
            unroll<n>([&](auto k) SINTER_ALWAYS { c[I + k] = fma(pick_lanes(quads, which[k]), v, c[I + k]); });
            window<T, I + n, N>(c, at, which, v);
        }
    }

    /// Rows [T, T + N) of the gradient for one vector of output channels, over all windows of an
    /// image.
    template <int T, int N, int Valid>
    static __attribute__((noinline)) void sweep(float* sum, int width, const float* q, const float* g,
                                                const std::uint8_t* winner) {
        vf c[std::size_t{N}];
        load_block<1>(c, sum + T * width, width);
        for (int py = 0; py < rows; ++py) {
            const float* at = q + py * (2 * S * quad_pitch * 4);
            for (int px = 0; px < columns; ++px, at += 2 * S * CI * 4, g += CO, winner += CO) {
                vf v;
                if constexpr (Valid == lanes)
                    v = load(g);
                else
                    v = load(g, Valid);
                vi which[loaded];
                which[0] = load_bytes<Valid>(winner);
                // Neighbouring windows share quads, which a compiler that notices keeps in
                // registers that it does not have.
                asm("" : "+r"(at));
                if constexpr (loaded > 1)
                    unroll<loaded - 1>([&](auto k) SINTER_ALWAYS { which[k + 1] = which[k] + splat(std::int32_t{4}); });
                window<T, 0>(c, at, which, v);
            }
        }
        store_block<1>(c, sum + T * width, width);
    }

    static constexpr int most = registers >= 32 ? 25 : 12, tiles = (depth + most - 1) / most;
    template <int Valid>
    static void channels(float* sum, int width, const float* q, const float* g, const std::uint8_t* winner) {
        unroll<tiles>([&](auto t) SINTER_ALWAYS {
            constexpr int first = depth * t / tiles, last = depth * (t + 1) / tiles;
            sweep<first, last - first, Valid>(sum, width, q, g, winner);
        });
    }

    static void run(const call& c) {
        float* sum = sums::clear(c);
        float* copy = c.scratch + c.parts * sums::floats + first_part(c) * own;
        float* q = copy + image_floats;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[conv_weight_gradient_operand::x] + i * (H * W * CI), copy, i == begin);
            gather(copy, q);
            const float* g = c.p[conv_weight_gradient_operand::dy] + i * (rows * columns * CO);
            const std::uint8_t* winner =
                reinterpret_cast<const std::uint8_t*>(c.p[conv_weight_gradient_operand::winners]) +
                i * (rows * columns * CO);
            for (int o = 0; o < CO; o += lanes) {
                float* to = sum + panel_offset(depth, CO, 0, o, 2 * lanes, lanes);
                const int width = panel_columns(CO, o / (2 * lanes), 2 * lanes, lanes);
                if (CO % lanes == 0 || o + lanes <= CO) {
                    if constexpr (CO >= lanes) channels<lanes>(to, width, q, g + o, winner + o);
                } else {
                    if constexpr (CO % lanes > 0) channels<CO % lanes>(to, width, q, g + o, winner + o);
                }
            }
        }
    }
};

} // namespace sinter::cpu
