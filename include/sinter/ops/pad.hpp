// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/slice.hpp>

/// pad(x, {{before, after}, ...}, value): margins around the leading axes (without the batch), of
/// one number; pad(x, {...}, pad_mode::reflect) mirrors the elements at the first and last one
/// without repeating these, and pad_mode::edge repeats the first and the last. NumPy's pad. ONNX:
/// Pad (constant, reflect, edge).
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name pad{"pad"}, pad_gradient{"pad_gradient"};
}
enum class pad_mode { reflect, edge };

namespace pad_attribute { enum : int { mode, before }; }   // in node::p: the margin before each axis
/// In call::e: extents of max_rank axes with margins; without them, and from bit 32 on the margin
/// before.
namespace pad_extent { enum : int { outer, inner = max_rank, mode = kernel_extents::spare }; }

namespace detail {
constexpr void pad_extents(const kernel_request& r, kernel_extents& k, const shape& small, const shape& large) {
    for (int i = 0; i < max_rank; ++i) {
        const int axis = i - (max_rank - small.rank);
        k.e[pad_extent::outer + i] = axis < 0 ? 1 : large.d[axis];
        k.e[pad_extent::inner + i] =
            axis < 0 ? 1 : small.d[axis] | static_cast<std::int64_t>(r.n.p[pad_attribute::before + axis]) << 32;
    }
    k.e[pad_extent::mode] = r.n.p[pad_attribute::mode];
    k.by_example(small, 1);
}
} // namespace detail

/// Where the margin is made of the operand's own elements.
template <>
struct rule<op::pad> : root_op_rule {
    static constexpr const char* name = "pad";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pad_extents(r, k, r.x(0), r.y());
    }
    static constexpr void gradient(gradient_of& g);
};
/// Each element is the sum of all that were copied from its place.
template <>
struct rule<op::pad_gradient> : root_op_rule {
    static constexpr const char* name = "pad_gradient";
    static constexpr bool epilogue = false;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::pad_extents(r, k, r.y(), r.x(0));
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

/// Elements added before and behind an axis.
struct margins {
    int before = 0, after = 0;
};

/// The extents with margins; false where one is negative or, mirrored, as wide as the axis, or no
/// int holds the sum.
constexpr bool padded_shape(const shape& s, std::initializer_list<margins> m, bool mirrored, shape& out,
                            int (&before)[max_rank]) {
    out = s;
    int i = 0;
    for (const margins& a : m) {
        if (i == s.rank || a.before < 0 || a.after < 0 || (mirrored && (a.before >= s.d[i] || a.after >= s.d[i])))
            return false;
        const std::int64_t all = std::int64_t{s.d[i]} + a.before + a.after;
        if (all > 0x7fffffff) return false;
        before[i] = a.before;
        out.d[i++] = static_cast<int>(all);
    }
    return true;
}
constexpr tensor pad(tensor x, std::initializer_list<margins> m, float value = 0) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    shape out;
    int before[max_rank] = {};
    if (!padded_shape(s, m, false, out, before)) return fail(x.g, fault_kind::axis_out_of_range, op::insert, s, out);
    if (value != 0 && not_floats(op::insert, x)) return {x.g, -1};
    if (out == s) return x;
    box b(s);
    for (int i = 0; i < s.rank; ++i) b.first[i] = before[i];
    return boxed<op::insert>(x, out, out, b, value);
}
constexpr tensor pad(tensor x, std::initializer_list<margins> m, pad_mode mode) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    shape out;
    int b[max_rank] = {};
    if (!padded_shape(s, m, mode == pad_mode::reflect, out, b))
        return fail(x.g, fault_kind::axis_out_of_range, op::pad, s, out);
    return out == s ? x : make<op::pad>(x.g, out, {x}, {static_cast<int>(mode), b[0], b[1], b[2], b[3], b[4]});
}

} // namespace ops
using ops::margins;
using ops::pad;

constexpr void rule<op::pad>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::pad_gradient>(g.g, g.x(0).shape(), {g.d}, n.p));
}
constexpr void rule<op::pad_gradient>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::pad>(g.g, g.x(0).shape(), {g.d}, n.p));
}

} // namespace sinter
