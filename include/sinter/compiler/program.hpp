// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/expr/parameter.hpp>
#include <sinter/ops/internal/shard_sum.hpp>
#include <sinter/compiler/error_message.hpp>
#include <sinter/compiler/segments.hpp>
#include <sinter/compiler/stages.hpp>
#include <sinter/graph/port_info.hpp>
#include <sinter/graph/variable_info.hpp>
#include <array>

/// The program: an expression in (request.hpp), one constant out, in as many constant evaluations
/// as there are stages (stages.hpp).
namespace sinter::inline SINTER_TARGET::compiler {

using sinter::port_info;
using sinter::variable_info;

/// What is left of a program at run time, in arrays of exactly their size.
template <int Specs, int Code, int Launches, int Args, int Extents, int Constants, int Loops, int Buffers,
          int Parameters, int States, int Inputs, int Targets, int Outputs, int Buckets, int SyncPoints>
struct program_value {
    spec specs[std::size_t{Specs + 1}];
    std::uint64_t code[std::size_t{Code + 1}];
    launch launches[std::size_t{Launches + 1}];
    address args[std::size_t{Args + 1}];
    std::int64_t extents[std::size_t{Extents + 1}];
    float constants[std::size_t{Constants + 1}];
    loop_launches loops[std::size_t{Loops + 1}];
    loop_buffer buffers[std::size_t{Buffers + 1}];
    variable_info parameters[std::size_t{Parameters + 1}], states[std::size_t{States + 1}];
    port_info inputs[std::size_t{Inputs + 1}], targets[std::size_t{Targets + 1}];
    address outputs[std::size_t{Outputs + 1}], loss;
    address loss_weight;   ///< what the loss was divided by; none: the number of examples
    /// The sums of this batch's weights that weighted means in the loss are divided by, unless a
    /// step is handed those of all shards (batch_shard::loss_weights). They are in memory before
    /// launch `loss_weights_ready`, and none before that reads what was handed in: who runs shards
    /// stops there to add them up. -1: there is no such launch.
    address loss_weights[std::size_t{bundle::most}];
    int n_loss_weights = 0, loss_weights_ready = -1;
    /// Where steps are accumulated: the state in which they count what their gradients' sum is to
    /// be divided by (examples or weights). It is reduced with the gradients, in each step that
    /// updates.
    address round_weight;
    shape output_shapes[std::size_t{Outputs + 1}];
    const char* output_names[std::size_t{Outputs + 1}];   ///< empty: it has none
    plan_sizes z;
    std::int64_t gradients = 0;
    int max_batch = 0, nodes = 0, slots = 0;
    program_segments segments;   ///< where a step may be cut
    update_reach reach = update_reach::own_gradient;   ///< what must be known before a part of the weights is updated
    gradient_bucket buckets[std::size_t{Buckets + 1}];   ///< in the order in which they become final
    sync_point sync_points[std::size_t{SyncPoints + 1}];   ///< in the order in which they are come to
    int n_lists = 0;   ///< of the buckets, those that are lists of rows

