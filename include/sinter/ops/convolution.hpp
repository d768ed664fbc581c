// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/window.hpp>

/// convolution(x, w, {stride, padding, dilation, groups}): x [..., CI], w [..., CI / groups, CO] ->
/// [..., CO] over one, two or three axes, whatever the window (cross-correlation, as everywhere in
/// the field). Channels fall into groups of neighbours: outputs of group g see the inputs of group
/// g alone; as many groups as channels are a depthwise convolution. conv1d, conv2d and conv3d take
/// faster kernels where these are enough. ONNX: Conv, channels last after transposition.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name convolution{"convolution"}, convolution_input_gradient{"convolution_input_gradient"},
    convolution_weight_gradient{"convolution_weight_gradient"};
}

/// In node::p: stride | dilation << 16 of the three axes, padding before each, groups.
namespace convolution_attribute { enum : int { steps, before = 3, groups = 6 }; }

/// Extents of a convolution over [depth, height, width]; axes that are not there have extent 1.
struct convolution_extents {
    sliding axis[3];
    int inputs = 1, outputs = 1, groups = 1;
    static constexpr int wide =
        16;   ///< channels that a group has for itself: as many as the longest vectors have floats

    /// p: attributes of the ops' nodes.
    constexpr convolution_extents(const shape& x, const shape& w, const shape& y, const int* p)
        : inputs(x.last()), outputs(y.last()), groups(p[convolution_attribute::groups]) {
        for (int i = 0, n = x.rank - 1; i < n; ++i) {
            sliding& a = axis[3 - n + i];
            a.extent = x.d[i];
            a.out = y.d[i];
            a.k = w.d[i];
        }
        for (int i = 0; i < 3; ++i) {
            axis[i].stride = p[convolution_attribute::steps + i] & sliding::most;
            axis[i].dilation = p[convolution_attribute::steps + i] >> 16;
            axis[i].before = p[convolution_attribute::before + i];
        }
    }
    constexpr explicit convolution_extents(const std::int64_t* e)
        : axis{axis_of(e, 0), axis_of(e, 1), axis_of(e, 2)}, inputs(static_cast<int>(e[inputs_at])),
          outputs(static_cast<int>(e[outputs_at])), groups(static_cast<int>(e[groups_at])) {}
    constexpr void write(std::int64_t* e) const {
        for (int i = 0; i < 3; ++i) e[axis_numbers * i] = axis[i].places(), e[axis_numbers * i + 1] = axis[i].steps();
        e[inputs_at] = inputs, e[outputs_at] = outputs, e[groups_at] = groups;
    }
    enum : int { axis_numbers = 2, inputs_at = 3 * axis_numbers, outputs_at, groups_at };   ///< in call::e
    static constexpr sliding axis_of(const std::int64_t* e, int i) {
        return {e[axis_numbers * i], e[axis_numbers * i + 1]};
    }
    constexpr int taps() const { return axis[0].k * axis[1].k * axis[2].k; }
    constexpr int depth() const { return taps() * group_inputs(); }   ///< products summed for one output
    constexpr int group_inputs() const { return inputs / groups; }
    constexpr int group_outputs() const { return outputs / groups; }
    constexpr bool depthwise() const { return groups > 1 && groups == inputs && groups == outputs; }
    constexpr std::int64_t in_pixels() const { return std::int64_t{axis[0].extent} * axis[1].extent * axis[2].extent; }
    constexpr std::int64_t out_pixels() const { return std::int64_t{axis[0].out} * axis[1].out * axis[2].out; }
};

namespace detail {
/// `results`: channels of what is computed that share a group.
constexpr void convolution_request(const convolution_extents& c, int results, kernel_extents& k) {
    k.set_fixed({c.depthwise() ? 2 : c.groups > 1 && results < convolution_extents::wide});
    c.write(k.e);
}
constexpr long convolution_flops(const shape& y, const shape& w) { return 2L * y.size() * w.rows(); }
} // namespace detail

