// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <cstring>

#include <sinter/kernel/operands.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Hands the body n pooled windows of C < lanes channels each, of which best[channel] and
/// place[channel] have one in every lane; from lane to lane the pixel's number grows by `step`.
/// Their places are the winners, if anyone wants them.
template <class Body, int C, class Call>
SINTER_INLINE void emit_windows(const vf* best, std::int64_t pixel, std::int64_t step, int n, const Call& c) {
    vf v[lanes];
    unroll<lanes>([&](auto o) SINTER_ALWAYS { v[o] = o < C ? best[o] : zero(); });
    transpose_lanes(v);
    unroll<lanes>([&](auto i) SINTER_ALWAYS {
        const std::int64_t at = pixel + i * step;
        if (i < n) Body::vector(v[i], C, at * C, at, 0, c);
    });
}
template <int C, class Call>
SINTER_INLINE void emit_places(const vi* place, std::int64_t pixel, std::int64_t step, int n, const Call& c) {
    if (!c.p[conv_operand::winners]) return;
    std::uint8_t* to = reinterpret_cast<std::uint8_t*>(c.p[conv_operand::winners]) + pixel * C;
    step *= C;
    vi packed[std::size_t{(C + 3) / 4}] = {};
    unroll<C>([&](auto o) SINTER_ALWAYS { packed[o / 4] |= place[o] << (o % 4 * 8); });
    if constexpr (C > 4 && C <= 8 && lanes >= 4) {
        // A window's eight bytes side by side: those beyond C are written over by the next one's,
        // where that lies behind it.
        alignas(64) std::uint8_t words[lanes * 8];
        store(reinterpret_cast<float*>(words), shuffle<zip_quads<1, 0>>((vf)packed[0], (vf)packed[1]));
        store(reinterpret_cast<float*>(words + 4 * lanes), shuffle<zip_quads<1, 1>>((vf)packed[0], (vf)packed[1]));
        const auto word = [&](int i) SINTER_ALWAYS { return words + i % 4 / 2 * (4 * lanes) + i / 4 * 16 + i % 2 * 8; };
        if (step == C)
            for (int i = 0; i < n - 1; ++i, to += step) std::memcpy(to, word(i), 8);
        else
            for (int i = 0; i < n - 1; ++i, to += step) std::memcpy(to, word(i), C);
        std::memcpy(to, word(n - 1), C);
    } else {
        for (int i = 0; i < n; ++i, to += step)
            unroll<(C + 3) / 4>([&](auto k) SINTER_ALWAYS {
                const std::int32_t word = reinterpret_cast<const std::int32_t*>(packed + k)[i];
                std::memcpy(to + 4 * k, &word, std::min(4, C - 4 * k));
            });
    }
}

} // namespace sinter::cpu
