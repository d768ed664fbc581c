// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/avg_pool.hpp>
#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/max_pool.hpp>

/// Convolutions and pools: Conv, MaxPool, AveragePool. All have their channels first there.
namespace sinter::onnx {

namespace detail {

/// Padding before and behind: what lies behind is as much as the last window needs.
inline attribute pads(const shape& x, const shape& y, int kh, int kw, int stride, int above, int left) {
    const auto behind = [&](int axis, int k, int before) {
        return std::max(0, (y.d[axis] - 1) * stride + k - x.d[axis] - before);
    };
    return ints("pads", {above, left, behind(0, kh, above), behind(1, kw, left)});
}

/// [KH, KW, CI, CO] becomes [CO, CI, KH, KW]: in the file if the weights are known, else by an operator.
inline std::string conv_weights(exporter& e, int id) {
    const shape& s = e.s(id);
    const auto k = e.values_of(id);
    if (!k.there) return e.add(id, "Transpose", {e.value(id)}, {ints("perm", {3, 2, 0, 1})});
    std::vector<float> x;
    x.reserve(k.x.size());
    for (int o = 0; o < s.d[3]; ++o)
        for (int i = 0; i < s.d[2]; ++i)
            for (int w = 0; w < s.d[0] * s.d[1]; ++w)
                x.push_back(k.x[static_cast<std::size_t>((w * s.d[2] + i) * s.d[3] + o)]);
    return e.m.floats(k.path, {s.d[3], s.d[2], s.d[0], s.d[1]}, x);
}
inline void emit_conv(exporter& e, int id) {
    const node& n = e.n(id);
    const auto& p = n.p;
    const std::string x = e.value_channels_first(n.in[0]), w = conv_weights(e, n.in[1]);
    e.set_channels_first(id, e.add(id, "Conv", {x, w},
                                   {ints("kernel_shape", {p[0], p[1]}), ints("strides", {p[2], p[2]}),
                                    pads(e.s(n.in[0]), n.s, p[0], p[1], p[2], p[3], p[4])}));
}
inline void emit_pool(exporter& e, int id, const char* type) {
    const node& n = e.n(id);
    const auto& p = n.p;
    e.set_channels_first(id, e.add(id, type, {e.value_channels_first(n.in[0])},
                                   {ints("kernel_shape", {p[0], p[0]}), ints("strides", {p[1], p[1]}),
                                    pads(e.s(n.in[0]), n.s, p[0], p[0], p[1], p[2], p[3])}));
}
inline void emit_max_pool(exporter& e, int id) { emit_pool(e, id, "MaxPool"); }
inline void emit_avg_pool(exporter& e, int id) { emit_pool(e, id, "AveragePool"); }   // padding is not counted by default

} // namespace detail

inline constexpr emitter window_emitters[] = {
    {op::conv, detail::emit_conv}, {op::max_pool, detail::emit_max_pool}, {op::avg_pool, detail::emit_avg_pool}};

} // namespace sinter::onnx
