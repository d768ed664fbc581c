// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/layer.hpp>
#include <sinter/ops/stop_gradient.hpp>

/// custom_gradient(forward, backward): a function, and a layer, whose value is forward(x...) and
/// whose gradients are what backward(d, x...) returns: one for each x, d being the gradient of the
/// value. Both are lambdas over tensors without captures. What backward makes of d and x can be
/// differentiated again. No ONNX operator: forward's stand for it.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name custom_gradient{"custom_gradient"}; }

namespace custom_gradient_attribute { enum : int { own }; }   // in node::p: a number that no other node has

/// The value under another gradient. Operands: the value, then x, ...
template <>
struct rule<op::custom_gradient> : view_rule {
    static constexpr const char* name = "custom_gradient";
};

namespace detail {

template <class Backward>
constexpr void leave_custom_gradients(gradient_of& g) {
    bundle in;   // d, x...
    in.g = g.g;
    in.t[in.n++] = g.d;
    for (int i = 1; i < g.n().operands; ++i) in.t[in.n++] = g.x(i);
    const bundle left = apply<Backward>(in);
    if (left.n != in.n - 1)
        return g.g->fail(fault_kind::wrong_number_of_inputs, op::custom_gradient, extents(left.n), extents(in.n - 1));
    for (int i = 0; i < left.n; ++i) {
        if (!g.wants(i + 1) || !left[i].ok()) continue;
        const tensor v = ops::plain(left[i]);
        const shape s = g.x(i + 1).shape();
        shape fitting;
        if (!broadcast_shape(v.shape(), s, fitting) || !(fitting == s))
            return g.g->fail(fault_kind::shapes_not_broadcastable, op::custom_gradient, v.shape(), s);
        g.add(i + 1, ops::broadcast_to(v, s));
    }
}
/// Of each function its own description, so that the node knows its gradient.
template <class Backward>
inline constexpr op_info custom_gradient_info = [] {
    op_info i = info_of<op::custom_gradient>;
    i.gradient = &leave_custom_gradients<Backward>;
    return i;
}();

} // namespace detail

template <class Forward, class Backward>
struct custom_gradient_layer : block_layer<custom_gradient_layer<Forward, Backward>> {
    static constexpr int arity = detail::arity<Forward>();
    static constexpr bool gives_one = true;
    static_assert(arity > 0 && arity < bundle::most, "custom_gradient: forward takes one to five tensors");
    static_assert(detail::arity<Backward>() == arity + 1,
                  "custom_gradient: backward takes the value's gradient and what forward takes");

    static constexpr bundle run(bundle x) {
        if (!x.ok()) return tensor{x.g, -1};
        for (int i = 0; i < x.n; ++i) x.t[i] = ops::plain(x[i]);
        const tensor y = ops::stop_gradient(ops::plain(detail::apply<Forward>(x)));
        if (!y.ok() || ops::not_floats(op::custom_gradient, y)) return tensor{x.g, -1};
        compiler::node n = compiler::node_of<op::custom_gradient>();
        n.about = &detail::custom_gradient_info<Backward>;
        n.s = y.shape();
        n.in[n.operands++] = y.id;
        for (int i = 0; i < x.n; ++i) n.in[n.operands++] = x[i].id;
        n.p[custom_gradient_attribute::own] = x.g->n.n;   // another backward of the same value is another node
        return tensor{x.g, x.g->push(n)};
    }
};

namespace ops {
template <class Forward, class Backward>
constexpr custom_gradient_layer<Forward, Backward> custom_gradient(Forward, Backward) {
    static_assert(std::is_empty_v<Forward> && std::is_empty_v<Backward>,
                  "custom_gradient: its functions must not capture anything");
    return {};
}
}
using ops::custom_gradient;

} // namespace sinter
