// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/layers/dense.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/program/check_names.hpp>
#include <sinter/program/column_sums.hpp>
#include <sinter/program/differentiate.hpp>
#include <sinter/program/distinct_rows.hpp>
#include <sinter/program/emit.hpp>
#include <sinter/program/error_message.hpp>
#include <sinter/program/hoist.hpp>
#include <sinter/program/loop_order.hpp>
#include <sinter/program/optimizer_code.hpp>
#include <sinter/program/pool_gradients.hpp>
#include <sinter/program/product_sums.hpp>
#include <sinter/program/round_products.hpp>
#include <sinter/program/trace.hpp>
#include <sinter/program/turned_weights.hpp>
#include <sinter/program/update.hpp>
#include <array>

/// The program: an expression in, one constant out. Each pass is one constant evaluation of its own, so that each has
/// the compiler's whole budget; those whose result's size is unknown beforehand run twice.
namespace sinter {

/// Choices that change a program and, but for roundings, not what it computes.
struct program_options {
    bool fuse = true;              ///< false: every op is a kernel of its own
    bool store_gradients = false;  ///< keep all gradients in memory instead of updating within their kernels
    sinter::winograd winograd = sinter::winograd::f4;   ///< for 3 x 3 and 5 x 5 convolutions on CPUs: its rounding errors are larger

    precision products = precision::float32;   ///< what products multiply; bfloat16 is another result (program/round_products.hpp)

