// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a without what stands behind the point. No gradient flows. ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name trunc{"trunc"}; }

template <>
struct rule<op::trunc> : elementwise_rule<1, 6> {
    static constexpr const char* name = "trunc";
    static constexpr bool monotone = true, keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::trunc(a); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor trunc(tensor a) { return unary<op::trunc>(a); }
}
using ops::trunc;

} // namespace sinter
