// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/bundle.hpp>
#include <sinter/ops/detail/steps.hpp>

/// What loops are made of (ops/scan.hpp makes them, program/differentiate_loop.hpp their
/// gradients): views into memory that has a slice for each iteration, and copies into it.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name loop_begin{"loop_begin"}, loop_value{"loop_value"}, loop_next{"loop_next"},
    loop_input{"loop_input"}, loop_saved{"loop_saved"}, loop_stack{"loop_stack"}, loop_last{"loop_last"},
    loop_index{"loop_index"};
}

/// In node::p of what stores a carry, and of its next value: the carry's number, from 1; of one
/// that is no carry, a number of its own.
namespace carry_attribute { enum : int { number }; }

/// The first value of a carry, in memory for all that follow.
template <>
struct rule<op::loop_begin> : elementwise_rule<1, 0> {
    static constexpr const char* name = "loop_begin";
    static constexpr bool identity = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return a; }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d); }
};
/// The value that this iteration hands on. A second operand is not read: it is there so that the
/// carry's memory was begun before.
template <>
struct rule<op::loop_next> : rule<op::loop_begin> {
    static constexpr const char* name = "loop_next";
};

/// A carry's value in this iteration: a slice of what loop_begin has room for.
template <>
struct rule<op::loop_value> : view_rule {
    static constexpr const char* name = "loop_value";
    static constexpr bool steps = true, moves = false;
};
/// This iteration's slice of a tensor [T, ...].
template <>
struct rule<op::loop_input> : view_rule {
    static constexpr const char* name = "loop_input";
    static constexpr bool steps = true;
};
/// In the loop of the gradient: what the other loop computed in the same iteration.
template <>
struct rule<op::loop_saved> : rule<op::loop_value> {
    static constexpr const char* name = "loop_saved";
};
/// All iterations' values of a node together, [T, ...], seen from outside.
template <>
struct rule<op::loop_stack> : rule<op::loop_value> {
    static constexpr const char* name = "loop_stack";
};
/// What the last iteration handed on.
template <>
struct rule<op::loop_last> : rule<op::loop_value> {
    static constexpr const char* name = "loop_last";
};
/// The number of the iteration, from 0, as a float.
template <>
struct rule<op::loop_index> : elementwise_rule<0, 0> {
    static constexpr const char* name = "loop_index";
    static constexpr bool varies_by_iteration = true;
    static constexpr void gradient(gradient_of&) {}
};