    constexpr bool operator==(const program_options&) const = default;
};

/// How a program is asked for: everything that its compile-time work depends on.
template <class Net, class Loss, class Optimizer, program_mode Mode, int MaxBatch, target T, program_options O>
struct request {
    using net = Net;
    using loss = Loss;
    using optimizer = Optimizer;
    static constexpr program_mode mode = Mode;
    static constexpr int max_batch = MaxBatch;
    static constexpr sinter::target target = T;
    static constexpr program_options options = O;
};

namespace detail {

// ---- trace, hoist
template <class R, int Room>
struct traced_within {
    static constexpr roomy<Room> make() {
        graph g;
        trace<typename R::net, typename R::loss>(g, R::mode);
        if (g.err.what == fault_kind::none) check_names(g);
        if (g.err.what == fault_kind::none) choose_groups<typename R::optimizer>(g);
        if (g.err.what == fault_kind::none) hoist(g);
        roomy<Room> t;
        take(t, g, {});
        t.c.by_mode = g.asked_for_mode();
        return t;
    }
    static constexpr roomy<Room> v = make();
    static constexpr bool fits = Room == most_nodes || v.c.err.what != fault_kind::program_too_large;
};
template <class R, bool Small = traced_within<R, first_room>::fits>
struct traced_alone : traced_within<R, first_room> {};
template <class R>
struct traced_alone<R, false> : traced_within<R, most_nodes> {};

/// Evaluation comes behind training, and is traced once more only if the net is another then.
template <class R>
using training_request = request<typename R::net, typename R::loss, typename R::optimizer, program_mode::training, R::max_batch,
                                 R::target, R::options>;
template <class R, bool ByMode = traced_alone<training_request<R>>::v.c.by_mode>
struct evaluated_trace : traced_alone<R> {};
template <class R>
struct evaluated_trace<R, false> : traced_alone<training_request<R>> {};
template <class R, bool Evaluation = R::mode == program_mode::evaluation>
struct traced_stage : traced_alone<R> {};
template <class R>
struct traced_stage<R, true> : evaluated_trace<R> {};

// ---- differentiate, column sums, pool gradients, distinct rows, turned weights, product sums
template <class R>
struct gradient_stage {
    static constexpr int most = 5 * traced_stage<R>::v.c.nodes + 64;   // a loss of one node may have a longer gradient
    using type = typename grown<traced_stage<R>, most>::type;
    static constexpr bool trained(const variable& v) { return v.group >= 0 && trains_group<typename R::optimizer>(v.group); }
    static constexpr type make() {
        graph g;
        growing<int> of, found, gradients;
        traced_stage<R>::v.give(g);
        for (int i = 0; i < g.parameters.n; ++i)
            if (trained(g.parameters[i])) of.push(g.parameters[i].id);
        differentiate(g, g.loss, of, found);
        for (int i = 0, k = 0; i < g.parameters.n; ++i) gradients.push(trained(g.parameters[i]) ? found[k++] : -1);
        separate(g, gradients);
        if (R::options.fuse && R::target.column_sums && R::options.products == precision::float32)
            sum_columns_with_weights(g, gradients, R::max_batch);
        type t;
        take(t, g, gradients);
        if (R::options.fuse && R::target.pooled_convolutions) pool_gradients({t.n, t.c.nodes});
        if (R::options.fuse && R::target.distinct_rows && R::options.products == precision::float32)
            distinct_rows(t.view(), {t.n, t.c.nodes}, R::target.lanes, R::max_batch);
        if (R::target.turned_weights && R::options.products == precision::float32) turn_weights(t.view(), {t.n, t.c.nodes}, R::max_batch);
        if (R::options.fuse && R::target.product_sums && R::options.products == precision::float32)
            sum_products(t.view(), {t.n, t.c.nodes}, R::max_batch);
        return t;
    }
    static constexpr type v = make();
};
template <class R, bool Training = R::mode == program_mode::training>
struct whole_stage : traced_stage<R> {};   // evaluation and prediction: nothing to add
template <class R>
struct whole_stage<R, true> : gradient_stage<R> {};

// ---- round products
template <class R>
struct rounded_stage {
    static constexpr auto& before = whole_stage<R>::v;
    using type = typename grown<whole_stage<R>, 3 * before.c.nodes>::type;
    static constexpr type make() {
        graph g;
        growing<int> gradients;
        const graph_view all = before.view();
        product_rounding(all, g, R::target.bfloat16_pairs).run(gradients);
        g.streams = before.c.streams;
        type t;
        take(t, g, gradients);
        return t;
    }
    static constexpr type v = make();
};
template <class R, bool Rounds = R::options.products == precision::bfloat16>
struct graph_value : exact<whole_stage<R>> {};
template <class R>
struct graph_value<R, true> : exact<rounded_stage<R>> {};

// ---- what is wrong with it: said by the net's own trace or, where that is sound, by differentiation
template <class R>
struct checked_stage {
    static constexpr fault err = [] {
        if constexpr (R::mode == program_mode::training && traced_stage<R>::v.c.err.what == fault_kind::none)
            return gradient_stage<R>::v.c.err;
        else return traced_stage<R>::v.c.err;
    }();
};

// ---- the optimizer, as code
template <class R>
struct update_stage {
    using type = update_of<typename R::optimizer>;
    static constexpr bool training = R::mode == program_mode::training;
    static constexpr update_set v = [] {
        if constexpr (training) return type::make();
        else return update_set{};
    }();
    static constexpr bool fits() {
        if constexpr (training) return type::fits;
        else return true;
    }
    static_assert(fits(), "the optimizer's update does not fit into one kernel: it must be elementwise and shorter");
    static constexpr bool in_place = R::options.fuse && !R::options.store_gradients && (v.every > 1 || !v.needs_norm());
};

// ---- fuse, in two evaluations
template <class R>
struct grouped_stage {
    static constexpr int n = graph_value<R>::c.nodes;
    using type = fused<n>;
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        grouping r = t.view();
        group_nodes(g, r, R::options.fuse, R::target.pooled_convolutions);
        t.groups = r.g.n;
        return t;
    }
    static constexpr type v = make();
};
template <class R>
struct fused_stage {
    static constexpr int n = grouped_stage<R>::n;
    using type = fused<n, grouped_stage<R>::v.groups + 1>;
    static constexpr type make() {
        type t;
        t.take(grouped_stage<R>::v);
        const graph_view g = graph_value<R>::v.view();
        grouping r = t.view();
        sink_groups(g, r, R::options.fuse);
        keep_loops_together(g, r);
        return t;
    }
    static constexpr type v = make();
    static constexpr grouping groups() {
        return {{const_cast<group*>(v.g), v.groups}, const_cast<int*>(v.of), const_cast<int*>(v.next),
                const_cast<bool*>(v.live), const_cast<bool*>(v.stored)};
    }
};

// ---- choose updates
template <class R>
struct choice_stage {
    struct type {
        bool updated[graph_value<R>::c.parameters + 1] = {};
    };
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        const update_set u = update_stage<R>::v;
        if (R::mode == program_mode::training) choose_updates(g, r, update_stage<R>::in_place, u, t.updated);
        return t;
    }
    static constexpr type v = make();
};

// ---- plan memory: from the first group to the last; where that leaves gaps, the other way round if it is better
template <class R, bool Backwards>
struct planned_stage {
    using type = placed<fused_stage<R>::n>;
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        const target device = R::target;
        planner(g, r, choice_stage<R>::v.updated, device, R::max_batch).run(t, Backwards);
        return t;
    }
    static constexpr type v = make();
};
template <class R>
struct plan_stage {
    static constexpr bool backwards = [] {
        constexpr plan_sizes z = planned_stage<R, false>::v.z;
        if constexpr (z.activations > z.alive + z.alive / 64) return planned_stage<R, true>::v.z.activations < z.activations;
        else return false;
    }();
    static constexpr auto v = planned_stage<R, backwards>::v;
};

