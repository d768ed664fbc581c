// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/tril.hpp>

/// triu(x, k): [..., R, C], zeros below the k-th diagonal (k > 0 lies above the main one). As
/// tril() else. ONNX: Trilu.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr tensor triu(tensor x, int k = 0) { return triangle<true>(x, k); }
}
using ops::triu;

} // namespace sinter
