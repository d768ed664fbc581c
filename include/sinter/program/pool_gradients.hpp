// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/known.hpp>

/// Lets a convolution's gradients take the gradient of the max-pool behind it as it is (pooled values and winners),
/// instead of spread out over the convolution's output, three quarters or more of which would be exact zeros.
namespace sinter {

constexpr void pool_gradients(view<node> n) {
    for (int i = 0; i < n.n; ++i) {
        node& x = n[i];
        const int at = x.k == op::conv_input_gradient ? 0 : x.k == op::conv_weight_gradient ? 1 : -1;
        if (at < 0 || x.operands != 2) continue;
        const node& spread = n[x.in[at]];
        if (spread.k != op::max_pool_gradient) continue;
        const int size = spread.p[0];
        const node& winners = n[spread.in[1]];
        if (size != spread.p[1] || size != spread.p[2] || size != spread.p[3]) continue;
        if (n[winners.in[0]].in[0] < 0 || n[n[winners.in[0]].in[0]].k != op::conv) continue;
        if (spread.p[4] || spread.p[5] || x.p[2] != 1) continue;   // no padded pools; strided convolutions stay dense
        const shape& pooled = n[spread.in[0]].s;
        if (pooled.d[0] * size > spread.s.d[0] || pooled.d[1] * size > spread.s.d[1]) continue;   // windows hang over the edge
        x.in[at] = spread.in[0];
        x.in[2] = spread.in[1];
        x.operands = 3;
        x.p[5] = size;
        x.p[6] = spread.s.d[0];   // the convolution's own rows and columns, some of which the pool may have dropped
        x.p[7] = spread.s.d[1];
    }
}

} // namespace sinter
