// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// shard_sum(a): the sum of `a` over all shards of the global batch (device/model_memory.hpp:
/// batch_shard). The kernel only copies a to a place of its own; whoever runs shards stops behind
/// it, adds up what all of them have there, and goes on (program_value::sync_points). Where a batch
/// is not divided the result is `a`, to the bit. Its gradient is the shards' sum of gradients.
/// `a` does not depend on the example, nor may it be a value of a loop's iteration.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name shard_sum{"shard_sum"}; }

namespace shard_sum_extent { enum : int { elements }; }   // in call::e

template <>
struct rule<op::shard_sum> : root_op_rule {
    static constexpr const char* name = "shard_sum";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{shard_sum_extent::elements, r.y().size()}});
    }
    static constexpr void gradient(gradient_of& g);
};

namespace detail {
constexpr tensor shard_sum(tensor a) {
    if (!a.ok()) return a;
    a = ops::plain(a);
    if (a.shape().batched) return fail(a.g, fault_kind::batch_axis_refused, op::shard_sum, a.shape(), a.shape());
    if (a.g->open_loop) return fail(a.g, fault_kind::loop_value_outside, op::shard_sum, a.shape(), a.shape());
    return make<op::shard_sum>(a.g, a.shape(), {a});
}
} // namespace detail

constexpr void rule<op::shard_sum>::gradient(gradient_of& g) { g.add(0, detail::shard_sum(g.d)); }

} // namespace sinter
