// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// Between the plain form of a matrix and the layout that products and convolutions want of their
/// weights.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name pack_weights{"pack_weights"}, unpack_weights{"unpack_weights"};
}

namespace weights_extent { enum : int { rows, columns }; }   // in call::e, of the plain matrix

template <>
struct rule<op::pack_weights> : root_op_rule {
    static constexpr const char* name = "pack_weights";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{weights_extent::rows, r.y().rows()}, {weights_extent::columns, r.y().last()}});
    }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::unpack(g.d)); }
};
template <>
struct rule<op::unpack_weights> : rule<op::pack_weights> {
    static constexpr const char* name = "unpack_weights";
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::pack(g.d)); }
};

namespace ops {

constexpr tensor unpack(tensor a) {
    return a.ok() && a.shape().form == layout::weights ? make<op::unpack_weights>(a.g, a.shape().plain(), {a}) : a;
}
constexpr tensor pack(tensor a) {
    if (!a.ok() || a.shape().form == layout::weights) return a;
    shape s = a.shape();
    s.form = layout::weights;
    return make<op::pack_weights>(a.g, s, {a});
}

} // namespace ops

} // namespace sinter
