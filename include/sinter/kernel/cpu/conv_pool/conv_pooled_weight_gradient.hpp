// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_pool/pooled_filter_lists.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_filter_patches.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_filter_quads.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_filter_shares.hpp>
#include <sinter/kernel/cpu/conv_pool/pooled_filter_tables.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <type_traits>

namespace sinter::inline SINTER_TARGET::cpu {

/// Which of the ways to compute a gradient through a pool is the fastest.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
struct pooled_filter_choice {
    static_assert(P >= 1 && P <= 16, "winners are bytes");
    /// Tenths of a cycle for one output channel of one window, two thirds of the gradients alive
    /// (measured on a Zen 3, whole vectors as tables on a Zen 5).
    static constexpr int list_cost = 4 * KH * ((KW * CI + lanes - 1) / lanes) + 40, patch_cost = 5 * KH + 20;
    static constexpr int quad_cost = (has_tables ? 11 : 12) * KH * KW * CI * ((CO + lanes - 1) / lanes) / CO;
    static constexpr bool quads = has_permute && P == 2 && quad_cost < list_cost;
    using by_tables = pooled_filter_tables<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>;
    using by_patches = pooled_filter_patches<H, W, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    using by_shares = pooled_filter_shares<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
    static constexpr bool patches = CI == 1 && P > 1 &&
                                    by_patches::suits&& patch_cost < (quads ? quad_cost : list_cost);
    using type = std::conditional_t<
        patches, by_patches,
        std::conditional_t<quads,
                           std::conditional_t<by_tables::pays, by_tables,
                                              pooled_filter_quads<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, Body>>,
                           std::conditional_t<by_shares::pays, by_shares,
                                              pooled_filter_lists<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>>>>;
};

/// dw [KH, KW, CI, CO], packed, where the gradient comes through a max-pool of P x P windows: only
/// the winners carry any. Operands: x [m, H, W, CI], pooled gradient [m, OH / P, OW / P, CO],
/// winners as conv_max_pool_forward leaves them; P = 1: any gradient of which much is zero, and no
/// winners. Body: off in the packed weights, row = weight row, col = channel; padding lanes are
/// zero. Zeros are skipped exactly: a zero of the (unpooled) gradient times an infinite or NaN
/// input counts as zero.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P, class Body>
using conv_pooled_weight_gradient =
    typename pooled_filter_choice<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>::type;

template <class Body, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, int P>
struct nest<op::conv_weight_gradient, Body, H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P> {
    using type = conv_pooled_weight_gradient<H, W, CI, OH, OW, CO, KH, KW, S, PT, PL, P, Body>;
};

} // namespace sinter::cpu
