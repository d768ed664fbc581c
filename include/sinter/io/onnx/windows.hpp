// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/local_response_norm.hpp>
#include <sinter/ops/max_pool.hpp>

/// Convolutions, pools and windows of channels: Conv, MaxPool, AveragePool, LRN. All have their
/// channels first there.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// A window over axes [first, 3) of [depth, height, width] as attributes. Padding after is as much
/// as the last window needs, so nothing has to be rounded up.
SINTER_COLD inline std::vector<attribute> window_attributes(const sliding* a, int first, bool transposed = false) {
    few_numbers kernel, strides, dilations, before, behind, extra;
    for (int i = first; i < 3; ++i) {
        kernel.push_back(a[i].k);
        strides.push_back(a[i].stride);
        dilations.push_back(a[i].dilation);
        before.push_back(a[i].before);
        const int over = (a[i].out - 1) * a[i].stride + a[i].reach() - a[i].extent - a[i].before;
        behind.push_back(std::max(0, over));
        extra.push_back(std::max(0, -over));
    }
    before.insert(before.end(), behind.begin(), behind.end());
    std::vector<attribute> all{ints("kernel_shape", kernel), ints("strides", strides), ints("pads", before)};
    if (std::count(dilations.begin(), dilations.end(), 1) < 3 - first) all.push_back(ints("dilations", dilations));
    if (transposed) all.push_back(ints("output_padding", extra));
    return all;
}

