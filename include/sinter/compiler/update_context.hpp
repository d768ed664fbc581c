// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/tensor.hpp>
#include <sinter/ops/broadcast.hpp>
#include <sinter/graph/leaves.hpp>
#include <sinter/ops/detail/runtime_scalar.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/compiler/emit/update_set.hpp>

namespace sinter::inline SINTER_TARGET {

/// What an optimizer's update() is given: the parameter, its gradient, the optimizer's own memory
/// of both, and the numbers that change from step to step.
class update_context {
public:
    static constexpr int most_slots = 8, most_sums = 6;
    /// `scalars`: how many the optimizer writes before each step.
    constexpr update_context(compiler::graph& g, int slots, int scalars, int group = 0)
        : g_(&g), group_(group), slots_(slots), scalars_(scalars) {
        for (int i = 0; i < 2 + slots; ++i) {
            port_[i] = make<op::optimizer_port>(g_, extents(1024), {}, {i});
            target_[i] = port_[i].id;
        }
    }
    constexpr tensor parameter() const { return port_[0]; }
    constexpr tensor gradient() const { return port_[1]; }
    constexpr tensor slot(int i) const { return has_slot(i) ? port_[2 + i] : port_[0]; }
    /// The sum of the squares of all parameters' gradients, for clipping: all gradients are then
    /// computed before any parameter is updated.
    constexpr tensor squared_gradient_norm() const {
        if (changed_) throw "clipping by global norm must stand around whatever else changes gradients";
        const tensor n = make<op::optimizer_port>(g_, extents(), {}, {compiler::norm_operand});
        return gathered_ ? n / (divisor() * divisor()) : n;
    }
    /// The sum of the squares of x over all elements of the parameter that is being updated: x is
    /// made of ports, scalars and earlier sums, and is computed once more for it, in a pass of its
    /// own before the update. x must be 0 where parameter, gradient and slots are: packed weights
    /// have columns of padding, which are all 0.
    constexpr tensor sum_of_squares(tensor x) {
        tensor square = x * x;
        if (!(square.shape() == extents(1024)))
            square = make<op::broadcast>(g_, extents(1024), {square}, {compiler::first_sum_operand});
        int k = 0;
        while (k < sums_ && sum_[k] != square.id) ++k;
        if (k == most_sums) throw "an optimizer asks for too many sums";
        if (k == sums_) sum_[sums_++] = square.id;
        return make<op::optimizer_port>(g_, extents(), {}, {compiler::first_sum_operand + k});
    }
    /// Number i of those that the optimizer's scalars() writes before each step.
    constexpr tensor scalar(int i) const {
        if (i < 0 || first_scalar_ + i >= scalars_)
            g_->fail(fault_kind::undeclared_scalar, {"update"}, extents(scalars_), extents(first_scalar_ + i + 1));
        return make<op::runtime_scalar>(g_, extents(), {}, {first_scalar_ + i});
    }
    constexpr void set_parameter(tensor v) { set(0, v); }
    constexpr void set_slot(int i, tensor v) {
        if (has_slot(i)) set(2 + i, v);
    }

    // ---- for optimizers around others
    constexpr void set_gradient(tensor v) {   ///< what the inner one will see
        port_[1] = v;
        changed_ = true;
    }
    constexpr void scale_gradient(tensor factor) { set_gradient(port_[1] * factor); }
    constexpr tensor new_parameter() const {
        return value_[0].g ? value_[0] : port_[0];
    }                                     ///< what the inner one has set
    constexpr void average_gradient() {   ///< what stands for the gradient is a sum over a round of steps
        port_[1] = port_[1] / divisor();
        gathered_ = true;
    }
    constexpr tensor constant_of(float x) const { return constant(g_, x); }
    /// The group whose update is traced, and where its own scalars begin.
    constexpr int group() const { return group_; }
    constexpr void shift_scalars(int by) { first_scalar_ += by; }

    // ---- for whoever makes code of it
    constexpr int sums() const { return sums_; }
    /// How many levels of sums there are; the level of each.
    constexpr int levels(int* of_sum) const {
        base::growing<int> level(g_->n.n, 0);   // of each node: 1 more than that of the sums which it reads
        int most = 0;
        for (int i = 0; i < g_->n.n; ++i) {
            const compiler::node& n = g_->n[i];
            for (int k = 0; k < n.operands; ++k)
                if (level[n.in[k]] > level[i]) level[i] = level[n.in[k]];
            if (const int s = n.p[optimizer_port_attribute::operand] - compiler::first_sum_operand;
                n.k == op::optimizer_port && s >= 0)
                level[i] = level[sum_[s]] + 1;
        }
        for (int s = 0; s < sums_; ++s) {
            of_sum[s] = level[sum_[s]];
            if (of_sum[s] >= most) most = of_sum[s] + 1;
        }
        return most;
    }
    /// What is to be computed, as assignments: all new values, or the sums of one level.
    constexpr void finish() {
        for (int i = 0; i < set_;
             ++i) {   // each result is a node of its own over all elements: it will be told where it lies
            const int port = order_[i];
            tensor v = value_[port];
            bool own = !is_leaf(v.at()) && v.shape() == extents(1024);
            for (int k = 0; k < g_->assignments.n; ++k) own = own && g_->assignments[k].value != v.id;
            if (!own) v = make<op::broadcast>(g_, extents(1024), {v}, {port + 1});
            g_->assignments.push({target_[port], v.id});
        }
    }
    constexpr void finish_sums(int level) {
        int of_sum[most_sums] = {};
        levels(of_sum);
        for (int s = 0; s < sums_; ++s)
            if (of_sum[s] == level)
                g_->assignments.push(
                    {make<op::optimizer_port>(g_, extents(), {}, {compiler::first_sum_operand + s}).id, sum_[s]});
    }

private:
    /// What the round's gradients count together, or 1 where nothing does: their sum is 0 then.
    constexpr tensor divisor() const {
        const tensor w = make<op::optimizer_port>(g_, extents(), {}, {compiler::weight_operand});
        return w + ops::equal(w, 0.f);
    }
    constexpr bool has_slot(int i) const {
        if (i >= 0 && i < slots_) return true;
        g_->fail(fault_kind::undeclared_slot, {"update"}, extents(slots_), extents(i + 1));
        return false;
    }
    constexpr void set(int port, tensor v) {
        if (!value_[port].g) order_[set_++] = port;
        value_[port] = v;
    }
    compiler::graph* g_;
    int group_ = 0, first_scalar_ = 0, sums_ = 0, set_ = 0;
    int slots_ = 0, scalars_ = 0;
    bool changed_ = false, gathered_ = false;
    int sum_[most_sums] = {};              ///< the squares to be summed
    tensor port_[2 + most_slots] = {};     ///< what the optimizer sees
    tensor value_[2 + most_slots] = {};    ///< what it has set, in `order_`
    int target_[2 + most_slots] = {};      ///< where its results go
    int order_[2 + most_slots] = {};
};

} // namespace sinter
