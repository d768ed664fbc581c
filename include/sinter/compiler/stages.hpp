// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/passes/check_names.hpp>
#include <sinter/compiler/passes/differentiate.hpp>
#include <sinter/compiler/passes/list.hpp>
#include <sinter/compiler/buckets.hpp>
#include <sinter/compiler/emit/emit.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/compiler/request.hpp>
#include <sinter/compiler/trace.hpp>
#include <sinter/compiler/passes/update.hpp>

/// The passes, strung together. Each stage is a constant evaluation of its own, which has the
/// compiler's whole budget; where the size of its result is unknown beforehand there is room for
/// any, of which the next stage takes what is used.
namespace sinter::inline SINTER_TARGET::detail {

/// What passes are told of a request.
template <class R>
constexpr pass_settings settings_of() {
    return {R::target, R::options, R::max_batch};
}

// ---- trace
template <class R>
struct training_trace;
template <class R>
using training_request = request<typename R::net, typename R::loss, typename R::optimizer, program_mode::training,
                                 R::max_batch, R::target, R::options>;
template <class R, int Capacity>
struct traced_within {
    /// Where tables are elsewhere: by training's choice, whatever the program.
    static constexpr void move_tables(graph& g, traced_any<Capacity>& t) {
        graph to;
        const graph_view from = view_of(g, {});
        graph_view training;
        if constexpr (R::mode != program_mode::training && !std::is_void_v<typename R::optimizer>)
            training = training_trace<R>::v.view();
        pass::of_tables::run(settings_of<R>(), from, to, training);
        to.streams = g.streams;
        take(t, to, {});
    }
    static constexpr traced_any<Capacity> make() {
        graph g;
        g.has_servers = R::options.remote_tables > 0;
        g.patterns = freezing_patterns<typename R::optimizer>();
        trace<typename R::net, typename R::loss>(g, R::mode, scalar_of_rounds<typename R::optimizer>());
        if (g.err.what == fault_kind::none) check_names(g);
        if (g.err.what == fault_kind::none) choose_groups<typename R::optimizer>(g);
        if (g.err.what == fault_kind::none) pass::of_trace::run(settings_of<R>(), g);
        traced_any<Capacity> t;
        if (R::options.remote_tables == 0 || g.err.what != fault_kind::none) take(t, g, {});
        else if constexpr (R::options.remote_tables > 0) move_tables(g, t);
        t.c.by_mode = g.asked_for_mode();
        t.c.names = g.names;
        return t;
    }
    static constexpr traced_any<Capacity> v = make();
    static constexpr bool fits = Capacity == most_nodes || v.c.err.what != fault_kind::program_too_large;
};
template <class R, bool Small = traced_within<R, first_capacity>::fits>
struct traced_alone : traced_within<R, first_capacity> {};
template <class R>
struct traced_alone<R, false> : traced_within<R, most_nodes> {};

template <class R>
struct training_trace : traced_alone<training_request<R>> {};

/// Evaluation comes behind training, and is traced once more only if the net is another then.
template <class R, bool ByMode = traced_alone<training_request<R>>::v.c.by_mode>
struct evaluated_trace : traced_alone<R> {};
template <class R>
struct evaluated_trace<R, false> : traced_alone<training_request<R>> {};
template <class R, bool Evaluation = R::mode == program_mode::evaluation>
struct traced_stage : traced_alone<R> {};
template <class R>
struct traced_stage<R, true> : evaluated_trace<R> {};

// ---- differentiate
template <class R>
struct gradient_stage {
    static constexpr int most = 5 * traced_stage<R>::v.c.nodes + 64;   // a loss of one node may have a longer gradient
    using type = typename grown<traced_stage<R>, most>::type;
    static constexpr bool trained(const variable& p) {
        return p.group >= 0 && trains_group<typename R::optimizer>(p.group);
    }
    static constexpr type make() {
        graph g;
        growing<int> of, found, gradients;
        traced_stage<R>::v.give(g);
        for (int i = 0; i < g.parameters.n; ++i)
            if (trained(g.parameters[i])) of.push(g.parameters[i].id);
        differentiate(g, g.loss_sum >= 0 ? g.loss_sum : g.loss, of, found);
        for (int i = 0, k = 0; i < g.parameters.n; ++i) gradients.push(trained(g.parameters[i]) ? found[k++] : -1);
        separate(g, gradients);
        if (R::options.policy() == gradient_policy::reduced) separate_row_sparse(g, gradients);
        pass::of_gradients::run(settings_of<R>(), g, gradients);
        type t;
        take(t, g, gradients);
        const graph_view all = t.view();
        const view<node> nodes{t.n, t.c.nodes};
        pass::in_place::run(settings_of<R>(), all, nodes);
        return t;
    }
    static constexpr type v = make();
};
template <class R, bool Training = R::mode == program_mode::training>
struct whole_stage : traced_stage<R> {};   // evaluation and prediction: nothing to add
template <class R>
struct whole_stage<R, true> : gradient_stage<R> {};

// ---- passes that make a new graph
template <class R>
struct rounded_stage {
    static constexpr auto& before = whole_stage<R>::v;
    using type = typename grown<whole_stage<R>, 3 * before.c.nodes>::type;
    static constexpr type make() {
        graph g;
        growing<int> gradients;
        const graph_view all = before.view();
        pass::rewriting::run(settings_of<R>(), all, g, gradients);
        g.streams = before.c.streams;
        type t;
        take(t, g, gradients);
        return t;
    }
    static constexpr type v = make();
};
/// As a member: a call in the default argument below makes nvcc's front end (13.0) evaluate the
/// stages of no net at all, which takes 9 GB.
template <class R>
struct is_rewritten {
    static constexpr bool v = pass::round_products::enabled(R::target, R::options);
};
template <class R, bool Rewritten = is_rewritten<R>::v>
struct graph_value : exact<whole_stage<R>> {};
template <class R>
struct graph_value<R, true> : exact<rounded_stage<R>> {};

// ---- what is wrong: said by the net's own trace, else by differentiation, else by the optimizer
template <class R>
struct checked_stage {
    static constexpr fault err = [] {
        // Traced for evaluation or prediction the same net has another size: training's fault is
        // told, so that all have one.
        if constexpr (R::mode != program_mode::training && !std::is_void_v<typename R::optimizer>) {
            if constexpr (traced_stage<R>::v.c.err.what == fault_kind::program_too_large)
                if constexpr (traced_stage<training_request<R>>::v.c.err.what != fault_kind::none)
                    return traced_stage<training_request<R>>::v.c.err;
        }
        if constexpr (R::mode != program_mode::training || traced_stage<R>::v.c.err.what != fault_kind::none)
            return traced_stage<R>::v.c.err;
        else if constexpr (gradient_stage<R>::v.c.err.what != fault_kind::none) return gradient_stage<R>::v.c.err;
        else return update_of<typename R::optimizer>::err;
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
    /// Where steps are accumulated a gradient's kernel may do that even under
    /// gradient_policy::reduced: peers add up rounds.
    static constexpr gradient_policy policy = R::options.policy();
    static constexpr bool in_place =
        R::options.fuse &&
        (v.every > 1 ? policy != gradient_policy::stored : policy == gradient_policy::fused && !v.needs_norm());
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
        pass::grouping_nodes::run(settings_of<R>(), g, r);
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
        pass::of_groups::run(settings_of<R>(), g, r);
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
    static constexpr bool in_buckets = R::options.policy() == gradient_policy::reduced;
    struct type {
        bool updated[graph_value<R>::c.parameters + 1] = {};
        int list_rows[in_buckets ? graph_value<R>::c.parameters + 1 : 1] = {};
    };
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        const update_set u = update_stage<R>::v;
        if (R::mode == program_mode::training) choose_updates(g, r, update_stage<R>::in_place, u, t.updated);
        if (R::mode == program_mode::training && in_buckets && R::target.row_lists)
            choose_row_lists(g, r, u, R::max_batch, t.list_rows);
        return t;
    }
    static constexpr type v = make();
    static constexpr int sources = in_buckets && R::mode == program_mode::training ? R::options.gradient_sources : 1;
    static_assert(sources >= 1 && sources <= program_options::most_gradient_sources,
                  "program_options::gradient_sources: 1 to 16 replicas");
    static constexpr gradient_layout layout() {
        return {R::options.policy(), in_buckets ? v.list_rows : nullptr, sources};
    }
};

// ---- plan memory: from the first group to the last, or the other way round where that is better
template <class R, bool Backwards>
struct planned_stage {
    using type = placed<fused_stage<R>::n>;
    static constexpr type make() {
        type t;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        const target device = R::target;
        planner(g, r, choice_stage<R>::v.updated, device, R::max_batch, choice_stage<R>::layout()).run(t, Backwards);
        return t;
    }
    static constexpr type v = make();
};
template <class R>
struct plan_stage {
    static constexpr bool backwards = [] {
        constexpr plan_sizes z = planned_stage<R, false>::v.z;
        if constexpr (z.activations > z.alive + z.alive / 64)
            return planned_stage<R, true>::v.z.activations < z.activations;
        else return false;
    }();
    static constexpr auto v = planned_stage<R, backwards>::v;
};

// ---- emit
template <class R>
struct emit_stage {
    static constexpr update_set update = update_stage<R>::v;
    static constexpr emitted_bounds measure() {
        emitted_bounds most;
        const graph_view g = graph_value<R>::v.view();
        const grouping r = fused_stage<R>::groups();
        int levels = 0;
        for (const group_update& u : update.groups) levels = u.levels > levels ? u.levels : levels;
        most.groups += r.g.n + (2 + levels + update.needs_norm()) * g.parameters.n + g.assignments.n +
                       (update.every > 1 ? g.parameters.n : 0);
        int instructions = 8 * most.groups;
        // No group becomes more instructions than the fuser counted.
        for (const group& q : r.g) instructions += q.code + 8;
        const emitted_bounds each = bounds_of(update);
        most.code += instructions + (g.gradients.n + 2) * each.code;
        most.args += instructions + (g.gradients.n + 2) * each.args;
        const int sources = choice_stage<R>::sources;
        most.code += (g.gradients.n + 2) * (levels + 2) * 2 * sources;
        most.args += (g.gradients.n + 2) * (levels + 2) * sources;
        most.constants += instructions + (g.gradients.n + 2) * each.constants;
        most.loops += g.loops.n;
        if (g.loops.n) most.buffers += g.carries.n + g.n.n;
        return most;
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
                R::options.winograd, choice_stage<R>::layout()).run();
        t.n_specs = o.specs.n;
        t.n_code = o.code.n;
        t.n_launches = o.launches.n;
        t.n_args = o.args.n;
        t.n_extents = o.extents.n;
        t.n_constants = o.constants.n;
        t.n_loops = o.loops.n;
        t.n_buffers = o.buffers.n;
        t.first_update = o.first_update;
        t.first_sweep = o.first_sweep;
        return t;
    }
    static constexpr type v = make();
};