// ---- emit
template <class R>
struct emit_stage {
    static constexpr update_set update = update_stage<R>::v;
    static constexpr emitted_bounds measure() {
        emitted_bounds b;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        int levels = 0;
        for (const group_update& u : update.groups) levels = u.levels > levels ? u.levels : levels;
        b.groups += r.g.n + (2 + levels) * g.parameters.n + g.assignments.n + (update.every > 1 ? g.parameters.n : 0);
        int words = 8 * b.groups;
        for (const group& q : r.g) words += q.code + 8;   // no group becomes more words than the fuser counted
        const emitted_bounds u = bounds_of(update);
        b.code += words + (g.gradients.n + 2) * u.code;
        b.args += words + (g.gradients.n + 2) * u.args;
        b.constants += words + (g.gradients.n + 2) * u.constants;
        b.loops += g.loops.n;
        if (g.loops.n) b.buffers += g.carries.n + g.n.n;
        return b;
    }
    static constexpr emitted_bounds b = measure();
    using type = emitted<b.groups, b.code, b.args, b.constants, b.loops, b.buffers>;
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        const target device = R::target;
        const update_set u = update;
        listing o{{t.specs}, {t.code}, {t.launches}, {t.args}, {t.extents}, {t.constants}, {t.loops}, {t.buffers}};
        emitter(g, r, plan_stage<R>::v.at, plan_stage<R>::v.z, choice_stage<R>::v.updated, u, device, R::max_batch, o,
                R::options.winograd).run();
        t.n_specs = o.specs.n;
        t.n_code = o.code.n;
        t.n_launches = o.launches.n;
        t.n_args = o.args.n;
        t.n_extents = o.extents.n;
        t.n_constants = o.constants.n;
        t.n_loops = o.loops.n;
        t.n_buffers = o.buffers.n;
        return t;
    }
    static constexpr type v = make();
};

} // namespace detail

/// A parameter or state as it is known at run time.
struct variable_info {
    const char* name = "";
    int scope = 0;
    shape s;
    initializer init;
    address at;
    std::int64_t floats = 0;   ///< in memory, with padding
    address gradient;          ///< none: it is never stored
    int group = 0;             ///< of the optimizer's groups of parameters; frozen_group: it is not trained
    bool of_examples = false;  ///< a state that each example of a batch has one of: its first axis is the largest batch
};
/// An input or target: what a batch must hold.
struct port_info {
    shape s;
    int below = 0;         ///< whole numbers must be in [0, below); 0: not whole numbers
    int also = 0;          ///< or this one
    bool weight = false;   ///< of the examples, not a target
};

/// What is left of a program at run time, in arrays of exactly their size.
template <int Specs, int Code, int Launches, int Args, int Extents, int Constants, int Loops, int Buffers, int Parameters,
          int States, int Inputs, int Targets, int Outputs>
struct program_value {
    spec specs[Specs + 1];
    std::uint64_t code[Code + 1];
    launch launches[Launches + 1];
    address args[Args + 1];
    std::int64_t extents[Extents + 1];
    float constants[Constants + 1];
    loop_launches loops[Loops + 1];
    loop_buffer buffers[Buffers + 1];
    variable_info parameters[Parameters + 1], states[States + 1];
    port_info inputs[Inputs + 1], targets[Targets + 1];
    address outputs[Outputs + 1], loss;
    shape output_shapes[Outputs + 1];
    plan_sizes z;
    std::int64_t gradients = 0;
    int max_batch = 0, nodes = 0, slots = 0;

    static constexpr int n_specs = Specs, n_launches = Launches, n_args = Args, n_loops = Loops, n_parameters = Parameters,
                         n_states = States, n_inputs = Inputs, n_targets = Targets, n_outputs = Outputs;

    /// Floats of each arena.
    constexpr std::int64_t floats(space s) const {
        switch (s) {
            case space::activation: return z.activations;
            case space::parameter: return z.parameters;
            case space::gradient: return gradients;
            case space::state: return z.states;
            case space::slot: return z.trained * slots;
            default: return 0;
        }
    }
    /// Bytes of the arenas together. Scratch space depends on a device's kernels: step_bytes() (device/) counts it as well.
    constexpr std::int64_t bytes() const {
        return 4 * (z.activations + z.parameters + z.trained * slots + gradients + z.states);
    }
};

