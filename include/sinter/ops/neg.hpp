// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = -a. ONNX: Neg.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name neg{"neg"}; }

template <>
struct rule<op::neg> : elementwise_rule<1, 1> {
    static constexpr const char *name = "neg", *onnx = "Neg";
    static constexpr bool keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return -a; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, -g.d);
    }
};

constexpr tensor operator-(tensor a) { return ops::unary<op::neg>(a); }

} // namespace sinter
