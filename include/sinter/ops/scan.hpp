// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/bundle.hpp>
#include <sinter/ops/detail/loops.hpp>
#include <sinter/ops/reshape.hpp>

/// scan(body, carry, inputs, {options}): a loop over time. In iteration t, `body(carry, input)`
/// gets what the one before handed on (at first, `carry`) and slice t of each input [T, ...] (of
/// [T], one number), and returns {what it hands on, what it puts out}, both bundles or lone
/// tensors. The result is {the last carry, all outputs as [T, ...]}. Tensors from outside may be
/// used in the body as they are: a layer's weights are found once, whatever T, and what does not
/// depend on the iteration is computed once, before. The body's kernels are compiled once.
///
/// Its gradient is a loop the other way round, which reads what each iteration computed, or, under
/// `recompute`, computes the iteration again from its carry: less memory for a third more work.
/// Products that sum over the batch (weights' gradients) wait for the loop's end and are one
/// product over all iterations.
///
/// A number of iterations known only when the program runs (`count`, a scalar tensor; more than T
/// counts as T) leaves the outputs of the iterations that were not made zero. A loop may not
/// contain another, nor stand in a checkpoint. (JAX's lax.scan has the same contract, ONNX's Scan
/// one close to it.)
namespace sinter::inline SINTER_TARGET {

struct scan_options {
    int length = 0;            ///< iterations, where there are no inputs to tell
    tensor count = {};         ///< iterations to make, a scalar without batch; empty: all
    bool reverse = false;      ///< from the last slice to the first
    bool recompute = false;
};

/// What an iteration returns, and what a loop does.
struct scan_step {
    bundle carry, outputs;
};

namespace detail {

/// Opens a loop, or faults: they do not nest.
constexpr int open_loop(graph& g, const op_name& who, const loop& l) {
    if (g.open_loop) {
        g.fail(fault_kind::no_loop_here, who, extents(l.steps), extents());
        return 0;
    }
    return g.open_loop = g.loops.push(l) + 1;
}

/// How many iterations to make, where a device can read it: a scalar that is in memory. -1: all.
constexpr int count_of(graph& g, tensor count) {
    if (!count.g) return -1;
    if (!count.ok()) return count.id;
    const shape s = count.shape();
    if (s.batched || s.size() != 1) {
        g.fail(fault_kind::batch_axis_refused, op_name("scan"), s, extents());
        return -1;
    }
    count = ops::reshape(count, extents());
    int base = count.id;
    while (is_view(g.n[base])) base = g.n[base].in[0];
    const bool nowhere = is_leaf(g.n[base]) && g.n[base].k != op::parameter && g.n[base].k != op::state;
    return nowhere ? make<op::broadcast>(&g, extents(), {count}).id : count.id;
}

/// A value of one number an example, as an output, gets an axis: time is not the last one of what
/// lies by steps.
constexpr tensor with_an_axis(tensor y) { return y.shape().rank ? y : ops::reshape(y, extents(1)); }

/// All iterations' values of an output. What is handed on as well lies in the carry's memory,
/// behind the first value (where fewer iterations may be made than there is room for, the last
/// value lies elsewhere). A carry's value in the iteration itself, and views of what was there
/// before: these are copied.
constexpr tensor output_of_iterations(tensor y, int l) {
    graph& g = *y.g;
    const int rank = y.shape().rank;
    y = ops::plain(y);
    for (int c = 0; rank && g.loops[l - 1].count < 0 && c < g.carries.n; ++c)
        if (const loop_carry& k = g.carries[c]; k.loop == l && g.n[k.next].in[0] == y.id)
            return loop_view<op::loop_stack>({&g, k.next}, all_steps(y.shape(), steps_of(g, l)), 0);
    y = with_an_axis(y);
    int base = y.id;
    while (is_view(g.n[base])) base = g.n[base].in[0];
    if (is_view(g.n[y.id]) || g.n[base].loop != l || is_leaf(g.n[base])) y.id = g.push(copy_in_loop(y, l));
    const tensor all = loop_view<op::loop_stack>(y, all_steps(y.shape(), steps_of(g, l)), 0);
    return rank ? all : ops::reshape(all, extents(all.shape().d[0]));
}

} // namespace detail

namespace ops {

template <class Body>
constexpr scan_step scan(Body body, bundle carry, bundle inputs, const scan_options& o = {}) {
    constexpr op_name who{"scan"};
    scan_step none;
    compiler::graph* const g = carry.g ? carry.g : inputs.g;
    none.carry.g = none.outputs.g = g;
    for (int i = 0; i < carry.n; ++i)
        if (!carry[i].ok()) return none;
    int steps = o.length;
    bool scalars[bundle::most] = {};   // inputs [T], whose slices are one number for each example
    for (int i = 0; i < inputs.n; ++i) {
        if (!inputs[i].ok()) return none;
        const shape s = inputs[i].shape();
        if (s.rank < 1 || (steps && s.d[0] != steps) || s.d[0] < 1) {
            g->fail(fault_kind::inner_extents_differ, who, s, extents(steps));
            return none;
        }
        steps = s.d[0];
        scalars[i] = s.rank == 1;
        if (scalars[i]) inputs.t[i] = reshape(inputs[i], extents(steps, 1));
        inputs.t[i] = to_steps(inputs[i]);
    }
    if (!g || steps < 1) {
        if (g) g->fail(fault_kind::inner_extents_differ, who, extents(steps), extents(1));
        return none;
    }
    const int count = detail::count_of(*g, o.count);
    const int l = detail::open_loop(*g, who, {steps, count, -1, -1, o.reverse, o.recompute});
    if (!l) return none;
    carry.g = g;
    const detail::carry_list carries(carry, l);
    bundle input_of_iteration;
    input_of_iteration.g = g;
    for (int i = 0; i < inputs.n; ++i) {
        const tensor slice = detail::slice_of_iteration(inputs[i], l);
        input_of_iteration.t[input_of_iteration.n++] = scalars[i] ? reshape(slice, extents()) : slice;
    }
    const scan_step step = body(carries.values, input_of_iteration);
    scan_step result = none;
    if (!carries.end(who, step.carry, result.carry)) return none;
    for (int i = 0; i < step.outputs.n; ++i) {
        if (!step.outputs[i].ok()) return none;
        result.outputs.t[result.outputs.n++] = detail::output_of_iterations(step.outputs[i], l);
    }
    g->open_loop = 0;
    return result;
}

} // namespace ops
using ops::scan;

} // namespace sinter
