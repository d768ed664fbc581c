// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/broadcast.hpp>
#include <sinter/ops/detail/arithmetic.hpp>
#include <sinter/graph/gradient.hpp>
#include <sinter/graph/rules.hpp>

/// What elementwise ops share: shape rules and the operators that rules are written with.
namespace sinter::inline SINTER_TARGET {

namespace ops {

constexpr tensor unpack(tensor a);   ///< the plain form of weights in the kernels' own layout (detail/weights.hpp)
constexpr tensor pack(tensor a);
constexpr tensor plain(tensor a);    ///< the same of whatever layout (detail/steps.hpp)
constexpr tensor to_steps(tensor a);
constexpr tensor expand(tensor a, const shape& s);         ///< (broadcast.hpp)
constexpr tensor broadcast_to(tensor a, const shape& s);
constexpr tensor reshape(tensor a, shape s);               ///< (reshape.hpp)
constexpr tensor over_batch(tensor a);                     ///< (over_batch.hpp)

/// Computing is done with floats; integers are only looked up, compared and passed on. True
/// after a fault.
constexpr bool not_floats(const op_name& k, tensor a) {
    if (a.shape().type == dtype::f32) return false;
    a.g->fail(fault_kind::wrong_element_type, k, a.shape(), {.batched = a.shape().batched});
    return true;
}

constexpr tensor unary(const op_info& k, tensor a) {
    if (!a.ok()) return a;
    if (!k.keeps_padding) a = unpack(a);
    if (not_floats(k.self, a)) return {a.g, -1};
    return make(k, a.g, a.shape(), {a});
}
template <op_id K>
constexpr tensor unary(tensor a) { return unary(info_of<K>, a); }

/// Two operands of which one lies as [T][batch][...]: true if they can meet so, or else both become
/// plain.
constexpr bool overlap_in_steps(tensor& a, tensor& b) {
    const shape x = a.shape(), y = b.shape();
    const bool xs = x.form == layout::steps, ys = y.form == layout::steps;
    if (!xs && !ys) return false;
    if (xs && ys && x.rank == y.rank && x.rows() == y.rows()) return true;
    if (xs && !y.batched && y.size() == y.last() && y.rank <= x.rank) return true;
    if (ys && !x.batched && x.size() == x.last() && x.rank <= y.rank) return true;
    a = plain(a);
    b = plain(b);
    return false;
}

/// `s` with axes of extent 1 in front, up to a rank.
constexpr shape with_leading_ones(shape s, int rank) {
    for (; s.rank < rank; ++s.rank) {
        for (int i = s.rank; i > 0; --i) s.d[i] = s.d[i - 1];
        s.d[0] = 1;
    }
    return s;
}
/// The fault of operands x and y whose extents a and b (their own, or a product's leading axes) do
/// not broadcast. Where both have a batch and only the ranks are at fault, it names the operand of
/// fewer axes (got) and what to reshape it to (needed).
constexpr tensor fail_to_broadcast(compiler::graph* g, const op_name& self, const shape& a, const shape& b,
                                   const shape& x,
                                   const shape& y) {
    const bool a_is_less = a.rank < b.rank;
    const shape &less = a_is_less ? a : b, &more = a_is_less ? b : a, &named = a_is_less ? x : y;
    shape both;
    if (a.rank != b.rank && less.batched && compiler::broadcast_shape(with_leading_ones(less, more.rank), more, both))
        return fail(g, fault_kind::batched_ranks_differ, self, named, with_leading_ones(named, more.rank));
    return fail(g, fault_kind::shapes_not_broadcastable, self, x, y);
}
constexpr tensor fail_to_broadcast(compiler::graph* g, const op_name& self, const shape& a, const shape& b) {
    return fail_to_broadcast(g, self, a, b, a, b);
}

constexpr tensor binary(const op_info& k, tensor a, tensor b) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    compiler::graph* g = a.g;
    const bool packed = a.shape().form == layout::weights || b.shape().form == layout::weights;
    if (packed) {   // weights meet only weights of the same form, or a constant factor, without being unpacked
        const bool same = a.shape() == b.shape() && k.keeps_padding;
        const bool scaled = (a.at().k == op::constant || b.at().k == op::constant) && k.scales;
        if (same || scaled) return make(k, g, a.shape().form == layout::weights ? a.shape() : b.shape(), {a, b});
        a = unpack(a);
        b = unpack(b);
    }
    if (a.shape().type != dtype::f32 || b.shape().type != dtype::f32)
        return fail(g, fault_kind::wrong_element_type, k.self, a.shape(), b.shape());
    const bool in_steps = overlap_in_steps(a, b);
    shape s;
    if (!compiler::broadcast_shape(a.shape(), b.shape(), s)) return fail_to_broadcast(g, k.self, a.shape(), b.shape());
    if (in_steps) s.form = layout::steps;
    return make(k, g, s, {expand(a, s), expand(b, s)});
}
template <op_id K>
constexpr tensor binary(tensor a, tensor b) { return binary(info_of<K>, a, b); }

/// Of three operands; weights in the kernels' own layout are unpacked.
constexpr tensor ternary(const op_info& k, tensor a, tensor b, tensor c) {
    if (!a.ok() || !b.ok() || !c.ok()) return {a.g ? a.g : b.g, -1};
    a = plain(a);
    b = plain(b);
    c = plain(c);
    if (not_floats(k.self, a) || not_floats(k.self, b) || not_floats(k.self, c)) return {a.g, -1};
    shape two, s;
    if (!compiler::broadcast_shape(b.shape(), c.shape(), two))
        return fail_to_broadcast(a.g, k.self, b.shape(), c.shape());
    if (!compiler::broadcast_shape(a.shape(), two, s)) return fail_to_broadcast(a.g, k.self, a.shape(), two);
    return make(k, a.g, s, {expand(a, s), expand(b, s), expand(c, s)});
}
template <op_id K>
constexpr tensor ternary(tensor a, tensor b, tensor c) { return ternary(info_of<K>, a, b, c); }

} // namespace ops

constexpr tensor operator+(tensor a, tensor b);   // each in its op's file
constexpr tensor operator-(tensor a, tensor b);
constexpr tensor operator*(tensor a, tensor b);
constexpr tensor operator/(tensor a, tensor b);
constexpr tensor operator-(tensor a);
constexpr tensor operator+(tensor a, float b) { return a.ok() ? a + constant(a.g, b) : a; }
constexpr tensor operator-(tensor a, float b) { return a.ok() ? a - constant(a.g, b) : a; }
constexpr tensor operator*(tensor a, float b) { return a.ok() ? a * constant(a.g, b) : a; }
constexpr tensor operator/(tensor a, float b) { return a.ok() ? a / constant(a.g, b) : a; }
constexpr tensor operator+(float a, tensor b) { return b.ok() ? constant(b.g, a) + b : b; }
constexpr tensor operator-(float a, tensor b) { return b.ok() ? constant(b.g, a) - b : b; }
constexpr tensor operator*(float a, tensor b) { return b.ok() ? constant(b.g, a) * b : b; }
constexpr tensor operator/(float a, tensor b) { return b.ok() ? constant(b.g, a) / b : b; }

} // namespace sinter

// What is declared above, for whoever includes one op alone.
#include <sinter/ops/add.hpp>
#include <sinter/ops/detail/steps.hpp>
#include <sinter/ops/detail/weights.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>