template <class R, bool Sound>
struct compiled_value {
    using request = R;
    static constexpr graph_view graph = detail::graph_value<R>::v.view();
    /// What paths are made of, apart from the graph: whoever looks at a node at run time has all functions of all ops compiled,
    /// for the node points to them.
    static constexpr auto scope_entries = [] {
        constexpr int n = graph.scopes.n;
        std::array<scope_entry, static_cast<std::size_t>(n)> e{};
        for (int i = 0; i < n; ++i) e[static_cast<std::size_t>(i)] = graph.scopes[i];
        return e;
    }();
    static constexpr view<const scope_entry> scopes{scope_entries.data(), static_cast<int>(scope_entries.size())};
    static constexpr int n_specs = detail::emit_stage<R>::v.n_specs;
    static constexpr port_info port(const node& n) { return {n.s, n.p[1], n.p[3], n.p[4] != 0}; }
    static constexpr auto make() {
        constexpr auto& d = detail::emit_stage<R>::v;
        const graph_view g = detail::graph_value<R>::v.view();
        constexpr auto c = detail::graph_value<R>::c;
        const auto& p = detail::plan_stage<R>::v;
        program_value<d.n_specs, d.n_code, d.n_launches, d.n_args, d.n_extents, d.n_constants, d.n_loops, d.n_buffers, c.parameters,
                      c.states, c.inputs, c.targets, c.outputs> f{};
        for (int i = 0; i < d.n_specs; ++i) f.specs[i] = d.specs[i];
        for (int i = 0; i < d.n_code; ++i) f.code[i] = d.code[i];
        for (int i = 0; i < d.n_launches; ++i) f.launches[i] = d.launches[i];
        for (int i = 0; i < d.n_args; ++i) f.args[i] = d.args[i];
        for (int i = 0; i < d.n_extents; ++i) f.extents[i] = d.extents[i];
        for (int i = 0; i < d.n_constants; ++i) f.constants[i] = d.constants[i];
        for (int i = 0; i < d.n_loops; ++i) f.loops[i] = d.loops[i];
        for (int i = 0; i < d.n_buffers; ++i) f.buffers[i] = d.buffers[i];
        const target device = R::target;
        auto describe = [&](const variable& v) {
            variable_info i{v.name, v.scope, g.n[v.id].s, v.init, p.at[v.id], floats_of(g.n[v.id], device, R::max_batch), {}, v.group};
            if (i.s.batched) i.s = with_batch(i.s, R::max_batch), i.of_examples = true;
            return i;
        };
        bool stored = false;
        for (int i = 0; i < c.parameters; ++i) {
            f.parameters[i] = describe(g.parameters[i]);
            if (R::mode == program_mode::training && !detail::choice_stage<R>::v.updated[i] && g.gradients[i] >= 0) {
                f.parameters[i].gradient = {space::gradient, f.parameters[i].at.offset()};
                stored = true;
            }
        }
        for (int i = 0; i < c.states; ++i) f.states[i] = describe(g.states[i]);
        for (int i = 0; i < c.inputs; ++i) f.inputs[i] = port(g.n[g.inputs[i]]);
        for (int i = 0; i < c.targets; ++i) f.targets[i] = port(g.n[g.targets[i]]);
        for (int i = 0; i < c.outputs; ++i) {
            f.outputs[i] = p.at[g.outputs[i]];
            f.output_shapes[i] = g.n[g.outputs[i]].s;
        }
        if (g.loss >= 0) f.loss = p.at[base_of(g.n, g.loss)];
        f.z = p.z;
        constexpr update_set u = detail::emit_stage<R>::update;
        if (stored || u.sums || u.needs_norm()) f.gradients = p.z.trained + u.table_floats(c.parameters);
        f.max_batch = R::max_batch;
        f.nodes = c.nodes;
        f.slots = detail::emit_stage<R>::update.slots;
        return f;
    }
    static constexpr auto v = make();
};

/// After a fault a tiny valid program stands in, so that the one error is not followed by others.
namespace detail {
struct stand_in_loss {
    constexpr tensor operator()(tensor a, tensor b) const { return a - b; }
};
} // namespace detail
template <class R>
struct compiled_value<R, false>
    : compiled_value<request<decltype(features<1> >> dense<1>), detail::stand_in_loss, typename R::optimizer, R::mode,
                             R::max_batch, R::target, R::options>, true> {};

/// To name it evaluates nothing yet: its parameters say only what is asked for.
template <class R>
struct compiled : compiled_value<R, detail::checked_stage<R>::err.what == fault_kind::none> {
    // in here, for clang tells more errors of a class whose base has one
    static_assert(sizeof(check_model<typename detail::verdict<detail::checked_stage<R>>::type>) > 0);
};

} // namespace sinter
