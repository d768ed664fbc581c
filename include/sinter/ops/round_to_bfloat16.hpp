// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the nearest number that bfloat16 holds (float32's exponents, eight bits of precision), of
/// two the even one; infinite from halfway beyond the largest on. The gradient passes as it is:
/// rounding's own would be zero almost everywhere. ONNX: Cast to BFLOAT16 and back.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name round_to_bfloat16{"round_to_bfloat16"}; }

template <>
struct rule<op::round_to_bfloat16> : elementwise_rule<1, 6> {
    static constexpr op_role role = op_role::rounding;
    static constexpr const char* name = "round_to_bfloat16";
    static constexpr bool monotone = true, keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::round_to_bfloat16(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};

namespace ops {
constexpr tensor round_to_bfloat16(tensor a) { return unary<op::round_to_bfloat16>(a); }
}
using ops::round_to_bfloat16;

} // namespace sinter
