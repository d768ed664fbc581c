// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/slice.hpp>
#include <array>

/// split<N>(x, axis): N pieces of the same extent along an axis (without the batch), which N must
/// divide; split(x, {extents of the pieces}, axis) where they differ. A copy of each piece that
/// somebody uses. ONNX: Split.
namespace sinter::inline SINTER_TARGET {

namespace ops {

template <std::size_t N>
constexpr std::array<tensor, N> split(tensor x, const int (&pieces)[N], int axis = -1) {
    std::array<tensor, N> r;
    r.fill({x.g, -1});
    if (!x.ok()) return r;
    const shape s = x.shape();
    axis = axis_of(s, axis);
    int all = 0;
    for (int n : pieces) all += n;
    if (axis < 0 || all != s.d[axis]) {
        r[0] = fail(x.g, fault_kind::axis_out_of_range, op::slice, s, extents(all));
        return r;
    }
    int first = 0;
    for (std::size_t i = 0; i < N; first += pieces[i++]) r[i] = slice(x, axis, first, pieces[i]);
    return r;
}
template <std::size_t N>
constexpr std::array<tensor, N> split(tensor x, int axis = -1) {
    const shape s = x.shape();
    const int a = axis_of(s, axis);
    int pieces[N] = {};
    constexpr int all = N;
    for (int& n : pieces) n = a < 0 || s.d[a] % all ? 0 : s.d[a] / all;
    return split(x, pieces, axis);
}

} // namespace ops
using ops::split;

} // namespace sinter
