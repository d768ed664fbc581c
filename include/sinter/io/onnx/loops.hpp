// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/moves.hpp>
#include <sinter/ops/cond.hpp>

/// Loops over time: Loop, whose body stands in the file once, whatever the number of iterations; a
/// branch that may be left out: If. What is outside stays as it is, [T, batch, ...] while it lies
/// by steps.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

SINTER_COLD inline void emit_exchange(exporter& e, int id) {   // batch and time
    few_numbers order{1, 0};
    for (int i = 1; i < e.s(id).rank; ++i) order.push_back(i + 1);
    e.set(id, e.transpose(id, e.value(e.operand(id, 0)), order));
}
SINTER_COLD inline void emit_iteration_input(exporter& e, int id) {
    e.set(id, e.add(id, "Gather", {e.value(e.operand(id, 0)), e.open_loops.at(e.n(id).loop).iteration},
                    {integer("axis", 0)}));
}
SINTER_COLD inline void emit_iteration_number(exporter& e, int id) {
    e.set(id, e.cast(id, e.open_loops.at(e.n(id).loop).iteration, element::f32));
}

/// Writes one loop; its results are then known by the nodes that show them outside.
class loop_writer {
public:
    loop_writer(exporter& e, int loop, int asked)
        : e_(e), l_(e.g.loops[static_cast<std::size_t>(loop) - 1]), loop_(loop), id_(asked) {
        const int nodes = static_cast<int>(e.g.n.size());
        for (int v = 0; v < nodes; ++v)
            if (e.n(v).k == op::loop_stack && e.n(e.n(v).in[0]).loop == loop) stacks_.push_back(v);
        for (const loop_carry& c : e.g.carries)
            if (c.loop == loop) carries_.push_back(&c), first_.push_back(e.value(c.store));
        e.open_loops[loop];
        const bool branch = l_.steps == 1 && l_.count >= 0 && l_.condition < 0 && stacks_.empty();
        const std::vector<value_name> results = branch ? write_if() : write_loop();
        for (int v = 0; v < nodes; ++v) {
            if (e.n(v).loop == loop) e.forget(v);
            if (e.n(v).k != op::loop_last) continue;
            for (std::size_t i = 0; i < carries_.size(); ++i)
                if (e.n(v).in[0] == carries_[i]->next) e.set(v, results[i]);
        }
        for (std::size_t i = 0; i < stacks_.size(); ++i)
            e.set(stacks_[i], all_iterations(stacks_[i], results[carries_.size() + i]));
    }

private:
    exporter& e_;
    const onnx::loop& l_;
    const int loop_, id_;   ///< id_: a node outside
    std::vector<int> stacks_;
    std::vector<const loop_carry*> carries_;
    std::vector<value_name> first_;

