// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/gradient_rows.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_input_gradient for few input channels and targets with many registers: lanes run along (kx,
/// ci), contiguous in dx, and the rows of dx below one column of the output and a strip of its rows
/// wait in registers for all output channels.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct conv_gradient_strips {
    using layout = gradient_rows<H, W, CI, CO, KH, KW, S, PT, PL, OW, Body>;   ///< of dx and of the weights
    static constexpr int vectors = layout::vectors, pitch = layout::pitch, filter = KH * layout::row;
    static constexpr int free = (registers - 4) / vectors - KH,
                         most = free < 0 ? 0 : free / S + 1;   ///< rows of the output
    static constexpr int strips = most > 0 ? (OH + most - 1) / most : 1, strip = OH / strips, taller = OH % strips;
    /// Half as many lanes again in use, and strips several times as high as what they share with
    /// their neighbours.
    static constexpr bool pays =
        CI * 3 * vectors * lanes <= KW * CI * 2 * ((CI + lanes - 1) / lanes * lanes) && strip * S >= KH;

    static constexpr std::int64_t weight_floats = round_up(std::int64_t{CO} * filter, 16);
    static constexpr int height = std::max((OH - 1) * S + KH, H + PT);
    static constexpr std::int64_t image_floats = std::int64_t{height} * pitch + layout::row;
    static constexpr std::int64_t floats = round_up(weight_floats + image_floats, 16);
    static constexpr std::int64_t scratch(int parts) { return parts * floats; }

    template <int First, std::size_t N, int... I>
    static SINTER_INLINE void add_row(vf (&c)[N], vf a, const float* w, std::integer_sequence<int, I...>) {
        ((c[First + I] = fma(a, load(w + I * lanes), c[First + I])), ...);
    }
    /// What R rows of one column of the output add to dx.
    template <int R>
    static __attribute__((noinline)) void add(const float* dy, const float* w, float* dx) {
        vf c[std::size_t{((R - 1) * S + KH) * vectors}];
        clear_block(c);
        for (int o = 0; o < CO; ++o, w += filter)
            unroll<R>([&](auto y) SINTER_ALWAYS {
                add_row<y * S * vectors>(c, splat(dy[y * (OW * CO) + o]), w, indices<KH * vectors>{});
            });
        add_block<vectors>(c, dx, pitch);
    }

    static void run(const call& c) {
        float* const weights = c.scratch + c.part * floats;
        float* const dx = weights + weight_floats;
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts);
        if (begin == end) return;
        layout::template arrange<0>(c.p[conv_operand::weights], weights);
        for (std::int64_t i = begin; i < end; ++i) {
            std::fill_n(dx, image_floats, 0.f);
            const float* dy = c.p[conv_operand::source] + i * (OH * OW * CO);
            for (int s = 0, y = 0; s < strips; ++s, y += strip + (s <= taller))
                for (int x = 0; x < OW; ++x) {
                    const float* const from = dy + (y * OW + x) * CO;
                    float* const to = dx + y * S * pitch + x * S * CI;
                    if (s < taller) add<strip + (taller > 0)>(from, weights, to);
                    else add<strip>(from, weights, to);
                }
            layout::emit(dx, i, c);
        }
    }
};

} // namespace sinter::cpu
