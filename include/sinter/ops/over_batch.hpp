// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a / (examples in this step): turns sums over the batch into means. The batch is known only
/// at run time. Where a global batch is divided into shards these are the shard's own examples:
/// what is made of it (batch_norm's statistics, say) is local. See over_global_batch.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name over_batch{"over_batch"}; }

template <>
struct rule<op::over_batch> : elementwise_rule<1, 1> {
    static constexpr const char* name = "over_batch";
    static constexpr bool reads_batch = true;
    template <class V>
    static SINTER_VALUE V value(V a, batch_numbers n, int) { return a * (1.f / static_cast<float>(n.batch)); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::unary<op::over_batch>(g.d)); }
};

namespace ops {
constexpr tensor over_batch(tensor a) { return unary<op::over_batch>(a); }
}
using ops::over_batch;

} // namespace sinter
