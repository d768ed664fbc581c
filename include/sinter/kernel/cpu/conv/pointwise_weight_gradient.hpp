// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/cpu/conv/conv_weight_gradient.hpp>
#include <sinter/kernel/cpu/conv/sparse_weight_gradient.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>
#include <sinter/kernel/cpu/gemm/transposed_product.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dw [CI, CO], packed, of a convolution by 1 x 1: conv_weight_gradient's operands and body. The
/// product of the pixels, transposed, and the gradient, both copied on the way
/// (transposed_product.hpp): pixels of many channels lie so far apart that their lines would meet
/// in few places of the caches.
template <int CI, int CO, int Pixels, class Body>
struct pointwise_weight_gradient {
    /// Are copies read often enough? Of a tile of few rows a line is read by several.
    static constexpr bool few_rows = tile_rows < floats_a_line / 2,
                          pays = few_rows ? CO > 2 * panel_width : CI >= 256 && CO >= 256;

    static void run(const call& c) { run(c.p[conv_weight_gradient_operand::x], c); }
    static void run(const float* x, const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        if (is_done(f, c)) return;
        const float* const dy = c.p[conv_weight_gradient_operand::dy];
        const product q{x, 1, CI, dy, CO, right::rows, CI, CO, std::int64_t{c.m} * Pixels, true, 0, 0};
        run_transposed_product(q, f, c, c.part, does_all_parts(f, c) ? c.end : c.part + 1, c.parts);
    }
};

/// The same where only every S-th pixel of every S-th row counts: those are put together before.
template <int H, int W, int CI, int OH, int OW, int CO, int S, class Body>
struct strided_pointwise_weight_gradient {
    using product = pointwise_weight_gradient<CI, CO, OH * OW, Body>;
    static constexpr std::int64_t scratch(const std::int64_t*, int, std::int64_t images) {
        return images * (OH * OW * CI);
    }

    static void prepare(const call& c) {
        const std::int64_t rows = std::int64_t{c.m} * OH, end = share(rows, c.part + 1, c.parts);
        for (std::int64_t i = share(rows, c.part, c.parts); i < end; ++i) {
            const float* from = c.p[conv_weight_gradient_operand::x] + (i / OH * H + i % OH * S) * (W * CI);
            float* to = c.scratch + i * (OW * CI);
            for (int x = 0; x < OW; ++x, from += S * CI, to += CI) std::memcpy(to, from, sizeof(float) * CI);
        }
    }
    static void run(const call& c) { product::run(c.scratch, c); }
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int S>
struct nest<op::conv_weight_gradient, Body, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, 0> {
    using dense = pointwise_weight_gradient<CI, CO, OH * OW, Body>;
    using strided = strided_pointwise_weight_gradient<H, W, CI, OH, OW, CO, S, Body>;
    using product = std::conditional_t<S == 1 && OH == H && OW == W, dense, strided>;
    using in_place = conv_weight_gradient<H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, Body>;
    using any = std::conditional_t<dense::pays, product, in_place>;
    using sparse = sparse_weight_gradient<any, H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, Body>;
    static constexpr bool skips_zeros = std::is_same_v<product, dense> && sparse::pays;
    using narrow = narrow_weight_gradient<H, W, CI, OH, OW, CO, 1, 1, S, 0, 0, Body>;
    using type = std::conditional_t<narrow::pays, narrow, std::conditional_t<skips_zeros, sparse, any>>;
};

} // namespace sinter::cpu
