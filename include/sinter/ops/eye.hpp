// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/range.hpp>
#include <sinter/ops/reshape.hpp>

/// eye(of, n, m, k): [n, m], ones on the k-th diagonal (above the main one where k > 0), zeros
/// elsewhere. `of` only says in which net. Computed by whoever reads it. ONNX: EyeLike.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor eye(tensor of, int n, int m = 0, int k = 0) {
    return equal(range(of, m ? m : n), reshape(range(of, n, static_cast<float>(k)), extents(n, 1)));
}

} // namespace ops
using ops::eye;

} // namespace sinter
