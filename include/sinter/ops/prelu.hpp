// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/where.hpp>

/// y = a where a > 0, else slope * a (He et al. 2015); broadcast as in NumPy. The gradient at 0 is
/// the slope's, as in PyTorch. ONNX: PRelu; Greater, Mul and Where where the slope is the larger.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name prelu{"prelu"}; }

template <>
struct rule<op::prelu> : elementwise_rule<2, 2> {
    static constexpr const char* name = "prelu";
    template <class V>
    static SINTER_VALUE V value(V a, V slope) { return arithmetic<V>::select(a > 0.f, a, a * slope); }
    static constexpr void gradient(gradient_of& g) {
        // With a positive slope the result, which other ops keep, has the argument's sign.
        const node& slope = g.x(1).at();
        const tensor a = g.x(0),
                     positive = ops::greater(slope.k == op::constant && slope.f > 0.f && !g.wants(1) ? g.y() : a, 0.f);
        if (g.wants(0)) g.add(0, ops::where(positive, g.d, g.d * g.x(1)));
        if (g.wants(1)) g.add(1, ops::where(positive, 0.f, g.d * a));
    }
};

namespace ops {
constexpr tensor prelu(tensor a, tensor slope) { return binary<op::prelu>(a, slope); }
}

} // namespace sinter
