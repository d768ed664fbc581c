// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/expm1.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/not_equal.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/trunc.hpp>
#include <sinter/ops/where.hpp>

/// Elementwise ops: those that are one ONNX operator say so in their own files (op_info::onnx).
namespace sinter::onnx {

namespace detail {

/// Is `id` as large as the elementwise result `to`, so that both have one order of axes?
inline bool full_operand(const exporter& e, int id, const shape& to) {
    return e.s(id).rank == to.rank && e.s(id).batched == to.batched && e.s(id).size() == to.size();
}
/// An operand of an elementwise operator whose result has its channels first.
inline std::string operand_channels_first(exporter& e, int id, int rank) {
    const shape& s = e.s(id);
    if (s.size() == 1 && !s.batched) return e.value(id);
    if (s.rank == rank) return e.value_channels_first(id);
    std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);   // of lower rank: then it has no batch
    std::copy_n(s.d, s.rank, extents.end() - s.rank);
    if (s.rank > 1) {
        const std::string whole = e.reshape(id, e.value(id), extents);
        std::vector<std::int64_t> order{rank - 1};
        for (int i = 0; i + 1 < rank; ++i) order.push_back(i);
        return e.add(id, "Transpose", {whole}, {ints("perm", order)});
    }
    std::swap(extents.front(), extents.back());
    if (const auto k = e.values_of(id); k.there) return e.m.floats(k.path, extents, k.x);
    return e.reshape(id, e.value(id), extents);
}

inline std::string as_floats(exporter& e, int id, const std::string& x) {
    return e.add(id, "Cast", {x}, {integer("to", static_cast<std::int64_t>(element::f32))});
}

/// An elementwise op while it is written: its operands in one order of axes, with channels first where most of them have that.
struct elementwise_writer {
    exporter& e;
    int id;
    bool channels_first = false;
    std::vector<std::string> in{};

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
    std::string add(const char* type, std::vector<std::string> operands) { return e.add(id, type, std::move(operands)); }
    std::string constant(float x) { return e.m.floats("constant", {}, {x}); }
    void done(std::string y) {
        if (channels_first) e.set_channels_first(id, std::move(y));
        else e.set(id, std::move(y));
    }
};

inline void emit_elementwise(exporter& e, int id, const char* type) {
    elementwise_writer w(e, id);
    w.done(w.add(type, w.in));
}
/// Comparisons give truth values there, 1 and 0 here.
inline void emit_comparison(exporter& e, int id, const char* type, bool turned = false) {
    elementwise_writer w(e, id);
    std::string y = w.add(type, w.in);
    if (turned) y = w.add("Not", {y});
    w.done(as_floats(e, id, y));
}
inline void emit_equal(exporter& e, int id) { emit_comparison(e, id, "Equal"); }
inline void emit_not_equal(exporter& e, int id) { emit_comparison(e, id, "Equal", true); }
inline void emit_greater(exporter& e, int id) { emit_comparison(e, id, "Greater"); }
inline void emit_greater_equal(exporter& e, int id) { emit_comparison(e, id, "GreaterOrEqual"); }
inline void emit_where(exporter& e, int id) {
    elementwise_writer w(e, id);
    const std::string truth = e.add(id, "Cast", {w.in[0]}, {integer("to", static_cast<std::int64_t>(element::truth))});
    w.done(w.add("Where", {truth, w.in[1], w.in[2]}));
}
/// Where operands are near 0 these are less accurate than ours.
inline void emit_expm1(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(w.add("Sub", {w.add("Exp", w.in), w.constant(1)}));
}
inline void emit_log1p(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(w.add("Log", {w.add("Add", {w.in[0], w.constant(1)})}));
}
inline void emit_trunc(exporter& e, int id) {
    elementwise_writer w(e, id);
    w.done(w.add("Mul", {w.add("Sign", w.in), w.add("Floor", {w.add("Abs", w.in)})}));
}
inline void emit_to_float(exporter& e, int id) {
    e.set(id, as_floats(e, id, e.value(e.operand(id, 0))));
}
inline void emit_column_index(exporter& e, int id) {
    std::vector<float> x;
    for (int i = 0; i < e.s(id).last(); ++i) x.push_back(static_cast<float>(i));
    const std::string index = e.m.floats("column_index", {e.s(id).last()}, x);
    if (!e.s(id).batched) return e.set(id, e.add(id, "Expand", {index, e.m.whole(e.with_batch(e.s(id)))}));
    const std::string extents = e.add(id, "Concat", {e.batch(), e.m.whole(extents_of(e.s(id)))}, {integer("axis", 0)});
    e.set(id, e.add(id, "Expand", {index, extents}));
}
inline void emit_over_batch(exporter& e, int id) {
    const std::string n = as_floats(e, id, e.add(id, "Squeeze", {e.batch()}));
    e.set(id, e.add(id, "Div", {e.value(e.operand(id, 0)), n}));
}

} // namespace detail

inline constexpr emitter elementwise_emitters[] = {
    {op::equal, detail::emit_equal},
    {op::not_equal, detail::emit_not_equal},
    {op::greater, detail::emit_greater},
    {op::greater_equal, detail::emit_greater_equal},
    {op::where, detail::emit_where},
    {op::expm1, detail::emit_expm1},
    {op::log1p, detail::emit_log1p},
    {op::trunc, detail::emit_trunc},
    {op::to_float, detail::emit_to_float},
    {op::column_index, detail::emit_column_index},
    {op::over_batch, detail::emit_over_batch},
};

} // namespace sinter::onnx