/// [taps..., CI / groups, CO] becomes [CO, CI / groups, taps...]: in the file if the weights are
/// known, else by operators.
SINTER_COLD inline value_name conv_weights(exporter& e, int id, const sliding* a, int first) {
    const shape& s = e.s(id);
    const int inputs = s.d[s.rank - 2], outputs = s.last(), taps = s.rows() / inputs;
    few_numbers extents{outputs, inputs};
    for (int i = first; i < 3; ++i) extents.push_back(a[i].k);
    const auto k = e.values_of(id);
    if (!k.there) {
        few_numbers order{s.rank - 1, s.rank - 2};
        for (int i = 0; i < s.rank - 2; ++i) order.push_back(i);
        const value_name w = e.transpose(id, e.value(id), order);
        return static_cast<int>(extents.size()) == s.rank ? w : e.reshape(id, w, extents);
    }
    std::vector<float> x;
    x.reserve(k.x.size());
    for (int o = 0; o < outputs; ++o)
        for (int i = 0; i < inputs; ++i)
            for (int w = 0; w < taps; ++w) x.push_back(k.x[static_cast<std::size_t>((w * inputs + i) * outputs + o)]);
    return e.m.weights(k.path, extents, x);
}
/// The axes of a dense convolution of x [H, W, ...] into y.
struct dense_axes {
    sliding a[3];
    dense_axes(const shape& x, const shape& y, const int* p) {
        for (int i = 0; i < 2; ++i) {
            a[i + 1].extent = x.d[i];
            a[i + 1].out = y.d[i];
            a[i + 1].k = p[conv_attribute::kh + i];
            a[i + 1].stride = p[conv_attribute::stride];
            a[i + 1].before = p[conv_attribute::above + i];
        }
    }
};
SINTER_COLD inline void emit_conv_as(exporter& e, int id, int weights, const sliding* a, int first, int groups,
                                     bool transposed) {
    const value_name x = e.value_channels_first(e.operand(id, 0)), w = conv_weights(e, weights, a, first);
    auto attributes = window_attributes(a, first, transposed);
    attributes.push_back(integer("group", groups));
    e.set_channels_first(id, e.add(id, transposed ? "ConvTranspose" : "Conv", {x, w}, attributes));
}
SINTER_COLD inline void emit_conv(exporter& e, int id) {
    emit_conv_as(e, id, e.operand(id, 1), dense_axes(e.s(e.operand(id, 0)), e.s(id), e.n(id).p).a, 1, 1, false);
}
SINTER_COLD inline void emit_conv_transposed(exporter& e, int id) {
    // its weights come through conv_transpose, which only reorders them
    emit_conv_as(e, id, e.operand(e.operand(id, 1), 0), dense_axes(e.s(id), e.s(e.operand(id, 0)), e.n(id).p).a, 1, 1,
                 true);
}
SINTER_COLD inline void emit_convolution(exporter& e, int id) {
    const convolution_extents c(e.s(e.operand(id, 0)), e.s(e.operand(id, 1)), e.s(id), e.n(id).p);
    emit_conv_as(e, id, e.operand(id, 1), c.axis, 4 - e.s(id).rank, c.groups, false);
}
SINTER_COLD inline void emit_convolution_transposed(exporter& e, int id) {
    const convolution_extents c(e.s(id), e.s(e.operand(id, 1)), e.s(e.operand(id, 0)), e.n(id).p);
    emit_conv_as(e, id, e.operand(id, 1), c.axis, 4 - e.s(id).rank, c.groups, true);
}
SINTER_COLD inline void emit_nothing(exporter&, int) {}
/// A mean that counts padding, but not what hangs over that as well: by how much the mean over
/// whole windows is too small, or "".
SINTER_COLD inline value_name counted_share(exporter& e, int id, const sliding* a) {
    const int divisor = e.n(id).p[pool_attribute::divisor];
    if (divisor == 0 || divisor == whole_window) return {};
    const int behind[2] = {(divisor - 1) >> padding_below, (divisor - 1) % (1 << padding_below)};
    std::vector<float> share[2], both;
    for (int i = 0; i < 2; ++i)
        for (int o = 0; o < a[i + 1].out; ++o) {
            const int begin = o * a[i + 1].stride - a[i + 1].before;
            const int end = std::min(begin + a[i + 1].k, a[i + 1].extent + behind[i]);
            share[i].push_back(static_cast<float>(a[i + 1].k) / static_cast<float>(end - begin));
        }
    for (const float v : share[0])
        for (const float h : share[1]) both.push_back(v * h);
    if (std::count(both.begin(), both.end(), 1.f) == static_cast<std::ptrdiff_t>(both.size())) return {};
    return e.m.floats("counted_share", {a[1].out, a[2].out}, both);
}
SINTER_COLD inline void emit_pool(exporter& e, int id, const char* type) {
    const node& n = e.n(id);
    const auto& p = n.p;
    const shape& x = e.s(n.in[0]);
    sliding a[3];
    for (int i = 0; i < 2; ++i) {
        a[i + 1].extent = x.d[i];
        a[i + 1].out = n.s.d[i];
        a[i + 1].k = p[pool_attribute::kh + i];
        a[i + 1].stride = p[pool_attribute::v_stride + i];
        a[i + 1].before = p[pool_attribute::above + i];
    }
    auto attributes = window_attributes(a, 1);
    if (p[pool_attribute::divisor]) attributes.push_back(integer("count_include_pad", 1));
    value_name y = e.add(id, type, {e.value_channels_first(n.in[0])}, attributes);
    if (const value_name factor = counted_share(e, id, a); !factor.empty()) y = e.add(id, "Mul", {y, factor});
    e.set_channels_first(id, y);
}
/// LRN of images; with an even size it has the window's odd channel after, and not before as we
/// have it, and runtimes know it of images alone: the rest are sums by a matrix of ones and zeros.
SINTER_COLD inline void emit_local_response_norm(exporter& e, int id) {
    const node& n = e.n(id);
    const response o{n.p[response_attribute::size], std::bit_cast<float>(n.p[response_attribute::alpha]),
                     std::bit_cast<float>(n.p[response_attribute::beta]),
                     std::bit_cast<float>(n.p[response_attribute::k])};
    if (n.s.batched && n.s.rank == 3 && o.size % 2 && o.alpha > 0 && o.beta > 0) {   // other ones onnxruntime refuses
        e.set_channels_first(id, e.add(id, "LRN", {e.value_channels_first(n.in[0])},
            {real("alpha", o.alpha), real("beta", o.beta), real("bias", o.k), integer("size", o.size)}));
        return;
    }
    const int channels = n.s.last();
    std::vector<float> near;
    for (int from = 0; from < channels; ++from)
        for (int to = 0; to < channels; ++to)
            near.push_back(to - from <= o.size / 2 && from - to <= (o.size - 1) / 2 ? 1.f : 0.f);
    const value_name x = e.value(n.in[0]), band = e.m.floats("channels_around", {channels, channels}, near);
    const value_name scaled = e.add(id, "Mul", {e.add(id, "MatMul", {e.add(id, "Mul", {x, x}), band}),
                                                 e.m.number(o.alpha / static_cast<float>(o.size))});
    const value_name power = e.add(id, "Pow", {e.add(id, "Add", {scaled, e.m.number(o.k)}), e.m.number(o.beta)});
    e.set(id, e.add(id, "Div", {x, power}));
}
SINTER_COLD inline void emit_max_pool(exporter& e, int id) { emit_pool(e, id, "MaxPool"); }
SINTER_COLD inline void emit_avg_pool(exporter& e, int id) { emit_pool(e, id, "AveragePool"); }

} // namespace detail

inline constexpr emitter window_emitters[] = {
    {op::conv, detail::emit_conv},
    {op::conv_input_gradient, detail::emit_conv_transposed},
    {op::conv_transpose, detail::emit_nothing},
    {op::convolution, detail::emit_convolution},
    {op::convolution_input_gradient, detail::emit_convolution_transposed},
    {op::local_response_norm, detail::emit_local_response_norm},
    {op::max_pool, detail::emit_max_pool},
    {op::avg_pool, detail::emit_avg_pool}};

} // namespace sinter::onnx
