// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/profile/layers.hpp>

/// A program at run time, whatever its type: what describe(), the Graphviz and the HTML writers
/// walk over.
namespace sinter::inline SINTER_TARGET::profile {

/// One kernel of a program, in words.
struct kernel_text {
    int launch = 0, spec = 0, group = -1, updated = -1, root = -1;
    std::string name, layer, members, out;
    group_cost cost;
    std::int64_t live_floats = 0;   ///< activations alive while it runs
    bool is_producer = false;             ///< the next kernel runs it as it goes
};

/// A value for each node of a graph, by the node's number.
template <class T>
struct per_node : std::vector<T> {
    decltype(auto) operator[](int v) { return std::vector<T>::operator[](static_cast<std::size_t>(v)); }
    decltype(auto) operator[](int v) const { return std::vector<T>::operator[](static_cast<std::size_t>(v)); }
};

struct program_text {
    graph_view g;
    std::vector<layer_text> layers;
    std::vector<kernel_text> kernels;
    program_cost cost;
    plan_sizes z;
    std::int64_t gradients = 0, slots = 0, scratch = 0;   ///< floats; scratch belongs to a device's kernels
    int max_batch = 0, forward_nodes = 0, n_specs = 0;
    per_node<address> at;
    per_node<int> first, last;   ///< launches between which a node's value is alive; -1: it has no memory
    per_node<int> of;            ///< each node's group, or fuse.hpp's in_no_group or rematerialized
    per_node<bool> live;         ///< is the node computed, or read, at all
    per_node<std::int64_t> floats;   ///< that a node's value takes in memory, at max_batch

    std::int64_t bytes() const { return 4 * (z.parameters + z.states + z.activations + gradients + slots + scratch); }
};

/// A node's op; the second result of a max-pool (its winners) is "max_pool:1".
inline std::string op_text(const graph_view& g, int v) {
    const node& n = g.n[v];
    if (n.about->kind == op_kind::get_output)
        return g.n[n.in[0]].about->self.name + (':' + std::to_string(n.p[get_output_attribute::number]));
    return n.about->self.name;
}

namespace detail {

inline std::string members_of(const graph_view& g, const grouping& r, const group& q) {
    std::string t;
    for (int v = q.head; v >= 0; v = r.next[v]) {
        if (g.n[v].about->kind == op_kind::get_output) continue;
        if (!t.empty()) t += " + ";
        t += g.n[v].about->self.name;
    }
    return t;
}

/// What a launch costs that belongs to no group: a sweep of the optimizer, the gradients' norm, a
/// copy of a state. Memory is counted as it lies there, with its padding.
template <class V>
group_cost cost_beside(const V& program, const launch& l, const spec& s) {
    const std::int64_t n = s.kind == walk::rows ? 16 * l.m : l.m;   // the norm walks over rows of 16
    group_cost c;
    for (int i = 0; i < s.instructions; ++i) {
        const instruction w = instruction::unpack(program.code[s.code + i]);
        if (w.is(opcode::load) && w.columns()) c.read.once += 4 * n;
        if (w.is(opcode::store)) c.written.once += 4 * n;
        if (w.code > 255) c.flops.once += w.row ? 0 : n;
    }
    return c;
}

} // namespace detail

/// `scratch`: floats, on the device that is meant.
template <class P>
SINTER_COLD program_text text_of_program(std::int64_t scratch = 0) {
    using R = typename P::request;
    namespace d = sinter::detail;
    program_text t;
    t.g = P::graph;
    t.layers = layers_of<typename R::net, typename R::loss>(R::mode);
    t.cost = cost_of<P>();
    t.z = P::v.z;
    t.gradients = P::v.gradients;
    t.slots = P::v.floats(space::slot);
    t.scratch = scratch;
    t.max_batch = P::v.max_batch;
    t.forward_nodes = d::traced_stage<R>::v.c.nodes;
    t.n_specs = P::v.n_specs;
    const grouping r = d::fused_stage<R>::groups();
    const auto& plan = d::plan_stage<R>::v;
    t.at.assign(plan.at, plan.at + t.g.n.n);
    t.of.assign(r.of, r.of + t.g.n.n);
    t.live.assign(r.live, r.live + t.g.n.n);
    for (const node& n : t.g.n) t.floats.push_back(place_size(n, R::target, t.max_batch));
    t.first.assign(static_cast<std::size_t>(t.g.n.n), -1);
    t.last = t.first;
    growing<int> seen(t.g.n.n, 0);
    const auto read = [&](auto&& self, int v, int group, int launch) -> void {
        const int u = base_of(t.g.n, v);
        if (t.first[u] >= 0) t.last[u] = launch;
        else if (computed_again(r, u, group))
            for (int o = 0; o < t.g.n[u].operands; ++o) self(self, t.g.n[u].in[o], group, launch);
    };
    for (int i = 0; i < P::v.n_launches; ++i) {
        const launch& l = P::v.launches[i];
        kernel_text k;
        k.launch = i;
        k.spec = l.spec;
        k.group = l.group;
        k.root = l.root;
        if (l.group < 0) {
            const spec& s = P::v.specs[l.spec];
            k.name = s.kind == walk::rows ? "sums for the optimizer" : l.root >= 0 ? "copy of a state" : "optimizer";
            k.members = k.name;
            k.cost = detail::cost_beside(P::v, l, s);
            t.kernels.push_back(k);
            continue;
        }
        const group& q = r.g[l.group];
        for (int p = 0; p < t.g.gradients.n; ++p)
            if (d::choice_stage<R>::v.updated[p] && r.of[base_of(t.g.n, t.g.gradients[p])] == l.group) k.updated = p;
        k.name = q.root_op ? t.g.n[q.root].about->self.name : "walk";
        k.layer = scope_path(t.g.scopes, t.g.n[q.root].scope);
        k.members = detail::members_of(t.g, r, q) + (k.updated >= 0 ? " + update" : "");
        k.out = text_of(q.space);
        k.is_producer = l.is_producer;
        k.cost = cost_of_group(t.g, r, l.group, seen, k.updated, P::v.slots);
        k.live_floats = plan.live[l.group];
        for (int v = q.head; v >= 0; v = r.next[v]) {
            if (r.stored[v] && plan.at[v].where() == space::activation) t.first[v] = t.last[v] = i;
            for (int o = 0; o < t.g.n[v].operands; ++o) read(read, t.g.n[v].in[o], l.group, i);
        }
        t.kernels.push_back(k);
    }
    auto to_the_end = [&](int v) {
        if (const int u = v < 0 ? -1 : base_of(t.g.n, v); u >= 0 && t.first[u] >= 0) t.last[u] = P::v.n_launches - 1;
    };
    to_the_end(t.g.loss);
    to_the_end(t.g.loss_weight);
    for (int v : t.g.outputs) to_the_end(v);
    for (const assignment& a : t.g.assignments) to_the_end(a.value);
    return t;
}

} // namespace sinter::profile
