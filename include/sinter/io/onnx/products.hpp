// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/internal/bfloat16_products.hpp>

/// Products: MatMul.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// A dense layer after the flatten of a convolution or pool: instead of the image's axes, the
/// weights' rows change places.
SINTER_COLD inline bool emit_dense_of_image(exporter& e, int id) {
    const node& n = e.n(id);
    const int flat = n.in[0];
    if (e.n(flat).k != op::reshape || e.s(flat).rank != 1 || !e.s(flat).batched) return false;
    const int image = e.operand(flat, 0);
    const auto k = e.values_of(n.in[1]);
    if (e.s(image).rank < 2 || !e.only_channels_first(image) || !k.there) return false;
    const int channels = e.s(image).last(), places = e.s(image).rows(), columns = n.s.last();
    std::vector<float> x(k.x.size());
    for (int c = 0; c < channels; ++c)
        for (int p = 0; p < places; ++p)
            std::copy_n(k.x.begin() + (p * channels + c) * columns, columns, x.begin() + (c * places + p) * columns);
    const value_name flattened = e.reshape(flat, e.value_channels_first(image), {0, channels * places});
    e.set(id, e.add(id, "MatMul", {flattened, e.m.weights(k.path, {channels * places, columns}, x)}));
    return true;
}
SINTER_COLD inline void emit_gemm(exporter& e, int id) {
    if (emit_dense_of_image(e, id)) return;
    e.set(id, e.add(id, "MatMul", {e.value(e.operand(id, 0)), e.value(e.operand(id, 1))}));
}
/// Products of pairs: of rounded operands, which is what they are.
inline value_name rounded_to_bfloat16(exporter& e, int id, value_name x) {
    return e.cast(id, e.cast(id, x, element::bf16), element::f32);
}
SINTER_COLD inline void emit_bfloat16_weights(exporter& e, int id) {
    e.set(id, rounded_to_bfloat16(e, id, e.value(e.operand(id, 0))));
}
SINTER_COLD inline void emit_bfloat16_gemm(exporter& e, int id) {
    e.set(id, e.add(id, "MatMul", {rounded_to_bfloat16(e, id, e.value(e.operand(id, 0))), e.value(e.operand(id, 1))}));
}
SINTER_COLD inline value_name last_two_swapped(exporter& e, int id, int x) {
    const int axes = e.s(x).rank + e.s(x).batched;
    few_numbers order;
    for (int i = 0; i < axes; ++i) order.push_back(i);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.transpose(id, e.value(x), order);
}
SINTER_COLD inline void emit_matmul(exporter& e, int id) {
    const node& n = e.n(id);
    std::vector<value_name> in;
    for (int k = 0; k < 2; ++k) in.push_back(n.p[k] ? last_two_swapped(e, id, n.in[k]) : e.value(n.in[k]));
    e.set(id, e.add(id, "MatMul", in));
}

/// Gradients: of weights, and weights transposed for that of the input.
SINTER_COLD inline void emit_gemm_tn(exporter& e, int id) {
    value_name rows[2];
    for (int k = 0; k < 2; ++k) rows[k] = e.reshape(id, e.value(e.operand(id, k)), {-1, e.s(e.operand(id, k)).last()});
    e.set(id, e.add(id, "MatMul", {e.transpose(id, rows[0], {1, 0}), rows[1]}));
}
SINTER_COLD inline void emit_weight_transpose(exporter& e, int id) {
    e.set(id, last_two_swapped(e, id, e.operand(id, 0)));
}

} // namespace detail

inline constexpr emitter product_emitters[] = {{op::gemm, detail::emit_gemm},
                                               {op::matmul, detail::emit_matmul},
                                               {op::gemm_tn, detail::emit_gemm_tn},
                                               {op::bfloat16_weights, detail::emit_bfloat16_weights},
                                               {op::bfloat16_gemm, detail::emit_bfloat16_gemm},
                                               {op::weight_transpose, detail::emit_weight_transpose}};

} // namespace sinter::onnx