    static constexpr int n_specs = Specs, n_launches = Launches, n_args = Args, n_loops = Loops,
                         n_parameters = Parameters, n_states = States, n_inputs = Inputs, n_targets = Targets,
                         n_outputs = Outputs, n_buckets = Buckets, n_sync_points = SyncPoints;

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
    /// Bytes of the arenas together. Scratch space depends on a device's kernels: step_bytes()
    /// (device/) counts it as well.
    constexpr std::int64_t bytes() const {
        return 4 * (z.activations + z.parameters + z.trained * slots + gradients + z.states);
    }
};

/// The program of a request whose net is sound: `v`, and what else is known of it at run time.
template <class R, bool Sound>
struct compiled_value {
    using request = R;
    static constexpr port_names names = detail::traced_stage<R>::v.c.names;
    static constexpr graph_view graph = [] {
        graph_view g = detail::graph_value<R>::v.view();
        g.names = &names;
        return g;
    }();
    /// What paths are made of, apart from the graph: whoever looks at a node at run time has all
    /// functions of all ops compiled, for the node points to them.
    static constexpr auto scope_entries = [] {
        constexpr int n = graph.scopes.n;
        std::array<scope_entry, static_cast<std::size_t>(n)> e{};
        for (int i = 0; i < n; ++i) e[static_cast<std::size_t>(i)] = graph.scopes[i];
        return e;
    }();
    static constexpr view<const scope_entry> scopes{scope_entries.data(), static_cast<int>(scope_entries.size())};
    static constexpr int n_specs = detail::emit_stage<R>::v.n_specs;
    static constexpr port_info port(const node& n, const char* name) {
        return {n.s, n.p[input_attribute::below], n.p[input_attribute::also], n.p[input_attribute::weight] != 0, name};
    }
    /// Where the loss is among the first things that are known of the gradient (a last bias), one
    /// kernel makes both.
    static constexpr bool updates_before_loss(int parameter) {
        const graph_view g = detail::graph_value<R>::v.view();
        if (R::mode != program_mode::training || g.loss < 0 || g.gradients[parameter] < 0) return false;
        if (!detail::choice_stage<R>::v.updated[parameter]) return false;
        const grouping r = detail::fused_stage<R>::groups();
        return r.of[base_of(g.n, g.gradients[parameter])] <= r.of[base_of(g.n, g.loss)];
    }
    template <class Program>
    static constexpr void note_loss_weights(Program& f, const graph_view& g) {
        if (!g.loss_weights) return;
        int last_group = -1;
        for (const node& n : g.n) {
            const int number = n.p[loss_weight_attribute::number];
            if (n.k != op::global_loss_weight || number >= bundle::most) continue;
            const int sum = base_of(g.n, n.in[0]), group = detail::fused_stage<R>::groups().of[sum];
            f.loss_weights[number] = detail::plan_stage<R>::v.at[sum];
            if (number >= f.n_loss_weights) f.n_loss_weights = number + 1;
            if (group > last_group) last_group = group;
        }
        for (int i = 0; i < f.n_launches && f.n_loss_weights; ++i) {
            const spec& s = f.specs[f.launches[i].spec];
            bool reads = false;
            for (int k = 0; k < s.instructions; ++k)
                reads = reads || instruction::unpack(f.code[s.code + k]).is(op::global_loss_weight);
            if (reads) break;
            if (f.launches[i].group == last_group) f.loss_weights_ready = i + 1;
        }
    }
    static constexpr int sync_points() {
        int n = 0;
        for (int i = 0; i < detail::emit_stage<R>::v.n_launches; ++i)
            n += is_sync_point(detail::emit_stage<R>::v.launches[i]);
        return n;
    }
    static constexpr bool is_sync_point(const launch& l) {
        return detail::emit_stage<R>::v.specs[l.spec].kind == op::shard_sum;
    }
    template <class Program>
    static constexpr void note_sync_points(Program& f, const graph_view& g) {
        for (int i = 0, n = 0; i < f.n_launches; ++i)
            if (const int root = f.launches[i].root; is_sync_point(f.launches[i]))
                f.sync_points[n++] = {i, detail::plan_stage<R>::v.at[root], g.n[root].s.size()};
    }
    static constexpr auto make() {
        constexpr auto& d = detail::emit_stage<R>::v;
        const graph_view g = detail::graph_value<R>::v.view();
        constexpr auto c = detail::graph_value<R>::c;
        const auto& p = detail::plan_stage<R>::v;
        constexpr auto& buckets = detail::bucket_stage<R>::v;
        program_value<d.n_specs, d.n_code, d.n_launches, d.n_args, d.n_extents, d.n_constants, d.n_loops, d.n_buffers,
                      c.parameters, c.states, c.inputs, c.targets, c.outputs, buckets.n, sync_points()>
            f{};
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
            variable_info i{v.name, v.scope,    g.n[v.id].s,
                            v.init, p.at[v.id], floats_of(g.n[v.id], device, R::max_batch),
                            {},     v.group};
            if (i.s.batched) i.s = with_batch(i.s, R::max_batch), i.of_examples = true;
            if (const int rows = g.n[v.id].p[variable_attribute::remote_rows]; rows && R::options.remote_tables) {
                i.remote = true;
                i.s.d[0] = rows > 0 ? rows : 0;
                i.floats = round_up(std::int64_t{i.s.d[0]} * i.s.last(), 16);
            }
            return i;
        };
        bool stored = false;
        for (int i = 0; i < c.parameters; ++i) {
            f.parameters[i] = describe(g.parameters[i]);
            if (R::mode == program_mode::training && !detail::choice_stage<R>::v.updated[i] && g.gradients[i] >= 0) {
                if (!detail::choice_stage<R>::layout().rows(i))
                    f.parameters[i].gradient = p.at[base_of(g.n, g.gradients[i])];
                stored = true;
            }
            f.parameters[i].early = updates_before_loss(i);
            if (buckets.n) f.parameters[i].bucket = buckets.of[i];
        }
        for (int i = 0; i < c.states; ++i) f.states[i] = describe(g.states[i]);
        for (int i = 0; i < c.inputs; ++i) f.inputs[i] = port(g.n[g.inputs[i]], port_names::of(names.inputs, i));
        for (int i = 0; i < c.targets; ++i) f.targets[i] = port(g.n[g.targets[i]], port_names::of(names.targets, i));
        for (int i = 0; i < c.outputs; ++i) {
            f.outputs[i] = p.at[g.outputs[i]];
            f.output_shapes[i] = g.n[g.outputs[i]].s;
            f.output_names[i] = port_names::of(names.outputs, i);
        }
        // by a parameter: of a constant -1 clang warns after any other error, whether it is reached or not
        const auto place = [&](int id) { return p.at[base_of(g.n, id)]; };
        if (g.loss >= 0) f.loss = place(g.loss);
        if (g.loss_weight >= 0) f.loss_weight = place(g.loss_weight);
        note_loss_weights(f, g);
        note_sync_points(f, g);
        f.z = p.z;
        constexpr update_set u = detail::emit_stage<R>::update;
        if (stored || u.sums || u.needs_norm()) f.gradients = p.z.gradients + u.table_floats(c.parameters);
        for (int i = 0; i < buckets.n; ++i) {
            f.buckets[i] = buckets.at[i];
            f.n_lists += buckets.at[i].is_list();
        }
        f.max_batch = R::max_batch;
        f.nodes = c.nodes;
        f.slots = detail::emit_stage<R>::update.slots;
        f.segments = find_segments(d.launches, d.n_launches, d.first_update, d.first_sweep);
        f.reach = u.reach();
        if (u.every > 1) f.round_weight = p.at[g.states[g.states.n - 1].id];
        return f;
    }
    static constexpr auto v = make();
};

