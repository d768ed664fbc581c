// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/bytes.hpp>
#include <sinter/kernel/cpu/conv_sums.hpp>
#include <sinter/kernel/cpu/padded_image.hpp>
#include <sinter/kernel/cpu/pick_lanes.hpp>
#include <sinter/kernel/cpu/vector_block.hpp>

namespace sinter::cpu {

/// conv_pooled_weight_gradient of 2 x 2 windows where so few input and output channels are that a vector holds the output
/// channels of several neighbouring windows. A table of two rows of eight columns holds all inputs that one row of taps meets
/// in these windows, and one permutation hands every lane its winner's: one multiply-add for all of them, where quads take
/// one for each window.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct pooled_filter_tables {
    static constexpr int rows = OH / 2, columns = OW / 2, depth = KH * KW * CI, wide = 8, table = 2 * wide;
    static constexpr int together = std::min(lanes / CO, (wide - KW + S) / (2 * S));   ///< windows in a vector
    static constexpr bool pays = has_tables && together > 1;

    using sums = conv_sums<depth, CO, Body>;
    using image = padded_image<H, W, CI, (rows * 2 - 1) * S + KH, (columns * 2 - 1) * S + KW, PT, PL, wide * CI>;
    static constexpr int whole = columns / std::max(1, together), rest = columns - whole * together,
                         across = whole + (rest > 0), table_rows = image::height - S;
    static constexpr std::int64_t image_floats = round_up(image::floats, 16),
                                  plane = std::int64_t{table_rows} * across * table, own = image_floats + CI * plane;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    static __attribute__((noinline)) void gather(const float* x, float* to) {
        constexpr int pitch = image::width * CI;
        for (int i = 0; i < CI; ++i)
            for (int y = 0; y < table_rows; ++y)
                for (int t = 0; t < across; ++t, to += table)
                    for (int r = 0; r < 2; ++r) {
                        const float* from = x + (y + r * S) * pitch + t * (2 * S * together * CI) + i;
                        for (int k = 0; k < wide; ++k) to[r * wide + k] = from[k * CI];
                    }
    }

    /// Adds the first Windows windows of a vector to B rows of taps.
    template <int B, int Windows>
    static SINTER_INLINE void add(vf (&c)[B * KW], const float* at, const float* g, const std::uint8_t* winner) {
        constexpr int valid = Windows * CO;
        const vf v = load(g, valid);
        const vi w = load_bytes<valid>(winner);
        vi first;
        for (int l = 0; l < lanes; ++l) first[l] = l < valid ? l / CO * (2 * S) : 0;
        vi which = (w >> 1) * splat(std::int32_t{wide - 2 * S}) + w * splat(std::int32_t{S}) + first;
        unroll<KW>([&](auto kx) SINTER_ALWAYS {
            unroll<B>([&](auto b) SINTER_ALWAYS {
                c[b * KW + kx] = fma(pick_lanes(load(at + b * (across * table)), which), v, c[b * KW + kx]);
            });
            which += splat(std::int32_t{1});
        });
    }

    /// B rows of taps of one input channel over all windows of an image.
    template <int B>
    static __attribute__((noinline)) void sweep(float* sum, const float* x, const float* g, const std::uint8_t* winner) {
        vf c[B * KW];
        load_block<1>(c, sum, CI * lanes);
        for (int py = 0; py < rows; ++py, x += 2 * S * across * table) {
            const float* at = x;
            for (int t = 0; t < whole; ++t, at += table, g += together * CO, winner += together * CO)
                add<B, together>(c, at, g, winner);
            if constexpr (rest > 0) {
                add<B, rest>(c, at, g, winner);
                g += rest * CO;
                winner += rest * CO;
            }
        }
        store_block<1>(c, sum, CI * lanes);
    }

    static void run(const call& c) {
        constexpr int band = std::clamp((registers - 7) / KW, 1, KH);
        float* sum = sums::clear(c);
        float* copy = c.scratch + c.parts * sums::floats + c.part * own;
        float* x = copy + image_floats;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[0] + i * (H * W * CI), copy, i == begin);
            gather(copy, x);
            const std::int64_t at = i * (rows * columns * CO);
            const float* g = c.p[1] + at;
            const std::uint8_t* winner = reinterpret_cast<const std::uint8_t*>(c.p[2]) + at;
            for (int j = 0; j < CI; ++j) {
                const auto rows_of_taps = [&](auto n, int ky) SINTER_ALWAYS {
                    sweep<n>(sum + (ky * KW * CI + j) * lanes, x + j * plane + ky * (across * table), g, winner);
                };
                for (int ky = 0; ky + band <= KH; ky += band) rows_of_taps(std::integral_constant<int, band>{}, ky);
                if constexpr (KH % band > 0) rows_of_taps(std::integral_constant<int, KH % band>{}, KH / band * band);
            }
        }
        for (float* t = sum; t < sum + depth * lanes; t += lanes) {   // the windows of a vector, in their order
            vf v = load(t);
            for (int k = 1; k < together; ++k) v += load(t + k * CO, CO);
            store(t, v);
        }
    }
};

} // namespace sinter::cpu
