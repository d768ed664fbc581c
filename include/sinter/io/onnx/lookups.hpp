// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/cast.hpp>
#include <sinter/ops/detail/pivot_row.hpp>
#include <sinter/ops/extract_patches.hpp>
#include <sinter/ops/gather_nd.hpp>
#include <sinter/ops/gather_rows.hpp>

/// Elements at places that were computed, and integers: Gather, GatherElements,
/// ScatterElements, Cast.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// The extents [outer, k, inner] of gather and scatter_add, with the batch of `s`.
inline shape in_parts(const node& n, const shape& s, int k) {
    shape y = sinter::extents(n.p[gather_attribute::outer], k, n.p[gather_attribute::inner]);
    y.batched = s.batched;
    return y;
}
/// Their indices, as many as there are slices' elements: GatherElements and ScatterElements do not
/// stretch them.
SINTER_COLD inline value_name full_indices(exporter& e, int id, int indices, const shape& slices) {
    const node& n = e.n(id);
    few_numbers own{n.p[gather_attribute::outer_step] ? n.p[gather_attribute::outer] : 1,
                                  n.p[gather_attribute::count],
                                  n.p[gather_attribute::inner_step] ? n.p[gather_attribute::inner] : 1};
    if (slices.batched) own.insert(own.begin(), e.s(indices).batched ? 0 : 1);
    return e.add(id, "Expand",
                 {e.reshape(id, e.value(indices), own), e.extents(in_parts(n, slices, n.p[gather_attribute::count]))});
}
SINTER_COLD inline void emit_gather(exporter& e, int id) {
    const node& n = e.n(id);
    const shape &s = e.s(n.in[0]), &i = e.s(n.in[1]);
    const value_name x = e.reshape(id, e.value(n.in[0]), e.with_batch(in_parts(n, s, n.p[gather_attribute::n])));
    const attribute axis = integer("axis", 1 + s.batched);
    const value_name y =
        i.batched || n.p[gather_attribute::outer_step] || n.p[gather_attribute::inner_step]
            ? e.add(id, "GatherElements", {x, full_indices(e, id, n.in[1], s)}, {axis})
            : e.add(id, "Gather", {x, e.reshape(id, e.value(n.in[1]), {n.p[gather_attribute::count]})}, {axis});
    e.set(id, e.reshape(id, y, e.with_batch(n.s)));
}
SINTER_COLD inline void emit_scatter_add(exporter& e, int id) {
    const node& n = e.n(id);
    const shape& slices = e.s(n.in[1]);
    const value_name indices = full_indices(e, id, n.in[0], slices);
    const value_name x =
        e.reshape(id, e.value(n.in[1]), e.with_batch(in_parts(n, slices, n.p[gather_attribute::count])));
    const value_name zeros = e.filled(id, in_parts(n, n.s, n.p[gather_attribute::n]), 0.f);
    const value_name y = e.add(id, "ScatterElements", {zeros, indices, x},
                                {integer("axis", 1 + n.s.batched), text("reduction", "add")});
    e.set(id, e.reshape(id, y, e.with_batch(n.s)));
}
SINTER_COLD inline void emit_gather_rows(exporter& e, int id) {
    e.set(id, e.add(id, "Gather", {e.value(e.operand(id, 0)), e.value(e.operand(id, 1))}, {integer("axis", 0)}));
}
SINTER_COLD inline void emit_scatter_rows(exporter& e, int id) {
    const shape& s = e.s(id);
    const value_name rows = e.reshape(id, e.value(e.operand(id, 1)), {-1, s.last()});
    const value_name places = e.reshape(id, e.value(e.operand(id, 0)), {-1, 1});
    const value_name indices = e.add(id, "Expand", {places, e.add(id, "Shape", {rows})});
    e.set(id, e.add(id, "ScatterElements", {e.filled(id, s, 0.f), indices, rows},
                    {integer("axis", 0), text("reduction", "add")}));
}
SINTER_COLD inline void emit_place_index(exporter& e, int id) {
    const node& n = e.n(id);
    const int axes = e.s(n.in[0]).last();
    few_numbers last, step;
    for (int k = 0; k < axes; ++k) last.push_back(n.p[place_index_attribute::first_axis + k] - 1), step.push_back(1);
    for (int k = axes - 1; k-- > 0;)
        step[static_cast<std::size_t>(k)] =
            step[static_cast<std::size_t>(k) + 1] * n.p[place_index_attribute::first_axis + k + 1];
    const value_name x = e.cast(id, e.value(n.in[0]), element::i64);
    // not by Min and Max: onnxruntime 1.31 compares integers as floats there
    const value_name none = e.m.whole({0}), ends = e.m.whole(last);
    const value_name least = e.add(id, "Where", {e.add(id, "Less", {x, none}), none, x});
    const value_name within = e.add(id, "Where", {e.add(id, "Greater", {least, ends}), ends, least});
    const value_name places = e.add(id, "Mul", {within, e.m.whole(step)});
    const value_name y = e.add(id, "ReduceSum", {places, e.m.whole({-1})}, {integer("keepdims", 0)});
    e.set(id, e.cast(id, y, element::i32));
}
SINTER_COLD inline void emit_to_index(exporter& e, int id) {
    const value_name x = e.value(e.operand(id, 0)), positive = e.add(id, "Greater", {x, e.m.number(0)});
    const value_name most =
        e.add(id, "Min", {x, e.m.number(static_cast<float>(e.n(id).p[to_index_attribute::below] - 1))});
    e.set(id, e.cast(id, e.add(id, "Where", {positive, most, e.m.number(0)}), element::i32));   // of NaN: 0
}
SINTER_COLD inline void emit_to_int(exporter& e, int id) {
    const value_name x = e.value(e.operand(id, 0)), none = e.add(id, "IsNaN", {x});
    const value_name number = e.add(id, "Where", {none, e.m.number(0), x});
    const value_name within =
        e.cast(id, e.add(id, "Clip", {number, e.m.number(-0x1p31f), e.m.number(0x1p31f)}), element::i64);
    const value_name above = e.add(id, "GreaterOrEqual", {number, e.m.number(0x1p31f)});
    e.set(id, e.cast(id, e.add(id, "Where", {above, e.m.whole({0x7fffffff}, {}), within}), element::i32));
}
/// The first row, where kernels here take the middle of three: what is summed about a row does not
/// depend on which one it is, but for its last digits.
SINTER_COLD inline void emit_pivot_row(exporter& e, int id) {
    const value_name rows = e.reshape(id, e.value(e.operand(id, 0)), {-1, e.s(id).last()});
    e.set(id, e.add(id, "Gather", {rows, e.m.whole({0}, {})}, {integer("axis", 0)}));
}
/// Rows of windows, then columns of windows: [H, W, C] -> [OH, KH, W, C] -> [OH, KH, OW, KW, C].
SINTER_COLD inline void emit_extract_patches(exporter& e, int id) {
    const node& n = e.n(id);
    const shape& s = e.s(n.in[0]);
    const int b = s.batched;
    few_numbers before(static_cast<std::size_t>(b), 0), after = before;
    std::vector<std::int64_t> places[2];
    for (int i = 0; i < 2; ++i) {
        const int k = n.p[patch_attribute::kh + i], stride = n.p[patch_attribute::v_stride + i];
        const int dilation = n.p[patch_attribute::v_dilation + i], above = n.p[patch_attribute::above + i];
        before.push_back(above);
        after.push_back(std::max(0, (n.s.d[i] - 1) * stride + (k - 1) * dilation + 1 - s.d[i] - above));
        for (int o = 0; o < n.s.d[i]; ++o)
            for (int tap = 0; tap < k; ++tap) places[i].push_back(o * stride + tap * dilation);
    }
    before.push_back(0), after.push_back(0);
    before.insert(before.end(), after.begin(), after.end());
    value_name y = e.add(id, "Pad", {e.value(n.in[0]), e.m.whole(before)});
    for (int i = 0; i < 2; ++i)
        y = e.add(id, "Gather", {y, e.m.whole(places[i], {n.s.d[i], n.p[patch_attribute::kh + i]})},
                  {integer("axis", b + 2 * i)});
    few_numbers order{0, 2, 1, 3, 4};
    for (std::int64_t& axis : order) axis += b;
    if (b) order.insert(order.begin(), 0);
    e.set(id, e.reshape(id, e.transpose(id, y, order), e.with_batch(n.s)));
}

} // namespace detail

inline constexpr emitter lookup_emitters[] = {
    {op::gather, detail::emit_gather},           {op::scatter_add, detail::emit_scatter_add},
    {op::gather_rows, detail::emit_gather_rows}, {op::scatter_rows, detail::emit_scatter_rows},
    {op::place_index, detail::emit_place_index}, {op::to_index, detail::emit_to_index},
    {op::pivot_row, detail::emit_pivot_row},
    {op::to_int, detail::emit_to_int},           {op::extract_patches, detail::emit_extract_patches}};

} // namespace sinter::onnx
