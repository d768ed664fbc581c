// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = log((1 + a) / (1 - a)) / 2, accurate near 0, too; infinite at 1 and -1, NaN beyond. ONNX:
/// Atanh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name atanh{"atanh"}; }

template <>
struct rule<op::atanh> : elementwise_rule<1, 24> {
    static constexpr const char *name = "atanh", *onnx = "Atanh";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::atanh(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0);
        g.add(0, g.d / ((1.f - x) * (1.f + x)));
    }
};

namespace ops {
constexpr tensor atanh(tensor a) { return unary<op::atanh>(a); }
}
using ops::atanh;

} // namespace sinter
