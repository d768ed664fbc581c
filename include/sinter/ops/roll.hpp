// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// roll(x, shift, axis): elements move forward by `shift` places along an axis (without the batch),
/// those from its end come in at its beginning; a negative shift moves back. NumPy's roll. ONNX:
/// none (Slice and Concat).
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name roll{"roll"}; }

/// In node::p: elements of a row and how far they go, of [outer, elements]; the axis, and its own
/// shift, 0 < shift < its extent.
namespace roll_attribute { enum : int { outer, elements, distance, axis, shift }; }
namespace roll_extent { enum : int { elements, distance }; }   // in call::e

template <>
struct rule<op::roll> : root_op_rule {
    static constexpr const char* name = "roll";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const int* const p = r.n.p;
        k.set({{roll_extent::elements, p[roll_attribute::elements]},
               {roll_extent::distance, p[roll_attribute::distance]}});
        k.by_example(r.y(), p[roll_attribute::outer]);
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor roll(tensor x, int shift, int axis = -1) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    axis = axis_of(s, axis);
    if (axis < 0) return fail(x.g, fault_kind::axis_out_of_range, op::roll, s, s);
    const axis_parts a(s, axis);
    shift = (shift % a.n + a.n) % a.n;
    return shift ? make<op::roll>(x.g, s, {x}, {a.outer, a.n * a.inner, shift * a.inner, axis, shift}) : x;
}

} // namespace ops
using ops::roll;

constexpr void rule<op::roll>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, ops::roll(g.d, -n.p[roll_attribute::shift], n.p[roll_attribute::axis]));
}

} // namespace sinter
