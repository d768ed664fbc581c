// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>

/// y = 2 / sqrt(pi) * integral of e^-t^2 from 0 to a. ONNX: Erf.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name erf{"erf"}; }

template <>
struct rule<op::erf> : elementwise_rule<1, 16> {
    static constexpr const char *name = "erf", *onnx = "Erf";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::erf(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d * (exp(-(g.x(0) * g.x(0))) * 1.1283791670955126f));
    }
};

namespace ops {
constexpr tensor erf(tensor a) { return unary<op::erf>(a); }
}
using ops::erf;

} // namespace sinter
