// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/weights.hpp>
#include <sinter/ops/detail/window.hpp>

/// extract_patches(x, {kh, kw}, {stride, padding, dilation}): images [H, W, C] -> [OH, OW, kh kw C], the windows that a
/// convolution sees, row by row, with zeros where they hang over the edge. A product with it is a convolution (im2col).
/// TensorFlow's extract_patches. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name extract_patches{"extract_patches"}, add_patches{"add_patches"};
}

namespace detail {
/// p = {kh, kw, strides, dilations, rows above, columns left}.
constexpr void patch_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y) {
    const int* const p = r.n.p;
    k.set({x.d[0], x.d[1], x.d[2], y.d[0], y.d[1], p[0], p[1], p[2], p[3], p[4]});
    for (int i = 0; i < 3; ++i) k.e[kernel_extents::spare + i] = p[5 + i];
    k.by_example(y, 1);
}
} // namespace detail

template <>
struct rule<op::extract_patches> : root_op_rule {
    static constexpr const char* name = "extract_patches";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::patch_extents(r, k, r.x(0), r.y()); }
    static constexpr void gradient(gradient_of& g);
};
/// The other way round: each pixel the sum of all taps that saw it (col2im).
template <>
struct rule<op::add_patches> : root_op_rule {
    static constexpr const char* name = "add_patches";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::patch_extents(r, k, r.y(), r.x(0)); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor extract_patches(tensor x, per_axis k, window o = {}) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    const int kh = k.d[1], kw = k.d[2];
    if (not_floats(op::extract_patches, x)) return {x.g, -1};
    if (s.rank != 3) return fail(x.g, fault_kind::needs_height_width_channels, op::extract_patches, s, batch_of(kh, kw, 1));
    const int least[] = {kh, kw, o.stride.d[1], o.stride.d[2], o.dilation.d[1], o.dilation.d[2]};
    for (int n : least)
        if (n < 1) return fail(x.g, fault_kind::window_out_of_range, op::extract_patches, extents(kh, kw, n), extents(1, 1, 1));
    const sliding v(s.d[0], kh, o, 1), h(s.d[1], kw, o, 2);
    if (v.out < 1 || h.out < 1) return fail(x.g, fault_kind::window_larger_than_input, op::extract_patches, s, batch_of(kh, kw, s.d[2]));
    shape y = s;
    y.d[0] = v.out;
    y.d[1] = h.out;
    y.d[2] = kh * kw * s.d[2];
    return make<op::extract_patches>(x.g, y, {x}, {kh, kw, v.stride, h.stride, v.dilation, h.dilation, v.before, h.before});
}

} // namespace ops
using ops::extract_patches;

constexpr void rule<op::extract_patches>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::add_patches>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5], n.p[6], n.p[7]}));
}
constexpr void rule<op::add_patches>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::extract_patches>(g.g, g.x(0).shape(), {g.d}, {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5], n.p[6], n.p[7]}));
}

} // namespace sinter
