// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/product/tile.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::cpu {

/// y[N] = a[K] * B, as gemm for the one row of a net that predicts for one example at a time, in one part. There the calls around
/// a product take as long as its sums, so its extents are constants and the sums go from registers to the body. Every element is
/// summed as a tile does it.
template <class Body, int K, int N>
struct gemm_row {
    /// Panels at once: two sums each, all different chains, and a register left for what they are multiplied by.
    static constexpr int most = registers >= 32 ? 12 : 6;
    static constexpr int panels = (N + panel_width - 1) / panel_width;
    static constexpr bool narrow = panel_columns(N, panels - 1, panel_width, lanes) < panel_width;   ///< the last one: a single vector
    static constexpr int groups = (panels + most - 1) / most, least = panels / groups, larger = panels % groups;

    static void run(const call& by) {
        const call c = by;   // a copy: the body's stores cannot be seen to leave the original alone
        for (int g = 0; g < larger; ++g) group<least + 1, false>(g * (least + 1), c);
        for (int g = larger; g < groups - 1; ++g) group<least, false>(larger + g * least, c);
        group<least, true>(panels - least, c);
    }

private:
    /// P panels from panel p on; Last: they end the row.
    template <int P, bool Last>
    static SINTER_INLINE void group(std::int64_t p, const call& c) {
        constexpr int V = 2 * P, whole = Last && narrow ? V - 2 : V;
        constexpr std::int64_t step = std::int64_t{K} * panel_width;
        const float *x = c.p[0], *b = c.p[1] + p * step;
        vf s[V];
        unroll<V>([&](auto i) SINTER_ALWAYS { s[i] = zero(); });
        const auto add = [&](std::int64_t t, auto odd) SINTER_ALWAYS {
            const vf a = splat(x[t]);
            if constexpr (whole > 0)
                unroll<whole>([&](auto i) SINTER_ALWAYS { s[i] = fma(a, load(b + i / 2 * step + t * panel_width + i % 2 * lanes), s[i]); });
            if constexpr (whole < V) s[whole + odd] = fma(a, load(b + (P - 1) * step + t * lanes), s[whole + odd]);
        };
        constexpr std::integral_constant<int, 0> even;
        constexpr std::integral_constant<int, 1> odd;
        for (std::int64_t t = 0; t + 1 < K; t += 2) {
            add(t, even);
            add(t + 1, odd);
        }
        if constexpr (K % 2) add(K - 1, even);
        if constexpr (whole < V) s[whole] += s[whole + 1];
        unroll<V>([&](auto i) SINTER_ALWAYS {
            constexpr int there = Last ? N - (panels - P) * panel_width - i * lanes : lanes;   // columns from this vector on
            const std::int64_t col = p * panel_width + i * lanes;
            if constexpr (there >= lanes) Body::vector(s[i], col, 0, static_cast<int>(col), c);
            else if constexpr (there > 0) Body::vector(s[i], there, col, 0, static_cast<int>(col), c);
        });
    }
};

} // namespace sinter::cpu
