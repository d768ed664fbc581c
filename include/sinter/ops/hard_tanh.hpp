// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/clip.hpp>
#include <sinter/ops/less_equal.hpp>

/// y = a within [low, high], -1 and 1 unless told otherwise: a clip whose gradient at the bounds is
/// 0, as PyTorch's. ONNX: Clip.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name hard_tanh{"hard_tanh"}; }

/// The bounds are constants, which get no gradient.
template <>
struct rule<op::hard_tanh> : elementwise_rule<3, 2> {
    static constexpr const char* name = "hard_tanh";
    template <class V>
    static SINTER_VALUE V value(V a, V low, V high) { return rule<op::clip>::value(a, low, high); }
    static constexpr void gradient(gradient_of& g) {
        // The result is at a limit where the argument is there or beyond; and other ops keep it, so
        // that nothing else has to be kept: each of the two conditions is one operation on it.
        const tensor y = g.y();
        g.add(0, ops::where(ops::less_equal(y, g.x(1)), 0.f, ops::where(ops::less_equal(g.x(2), y), 0.f, g.d)));
    }
};

namespace ops {
constexpr tensor hard_tanh(tensor a, float low = -1, float high = 1) {
    return a.ok() ? ternary<op::hard_tanh>(a, constant(a.g, low), constant(a.g, high)) : a;
}
}

} // namespace sinter
