// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/broadcast.hpp>

/// fill(of, extents, value): a tensor of one number; fill_like(x, value): of x's extents and batch.
/// `of` only says in which net. Nothing is stored: whoever reads it has the number at hand. NumPy's
/// full. ONNX: ConstantOfShape.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor fill(tensor of, const shape& s, float value) {
    return of.ok() ? broadcast_to(constant(of.g, value), s) : of;
}
constexpr tensor fill_like(tensor x, float value) {
    shape s = x.shape().plain();
    s.type = dtype::f32;
    return fill(x, s, value);
}

} // namespace ops
using ops::fill;
using ops::fill_like;

} // namespace sinter
