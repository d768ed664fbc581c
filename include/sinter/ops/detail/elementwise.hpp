// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/broadcast.hpp>
#include <sinter/ops/detail/arithmetic.hpp>
#include <sinter/ops/detail/gradient.hpp>

/// What elementwise ops share: shape rules and the operators that rules are written with.
namespace sinter {

/// Base of an elementwise op's rule: `Operands` operands, about `Flops` operations an element.
template <int Operands, int Flops>
struct elementwise_rule {
    static constexpr op_kind kind = op_kind::elementwise;
    static constexpr int operands = Operands;
    static constexpr bool monotone = false;   ///< non-decreasing, so that max(f(a), f(b)) = f(max(a, b))
    static constexpr long flops(const node& n, const node*) { return static_cast<long>(Flops) * n.s.size(); }
};

namespace ops {

constexpr tensor unpack(tensor a) {   ///< the plain form of weights in the kernels' own layout
    return a.ok() && a.shape().form == layout::weights ? make(a.g, op::unpack_weights, a.shape().plain(), {a}) : a;
}
constexpr tensor pack(tensor a) {
    if (!a.ok() || a.shape().form == layout::weights) return a;
    shape s = a.shape();
    s.form = layout::weights;
    return make(a.g, op::pack_weights, s, {a});
}
/// Does k give 0 for zeros, value and gradient? Then the columns that pad packed weights stay zero, and it may work on
/// them as they are.
constexpr bool keeps_padding(op k) { return k == op::neg || k == op::add || k == op::sub || k == op::mul; }

/// Computing is done with floats; whole numbers are only looked up, compared and passed on. True after a fault.
constexpr bool not_floats(op k, tensor a) {
    if (a.shape().type == dtype::f32) return false;
    a.g->fail(fault_kind::wrong_element_type, k, a.shape(), {.batched = a.shape().batched});
    return true;
}

constexpr tensor unary(op k, tensor a) {
    if (!a.ok()) return a;
    if (!keeps_padding(k)) a = unpack(a);
    if (not_floats(k, a)) return {a.g, -1};
    return make(a.g, k, a.shape(), {a});
}

/// A copy of `a` under the extents `s`, for the rare patterns that kernels cannot read in place.
constexpr tensor expand(tensor a, const shape& s) {
    return map_operand(a.shape(), s).valid ? a : make(a.g, op::expand, s, {a});
}

constexpr tensor binary(op k, tensor a, tensor b) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    graph* g = a.g;
    const bool packed = a.shape().form == layout::weights || b.shape().form == layout::weights;
    if (packed) {   // weights meet only weights of the same form, or a constant factor, without being unpacked
        const bool same = a.shape() == b.shape() && keeps_padding(k);
        const bool scaled = (a.at().k == op::constant || b.at().k == op::constant) && k == op::mul;
        if (same || scaled) return make(g, k, a.shape().form == layout::weights ? a.shape() : b.shape(), {a, b});
        a = unpack(a);
        b = unpack(b);
    }
    if (a.shape().type != dtype::f32 || b.shape().type != dtype::f32)
        return fail(g, fault_kind::wrong_element_type, k, a.shape(), b.shape());
    shape s;
    if (!broadcast_shape(a.shape(), b.shape(), s))
        return fail(g, fault_kind::shapes_not_broadcastable, k, a.shape(), b.shape());
    return make(g, k, s, {expand(a, s), expand(b, s)});
}

/// `a` under larger extents: read in place by whoever uses it.
constexpr tensor broadcast_to(tensor a, const shape& s) {
    if (!a.ok() || a.shape() == s) return a;
    return make(a.g, op::broadcast, s, {expand(unpack(a), s)});
}

} // namespace ops

constexpr tensor operator+(tensor a, tensor b) { return ops::binary(op::add, a, b); }
constexpr tensor operator-(tensor a, tensor b) { return ops::binary(op::sub, a, b); }
constexpr tensor operator*(tensor a, tensor b) { return ops::binary(op::mul, a, b); }
constexpr tensor operator/(tensor a, tensor b) { return ops::binary(op::div, a, b); }
constexpr tensor operator-(tensor a) { return ops::unary(op::neg, a); }
constexpr tensor operator+(tensor a, float b) { return a.ok() ? a + constant(a.g, b) : a; }
constexpr tensor operator-(tensor a, float b) { return a.ok() ? a - constant(a.g, b) : a; }
constexpr tensor operator*(tensor a, float b) { return a.ok() ? a * constant(a.g, b) : a; }
constexpr tensor operator/(tensor a, float b) { return a.ok() ? a / constant(a.g, b) : a; }
constexpr tensor operator+(float a, tensor b) { return b.ok() ? constant(b.g, a) + b : b; }
constexpr tensor operator-(float a, tensor b) { return b.ok() ? constant(b.g, a) - b : b; }
constexpr tensor operator*(float a, tensor b) { return b.ok() ? constant(b.g, a) * b : b; }
constexpr tensor operator/(float a, tensor b) { return b.ok() ? constant(b.g, a) / b : b; }

} // namespace sinter
