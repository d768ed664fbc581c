// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/conv1d.hpp>

/// convolution_transpose(x, w, {stride, padding, dilation, groups}, output_padding): the input
/// gradient of a convolution as an op: x [..., CI], w [..., CO / groups, CI] (Keras' order;
/// Dumoulin and Visin 2016) -> [..., CO] over one, two or three axes. `same` gives extent * stride;
/// else it is (extent - 1) stride + (K - 1) dilation + 1 - padding + output_padding, where
/// output_padding, below the stride, adds places behind that no window reaches in full. ONNX:
/// ConvTranspose.
namespace sinter::inline SINTER_TARGET {

namespace detail {
/// The image that a convolution by `o` turns into `from` places on an axis; 0 where there is none.
constexpr int transposed_extent(int from, int k, const window& o, int axis, int more) {
    const std::int64_t stride = o.stride.d[axis], reach = (std::int64_t{k} - 1) * o.dilation.d[axis] + 1;
    const std::int64_t all = o.padding.how == padding::rule::same
                                 ? from * stride
                                 : (from - 1) * stride + reach - o.padding.before[axis] - o.padding.after[axis] + more;
    return static_cast<int>(all < 0 ? 0 : all < 0x7fffffff ? all : 0x7fffffff);
}
} // namespace detail

namespace ops {

constexpr tensor convolution_transpose(tensor x, tensor w, window o = {}, per_axis output_padding = 0) {
    if (!x.ok() || !w.ok()) return {x.g ? x.g : w.g, -1};
    constexpr const op_name& k = op::convolution_input_gradient;
    compiler::graph* g = x.g;
    if (not_floats(k, x) || not_floats(k, w)) return {g, -1};
    x = plain(x);
    const shape s = x.shape(), f = w.shape();
    const int axes = s.rank - 1;
    if (axes < 1 || axes > 3 || f.rank != axes + 2) return fail(g, fault_kind::needs_height_width_channels, k, s, f);
    if (refuses_window(g, k, o, axes, false)) return {g, -1};
    if (o.padding.how == padding::rule::causal)
        return fail(g, fault_kind::padding_refused, k, extents(f.d[0] - 1), extents(0));
    if (s.last() != f.last()) return fail(g, fault_kind::inner_extents_differ, k, s, f);
    shape y = s, back;
    for (int i = 0; i < axes; ++i) {
        const int a = 3 - axes + i, more = output_padding.d[a];
        const int most = o.padding.how == padding::rule::same ? 1 : o.stride.d[a];
        if (more < 0 || more >= most)
            return fail(g, fault_kind::window_out_of_range, k, extents(more), extents(most - 1));
        y.d[i] = detail::transposed_extent(s.d[i], f.d[i], o, a, more);
        if (y.d[i] < 1) return fail(g, fault_kind::window_larger_than_input, k, s, f);
    }
    y.d[axes] = f.d[axes] * (o.groups > 0 ? o.groups : 1);
    if (!convolved(g, k, y, f, o, axes, back)) return {g, -1};
    if (axes < 3) {
        const sliding h(y.d[axes - 1], f.d[axes - 1], o, 2),
            v = axes == 1 ? still(h.stride) : sliding(y.d[0], f.d[0], o, 1);
        if (is_dense(v, h, o.groups)) {
            const tensor p = pack(w), image = axes == 1 ? as_image(x) : x;
            const int stride = v.out == 1 ? h.stride : v.stride;
            shape result = y;
            if (axes == 1) result = extents(1, y.d[0], y.d[1]), result.batched = y.batched;
            return reshape(make<op::conv_input_gradient>(g, result,
                                                         {image, make<op::conv_transpose>(g, p.shape(), {p})},
                                                         {v.k, h.k, stride, v.before, h.before}),
                           y);
        }
    }
    return make_convolution<op::convolution_input_gradient>(y, f, y, o, x, unpack(w));
}

} // namespace ops
using ops::convolution_transpose;

} // namespace sinter
