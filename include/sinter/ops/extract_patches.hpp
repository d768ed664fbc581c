// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/weights.hpp>
#include <sinter/ops/detail/window.hpp>

/// extract_patches(x, {kh, kw}, {stride, padding, dilation}): images [H, W, C] -> [OH, OW, kh kw
/// C], the windows that a convolution sees, row by row, with zeros where they hang over the edge. A
/// product with it is a convolution (im2col). TensorFlow's extract_patches. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name extract_patches{"extract_patches"}, add_patches{"add_patches"};
}

/// In node::p: vertical and horizontal strides and dilations, padding.
namespace patch_attribute { enum : int { kh, kw, v_stride, h_stride, v_dilation, h_dilation, above, left }; }
/// In call::e.
namespace patch_extent {
enum : int { H, W, C, OH, OW, kh, kw, v_stride, h_stride, v_dilation, h_dilation = kernel_extents::spare, above, left };
}

namespace detail {
constexpr void patch_extents(const kernel_request& r, kernel_extents& k, const shape& x, const shape& y) {
    const int* const p = r.n.p;
    k.set({{patch_extent::H, x.d[0]},
           {patch_extent::W, x.d[1]},
           {patch_extent::C, x.d[2]},
           {patch_extent::OH, y.d[0]},
           {patch_extent::OW, y.d[1]},
           {patch_extent::kh, p[patch_attribute::kh]},
           {patch_extent::kw, p[patch_attribute::kw]},
           {patch_extent::v_stride, p[patch_attribute::v_stride]},
           {patch_extent::h_stride, p[patch_attribute::h_stride]},
           {patch_extent::v_dilation, p[patch_attribute::v_dilation]},
           {patch_extent::h_dilation, p[patch_attribute::h_dilation]},
           {patch_extent::above, p[patch_attribute::above]},
           {patch_extent::left, p[patch_attribute::left]}});
    k.by_example(y, 1);
}
} // namespace detail

template <>
struct rule<op::extract_patches> : root_op_rule {
    static constexpr const char* name = "extract_patches";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::patch_extents(r, k, r.x(0), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};
/// The other way round: each pixel the sum of all taps that saw it (col2im).
template <>
struct rule<op::add_patches> : root_op_rule {
    static constexpr const char* name = "add_patches";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::patch_extents(r, k, r.y(), r.x(0));
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor extract_patches(tensor x, per_axis k, window o = {}) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    const int kh = k.d[1], kw = k.d[2];
    if (not_floats(op::extract_patches, x)) return {x.g, -1};
    if (s.rank != 3)
        return fail(x.g, fault_kind::needs_height_width_channels, op::extract_patches, s, batch_of(kh, kw, 1));
    const int least[] = {kh, kw, o.stride.d[1], o.stride.d[2], o.dilation.d[1], o.dilation.d[2]};
    for (int n : least)
        if (n < 1)
            return fail(x.g, fault_kind::window_out_of_range, op::extract_patches, extents(kh, kw, n),
                        extents(1, 1, 1));
    const sliding v(s.d[0], kh, o, 1), h(s.d[1], kw, o, 2);
    if (v.out < 1 || h.out < 1)
        return fail(x.g, fault_kind::window_larger_than_input, op::extract_patches, s, batch_of(kh, kw, s.d[2]));
    if (1. * kh * kw * s.d[2] > 0x7fffffff)
        return fail(x.g, fault_kind::tensor_too_large, op::extract_patches, extents(kh, kw, s.d[2]),
                    extents(0x7fffffff));
    shape y = s;
    y.d[0] = v.out;
    y.d[1] = h.out;
    y.d[2] = kh * kw * s.d[2];
    return make<op::extract_patches>(x.g, y, {x},
                                     {kh, kw, v.stride, h.stride, v.dilation, h.dilation, v.before, h.before});
}

} // namespace ops
using ops::extract_patches;

constexpr void rule<op::extract_patches>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::add_patches>(g.g, g.x(0).shape(), {g.d}, n.p));
}
constexpr void rule<op::add_patches>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::extract_patches>(g.g, g.x(0).shape(), {g.d}, n.p));
}

} // namespace sinter
