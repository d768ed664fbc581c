// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstring>

#include <sinter/kernel/cpu/conv/padded_image.hpp>
#include <sinter/kernel/cpu/conv_pool/filter_sums.hpp>
#include <sinter/kernel/cpu/vector/bytes.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_pooled_weight_gradient of few channels behind a single one, whose small filters have rows
/// of less than a vector: lanes run along kx, contiguous in the image, and the sums of a few
/// channels stay in registers while each window adds the patches that won there. Zeros of the
/// gradient are multiplied, too: with so few multiply-adds a winner, lists of the others would take
/// longer to make.
template <int H, int W, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_filter_patches {
    static constexpr int rows = OH / P, columns = OW / P, winners = columns * CO;   ///< of a row of windows
    using sums = filter_sums<1, CO, KH, KW, Body>;

    /// Rows are whole lines of the cache. What a vector would read from two of them lies in one of
    /// a second copy, half a line off.
    static constexpr int pitch = static_cast<int>(round_up((columns * P - 1) * S + KW, floats_a_line)),
                         half = floats_a_line / 2;
    using image = padded_image<H, W, 1, (rows * P - 1) * S + KH, pitch, PT, PL, floats_a_line>;
    static constexpr int image_floats = static_cast<int>(image::floats);
    static constexpr std::int64_t own =
        2 * image_floats + round_up(std::int64_t{rows} * winners + lanes, floats_a_line);
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(int parts) { return parts * (sums::floats + own); }
    static void finish(const call& c) { sums::finish(c); }

    /// Output channels at a time.
    static constexpr int together = std::clamp((registers - 4) / KH, 1, CO);
    /// Sums enough to wait for none.
    static constexpr bool suits = KW <= lanes && lanes <= half && KH + 4 <= registers && together * KH >= 8;

    /// Where each of a row's winners lies, from the first window on.
    template <int N>
    static SINTER_INLINE void place(const std::uint8_t* winner, const std::int32_t* window, int row, std::int32_t* to) {
        const vi w = load_bytes<N>(winner), dy = P == 2 ? w >> 1 : w * splat(std::int32_t{65536 / P + 1}) >> 16;
        vi at = (vi)load(reinterpret_cast<const float*>(window)) + splat(std::int32_t{row}) +
                w * splat(std::int32_t{S}) + dy * splat(std::int32_t{S * pitch - P * S});
        const vi in_two = (at & splat(std::int32_t{floats_a_line - 1})) > splat(std::int32_t{floats_a_line - lanes});
        at += in_two & splat(std::int32_t{image_floats - half});
        store(reinterpret_cast<float*>(to), (vf)at);
    }
    static __attribute__((noinline)) void find(const std::uint8_t* winner, const std::int32_t* window,
                                               std::int32_t* to) {
        for (int py = 0; py < rows; ++py, winner += winners, to += winners) {
            const int row = py * P * S * pitch;
            int i = 0;
            for (; i + lanes <= winners; i += lanes) place<lanes>(winner + i, window + i, row, to + i);
            if constexpr (winners % lanes > 0) place<winners % lanes>(winner + i, window + i, row, to + i);
        }
    }

    template <int First, std::size_t N, int... I>
    static SINTER_INLINE void add_patch(vf (&c)[N], vf a, const float* x, std::integer_sequence<int, I...>) {
        ((c[First + I] = fma(a, load(x + I * pitch), c[First + I])), ...);
    }
    /// N channels over all windows of an image.
    template <int N>
    static __attribute__((noinline)) void sweep(float* sum, const float* x, const float* g, const std::int32_t* place) {
        vf c[std::size_t{N * KH}];
        load_block<1>(c, sum, lanes);
        for (const float* const end = g + rows * winners; g != end; g += CO, place += CO)
            unroll<N>([&](auto n) SINTER_ALWAYS { add_patch<n * KH>(c, splat(g[n]), x + place[n], indices<KH>{}); });
        store_block<1>(c, sum, lanes);
    }

    static void run(const call& c) {
        float* const sum = sums::clear(c);
        float* const copy = c.scratch + c.parts * sums::floats + first_part(c) * own;
        std::int32_t* const places = reinterpret_cast<std::int32_t*>(copy + 2 * image_floats);
        alignas(64) std::int32_t window[std::size_t{winners + lanes}];   // where those of a row lie
        for (int i = 0; i < winners; ++i) window[i] = i / CO * (P * S);
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = begin; i < end; ++i) {
            image::copy(c.p[conv_weight_gradient_operand::x] + i * (H * W), copy, i == begin);
            std::memcpy(copy + image_floats, copy + half, sizeof(float) * (image_floats - half));
            find(reinterpret_cast<const std::uint8_t*>(c.p[conv_weight_gradient_operand::winners]) +
                     i * (rows * winners),
                 window, places);
            const float* const g = c.p[conv_weight_gradient_operand::dy] + i * (rows * winners);
            int o = 0;
            for (; o + together <= CO; o += together) sweep<together>(sum + o * sums::filter, copy, g + o, places + o);
            if constexpr (CO % together > 0) sweep<CO % together>(sum + o * sums::filter, copy, g + o, places + o);
        }
    }
};

} // namespace sinter::cpu
