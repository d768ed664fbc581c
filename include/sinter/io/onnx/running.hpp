// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/argmax.hpp>
#include <sinter/ops/cumprod.hpp>
#include <sinter/ops/sort.hpp>

/// What goes along one axis: CumSum and Scan, ArgMax, TopK.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// The axis, the batch counted, of a node that knows its operand as [outer, n, inner].
inline int axis_along(exporter& e, int id) {
    const shape& s = e.s(e.operand(id, 0));
    const auto& p = e.n(id).p;
    int outer = 1, axis = 0;
    while (axis + 1 < s.rank && (outer != p[axis_attribute::outer] || s.d[axis] != p[axis_attribute::n]))
        outer *= s.d[axis++];
    return axis + s.batched;
}
SINTER_COLD inline void emit_cumsum(exporter& e, int id) {
    const auto& p = e.n(id).p;
    const value_name axis = e.m.whole({axis_along(e, id)}, {});
    e.set(id,
          e.add(id, "CumSum", {e.value(e.operand(id, 0)), axis},
                {integer("exclusive", p[scan_attribute::exclusive]), integer("reverse", p[scan_attribute::reverse])}));
}
/// A Scan of one state: `step` writes what an iteration does, from {state, slices...} to {state,
/// result}.
template <class Step>
void emit_running(exporter& e, int id, float first, Step step) {
    const node& n = e.n(id);
    const int axis = axis_along(e, id);
    const shape slice = without_axis(n.s, axis - n.s.batched);
    block b;
    const auto port_of = [&](const char* name) {
        return port{e.m.unique(name), element::f32, slice.batched, exporter::own_extents(slice)};
    };
    std::vector<value_name> names, in{e.filled(id, slice, first)};
    b.inputs.push_back(port_of("state"));
    for (int k = 0; k < n.operands; ++k) b.inputs.push_back(port_of("slice")), in.push_back(e.value(n.in[k]));
    for (const port& p : b.inputs) names.push_back(p.name);
    const auto add = [&](const char* type, value_name x, value_name y) {
        b.outputs.push_back(port_of(type));
        const value_name name = b.outputs.back().name;
        if (y.empty()) b.add(type, name, {x}, {name}, {});
        else b.add(type, name, {x, y}, {name}, {});
        return name;
    };
    step(add, names);
    b.outputs.erase(b.outputs.begin(), b.outputs.end() - 2);
    const few_numbers axes(static_cast<std::size_t>(n.operands), axis),
        back(axes.size(), n.p[scan_attribute::reverse]);
    e.set(id, e.add_several(id, "Scan", in, 2,
                            {e.m.body("body", std::move(b)), integer("num_scan_inputs", n.operands),
                             ints("scan_input_axes", axes), ints("scan_output_axes", {axis}),
                             ints("scan_input_directions", back),
                             ints("scan_output_directions", {n.p[scan_attribute::reverse]})})[1]);
}
SINTER_COLD inline void emit_cumprod(exporter& e, int id) {
    emit_running(e, id, 1.f, [&](auto add, const auto& in) {
        const value_name y = add("Mul", in[0], in[1]);
        add("Identity", y, {}),
            add("Identity", e.n(id).p[scan_attribute::exclusive] ? in[0] : y, {});   // exclusive: what was before
    });
}
SINTER_COLD inline void emit_linear_scan(exporter& e, int id) {
    emit_running(e, id, 0.f, [&](auto add, const auto& in) {
        if (e.n(id).p[scan_attribute::ahead]) {   // ahead: the state has this element's coefficient already
            const value_name y = add("Add", in[1], in[0]);
            add("Mul", in[2], y), add("Identity", y, {});
        } else {
            const value_name y = add("Add", in[1], add("Mul", in[2], in[0]));
            add("Identity", y, {}), add("Identity", y, {});
        }
    });
}
SINTER_COLD inline void emit_argmax(exporter& e, int id) {
    const int x = e.operand(id, 0);
    const value_name y = e.add(id, e.n(id).p[argmax_attribute::smallest] ? "ArgMin" : "ArgMax", {e.value(x)},
                                {integer("axis", axis_along(e, id))});
    e.set(id, e.reshape(id, e.cast(id, y, element::i32), e.with_batch(e.s(id))));
}
SINTER_COLD inline void emit_sort(exporter& e, int id) {
    const auto& p = e.n(id).p;
    const auto y =
        e.add_several(id, "TopK", {e.value(e.operand(id, 0)), e.m.whole({p[sort_attribute::count]})}, 2,
                      {integer("axis", axis_along(e, id)), integer("largest", p[sort_attribute::descending])});
    e.set(id, y[0]);
    e.second(id) = y[1];
}
SINTER_COLD inline void emit_get_output(exporter& e, int id) {
    const int from = e.operand(id, 0);
    if (e.n(from).k != op::sort) e.refuse(id, std::string("the second result of ") + e.n(from).name);
    e.value(from);
    e.set(id, e.cast(id, e.second(from), element::i32));
}

} // namespace detail

inline constexpr emitter running_emitters[] = {
    {op::cumsum, detail::emit_cumsum}, {op::cumprod, detail::emit_cumprod}, {op::linear_scan, detail::emit_linear_scan},
    {op::argmax, detail::emit_argmax}, {op::sort, detail::emit_sort},       {op::get_output, detail::emit_get_output}};

} // namespace sinter::onnx
