// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/less.hpp>
#include <sinter/ops/less_equal.hpp>
#include <sinter/ops/logical_and.hpp>
#include <sinter/ops/logical_or.hpp>
#include <sinter/ops/where.hpp>

/// y = a within [low, high]: min(max(a, low), high), so `high` where low > high; NaN of NaN. The
/// gradient passes inside, not at the bounds (as PyTorch 2.15's clamp; TensorFlow's clip_by_value
/// has them pass). ONNX: Clip, where the bounds are numbers.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name clip{"clip"}; }

template <>
struct rule<op::clip> : elementwise_rule<3, 2> {
    static constexpr const char* name = "clip";
    template <class V>
    static SINTER_VALUE V value(V a, V low, V high) {   // in this order NaN of a passes
        return arithmetic<V>::min(high, arithmetic<V>::max(low, a));
    }
    static constexpr void gradient(gradient_of& g) {
        const tensor a = g.x(0), low = g.x(1), high = g.x(2);
        const tensor below = ops::less_equal(a, low), above = ops::less_equal(high, a);
        if (g.wants(0)) g.add(0, ops::where(ops::logical_or(below, above), 0.f, g.d));
        if (g.wants(1)) g.add(1, ops::where(ops::logical_and(below, ops::less(low, high)), g.d, 0.f));
        if (g.wants(2)) g.add(2, ops::where(ops::logical_or(above, ops::less(high, low)), g.d, 0.f));
    }
};

namespace ops {
constexpr tensor clip(tensor a, tensor low, tensor high) { return ternary<op::clip>(a, low, high); }
constexpr tensor clip(tensor a, float low, float high) {
    return a.ok() ? clip(a, constant(a.g, low), constant(a.g, high)) : a;
}
}
using ops::clip;

} // namespace sinter
