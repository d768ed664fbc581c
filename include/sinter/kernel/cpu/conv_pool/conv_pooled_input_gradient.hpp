// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_pool/pooled_gradient_rows.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_gradient_slices.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_gradient_strips.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dx [m, H, W, CI] of a convolution whose gradient comes through a max-pool of P x P windows: only
/// winners carry any. Operands: pooled gradient [m, OH / P, OW / P, CO], weights by
/// conv_transpose_weights, winners as conv_max_pool_forward leaves them (by slices none if P = 1,
/// but any gradient of which much is zero). Body: off in dx, row = pixel of x, col = channel. Zeros
/// are skipped exactly, those of the pooled gradient too: a zero times an infinite or NaN weight
/// counts as zero.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct conv_pooled_input_gradient {
    static_assert(P >= 1 && P <= 16, "winners are bytes");
    /// Vectors of input channels, or, where these would be half empty, of a whole row of taps and
    /// channels.
    static constexpr bool slices = CI >= lanes && CI * 10 >= (CI + lanes - 1) / lanes * lanes * 6;
    using by_strips = pooled_gradient_strips<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using method =
        std::conditional_t<slices, pooled_gradient_slices<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>,
                           std::conditional_t<by_strips::pays, by_strips,
                                              pooled_gradient_rows<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>>>;
    static constexpr int phases = 1;
    static constexpr std::int64_t scratch(int parts) { return parts * method::floats; }
    static void run(const call& c) { method::run(c); }
    static void finish(const call&) {}
};

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P>
struct nest<op::conv_input_gradient, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P> {
    using type = conv_pooled_input_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
};

} // namespace sinter::cpu
