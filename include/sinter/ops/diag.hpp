// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/slice.hpp>

/// diag(v, k): [..., n] -> [..., n + |k|, n + |k|], v on the k-th diagonal (above the main one
/// where k > 0), zeros elsewhere. diagonal(x, k): [..., R, C] -> [..., n], the k-th diagonal of
/// each matrix. One copy each. PyTorch's diag_embed and diagonal of the last two axes. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor diag(tensor v, int k = 0) {
    if (!v.ok()) return v;
    v = unpack(v);
    const shape s = v.shape();
    if (s.rank == 0 || s.rank == max_rank) return fail(v.g, fault_kind::axis_out_of_range, op::insert, s, s);
    const std::int64_t wide = std::int64_t{s.last()} + (k < 0 ? -std::int64_t{k} : k);
    if (wide > 46340)   // squared 2^31 and more
        return fail(v.g, fault_kind::tensor_too_large, op::insert, s, extents(0x7fffffff));
    const int n = static_cast<int>(wide);
    const shape flat = with_last(s, n * n);
    box b(s);
    b.first[s.rank - 1] = k < 0 ? -k * n : k;
    b.step[s.rank - 1] = n + 1;
    return reshape(boxed<op::insert>(v, flat, flat, b), with_new_axis(with_last(s, n), s.rank, n));
}
constexpr tensor diagonal(tensor x, int k = 0) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    if (s.rank < 2) return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, s);
    const int rows = s.d[s.rank - 2], columns = s.last();
    const int high = k < 0 ? rows + k : rows, wide = k > 0 ? columns - k : columns, n = high < wide ? high : wide;
    if (n < 1) return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, extents(k));
    const shape flat = with_last(without_axis(s, s.rank - 1), rows * columns);
    box b(flat);
    b.first[flat.rank - 1] = k < 0 ? -k * columns : k;
    b.n[flat.rank - 1] = n;
    b.step[flat.rank - 1] = columns + 1;
    return slice(reshape(x, flat), b);
}

} // namespace ops
using ops::diag;
using ops::diagonal;

} // namespace sinter