    port port_of(int node, value_name name) const {
        return exporter::port_of(name, e_.s(node));
    }
    /// Names of its own for what a block gives: two results may be one value, or one from outside.
    static port given(block& b, port p, value_name value) {
        b.add("Identity", p.name, {value}, {p.name}, {});
        return p;
    }
    std::vector<value_name> write_if() {
        block otherwise;
        e_.open_loops[loop_].iteration = e_.m.whole({0}, {});
        for (std::size_t i = 0; i < carries_.size(); ++i) {
            const port p = port_of(carries_[i]->value, e_.m.unique("before"));
            otherwise.outputs.push_back(given(otherwise, p, first_[i]));
            e_.set(carries_[i]->value, first_[i]);
        }
        std::vector<port> outputs;
        for (const loop_carry* c : carries_) {
            const value_name next = e_.value(c->next);
            outputs.push_back(given(e_.open_loops[loop_].repeated, port_of(c->next, e_.m.unique("next")), next));
        }
        const value_name is_made = e_.add(id_, "GreaterOrEqual", {e_.value(l_.count), e_.m.number(1)});
        block then = close();
        then.outputs = std::move(outputs);
        return e_.add_several(
            id_, "If", {e_.reshape(id_, is_made, {})}, carries_.size(),
            {e_.m.body("then_branch", std::move(then)), e_.m.body("else_branch", std::move(otherwise))});
    }
    std::vector<value_name> write_loop() {
        std::vector<port> inputs{{e_.m.unique("iteration"), element::i64, false, {}},
                                 {e_.m.unique("go_on"), element::truth, false, {}}};
        const value_name iteration = inputs[0].name, count = iterations();
        e_.open_loops[loop_].iteration = iteration;
        if (l_.backwards) {
            const value_name last = e_.add(id_, "Sub", {count, e_.m.whole({1}, {})});
            const value_name back = e_.m.unique("iteration");
            e_.open_loops[loop_].repeated.add("Sub", back, {last, iteration}, {back}, {});
            e_.open_loops[loop_].iteration = back;
        }
        for (const loop_carry* c : carries_) {
            inputs.push_back(port_of(c->value, e_.m.unique("carry")));
            e_.set(c->value, inputs.back().name);
        }
        std::vector<port> outputs{{e_.m.unique("another"), element::truth, false, {}}};
        const auto give = [&](int node, const char* name) {
            const value_name value = e_.value(node);   // may open another loop, and so move this one
            outputs.push_back(given(e_.open_loops[loop_].repeated, port_of(node, e_.m.unique(name)), value));
        };
        for (const loop_carry* c : carries_) give(c->next, "next");
        for (const int s : stacks_) give(e_.operand(s, 0), "of_iteration");
        value_name another = inputs[1].name, first;
        if (l_.condition >= 0) {
            another = e_.cast(l_.condition, e_.value(l_.condition), element::truth);
            first = e_.reshape(id_, e_.cast(id_, e_.value(l_.count), element::truth), {});
        }
        given(e_.open_loops[loop_].repeated, outputs[0], another);
        block repeated = close();
        repeated.inputs = std::move(inputs);
        repeated.outputs = std::move(outputs);
        std::vector<value_name> in{count, first};
        in.insert(in.end(), first_.begin(), first_.end());
        return e_.add_several(id_, "Loop", in, first_.size() + stacks_.size(),
                              {e_.m.body("body", std::move(repeated))});
    }
    block close() {
        block b = std::move(e_.open_loops[loop_].repeated);
        e_.open_loops.erase(loop_);
        return b;
    }
    /// How many there are, or at most: an integer.
    value_name iterations() {
        if (l_.count < 0 || l_.condition >= 0) return e_.m.whole({l_.steps}, {});
        const value_name n = e_.value(l_.count), some = e_.add(id_, "Greater", {n, e_.m.number(0)});
        const value_name most = e_.add(id_, "Min", {n, e_.m.number(static_cast<float>(l_.steps))});
        return e_.reshape(id_, e_.cast(id_, e_.add(id_, "Where", {some, most, e_.m.number(0)}), element::i64), {});
    }
    /// In the order of the iterations' numbers; zeros for those that were not made.
    value_name all_iterations(int stack, value_name x) {
        if (l_.backwards) x = sliced(e_, stack, x, {-1}, {-2147483648}, {0}, {-1});
        if (l_.count < 0 && l_.condition < 0) return x;
        const shape& one = e_.s(e_.operand(stack, 0));
        const value_name made = e_.add(stack, "Shape", {x}, {integer("start", 0), integer("end", 1)});
        // without an iteration a runtime does not know the batch
        const value_name extents = e_.add(stack, "Concat", {made, e_.extents(one)}, {integer("axis", 0)});
        x = e_.add(stack, "Reshape", {x, extents}, {integer("allowzero", 1)});
        const few_numbers rest(static_cast<std::size_t>(one.rank + one.batched), 0);
        const value_name missing = e_.add(stack, "Sub", {e_.m.whole({l_.steps}), made});
        std::vector<value_name> pads{e_.m.whole({0}), missing};
        if (!rest.empty()) pads = {e_.m.whole({0}), e_.m.whole(rest), missing, e_.m.whole(rest)};
        return e_.add(stack, "Pad", {x, e_.add(stack, "Concat", pads, {integer("axis", 0)})});
    }
};

SINTER_COLD inline void emit_loop_result(exporter& e, int id) {
    const int from = e.operand(id, 0);
    if (const int l = e.n(from).loop) loop_writer(e, l, id);
    else e.set(id, e.value(from));
}

} // namespace detail

inline constexpr emitter loop_emitters[] = {
    {op::to_steps, detail::emit_exchange},      {op::from_steps, detail::emit_exchange},
    {op::loop_begin, detail::emit_expand},      {op::loop_next, detail::emit_expand},
    {op::loop_operand, detail::emit_same},      {op::loop_input, detail::emit_iteration_input},
    {op::loop_index, detail::emit_iteration_number}, {op::loop_stack, detail::emit_loop_result},
    {op::loop_last, detail::emit_loop_result}};

} // namespace sinter::onnx
