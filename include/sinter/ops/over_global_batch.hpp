// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a / (examples of the global batch), of which a step may have one shard
/// (device/model_memory.hpp: batch_shard): shards' sums over their examples, divided so, add up to
/// the global batch's mean. Where the batch is not divided it is over_batch.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name over_global_batch{"over_global_batch"}; }

template <>
struct rule<op::over_global_batch> : elementwise_rule<1, 1> {
    static constexpr const char* name = "over_global_batch";
    static constexpr bool reads_batch = true;
    template <class V>
    static SINTER_VALUE V value(V a, batch_numbers n, int) { return a * (1.f / static_cast<float>(n.global_batch)); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::unary<op::over_global_batch>(g.d)); }
};

namespace ops {
constexpr tensor over_global_batch(tensor a) { return unary<op::over_global_batch>(a); }
}
using ops::over_global_batch;

} // namespace sinter
