// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/bundle.hpp>
#include <sinter/autodiff/differentiator.hpp>

/// gradient(y, x): the gradient of sum(y) by x, as a tensor of the same net, from which losses and
/// layers go on and which can be differentiated again: a gradient penalty trains. x is whatever y
/// is made of: an input, a parameter, a value between. Several at once: gradient(y, bundle(a, b)).
/// No ONNX operator: its nodes are those of the gradient's ops.
namespace sinter::inline SINTER_TARGET {

namespace detail {

inline constexpr op_name gradient_name{"gradient"};

/// Within a net a gradient cannot go through the iterations of a loop, whose own gradient has none.
/// Within a loop's body, it stays in the iteration.
constexpr bool meets_a_loop(const graph& g, int y, const growing<int>& of) {
    growing<bool> wanted(y + 1, false), needed(y + 1, false);
    for (int i = 0; i < of.n; ++i)
        if (of[i] <= y) wanted[of[i]] = true;
    mark_wanted(g, y + 1, wanted);
    needed[y] = true;
    for (int i = y; i >= 0; --i) {
        if (!needed[i] || !wanted[i]) continue;
        const node& n = g.n[i];
        bool comes_in = false;   // does the value lead on from something that x leads to?
        for (int k = 0; k < n.operands; ++k) {
            needed[n.in[k]] = true;
            comes_in = comes_in || wanted[n.in[k]];
        }
        if (n.loop && n.loop != g.open_loop) return true;
        if (comes_in && (n.k == op::loop_value || n.k == op::loop_input)) return true;
    }
    return false;
}
constexpr bool depends_on(const graph& g, int y, int x) {
    if (x > y) return false;
    growing<bool> wanted(y + 1, false);
    wanted[x] = true;
    mark_wanted(g, y + 1, wanted);
    return wanted[y];
}

} // namespace detail

namespace ops {

constexpr bundle gradient(tensor y, bundle x) {
    bundle d = x;
    for (int i = 0; i < d.n; ++i) d.t[i] = {y.g ? y.g : x.g, -1};
    if (!y.ok() || !x.ok()) return d;
    compiler::graph& g = *y.g;
    if (not_floats(detail::gradient_name, y)) return d;
    y = plain(y);
    base::growing<int> of;
    for (int i = 0; i < x.n; ++i) {
        if (not_floats(detail::gradient_name, x[i])) return d;
        if (!detail::depends_on(g, y.id, x[i].id)) {
            g.fail(fault_kind::does_not_depend, detail::gradient_name, y.shape(), x[i].shape());
            return d;
        }
        of.push(x[i].id);
    }
    if (detail::meets_a_loop(g, y.id, of)) {
        g.fail(fault_kind::gradient_through_loop, detail::gradient_name, y.shape(), x[0].shape());
        return d;
    }
    const int begin = g.n.n;
    compiler::differentiator r(g, y.id, of);
    r.run();
    const int one = r.gradient(y.id);
    detail::leave_out_factor(g, begin, one);
    for (int i = 0; i < x.n; ++i) {
        const int sum = r.gradient(x[i].id);   // none where it is 0 everywhere, as through sign()
        const int at = sum >= 0 ? detail::without_factor(g, sum, one) : -1;
        d.t[i] = at >= 0 ? tensor{&g, at} : broadcast_to(constant(&g, 0.f), x[i].shape().plain());
    }
    return d;
}
constexpr tensor gradient(tensor y, tensor x) { return gradient(y, bundle(x))[0]; }

} // namespace ops
using ops::gradient;

} // namespace sinter
