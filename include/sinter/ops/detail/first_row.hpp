// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/sum.hpp>

/// The first row of a batch, x [batch, ..., C] to [C]: a value of each channel's own, about which
/// its moments are summed. No gradient flows through it, since what is summed so does not depend on
/// the place.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name first_row{"first_row"}; }

namespace first_row_extent { enum : int { width }; }   // in call::e

template <>
struct rule<op::first_row> : root_op_rule {
    static constexpr const char* name = "first_row";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{first_row_extent::width, r.y().last()}});
    }
    static constexpr void gradient(gradient_of&) {}
};

namespace detail {
constexpr tensor first_row(tensor x) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (!s.batched || s.rank == 0) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, s, s);
    return make<op::first_row>(x.g, extents(s.last()), {x});
}
} // namespace detail

} // namespace sinter
