// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/detail/arithmetic.hpp>

/// What elementwise ops are written with: their operands in one order of axes, and formulas over
/// them.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// Is `id` as large as the elementwise result `to`, so that both have one order of axes?
inline bool full_operand(const exporter& e, int id, const shape& to) {
    return e.s(id).rank == to.rank && e.s(id).batched == to.batched && e.s(id).size() == to.size();
}
/// An operand of an elementwise operator whose result has its channels first.
SINTER_COLD inline value_name operand_channels_first(exporter& e, int id, int rank) {
    const shape& s = e.s(id);
    if (s.size() == 1 && !s.batched) return e.value(id);
    if (s.rank == rank) return e.value_channels_first(id);
    few_numbers extents(static_cast<std::size_t>(rank), 1);   // of lower rank: then it has no batch
    std::copy_n(s.d, s.rank, extents.end() - s.rank);
    if (s.rank > 1) {
        const value_name whole = e.reshape(id, e.value(id), extents);
        few_numbers order{rank - 1};
        for (int i = 0; i + 1 < rank; ++i) order.push_back(i);
        return e.transpose(id, whole, order);
    }
    std::swap(extents.front(), extents.back());
    if (const auto k = e.values_of(id); k.there) return e.m.weights(k.path, extents, k.x);
    return e.reshape(id, e.value(id), extents);
}

SINTER_COLD inline value_name as_floats(exporter& e, int id, value_name x) { return e.cast(id, x, element::f32); }

/// An elementwise op while it is written: its operands in one order of axes, with channels first
/// where most of them have that.
struct elementwise_writer {
    exporter& e;
    int id;
    bool channels_first = false;
    std::vector<value_name> in{};

    elementwise_writer(exporter& to, int of) : e(to), id(of) {
        const node& n = e.n(id);
        int first = 0, last = 0;
        for (int k = 0; k < n.operands; ++k)
            if (n.s.rank > 1 && n.s.batched && full_operand(e, n.in[k], n.s))
                ++(e.only_channels_first(n.in[k]) ? first : last);
        channels_first = first > 0 && first >= last;
        for (int k = 0; k < n.operands; ++k)
            in.push_back(channels_first ? operand_channels_first(e, n.in[k], n.s.rank) : e.value(n.in[k]));
    }
    value_name add(const char* type, name_list operands) { return e.add(id, type, operands); }
    value_name constant(float x) { return e.m.number(x); }
    void done(value_name y) {
        if (channels_first) e.set_channels_first(id, y);
        else e.set(id, y);
    }
};

#if SINTER_BODIES
SINTER_APART void emit_elementwise(exporter& e, int id, const char* type) {
    elementwise_writer w(e, id);
    w.done(w.add(type, w.in));
}
#endif

/// A value in a formula: its operators add ONNX' to the model. Truth values are terms, too.
struct term {
    elementwise_writer* w = nullptr;   ///< none: zero, before it has met another term
    value_name name{};
};
inline term written(elementwise_writer* w, const char* type, name_list in) {
    return {w, w->add(type, in)};
}
inline term unary_term(const char* type, const term& a) { return written(a.w, type, {a.name}); }
inline term binary_term(const char* type, const term& a, const term& b) {
    elementwise_writer* const w = a.w ? a.w : b.w;
    return written(w, type, {a.w ? a.name : w->constant(0), b.w ? b.name : w->constant(0)});
}
inline term term_of(const term& like, float x) { return {like.w, like.w->constant(x)}; }

inline term operator-(const term& a) { return unary_term("Neg", a); }
inline term operator!(const term& a) { return unary_term("Not", a); }
inline term operator&(const term& a, const term& b) { return binary_term("And", a, b); }
inline term operator|(const term& a, const term& b) { return binary_term("Or", a, b); }
#define SINTER_TERM_OPERATOR(sign, type)                                                                  \
    inline term operator sign(const term& a, const term& b) { return binary_term(type, a, b); }            \
    inline term operator sign(const term& a, float b) { return binary_term(type, a, term_of(a, b)); }      \
    inline term operator sign(float a, const term& b) { return binary_term(type, term_of(b, a), b); }
SINTER_TERM_OPERATOR(+, "Add")
SINTER_TERM_OPERATOR(-, "Sub")
SINTER_TERM_OPERATOR(*, "Mul")
SINTER_TERM_OPERATOR(/, "Div")
SINTER_TERM_OPERATOR(<, "Less")
SINTER_TERM_OPERATOR(<=, "LessOrEqual")
SINTER_TERM_OPERATOR(>, "Greater")
SINTER_TERM_OPERATOR(>=, "GreaterOrEqual")
SINTER_TERM_OPERATOR(==, "Equal")
#undef SINTER_TERM_OPERATOR

inline term select(const term& truth, const term& a, const term& b) {
    const auto name = [&](const term& x) { return x.w ? x.name : truth.w->constant(0); };
    return written(truth.w, "Where", {truth.name, name(a), name(b)});
}
inline term select(const term& truth, const term& a, float b) { return select(truth, a, term_of(truth, b)); }
inline term select(const term& truth, float a, const term& b) { return select(truth, term_of(truth, a), b); }
inline term select(const term& truth, float a, float b) { return select(truth, term_of(truth, a), term_of(truth, b)); }
inline term log(const term& a) { return unary_term("Log", a); }
inline term abs(const term& a) { return unary_term("Abs", a); }
inline term round(const term& a) { return unary_term("Round", a); }

} // namespace detail

} // namespace sinter::onnx

namespace sinter::inline SINTER_TARGET {
/// So that an op whose value is a formula writes itself.
template <>
struct arithmetic<onnx::detail::term> {
    using term = onnx::detail::term;
    static term log(const term& a) { return onnx::detail::log(a); }
    static term sqrt(const term& a) { return onnx::detail::unary_term("Sqrt", a); }
    static term tanh(const term& a) { return onnx::detail::unary_term("Tanh", a); }
    static term expm1(const term& a) { return onnx::detail::unary_term("Exp", a) - 1.f; }
    static term min(const term& a, const term& b) { return onnx::detail::binary_term("Min", a, b); }
    static term max(const term& a, const term& b) { return onnx::detail::binary_term("Max", a, b); }
    static term select(const term& truth, const term& a, const term& b) { return onnx::detail::select(truth, a, b); }
};
} // namespace sinter
