// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/concat.hpp>
#include <sinter/ops/expand_dims.hpp>

/// stack({a, b, ...}, axis): tensors of the same extents one after the other along a new axis of
/// the result (not the batch;
/// -1: its last). ONNX: Concat of Unsqueeze.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor stack(std::initializer_list<tensor> t, int axis = 0) {
    base::growing<tensor> all;
    for (const tensor& x : t) all.push(expand_dims(x, axis));
    return concat(base::view<const tensor>{all.p, all.n}, axis);
}

} // namespace ops
using ops::stack;

} // namespace sinter
