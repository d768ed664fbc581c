// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a (examples in this step) / (examples of the global batch): what a shard's mean counts among
/// those of all shards. Where the batch is not divided y is a, to the bit.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name batch_share{"batch_share"}; }

template <>
struct rule<op::batch_share> : elementwise_rule<1, 1> {
    static constexpr const char* name = "batch_share";
    static constexpr bool reads_batch = true;
    template <class V>
    static SINTER_VALUE V value(V a, batch_numbers n, int) {
        return a * (static_cast<float>(n.batch) / static_cast<float>(n.global_batch));
    }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::unary<op::batch_share>(g.d)); }
};

} // namespace sinter
