// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a / (examples in this step): turns sums over the batch into means. The batch is known only at run time.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name over_batch{"over_batch"}; }

template <>
struct rule<op::over_batch> : elementwise_rule<1, 1> {
    static constexpr const char* name = "over_batch";
    template <class V>
    static SINTER_VALUE V value(V a, float batch) { return a * (1.f / batch); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::unary<op::over_batch>(g.d)); }
};

namespace ops {
constexpr tensor over_batch(tensor a) { return unary<op::over_batch>(a); }
}
using ops::over_batch;

} // namespace sinter
