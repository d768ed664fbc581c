// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/clip.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/stop_gradient.hpp>

/// y = the angle of the point (b, a), in [-pi, pi]. ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name atan2{"atan2"}; }

template <>
struct rule<op::atan2> : elementwise_rule<2, 30> {
    static constexpr const char* name = "atan2";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::atan2(a, b); }
    static constexpr void gradient(gradient_of& g) {
        // Divided by the larger one first, since squares may leave the range of floats. Neither by
        // infinity nor by 0: at the origin the gradient is 0, as PyTorch has it.
        const tensor larger = ops::maximum(ops::abs(g.x(0)), ops::abs(g.x(1))), none = ops::equal(larger, 0.f);
        const tensor size = ops::stop_gradient(ops::clip(larger, 0x1p-126f, 0x1.fffffep127f) + none);
        const tensor a = g.x(0) / size, b = g.x(1) / size, d = g.d / size / (a * a + b * b + none);
        if (g.wants(0)) g.add(0, d * b);
        if (g.wants(1)) g.add(1, -(d * a));
    }
};

namespace ops {
constexpr tensor atan2(tensor a, tensor b) { return binary<op::atan2>(a, b); }
constexpr tensor atan2(tensor a, float b) { return a.ok() ? binary<op::atan2>(a, constant(a.g, b)) : a; }
constexpr tensor atan2(float a, tensor b) { return b.ok() ? binary<op::atan2>(constant(b.g, a), b) : b; }
}
using ops::atan2;

} // namespace sinter
