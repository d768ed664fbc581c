// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/host_device.hpp>
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/sum.hpp>

/// The middle one of three rows of a batch, number by number; x [batch, ..., C] to [C]: a value near
/// each channel's own, about which its moments are summed. One row alone may lie far from all
/// others. No gradient flows through it, since what is summed so does not depend on the place.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name pivot_row{"pivot_row"}; }

namespace pivot_row_extent { enum : int { width }; }   // in call::e

/// The i-th of the three, 0 to 2, of so many rows. An odd share of the rows seldom begins an
/// example: first pixels may all be unlike the others.
SINTER_HOST_DEVICE constexpr std::int64_t pivot_row_place(std::int64_t rows, int i) {
    return i == 2 ? rows - 1 : rows * (i == 0 ? 97 : 157) / 251;
}

template <>
struct rule<op::pivot_row> : root_op_rule {
    static constexpr const char* name = "pivot_row";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{pivot_row_extent::width, r.y().last()}});
        k.by_example(r.x(0), r.x(0).rows());
    }
    static constexpr void gradient(gradient_of&) {}
};

namespace detail {
constexpr tensor pivot_row(tensor x) {
    if (!x.ok()) return x;
    const shape s = x.shape();
    if (!s.batched || s.rank == 0) return fail(x.g, fault_kind::axis_out_of_range, op::row_sum, s, s);
    return make<op::pivot_row>(x.g, extents(s.last()), {x});
}
} // namespace detail

} // namespace sinter