/// After a fault a tiny valid program stands in, so that the one error is not followed by others.

} // namespace sinter::compiler
namespace sinter::inline SINTER_TARGET::detail {
struct stand_in_loss {
    constexpr tensor operator()(tensor a, tensor b) const { return a - b; }
};
/// One trained parameter, since optimizers want something to update.
struct stand_in_layer : layer<stand_in_layer> {
    static constexpr const char* name = "stand_in";
    static constexpr tensor trace(tensor x) { return x * parameter(x, "kernel", extents(1), zeros); }
};
} // namespace sinter::detail
namespace sinter::inline SINTER_TARGET::compiler {

using stand_in_net = decltype(features<1> >> detail::stand_in_layer{});
/// P is but what stands in for a program of a net that is not sound.
template <class P>
inline constexpr bool stands_in = std::is_same_v<typename P::request::net, stand_in_net>;

template <class R>
struct compiled_value<R, false>
    : compiled_value<request<stand_in_net, detail::stand_in_loss,
                             typename R::optimizer, R::mode, R::max_batch, R::target, R::options>,
                     true> {};

/// To name it evaluates nothing yet: its parameters say only what is asked for.
template <class R>
struct compiled : compiled_value<R, detail::checked_stage<R>::err.what == fault_kind::none> {
    // in here, for clang tells more errors of a class whose base has one
    static_assert(sizeof(check_model<typename detail::verdict<detail::checked_stage<R>>::type>) > 0);
};

} // namespace sinter::compiler
