// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/term.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/isfinite.hpp>
#include <sinter/ops/isinf.hpp>
#include <sinter/ops/isnan.hpp>
#include <sinter/ops/logical_and.hpp>
#include <sinter/ops/logical_not.hpp>
#include <sinter/ops/logical_or.hpp>
#include <sinter/ops/logical_xor.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/over_global_batch.hpp>
#include <sinter/ops/random_uniform.hpp>
#include <sinter/ops/round_to_bfloat16.hpp>
#include <sinter/ops/where.hpp>

/// Elementwise ops: those that are one ONNX operator say so in their own files (op_info::onnx).
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// Comparisons give truth values there, 1 and 0 here.
SINTER_COLD inline void emit_comparison(exporter& e, int id, const char* type, bool negated = false) {
    elementwise_writer w(e, id);
    value_name y = w.add(type, w.in);
    if (negated) y = w.add("Not", {y});
    w.done(as_floats(e, id, y));
}
SINTER_COLD inline void emit_equal(exporter& e, int id) { emit_comparison(e, id, "Equal"); }
SINTER_COLD inline void emit_not_equal(exporter& e, int id) { emit_comparison(e, id, "Equal", true); }
SINTER_COLD inline void emit_greater(exporter& e, int id) { emit_comparison(e, id, "Greater"); }
SINTER_COLD inline void emit_greater_equal(exporter& e, int id) { emit_comparison(e, id, "GreaterOrEqual"); }
/// Truth here is what is not 0, as it is for Cast.
SINTER_COLD inline void emit_logical(exporter& e, int id, const char* type) {
    elementwise_writer w(e, id);
    for (value_name& x : w.in) x = e.cast(id, x, element::truth);
    w.done(as_floats(e, id, w.add(type, w.in)));
}
SINTER_COLD inline void emit_and(exporter& e, int id) { emit_logical(e, id, "And"); }
SINTER_COLD inline void emit_or(exporter& e, int id) { emit_logical(e, id, "Or"); }
SINTER_COLD inline void emit_xor(exporter& e, int id) { emit_logical(e, id, "Xor"); }
SINTER_COLD inline void emit_not(exporter& e, int id) { emit_logical(e, id, "Not"); }
SINTER_COLD inline void emit_isnan(exporter& e, int id) { emit_comparison(e, id, "IsNaN"); }
SINTER_COLD inline void emit_isinf(exporter& e, int id) { emit_comparison(e, id, "IsInf"); }
SINTER_COLD inline void emit_isfinite(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(as_floats(e, id, w.add("Not", {w.add("Or", {w.add("IsInf", w.in), w.add("IsNaN", w.in)})})));
}
SINTER_COLD inline void emit_where(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(w.add("Where", {e.cast(id, w.in[0], element::truth), w.in[1], w.in[2]}));
}
SINTER_COLD inline void emit_to_float(exporter& e, int id) {
    e.set(id, as_floats(e, id, e.value(e.operand(id, 0))));
}
SINTER_COLD inline void emit_round_to_bfloat16(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(as_floats(e, id, e.cast(id, w.in[0], element::bf16)));
}
SINTER_COLD inline void emit_column_index(exporter& e, int id) {
    std::vector<float> x;
    for (int i = 0; i < e.s(id).last(); ++i) x.push_back(static_cast<float>(i));
    e.set(id, e.add(id, "Expand", {e.m.floats("column_index", {e.s(id).last()}, x), e.extents(e.s(id))}));
}
/// Other numbers in each run, and not ours: the operator has a generator of its own.
SINTER_COLD inline void emit_random_uniform(exporter& e, int id) {
    e.set(id, e.add(id, "RandomUniformLike", {e.filled(id, e.s(id), 0.f)}));
}
SINTER_COLD inline void emit_over_batch(exporter& e, int id) {
    const value_name n = as_floats(e, id, e.add(id, "Squeeze", {e.batch()}));
    e.set(id, e.add(id, "Div", {e.value(e.operand(id, 0)), n}));
}

} // namespace detail

inline constexpr emitter elementwise_emitters[] = {
    {op::equal, detail::emit_equal},
    {op::not_equal, detail::emit_not_equal},
    {op::greater, detail::emit_greater},
    {op::greater_equal, detail::emit_greater_equal},
    {op::where, detail::emit_where},
    {op::logical_and, detail::emit_and},
    {op::logical_or, detail::emit_or},
    {op::logical_xor, detail::emit_xor},
    {op::logical_not, detail::emit_not},
    {op::isnan, detail::emit_isnan},
    {op::isinf, detail::emit_isinf},
    {op::isfinite, detail::emit_isfinite},
    {op::random_uniform, detail::emit_random_uniform},
    {op::to_float, detail::emit_to_float},
    {op::round_to_bfloat16, detail::emit_round_to_bfloat16},
    {op::column_index, detail::emit_column_index},
    {op::over_batch, detail::emit_over_batch},
    {op::over_global_batch, detail::emit_over_batch},
};

} // namespace sinter::onnx
