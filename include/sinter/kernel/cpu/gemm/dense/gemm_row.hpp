// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/gemm/tile.hpp>
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// y[N] = a[K] * B, as gemm for the one row of a net that predicts for one example at a time, in
/// one part. There the calls around a product take as long as its sums, so its extents are
/// constants and the sums go from registers to the body. Every element is summed as a tile does it;
/// where many factors are zero and weights are known to be finite, without their terms, to the same
/// bits.
template <class Body, int K, int N>
struct gemm_row {
    /// Panels at once: two sums each, all different chains, and a register left for what they are
    /// multiplied by.
    static constexpr int most = registers >= 32 ? 12 : 6;
    static constexpr int panels = (N + panel_width - 1) / panel_width;
    static constexpr bool narrow =
        panel_columns(N, panels - 1, panel_width, lanes) < panel_width;   ///< the last one: a single vector
    static constexpr int groups = (panels + most - 1) / most, least = panels / groups, larger = panels % groups;

    static void run(const call& by) {
        const call c = by;   // a copy: the body's stores cannot be seen to leave the original alone
        if (!c.finite_weights) return groups_of(c, every_term{});
        marked_terms some(c.p[product_operand::a]);
        if (some.count <= K * 3 / 4) groups_of(c, some);
        else groups_of(c, every_term{});
    }

private:
    static constexpr std::int64_t step = std::int64_t{K} * panel_width;   ///< from panel to panel

    struct every_term {
        template <class F>
        SINTER_INLINE void each(F add) const {
            for (std::int64_t t = 0; t < K; ++t) add(t);
        }
        template <class F>
        SINTER_INLINE void each_pair(F add) const {   ///< of even and odd terms, which have sums of their own
            for (std::int64_t t = 0; t + 1 < K; t += 2) {
                add(t, even);
                add(t + 1, odd);
            }
            if constexpr (K % 2) add(K - 1, even);
        }
    };
    /// The terms whose factor is not zero, of which relu leaves about half.
    struct marked_terms {
        static constexpr int words = (K + mask_bits - 1) / mask_bits;
        std::uint64_t mask[std::size_t{words}];
        int count = 0;
        explicit SINTER_INLINE marked_terms(const float* x) {
            for (int w = 0; w < words; ++w) {
                mask[w] = row_mask(x + w * mask_bits, K - w * mask_bits < mask_bits ? K - w * mask_bits : mask_bits);
                count += __builtin_popcountll(mask[w]);
            }
        }
        template <class F>
        SINTER_INLINE void each(F add) const {
            for (int w = 0; w < words; ++w)
                for_bits(mask[w], [&](std::int64_t bit) SINTER_ALWAYS { add(w * mask_bits + bit); });
        }
        template <class F>
        SINTER_INLINE void each_pair(F add) const {
            constexpr std::uint64_t of_even = 0x5555'5555'5555'5555u;
            for (int w = 0; w < words; ++w) {
                std::uint64_t m = mask[w] & of_even, n = mask[w] & ~of_even;
                const auto next = [&](std::uint64_t& bits, auto which) SINTER_ALWAYS {
                    add(w * mask_bits + __builtin_ctzll(bits), which);
                    bits &= bits - 1;
                };
                for (; m && n; next(m, even), next(n, odd)) {}
                for (; m; next(m, even)) {}
                for (; n; next(n, odd)) {}
            }
        }
    };
    static constexpr std::integral_constant<int, 0> even{};
    static constexpr std::integral_constant<int, 1> odd{};

    template <class Terms>
    static SINTER_INLINE void groups_of(const call& c, const Terms& terms) {
        for (int g = 0; g < larger; ++g) group<least + 1, false>(g * (least + 1), c, terms);
        for (int g = larger; g < groups - 1; ++g) group<least, false>(larger + g * least, c, terms);
        group<least, true>(panels - least, c, terms);
    }
    /// P panels from panel p on; Last: they end the row.
    template <int P, bool Last, class Terms>
    static SINTER_INLINE void group(std::int64_t p, const call& c, const Terms& terms) {
        constexpr int V = 2 * P, whole = Last && narrow ? V - 2 : V;
        const float *x = c.p[product_operand::a], *b = c.p[product_operand::b] + p * step;
        vf s[std::size_t{V}];
        clear_block(s);
        if constexpr (whole > 0)
            terms.each([&](std::int64_t t) SINTER_ALWAYS {
                const vf a = splat(x[t]);
                unroll<whole>([&](auto i) SINTER_ALWAYS {
                    s[i] = fma(a, load(b + i / 2 * step + t * panel_width + i % 2 * lanes), s[i]);
                });
            });
        if constexpr (whole < V) {
            terms.each_pair([&](std::int64_t t, auto which) SINTER_ALWAYS {
                s[whole + which] = fma(splat(x[t]), load(b + (P - 1) * step + t * lanes), s[whole + which]);
            });
            s[whole] += s[whole + 1];
        }
        unroll<V>([&](auto i) SINTER_ALWAYS {
            constexpr int there =
                Last ? N - (panels - P) * panel_width - i * lanes : lanes;   // columns from this vector on
            const std::int64_t col = p * panel_width + i * lanes;
            if constexpr (there >= lanes) Body::vector(s[i], col, 0, static_cast<int>(col), c);
            else if constexpr (there > 0) Body::vector(s[i], there, col, 0, static_cast<int>(col), c);
        });
    }
};

} // namespace sinter::cpu
