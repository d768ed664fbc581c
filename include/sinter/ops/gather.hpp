// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/permute.hpp>

/// gather(x, indices, axis): slices of x along an axis (without the batch): x [A.., n, B..],
/// indices [I..] int32 below n -> [A.., I.., B..]. Each example is read at its own indices, at
/// those of all if they have no batch. ONNX: Gather.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name gather{"gather"}, scatter_add{"scatter_add"};
}

/// In node::p of both. Element [o, i, j] of the slices [outer, count, inner] belongs to [o, index,
/// j] of the whole [outer, n, inner]; the steps are those of the indices along outer, count and
/// inner.
namespace gather_attribute { enum : int { outer, n, inner, count, outer_step, step, inner_step, number }; }
/// In call::e: the same, then the floats of one example of the whole and the indices of one
/// example, 0 where all share them.
namespace gather_extent {
enum position : int { outer, n, inner, count, outer_step, step, inner_step, whole_example, indices_example };
}
/// In call::p.
namespace gather_operand { enum : int { whole, indices, slices }; }
namespace scatter_add_operand { enum : int { indices, slices, whole }; }

namespace detail {
constexpr void gather_extents(const kernel_request& r, kernel_extents& k, const shape& whole, const shape& indices,
                              const shape& y) {
    for (int i = 0; i < gather_attribute::number; ++i) k.e[i] = r.n.p[i];
    k.e[gather_extent::whole_example] = whole.batched ? whole.size() : 0;
    k.e[gather_extent::indices_example] = indices.batched ? indices.size() : 0;
    k.by_example(y, 1);
}
} // namespace detail

/// Operands: the whole, indices.
template <>
struct rule<op::gather> : root_op_rule {
    static constexpr const char* name = "gather";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::gather_extents(r, k, r.x(0), r.x(1), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: indices, slices. The sum of the slices at their places, in their order; zero
/// elsewhere. Slices and whole have a batch, or neither has.
template <>
struct rule<op::scatter_add> : root_op_rule {
    static constexpr const char* name = "scatter_add";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in[1].s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::gather_extents(r, k, r.y(), r.x(0), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor gather(tensor x, tensor indices, int axis = 0) {
    if (!x.ok() || !indices.ok()) return {x.g ? x.g : indices.g, -1};
    x = unpack(x);
    const shape s = x.shape(), i = indices.shape();
    axis = axis_of(s, axis);
    if (axis < 0 || s.rank - 1 + i.rank > max_rank) return fail(x.g, fault_kind::axis_out_of_range, op::gather, s, i);
    const axis_parts a(s, axis);
    if (!are_indices(op::gather, indices, a.n)) return {x.g, -1};
    shape out = s;
    out.batched = s.batched || i.batched;
    out.rank = 0;
    for (int k = 0; k < axis; ++k) out.d[out.rank++] = s.d[k];
    for (int k = 0; k < i.rank; ++k) out.d[out.rank++] = i.d[k];
    for (int k = axis + 1; k < s.rank; ++k) out.d[out.rank++] = s.d[k];
    for (int k = out.rank; k < max_rank; ++k) out.d[k] = 0;
    if (s.batched) return make<op::gather>(x.g, out, {x, indices}, {a.outer, a.n, a.inner, i.size(), 0, 1, 0});
    // a table that all examples share: rows by their numbers, whose gradient sums over the batch
    x = reshape(permute(reshape(x, extents(a.outer, a.n, a.inner)), {1, 0, 2}), extents(a.n, a.outer * a.inner));
    const tensor rows = gather_rows(x, reshape(indices, extents(i.size())));
    return reshape(permute(reshape(rows, extents(i.size(), a.outer, a.inner)), {1, 0, 2}), out);
}

} // namespace ops
using ops::gather;

constexpr void rule<op::gather>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::scatter_add>(g.g, g.x(0).shape(), {g.x(1), g.d}, n.p));
}
constexpr void rule<op::scatter_add>::gradient(gradient_of& g) {
    const node n = g.n();
    if (!g.wants(1)) return;
    g.add(1, make<op::gather>(g.g, g.x(1).shape(), {g.d, g.x(0)}, n.p));
}

} // namespace sinter
