// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/exporter.hpp>
#include <sinter/ops/detail/loops.hpp>

/// Loops over time, written out turn by turn: what is outside of them stays as it is, [T, batch, ...] while it lies by steps.
/// Runtimes then fuse and schedule the turns as they like; the file grows with T. A loop whose number of turns is found while
/// it runs is refused.
namespace sinter::onnx {

namespace detail {

inline void emit_exchange(exporter& e, int id) {   // batch and time
    std::vector<std::int64_t> order{1, 0};
    for (int i = 1; i < e.s(id).rank; ++i) order.push_back(i + 1);
    e.set(id, e.add(id, "Transpose", {e.value(e.operand(id, 0))}, {ints("perm", order)}));
}
inline void emit_identity(exporter& e, int id) { e.set(id, e.value(e.operand(id, 0))); }

/// What a turn's values are called; each turn forgets the names of the one before.
class written_out {
public:
    written_out(exporter& e, int loop) : e_(e), l_(e.g.loops[loop - 1]) {
        const int any = body_node(loop);
        if (l_.count >= 0 || l_.condition >= 0) e.refuse(any, "a loop whose number of turns is found while it runs");
        for (int v = 0; v < e.g.n.n; ++v) {
            const node& n = e.n(v);
            if (n.loop == loop) body_.push_back(v);
            else if (n.k == op::loop_stack && e.n(n.in[0]).loop == loop) stacks_.push_back({v, {}});
        }
        std::vector<std::string> carried;
        for (const loop_carry& c : e.g.carries)
            if (c.loop == loop) carries_.push_back(&c), carried.push_back(e.value(c.store));
        for (int made = 0; made < l_.steps; ++made) turn(l_.backwards ? l_.steps - 1 - made : made, carried);
        forget();
        for (std::size_t i = 0; i < carries_.size(); ++i) e.set(carries_[i]->next, carried[i]);
        for (stack& s : stacks_) {
            if (l_.backwards) std::reverse(s.turns.begin(), s.turns.end());
            e.set(s.id, e.add(s.id, "Concat", s.turns, {integer("axis", 0)}));
        }
    }

private:
    struct stack {
        int id;
        std::vector<std::string> turns;
    };
    exporter& e_;
    const loop& l_;
    std::vector<int> body_;
    std::vector<stack> stacks_;
    std::vector<const loop_carry*> carries_;

    int body_node(int loop) const {
        for (int v = 0; v < e_.g.n.n; ++v)
            if (e_.n(v).loop == loop) return v;
        return 0;
    }
    void forget() {
        for (const int v : body_) e_.forget(v);
    }
    void turn(int t, std::vector<std::string>& carried) {
        forget();
        for (std::size_t i = 0; i < carries_.size(); ++i) e_.set(carries_[i]->value, carried[i]);
        for (const int v : body_) {
            if (e_.n(v).k == op::loop_input) {
                const std::string number = e_.m.floats("turn", {}, {static_cast<float>(t)});
                const std::string whole = e_.add(v, "Cast", {number}, {integer("to", static_cast<std::int64_t>(element::i64))});
                e_.set(v, e_.add(v, "Gather", {e_.value(e_.operand(v, 0)), whole}, {integer("axis", 0)}));
            } else if (e_.n(v).k == op::loop_index) {
                e_.set(v, e_.m.floats("turn", {}, {static_cast<float>(t)}));
            }
        }
        for (stack& s : stacks_) s.turns.push_back(e_.add(s.id, "Unsqueeze", {e_.value(e_.operand(s.id, 0)), e_.m.whole({0})}));
        std::vector<std::string> next;
        for (const loop_carry* c : carries_) next.push_back(e_.value(c->next));
        carried = std::move(next);
    }
};

inline void emit_loop_result(exporter& e, int id) {
    const int from = e.operand(id, 0);
    if (const int l = e.n(from).loop; l && e.begin_loop(l)) written_out(e, l);
    if (e.n(id).k == op::loop_last) e.set(id, e.value(from));
}

} // namespace detail

inline constexpr emitter loop_emitters[] = {{op::to_steps, detail::emit_exchange}, {op::from_steps, detail::emit_exchange},
                                            {op::loop_begin, detail::emit_identity}, {op::loop_next, detail::emit_identity},
                                            {op::loop_stack, detail::emit_loop_result}, {op::loop_last, detail::emit_loop_result}};

} // namespace sinter::onnx
