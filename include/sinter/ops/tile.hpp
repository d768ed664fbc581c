// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/detail/strides.hpp>
#include <sinter/ops/reshape.hpp>

/// tile(x, {n, ...}): x repeated n times along each of its axes (without the batch), as blocks; one
/// number an axis. One copy for each axis that is repeated, the innermost first. NumPy's tile.
/// ONNX: Tile.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor tile(tensor x, std::initializer_list<int> times) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    if (static_cast<int>(times.size()) != s.rank) return fail(x.g, fault_kind::axis_out_of_range, op::broadcast, s, s);
    for (int axis = s.rank - 1; axis >= 0; --axis) {
        const int n = times.begin()[axis];
        if (n < 1) return fail(x.g, fault_kind::axis_out_of_range, op::broadcast, s, s);
        if (n == 1) continue;
        const shape now = x.shape();
        if (std::int64_t{n} * now.d[axis] > 0x7fffffff)
            return fail(x.g, fault_kind::tensor_too_large, op::broadcast, now, extents(0x7fffffff));
        const axis_parts a(now, axis);
        shape rows = now, wide = now;
        rows.rank = wide.rank = 3;
        for (int i = 0; i < max_rank; ++i) rows.d[i] = wide.d[i] = 0;
        rows.d[0] = wide.d[0] = a.outer;
        rows.d[1] = 1;
        wide.d[1] = n;
        rows.d[2] = wide.d[2] = a.n * a.inner;
        x = reshape(broadcast_to(reshape(x, rows), wide), with_extent(now, axis, n * a.n));
    }
    return x;
}

} // namespace ops
using ops::tile;

} // namespace sinter
