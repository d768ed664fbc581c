// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/gather.hpp>

/// gather_nd(x, indices): indices [.., k] int32 name places of x's first k axes (without the
/// batch): y[..] = x[i0, i1, ..]. Numbers outside an axis are moved to its ends. With a batch on
/// both sides, each example's own. ONNX: GatherND, batch_dims 1 or 0.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name place_index{"place_index"}; }

namespace place_index_attribute {
enum : int { first_axis, below = max_rank };
}   // namespace place_index_attribute
namespace place_index_extent {
enum : int { rank, first_axis };
}   // namespace place_index_extent

/// The number, in row-major order, of each place that the operand's last axis names.
template <>
struct rule<op::place_index> : root_op_rule {
    static constexpr const char* name = "place_index";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.e[place_index_extent::rank] = r.x(0).last();
        for (int i = 0; i < max_rank; ++i)
            k.e[place_index_extent::first_axis + i] = r.n.p[place_index_attribute::first_axis + i];
        k.by_example(r.y(), r.y().size());
    }
    static constexpr int below(const node& n) { return n.p[place_index_attribute::below]; }
};

namespace ops {

constexpr tensor gather_nd(tensor x, tensor indices) {
    if (!x.ok() || !indices.ok()) return {x.g ? x.g : indices.g, -1};
    x = unpack(x);
    const shape s = x.shape(), i = indices.shape();
    if (i.type != dtype::i32) return fail(x.g, fault_kind::wrong_element_type, op::place_index, i, i);
    if (i.rank < 1 || i.last() > s.rank) return fail(x.g, fault_kind::axis_out_of_range, op::place_index, i, s);
    int d[max_rank] = {}, places = 1;
    shape flat = s;
    flat.rank = 1;
    for (int k = 0; k < s.rank; ++k) flat.d[k] = 0;
    for (int k = 0; k < s.rank; ++k) {
        if (k < i.last()) places *= d[k] = s.d[k];
        else flat.d[flat.rank++] = s.d[k];
    }
    flat.d[0] = places;
    const tensor n =
        make<op::place_index>(x.g, without_axis(i, i.rank - 1), {indices}, {d[0], d[1], d[2], d[3], d[4], places});
    return gather(reshape(x, flat), n, 0);
}

} // namespace ops
using ops::gather_nd;

} // namespace sinter
