// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/internal/sparse_gradient.hpp>
#include <sinter/compiler/passes/pass.hpp>
#include <sinter/graph/graph_view.hpp>

/// Lets a convolution's gradients take the gradient of the max-pool behind it as it is (pooled
/// values and winners), instead of spread out over the convolution's output, three quarters or more
/// of which would be exact zeros. Where windows overlap or are padded, or the convolution is
/// strided, the gradients are told that of what is spread out most is zero.
namespace sinter::inline SINTER_TARGET::detail {
/// Windows side by side, within the output of a convolution of stride 1?
constexpr bool takes_pooled(view<node> n, const node& x, const node& spread) {
    const int size = spread.p[pool_attribute::kh];
    const node& winners = n[spread.in[1]];
    if (size != spread.p[pool_attribute::kw] || size != spread.p[pool_attribute::v_stride] ||
        size != spread.p[pool_attribute::h_stride])
        return false;
    if (n[winners.in[0]].in[0] < 0 || !is(n[n[winners.in[0]].in[0]], op_role::convolution)) return false;
    if (spread.p[pool_attribute::above] || spread.p[pool_attribute::left] || x.p[conv_attribute::stride] != 1)
        return false;   // no padded pools
    const shape& pooled = n[spread.in[0]].s;
    return pooled.d[0] * size <= spread.s.d[0] &&
           pooled.d[1] * size <= spread.s.d[1];   // or windows hang over the edge
}
} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

constexpr void pool_gradients(view<node> n) {
    for (int i = 0; i < n.n; ++i) {
        node& x = n[i];
        const int at = is(x, op_role::convolution_input_gradient)     ? 0
                       : is(x, op_role::convolution_weights_gradient) ? 1
                                                                      : -1;
        if (at < 0 || x.operands != 2) continue;
        const node& spread = n[x.in[at]];
        if (!is(spread, op_role::max_pool_gradient)) continue;
        if (detail::takes_pooled(n, x, spread)) {
            x.in[at] = spread.in[0];
            x.in[2] = spread.in[1];
            x.operands = 3;
            x.p[conv_attribute::pool] = spread.p[pool_attribute::kh];
        } else if (spread.p[pool_attribute::v_stride] * spread.p[pool_attribute::h_stride] >= 4 &&
                   (at == 1 || x.p[conv_attribute::stride] == 1)) {
            x.p[conv_attribute::pool] = detail::sparse_gradient_list;
        } else {
            continue;
        }
        x.p[conv_attribute::rows] =
            spread.s.d[0];   // the convolution's own rows and columns, some of which the pool may have dropped
        x.p[conv_attribute::columns] = spread.s.d[1];
    }
}

namespace pass {
struct pool_gradients {
    static constexpr bool enabled(const target& t, const program_options& o) { return o.fuse && t.pooled_convolutions; }
    static constexpr void run(const graph_view&, const view<node>& n, const pass_settings&) {
        sinter::compiler::pool_gradients(n);
    }
};
} // namespace pass

} // namespace sinter::compiler
