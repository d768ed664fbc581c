// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/conv_sums.hpp>
#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/cpu/vector/pick_lanes.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_weight_gradient of 2 x 2 windows where so few input and output channels are that a
/// vector holds the output channels of several neighbouring windows. Two rows of eight columns, in
/// one register, are all inputs that one row of taps meets in these windows, and one permutation
/// hands every lane its winner's: one multiply-add for all of them, where quads take one for each
/// window.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct pooled_filter_tables {
    static constexpr int rows = OH / 2, columns = OW / 2, depth = KH * KW * CI, wide = 8;
    static constexpr int together = std::min(lanes / CO, (wide - KW + S) / (2 * S));   ///< windows in a vector
    static constexpr bool pays = has_tables && together > 1;

    using sums = conv_sums<depth, CO, Body>;
    using image = padded_image<H, W, CI, (rows * 2 - 1) * S + KH, (columns * 2 - 1) * S + KW, PT, PL, wide * CI>;
    static constexpr int whole = columns / std::max(1, together), rest = columns - whole * together,
                         pitch = image::width;
    /// Input channels lie apart, each with as much behind it as a table reads there.
    static constexpr std::int64_t image_floats = round_up(image::floats, 16),
                                  plane = round_up(image::height * pitch + wide, 16),
                                  own = image_floats + (CI > 1 ? CI * plane : 0);
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    static __attribute__((noinline)) void part(const float* x, float* to) {
        for (int i = 0; i < CI; ++i, to += plane)
            for (int k = 0; k < image::height * pitch; ++k) to[k] = x[k * CI + i];
    }

    /// Adds the first Windows windows of a vector to B rows of taps, whose inputs begin at x.
    template <int B, int Windows>
    static SINTER_INLINE void add(vf (&c)[std::size_t{B * KW}], const float* x, const float* g,
                                  const std::uint8_t* winner) {
        constexpr int valid = Windows * CO;
        const vf v = load(g, valid);
        const vi w = load_bytes<valid>(winner);
        vi first, place;
        for (int l = 0; l < lanes; ++l) {
            first[l] = l < valid ? l / CO * (2 * S) : 0;
            place[l] = l / 2 % 2 * wide + l % 2 * S;
        }
        vi which = (vi)pick_lanes((vf)place, w) + first;
        vf inputs[std::size_t{B}];
        unroll<B>([&](auto b) SINTER_ALWAYS { inputs[b] = load_eights(x + b * pitch, x + (b + S) * pitch); });
        unroll<KW>([&](auto kx) SINTER_ALWAYS {
            unroll<B>([&](auto b)
                          SINTER_ALWAYS { c[b * KW + kx] = fma(pick_lanes(inputs[b], which), v, c[b * KW + kx]); });
            which += splat(std::int32_t{1});
        });
    }

    /// B rows of taps of one input channel over all windows of an image.
    template <int B>
    static __attribute__((noinline)) void sweep(float* sum, const float* x, const float* g,
                                                const std::uint8_t* winner) {
        vf c[std::size_t{B * KW}];
        load_block<1>(c, sum, CI * lanes);
        for (int py = 0; py < rows; ++py, x += 2 * S * pitch) {
            const float* at = x;
            for (int t = 0; t < whole; ++t, at += 2 * S * together, g += together * CO, winner += together * CO)
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
        // Rows of taps at a time, whose inputs should be in registers, too: what a sum or two lose
        // that are not is less than another sweep takes.
        constexpr int most = std::clamp((registers - 2) / (KW + 1), 1, KH), bands = (KH + most - 1) / most,
                      band = (KH + bands - 1) / bands;
        float* sum = sums::clear(c);
        float* copy = c.scratch + c.parts * sums::floats + first_part(c) * own;
        float* const x = CI > 1 ? copy + image_floats : copy;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[conv_weight_gradient_operand::x] + i * (H * W * CI), copy, i == begin);
            if (CI > 1) part(copy, x);
            const std::int64_t at = i * (rows * columns * CO);
            const float* g = c.p[conv_weight_gradient_operand::dy] + at;
            const std::uint8_t* winner =
                reinterpret_cast<const std::uint8_t*>(c.p[conv_weight_gradient_operand::winners]) + at;
            for (int j = 0; j < CI; ++j) {
                const auto rows_of_taps = [&](auto n, int ky) SINTER_ALWAYS {
                    sweep<n>(sum + (ky * KW * CI + j) * lanes, x + j * plane + ky * pitch, g, winner);
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