/// Operands: x, plain weights.
template <>
struct rule<op::convolution> : root_op_rule {
    static constexpr const char* name = "convolution";
    static constexpr bool product = true;
    static constexpr long flops(const node& n, const node* in) { return detail::convolution_flops(n.s, in[1].s); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const convolution_extents c(r.x(0), r.x(1), r.y(), r.n.p);
        detail::convolution_request(c, c.group_outputs(), k);
        k.by_example(r.x(0), static_cast<int>(c.out_pixels()));
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient of the convolution's result, plain weights.
template <>
struct rule<op::convolution_input_gradient> : root_op_rule {
    static constexpr const char* name = "convolution_input_gradient";
    static constexpr bool product = true;
    static constexpr long flops(const node&, const node* in) { return detail::convolution_flops(in[0].s, in[1].s); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const convolution_extents c(r.y(), r.x(1), r.x(0), r.n.p);
        detail::convolution_request(c, c.group_inputs(), k);
        k.by_example(r.x(0), static_cast<int>(c.in_pixels()));
    }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: x, gradient of the result; summed over the batch.
template <>
struct rule<op::convolution_weight_gradient> : root_op_rule {
    static constexpr const char* name = "convolution_weight_gradient";
    static constexpr bool product = true;
    static constexpr bool sums_rows = true;
    static constexpr long flops(const node& n, const node* in) { return detail::convolution_flops(in[1].s, n.s); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const convolution_extents c(r.x(0), r.y(), r.x(1), r.n.p);
        detail::convolution_request(c, c.group_outputs(), k);
        k.by_example(r.x(0), 1);
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

/// What is wrong with a window's own numbers? Tells it and returns true.
constexpr bool refuses_window(compiler::graph* g, const op_name& k, const window& o, int axes, bool pool) {
    const padding& p = o.padding;
    bool negative = false;
    for (int i = 3 - axes; i < 3; ++i) negative = negative || p.before[i] < 0 || p.after[i] < 0;
    if (o.stride.least() < 1 || o.dilation.least() < 1)
        g->fail(fault_kind::window_out_of_range, k, extents(o.stride.least(), o.dilation.least()), extents(1, 1));
    else if (negative || (p.how == padding::rule::causal && (axes > 1 || pool)))
        g->fail(fault_kind::padding_refused, k, extents(p.before[1], p.after[1], p.before[2], p.after[2]),
                extents(0, 0, 0, 0));
    else if (pool && o.dilation != 1)
        g->fail(fault_kind::dilation_refused, k, extents(o.dilation.d[0], o.dilation.d[1], o.dilation.d[2]),
                extents(1, 1, 1));
    else if (pool ? o.groups != 1 : o.rounding != rounding::floor || o.count_padding)
        g->fail(fault_kind::window_out_of_range, k, extents(o.groups, o.dilation.d[2]), extents(1, 1));
    else return false;
    return true;
}

/// The result's extents, or a fault. `axes` axes in front of the channels; `filter` are the
/// weights'.
constexpr bool convolved(compiler::graph* g, const op_name& k, const shape& x, const shape& w, const window& o,
                         int axes,
                         shape& y) {
    if (x.rank != axes + 1 || w.rank != axes + 2) {
        shape least = extents(1, 1, 1, 1);
        least.rank = axes + 1;
        g->fail(fault_kind::needs_height_width_channels, k, x, least);
        return false;
    }
    if (w.batched) {
        g->fail(fault_kind::batch_axis_refused, k, x, w);
        return false;
    }
    if (refuses_window(g, k, o, axes, false)) return false;
    const int inputs = x.last(), outputs = w.last();
    if (o.groups < 1 || inputs % o.groups || outputs % o.groups) {
        g->fail(fault_kind::groups_do_not_divide_channels, k, extents(inputs, outputs), extents(o.groups));
        return false;
    }
    if (w.d[axes] * o.groups != inputs) {
        g->fail(fault_kind::inner_extents_differ, k, x, w);
        return false;
    }
    y = x;
    for (int i = 0; i < axes; ++i) {
        const sliding a(x.d[i], w.d[i], o, 3 - axes + i);
        constexpr int most = sliding::most;
        if (w.d[i] < 1) {
            g->fail(fault_kind::window_out_of_range, k, extents(w.d[i], a.dilation), extents(1, 1));
            return false;
        }
        if (a.k > most || a.stride > most || a.dilation > most / 2 || a.before > most || a.reach() > most) {
            g->fail(fault_kind::window_out_of_range, k, extents(a.k, a.stride, a.dilation, a.before),
                    extents(most, most, most / 2, most));
            return false;
        }
        if (a.out < 1) {
            shape window = w;
            window.rank = axes + 1;
            g->fail(fault_kind::window_larger_than_input, k, x, window);
            return false;
        }
        y.d[i] = a.out;
    }
    y.d[axes] = outputs;
    return true;
}

/// The op by its general kernels. `x` and `w` fit; p is derived from the window.
template <op_id K>
constexpr tensor make_convolution(const shape& x, const shape& w, const shape& result, const window& o, tensor a,
                                  tensor b) {
    int p[compiler::max_attributes] = {};
    for (int i = 0, axes = x.rank - 1; i < 3; ++i) {
        const int at = i - (3 - axes);
        p[convolution_attribute::steps + i] = at < 0 ? 1 | 1 << 16 : o.stride.d[i] | o.dilation.d[i] << 16;
        p[convolution_attribute::before + i] = at < 0 ? 0 : sliding(x.d[at], w.d[at], o, i).before;
    }
    p[convolution_attribute::groups] = o.groups;
    return make<K>(a.g, result, {a, b}, p);
}

constexpr tensor convolution(tensor x, tensor w, window o = {}) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    if (not_floats(op::convolution, x) || not_floats(op::convolution, w)) return {x.g, -1};
    x = plain(x);
    w = unpack(w);
    shape y;
    if (!convolved(x.g, op::convolution, x.shape(), w.shape(), o, x.shape().rank - 1, y)) return {x.g, -1};
    return make_convolution<op::convolution>(x.shape(), w.shape(), y, o, x, w);
}

} // namespace ops

namespace detail {
/// One of the three ops with the attributes of another: a convolution is linear in x and in w, so
/// that all gradients, of gradients too, are again one of the three.
template <op_id K>
constexpr tensor convolution_like(const gradient_of& g, const shape& s, tensor a, tensor b) {
    const node n = g.n();
    return make<K>(g.g, s, {ops::unpack(a), ops::unpack(b)}, n.p);
}
} // namespace detail

constexpr void rule<op::convolution>::gradient(gradient_of& g) {
    const tensor x = g.x(0), w = g.x(1);
    if (g.wants(0)) g.add(0, detail::convolution_like<op::convolution_input_gradient>(g, x.shape(), g.d, w));
    if (g.wants(1)) g.add(1, detail::convolution_like<op::convolution_weight_gradient>(g, w.shape(), x, g.d));
}
constexpr void rule<op::convolution_input_gradient>::gradient(gradient_of& g) {
    const tensor d = g.x(0), w = g.x(1);
    if (g.wants(0)) g.add(0, detail::convolution_like<op::convolution>(g, d.shape(), g.d, w));
    if (g.wants(1)) g.add(1, detail::convolution_like<op::convolution_weight_gradient>(g, w.shape(), g.d, d));
}
constexpr void rule<op::convolution_weight_gradient>::gradient(gradient_of& g) {
    const tensor x = g.x(0), d = g.x(1);
    if (g.wants(0)) g.add(0, detail::convolution_like<op::convolution_input_gradient>(g, x.shape(), d, g.d));
    if (g.wants(1)) g.add(1, detail::convolution_like<op::convolution>(g, d.shape(), x, g.d));
}
using ops::convolution;

} // namespace sinter
