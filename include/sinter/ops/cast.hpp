// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/to_index.hpp>

/// cast(x, dtype::i32): float32 to int32, towards zero; what int32 cannot hold becomes its nearest
/// number, NaN 0. cast(x, n): the same into [0, n), numbers outside moved to its ends: places of an
/// axis of n. cast(x, dtype::f32): int32 to float32, to the nearest, so exact up to 2^24. No
/// gradient flows. ONNX: Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name to_int{"to_int"}; }

template <>
struct rule<op::to_int> : root_op_rule {
    static constexpr const char* name = "to_int";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node& n, const node*) { return n.s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { k.by_example(r.y(), r.y().size()); }
};

namespace ops {

constexpr tensor cast(tensor x, dtype to) {
    if (!x.ok() || x.shape().type == to) return x;
    if (to == dtype::u8 || x.shape().type == dtype::u8)
        return fail(x.g, fault_kind::wrong_element_type, op::to_int, x.shape(), x.shape());
    if (to == dtype::f32) return to_float(x);
    x = unpack(x);
    shape s = x.shape();
    s.type = dtype::i32;
    return make<op::to_int>(x.g, s, {x});
}
constexpr tensor cast(tensor x, int n) { return to_index(x.ok() ? to_float(x) : x, n); }

} // namespace ops
using ops::cast;

} // namespace sinter
