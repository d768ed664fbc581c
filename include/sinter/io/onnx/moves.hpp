// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/gather_rows.hpp>
#include <sinter/ops/permute.hpp>

/// Ops that move elements: Reshape, Transpose, Concat, Slice, Gather, Expand.
namespace sinter::onnx {

namespace detail {

inline void emit_reshape(exporter& e, int id) {
    const int x = e.operand(id, 0);
    // of an image of one pixel, or of one channel, the order of axes does not matter
    const bool either = e.s(x).rank > 1 && (e.s(x).rows() == 1 || e.s(x).last() == 1) && e.only_channels_first(x);
    e.set(id, e.reshape(id, either ? e.value_channels_first(x) : e.value(x), e.with_batch(e.s(id))));
}
inline void emit_same(exporter& e, int id) {
    const int x = e.operand(id, 0);
    if (e.only_channels_first(x)) e.set_channels_first(id, e.value_channels_first(x));
    else e.set(id, e.value(x));
}
inline void emit_permute(exporter& e, int id) {
    std::vector<std::int64_t> order;
    const int b = e.s(id).batched;
    if (b) order.push_back(0);
    for (int i = 0; i < e.s(id).rank; ++i) order.push_back(b + e.n(id).p[i]);
    e.set(id, e.add(id, "Transpose", {e.value(e.operand(id, 0))}, {ints("perm", order)}));
}
inline void emit_concat(exporter& e, int id) {
    const node& n = e.n(id);
    const bool first = n.s.rank > 1 && e.only_channels_first(n.in[0]) && e.only_channels_first(n.in[1]);
    const int axis = n.s.batched + (!first ? n.p[3] : n.p[3] + 1 == n.s.rank ? 0 : n.p[3] + 1);
    std::vector<std::string> in;
    for (int k = 0; k < 2; ++k) in.push_back(first ? e.value_channels_first(n.in[k]) : e.value(n.in[k]));
    const std::string y = e.add(id, "Concat", in, {integer("axis", axis)});
    if (first) e.set_channels_first(id, y);
    else e.set(id, y);
}
inline void emit_slice(exporter& e, int id) {
    const node& n = e.n(id);
    const std::int64_t axis = n.p[4], begin = n.p[5], end = begin + n.s.d[axis];
    const std::string from = e.m.whole({begin}), to = e.m.whole({end}), along = e.m.whole({axis + n.s.batched});
    e.set(id, e.add(id, "Slice", {e.value(n.in[0]), from, to, along}));
}
inline void emit_gather_rows(exporter& e, int id) {
    e.set(id, e.add(id, "Gather", {e.value(e.operand(id, 0)), e.value(e.operand(id, 1))}, {integer("axis", 0)}));
}
inline void emit_expand(exporter& e, int id) {
    const int x = e.operand(id, 0);
    const shape &from = e.s(x), &to = e.s(id);
    if (from == to) return emit_same(e, id);
    // a batch that is there stays under an extent of 1
    std::string extents = e.m.whole(e.with_batch(to, 1));
    if (to.batched && !from.batched) extents = e.add(id, "Concat", {e.batch(), e.m.whole(extents_of(to))}, {integer("axis", 0)});
    e.set(id, e.add(id, "Expand", {e.value(x), extents}));
}

} // namespace detail

inline constexpr emitter move_emitters[] = {
    {op::reshape, detail::emit_reshape},       {op::stop_gradient, detail::emit_same}, {op::pack_weights, detail::emit_same},
    {op::unpack_weights, detail::emit_same},   {op::permute, detail::emit_permute},    {op::concat, detail::emit_concat},
    {op::slice, detail::emit_slice},           {op::broadcast, detail::emit_expand},   {op::expand, detail::emit_expand},
    {op::gather_rows, detail::emit_gather_rows}};

} // namespace sinter::onnx