namespace detail {

/// A view that belongs to loop `l` (0: to none) whatever it shows.
template <op_id K>
constexpr tensor loop_view(tensor a, const shape& s, int l) {
    node x = node_of<K>();
    x.s = s;
    x.operands = 1;
    x.in[0] = a.id;
    x.loop = l;
    return {a.g, a.g->push(x)};
}

constexpr int steps_of(const graph& g, int l) { return g.loops[l - 1].steps; }

/// One iteration's extents of [T, ...].
constexpr shape one_step(const shape& s) {
    shape y = s.plain();
    y.rank = s.rank - 1;
    for (int i = 0; i + 1 < max_rank; ++i) y.d[i] = i < y.rank ? s.d[i + 1] : 0;
    y.d[max_rank - 1] = 0;
    return y;
}
constexpr shape all_steps(const shape& s, int steps) {
    shape y = s.plain();
    if (s.batched) y.form = layout::steps;
    y.rank = s.rank + 1;
    y.d[0] = steps;
    for (int i = 0; i < s.rank; ++i) y.d[i + 1] = s.d[i];
    return y;
}

constexpr tensor slice_of_iteration(tensor x, int l) { return loop_view<op::loop_input>(x, one_step(x.shape()), l); }
constexpr tensor saved_value(tensor x, int l) { return loop_view<op::loop_saved>(x, x.shape(), l); }
constexpr tensor last_value(tensor next) { return loop_view<op::loop_last>(next, next.shape(), 0); }

/// All iterations' values of `v`, a node of loop l or of none (then it is the same in each).
constexpr tensor stack_of_iterations(tensor v, int l) {
    const node n = v.at();
    if (n.k == op::loop_input) return {v.g, n.in[0]};
    if (n.k == op::loop_saved) return stack_of_iterations({v.g, n.in[0]}, l);
    if (n.k == op::reshape) {
        const tensor all = stack_of_iterations({v.g, n.in[0]}, l);
        return make<op::reshape>(v.g, all_steps(n.s, steps_of(*v.g, l)), {all});
    }
    return loop_view<op::loop_stack>(v, all_steps(n.s, steps_of(*v.g, l)), 0);
}

/// A node of loop l with v's value in memory of its own.
constexpr node copy_in_loop(tensor v, int l) {
    node x = node_of<op::loop_next>();
    x.s = v.shape();
    x.operands = 1;
    x.in[0] = v.id;
    x.loop = l;
    return x;
}

/// A carry that begins with `first`; the value is the node that an iteration reads.
constexpr int begin_carry(tensor first, int l, bool sum = false) {
    graph& g = *first.g;
    if (!sum) first = ops::plain(first);
    node x = node_of<op::loop_begin>();
    x.s = first.shape();
    x.operands = 1;
    x.in[0] = first.id;
    x.p[carry_attribute::number] = g.carries.n + 1;   // a place of its own, though another begins with the same value
    x.loop = 0;
    const tensor store{&g, g.push(x)};
    const tensor value = loop_view<op::loop_value>(store, store.shape(), l);
    return g.carries.push({l, store.id, value.id, -1, sum});
}
constexpr tensor value_of(graph& g, int carry) { return {&g, g.carries[carry].value}; }

/// Ends an iteration's work on a carry; returns what comes out of the loop.
constexpr tensor end_carry(tensor next, int carry, bool begun_late = false) {
    graph& g = *next.g;
    node x = node_of<op::loop_next>();
    x.s = g.n[g.carries[carry].value].s;
    x.operands = begun_late ? 2 : 1;
    x.in[0] = next.id;
    if (begun_late) x.in[1] = g.carries[carry].store;
    x.p[carry_attribute::number] = carry + 1;
    x.loop = g.carries[carry].loop;
    g.carries[carry].next = g.push(x);
    return last_value({&g, g.carries[carry].next});
}

/// All that a loop hands on from iteration to iteration.
class carry_list {
public:
    bundle values;   ///< as an iteration reads them

    constexpr carry_list(bundle first, int l) {
        values.g = first.g;
        for (int i = 0; i < first.n; ++i) {
            of_[i] = begin_carry(first[i], l);
            values.t[values.n++] = value_of(*first.g, of_[i]);
        }
    }
    /// `last` becomes what comes out of the loop, where an iteration hands on `next`; false after a
    /// fault.
    constexpr bool end(const op_name& who, const bundle& next, bundle& last) const {
        if (next.n != values.n)
            values.g->fail(fault_kind::wrong_number_of_inputs, who, extents(next.n), extents(values.n));
        for (int i = 0; i < values.n && i < next.n; ++i) {
            const tensor y = ops::plain(next[i]);
            const shape s = values[i].shape();
            shape got;
            if (!y.ok()) return false;
            if (!broadcast_shape(y.shape(), s, got) || !(got == s)) {
                values.g->fail(fault_kind::carry_changes_shape, who, y.shape(), s);
                return false;
            }
            last.t[last.n++] = end_carry(ops::expand(y, s), of_[i]);
        }
        return next.n == values.n;
    }

private:
    int of_[bundle::most] = {};
};

} // namespace detail

namespace ops {

/// The number of the iteration within a loop's body, as a float scalar.
constexpr tensor loop_index(tensor like) { return like.ok() ? make<op::loop_index>(like.g, extents(), {}) : like; }

} // namespace ops

} // namespace sinter
