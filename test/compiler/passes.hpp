// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/program.hpp>
#include <memory>
#include <random>

/// The passes as plain functions over graphs that a test builds at run time.
namespace sinter::test {
using namespace base;
using namespace compiler;

inline constexpr int capacity = 1200;   ///< nodes

struct choices {
    bool fuse = true, update = true, backwards = false;   ///< backwards: how the plan places activations
    sinter::compiler::target target{.lanes = 1, .parts = 8, .fused_producers = true};
    int max_batch = 3;
    precision products = precision::float32;
    gradient_policy gradients = gradient_policy::fused;

    program_options options() const { return {.fuse = fuse, .products = products, .gradients = gradients}; }
    pass_settings settings() const { return {target, options(), max_batch}; }
    bool updates_in_place() const { return update && fuse && gradients == gradient_policy::fused; }

    /// Whatever targets and options make passes run.
    static choices drawn(unsigned seed) {
        std::mt19937 random(seed);
        const auto one_of = [&](unsigned n) { return random() % n; };
        choices c;
        for (bool* flag : {&c.target.pooled_convolutions, &c.target.transposed_weights, &c.target.unique_rows,
                           &c.target.product_sums, &c.target.fused_producers, &c.target.column_sums})
            *flag = one_of(4) != 0;
        c.target.transposed_products = one_of(4) == 0;
        c.backwards = one_of(4) == 0;
        c.max_batch = one_of(2) ? 3 : one_of(2) ? 16 : 48;   // where passes pay
        if (one_of(4) == 0) c.products = precision::bfloat16;
        c.gradients = static_cast<gradient_policy>(one_of(3));
        for (bool* flag : {&c.target.bfloat16_pairs, &c.target.row_lists}) *flag = one_of(4) != 0;
        if (c.products == precision::float32) c.target.lanes = 1 << 2 * one_of(3);   // 1, 4 or 16
        return c;
    }
};

/// Everything behind tracing, as program.hpp runs it.
template <int Capacity>
struct passes_of {
    graph g;
    growing<int> gradients;
    fused<Capacity> f;
    bool updated[Capacity] = {};
    int list_rows[Capacity] = {};   ///< by parameter: most rows of the list that is its gradient; 0: it is whole
    placed<Capacity> p;
    optimizer_code optimizer, sums[most_sum_levels];
    bool by_norm = false;   ///< of all gradients together
    emitted<Capacity, 30 * Capacity, 20 * Capacity, 10 * Capacity, 100, Capacity> e;

    graph_view view() const { return view_of(g, gradients); }
    grouping groups() { return f.view(); }

    group_update update;   ///< of the only group
    update_set updates() {
        update = {optimizer.view(), {}, optimizer.levels};
        for (int k = 0; k < optimizer.levels; ++k) update.sums[k] = sums[k].view();
        return {{&update, 1}, {}, 1, optimizer.sums, optimizer.slots};
    }
    gradient_layout layout(const choices& c) const { return {c.gradients, list_rows}; }
    void differentiate_all() {
        growing<int> of;
        for (int i = 0; i < g.parameters.n; ++i) of.push(g.parameters[i].id);
        differentiate(g, g.loss, of, gradients);
        separate(g, gradients);
    }
    /// The passes over nodes, between differentiation and fusion.
    void rewrite_all(const choices& c) {
        if (c.gradients == gradient_policy::reduced) separate_row_sparse(g, gradients);
        sinter::compiler::pass::of_gradients::run(c.settings(), g, gradients);
        const graph_view all = view();
        const sinter::base::view<node> nodes{g.n.p, g.n.n};
        sinter::compiler::pass::in_place::run(c.settings(), all, nodes);
        round_all(c);
    }
    /// Those that make a new graph. They change what a program computes.
    void round_all(const choices& c) {
        if (!sinter::compiler::pass::round_products::enabled(c.target, c.options())) return;
        const auto made = std::make_unique<traced_any<2 * Capacity>>();
        {
            graph to;
            growing<int> of;
            const graph_view all = view();
            sinter::compiler::pass::rewriting::run(c.settings(), all, to, of);
            to.streams = g.streams;
            made->take(view_of(to, of), to.streams, {});
        }
        std::destroy_at(&g);   // graphs stay where they are made
        std::construct_at(&g);
        made->give(g);
        for (int i = 0; i < gradients.n; ++i) gradients[i] = made->gradients[i];
    }
    void fuse_all(const choices& c) {
        rewrite_all(c);
        const graph_view all = view();
        grouping r = groups();
        sinter::compiler::pass::grouping_nodes::run(c.settings(), all, r);
        sinter::compiler::pass::of_groups::run(c.settings(), all, r);
        f.groups = r.g.n;
        choose_updates(view(), groups(), c.updates_in_place(), updates(), updated);
        if (c.target.row_lists && layout(c).in_buckets())
            choose_row_lists(view(), groups(), updates(), c.max_batch, list_rows);
    }
    void plan_all(const choices& c) {
        const graph_view v = view();
        const grouping r = groups();
        planner(v, r, updated, c.target, c.max_batch, layout(c)).run(p, c.backwards);
    }
    void emit_all(const choices& c) {
        const graph_view v = view();
        const grouping r = groups();
        const update_set u = updates();
        listing o{{e.specs}, {e.code}, {e.launches}, {e.args}, {e.extents}, {e.constants}, {e.loops}, {e.buffers}};
        emitter(v, r, p.at, p.z, updated, u, c.target, c.max_batch, o, winograd::forbid, layout(c)).run();
        e.n_specs = o.specs.n;
        e.n_code = o.code.n;
        e.n_launches = o.launches.n;
        e.n_args = o.args.n;
        e.n_extents = o.extents.n;
        e.n_constants = o.constants.n;
        e.n_loops = o.loops.n;
        e.first_update = o.first_update;
    }
    void behind_gradients(const choices& c) {
        fuse_all(c);
        plan_all(c);
        emit_all(c);
    }
    void all(const choices& c) {
        if (g.parameters.n && g.loss >= 0) differentiate_all();
        behind_gradients(c);
    }
};
using passes = passes_of<capacity>;

/// A handle to the graph itself, for operations that only need to know where to put their nodes.
inline tensor in_graph(graph& g) { return {&g, 0}; }

inline tensor input(graph& g, const shape& s, int below = 0) {
    const tensor t = make<op::input>(&g, s, {}, {g.inputs.n + g.targets.n, below});
    g.inputs.push(t.id);
    return t;
}

} // namespace sinter::test
