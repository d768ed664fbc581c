// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/floor_div.hpp>

/// y = a - b floor(a / b), exactly: the remainder has the sign of b, as NumPy's mod and Python's %.
/// ONNX has no such operator of floats.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name mod{"mod"}; }

template <>
struct rule<op::mod> : elementwise_rule<2, 12> {
    static constexpr const char* name = "mod";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::mod(a, b); }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, g.d);
        if (g.wants(1)) g.add(1, -g.d * ops::floor_div(g.x(0), g.x(1)));
    }
};

namespace ops {
constexpr tensor mod(tensor a, tensor b) { return binary<op::mod>(a, b); }
constexpr tensor mod(tensor a, float b) { return a.ok() ? binary<op::mod>(a, constant(a.g, b)) : a; }
constexpr tensor mod(float a, tensor b) { return b.ok() ? binary<op::mod>(constant(b.g, a), b) : b; }
}
using ops::mod;

} // namespace sinter
