// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// stop_gradient(a): the same value, through which no gradient flows. Costs nothing. No ONNX
/// operator: its operand stands for it.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name stop_gradient{"stop_gradient"}; }

template <>
struct rule<op::stop_gradient> : view_rule {
    static constexpr const char* name = "stop_gradient";
    static constexpr bool steps = true;
};

namespace ops {
constexpr tensor stop_gradient(tensor a) {
    return a.ok() ? make<op::stop_gradient>(a.g, a.shape(), {a}) : a;
}
}
using ops::stop_gradient;

} // namespace sinter
