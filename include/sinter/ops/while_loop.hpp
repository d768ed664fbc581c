// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/scan.hpp>

/// while_loop(condition, body, carry, most): carry = body(carry) while condition(carry), one number
/// without a batch, is not 0, and `most` times at the most: memory for the gradient is planned for
/// that many. The gradient makes as many iterations as were made. ONNX: Loop; JAX's lax.while_loop
/// has no gradient, TensorFlow's tf.while_loop one with maximum_iterations.
namespace sinter::inline SINTER_TARGET {

namespace ops {

template <class Condition, class Body>
constexpr bundle while_loop(Condition condition, Body body, bundle carry, int most) {
    constexpr op_name who{"while_loop"};
    bundle none;
    none.g = carry.g;
    if (!carry.ok()) return none;
    compiler::graph& g = *carry.g;
    if (most < 1) return fail(&g, fault_kind::inner_extents_differ, who, extents(most), extents(1));
    const auto number = [&](tensor c) {
        if (c.ok() && (c.shape().batched || c.shape().size() != 1))
            c = fail(&g, fault_kind::batch_axis_refused, who, c.shape(), extents());
        return c.ok() ? broadcast_to(reshape(c, extents()), extents()) : c;
    };
    const tensor first = number(condition(carry));
    if (!first.ok()) return none;
    compiler::node trips = compiler::node_of<op::loop_begin>();
    trips.s = extents();
    trips.operands = 1;
    trips.in[0] = constant(&g, 0.f).id;
    trips.p[carry_attribute::number] = -1 - g.loops.n;   // of this loop alone
    const int counter = g.push(trips), l = sinter::detail::open_loop(g, who, {most, first.id, -1, counter});
    if (!l) return none;
    const sinter::detail::carry_list carries(carry, l);
    const bundle next = body(carries.values);
    bundle result = none;
    if (!carries.end(who, next, result)) return none;
    const tensor go_on = number(condition(next));
    if (!go_on.ok()) return none;
    compiler::node c = compiler::node_of<op::loop_next>();   // in memory, for the device to look at
    c.s = extents();
    c.operands = 1;
    c.in[0] = go_on.id;
    c.loop = l;
    g.loops[l - 1].condition = g.push(c);
    g.open_loop = 0;
    return result;
}

} // namespace ops
using ops::while_loop;

} // namespace sinter
