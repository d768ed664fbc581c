// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/indices.hpp>

/// y = a as an int32 in [0, n): its fraction is cut off, what is too small or NaN becomes 0, what
/// is too large n - 1. So rows may be gathered by numbers that were computed, of at most 2^24:
/// beyond, floats leave out every second integer. No gradient flows. ONNX: Clip, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name to_index{"to_index"}; }

namespace to_index_attribute { enum : int { below }; }   // in node::p
namespace to_index_extent { enum : int { below }; }      // in call::e

template <>
struct rule<op::to_index> : root_op_rule {
    static constexpr const char* name = "to_index";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{to_index_extent::below, r.n.p[to_index_attribute::below]}});
        k.by_example(r.y(), r.y().size());
    }
    static constexpr int below(const node& n) { return n.p[to_index_attribute::below]; }
};

namespace ops {

constexpr tensor to_index(tensor a, int n) {
    if (!a.ok() || not_floats(op::to_index, a)) return {a.g, -1};
    if (n < 1) return fail(a.g, fault_kind::axis_out_of_range, op::to_index, a.shape(), extents(n));
    if (!floats_can_name(*a.g, op::to_index, a.shape(), n)) return {a.g, -1};
    a = unpack(a);
    shape s = a.shape();
    s.type = dtype::i32;
    return make<op::to_index>(a.g, s, {a}, {n});
}

} // namespace ops
using ops::to_index;

} // namespace sinter
