// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a + b, broadcast as in NumPy. ONNX: Add.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name add{"add"}; }

template <>
struct rule<op::add> : elementwise_rule<2, 1> {
    static constexpr op_role role = op_role::sum;
    static constexpr const char *name = "add", *onnx = "Add";
    static constexpr bool keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return a + b; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d);
        g.add(1, g.d);
    }
};

constexpr tensor operator+(tensor a, tensor b) { return ops::binary<op::add>(a, b); }

} // namespace sinter
