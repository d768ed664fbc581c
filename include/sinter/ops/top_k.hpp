// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sort.hpp>

/// top_k(x, k, axis): the k largest along an axis (without the batch), the largest first, and where
/// they came from (int32); with order::ascending the k smallest, the smallest first. Of equal ones
/// the first; NaN counts as larger than everything. The gradient goes to the elements that were
/// taken. ONNX: TopK.
namespace sinter::inline SINTER_TARGET {

namespace ops {
constexpr sorted top_k(tensor x, int k, int axis = -1, order o = order::descending) {
    const tensor values = first_of_sorted(x, k, axis, o);
    return {values, places_of(values)};
}
}
using ops::top_k;

} // namespace sinter
