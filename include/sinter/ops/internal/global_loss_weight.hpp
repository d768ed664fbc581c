// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// What a weighted mean is divided by: one of the loss weights that the step was handed
/// (batch_shard::loss_weights), or a, the sum of this batch's weights, where it was handed none.
/// Its gradient is an op of the same name: a where none were handed in, else 0, for then the
/// divisor is a constant.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name global_loss_weight{"global_loss_weight"}; }

namespace loss_weight_attribute { enum : int { number }; }   // in node::p

template <>
struct rule<op::global_loss_weight> : elementwise_rule<1, 0> {
    static constexpr const char* name = "global_loss_weight";
    static constexpr bool reads_batch = true;
    static constexpr int of_gradient = 1 << 8;   ///< added to the number, which is all that a kernel is told
    template <class V>
    static SINTER_VALUE V value(V a, batch_numbers n, int which) {
        if (!n.loss_weights) return a;
        return which >= of_gradient ? V{} : V{} + n.loss_weights[which];
    }
    static constexpr void gradient(gradient_of& g) {
        const tensor d = g.d;
        g.add(0, make<op::global_loss_weight>(d.g, d.shape(), {d},
                                              {g.result.at().p[loss_weight_attribute::number] | of_gradient}));
    }
};

} // namespace sinter
