// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/concat.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/reshape.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// The sum of two gradients of one table that is read twice: where both are row-sparse, one
/// row-sparse gradient of all the rows, so that an update of it is lazy as well. No tensor where
/// they are not, or where one has indices of each example and the other has not.
constexpr tensor joined_rows(tensor a, tensor b) {
    graph& g = *a.g;
    const node x = a.at(), y = b.at();
    if (!is(x, op_role::scatter_rows) || !is(y, op_role::scatter_rows) || x.loop || y.loop || g.open_loop)
        return {&g, -1};
    tensor indices[2], rows[2];
    for (int i = 0; i < 2; ++i) {
        const node& n = i ? y : x;
        indices[i] = {&g, n.in[0]};
        rows[i] = {&g, n.in[1]};
        const int count = indices[i].shape().size();
        indices[i] = ops::reshape(indices[i], extents(count));
        rows[i] = ops::reshape(ops::plain(rows[i]), extents(count, x.s.last()));
    }
    if (indices[0].shape().batched != indices[1].shape().batched) return {&g, -1};
    if (rows[0].shape().batched != rows[1].shape().batched) return {&g, -1};
    return make<op::scatter_rows>(&g, x.s, {ops::concat(indices[0], indices[1], 0), ops::concat(rows[0], rows[1], 0)});
}

} // namespace sinter::detail