// ---- buckets of gradients, where there are some
template <class R>
struct bucket_stage {
    static constexpr bool in_buckets = R::mode == program_mode::training && choice_stage<R>::in_buckets;
    struct type {
        static constexpr std::size_t most = in_buckets ? std::size_t(graph_value<R>::c.parameters) + 1 : 1;
        gradient_bucket at[most];
        int of[most] = {};   ///< of each parameter its bucket, or -1
        int n = 0;
    };
    static constexpr type make() {
        type t;
        if constexpr (in_buckets) {
            constexpr auto& d = emit_stage<R>::v;
            constexpr auto& p = plan_stage<R>::v;
            const graph_view g = graph_value<R>::v.view();
            const target device = R::target;
            const update_set u = update_stage<R>::v;
            growing<gradient_bucket> all;
            cut_buckets(g, fused_stage<R>::groups(), p.at, p.z, choice_stage<R>::v.updated, u, device,
                        R::max_batch, choice_stage<R>::layout(), R::options.bucket_bytes / 4,
                        {{d.launches, d.n_launches}, {d.loops, d.n_loops}, {d.args, d.n_args}, d.first_update}, all, t.of);
            for (; t.n < all.n; ++t.n) t.at[t.n] = all[t.n];
        }
        return t;
    }
    static constexpr type v = make();
};

} // namespace sinter::detail
