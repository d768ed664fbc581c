// SPDX-License-Identifier: BSL-1.0
// shows numbers: a thousand random small graphs: groups and plan by brute force, instructions beside a plain evaluation
#define BOOST_TEST_MODULE random_graphs
#include <boost/test/unit_test.hpp>

#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "compiler/invariants.hpp"
#include "compiler/random_graph.hpp"

/// Random graphs through all passes: what must hold of groups and memory, and that the emitted program computes what
/// the graph means, fused or not. The seed that a failure names builds the same graph again.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

static void check_close(const numbers& got, const numbers& want, const char* what, int i) {
    BOOST_REQUIRE_EQUAL(got.size(), want.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        if (std::isnan(want[k])) continue;
        const bool close = std::abs(got[k] - want[k]) <= 1e-9 * (1 + std::abs(want[k]));
        if (!close) {
            BOOST_ERROR(what << ' ' << i << ": element " << k << " is " << got[k] << ", not " << want[k]);
            return;
        }
    }
}

static int leading = 0;   ///< walks of all graphs

static void run(unsigned seed, const choices& c, const optimizer_code& optimizer, int steps) {
    auto p = std::make_unique<passes>();
    random_graph r(p->g, seed);
    r.build(steps);
    graph& g = p->g;
    BOOST_REQUIRE_MESSAGE(g.err.what == fault_kind::none,
                          "fault " << static_cast<int>(g.err.what) << " of " << g.err.where.name);
    const surroundings o = r.values(c.max_batch);
    const double loss = evaluate(g.n, o)[g.loss][0];
    hoist(g);
    p->optimizer = optimizer;
    p->differentiate_all();
    if (g.n.n >= capacity) return;
    const auto want = evaluate(g.n, o);
    BOOST_TEST(want[g.loss][0] == loss, boost::test_tools::tolerance(1e-12));
    p->behind_gradients(c);
    check_groups(*p);
    check_fused_producers(*p);
    for (const group& q : p->groups().g) leading += q.is_producer;
    check_plan(*p, c);
    check_code(*p);

    machine m(*p, o, optimizer.slots);
    if (optimizer.view().needs_norm())
        m.arena[static_cast<int>(space::gradient)].assign(m.arena[static_cast<int>(space::gradient)].size(), 0);
    interpreter(*p, m).run();
    const auto at = [&](int v) { return p->p.at[base_of(g.n, v)]; };
    check_close(m.read(at(g.loss), 1), want[g.loss], "loss", 0);
    for (int i = 0; i < g.outputs.n; ++i) {
        const int v = g.outputs[i];
        if (at(v).where() != space::parameter)
            check_close(m.read(at(v), count(g.n[v].s, o.batch)), want[v], "output", i);
    }
    for (int i = 0; i < g.assignments.n; ++i)
        check_close(m.read(p->p.at[g.assignments[i].target], g.n[g.assignments[i].target].s.size()),
                    want[g.assignments[i].value], "state", i);
    for (int i = 0; i < g.parameters.n; ++i) {
        const int v = g.parameters[i].id, d = p->gradients[i];
        if (d >= 0 && !p->updated[i]) check_close(m.read(at(d), g.n[v].s.size()), want[d], "gradient", i);
        if (d < 0) check_close(m.read(p->p.at[v], g.n[v].s.size()), o.parameters[i], "untouched parameter", i);
        if (d < 0 || optimizer.slots || optimizer.view().needs_norm() || !optimizer.instructions) continue;
        numbers after = o.parameters[i];   // sgd
        for (std::size_t k = 0; k < after.size(); ++k)
            after[k] -= (want[d][k] + after[k] * o.scalars[1]) * o.scalars[0];
        check_close(m.read(p->p.at[v], g.n[v].s.size()), after, "parameter", i);
    }
}

static void run_many(const choices& c, const optimizer_code& optimizer, unsigned from, int graphs) {
    for (unsigned seed = from; seed < from + static_cast<unsigned>(graphs); ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) run(seed, c, optimizer, 4 + static_cast<int>(seed % 17));
}
static constexpr optimizer_code with_sgd = make_optimizer_code<sgd>(), with_adam = make_optimizer_code<adam>(),
                                with_clipping = make_optimizer_code<clip_by_global_norm<adam>>();

BOOST_AUTO_TEST_CASE(fused_and_updated_in_place) {
    run_many({}, with_sgd, 1, 400);
    BOOST_TEST_MESSAGE(leading << " walks lead");
    BOOST_TEST(leading > 50);
}
BOOST_AUTO_TEST_CASE(fused_with_stored_gradients) { run_many({.update = false}, with_sgd, 1, 200); }
BOOST_AUTO_TEST_CASE(unfused) { run_many({.fuse = false}, with_sgd, 1, 200); }
BOOST_AUTO_TEST_CASE(placed_backwards) { run_many({.backwards = true}, with_sgd, 2000, 200); }
BOOST_AUTO_TEST_CASE(unfused_placed_backwards) { run_many({.fuse = false, .backwards = true}, with_sgd, 2000, 100); }
BOOST_AUTO_TEST_CASE(moments_of_adam) { run_many({}, with_adam, 5000, 100); }
BOOST_AUTO_TEST_CASE(clipped_by_norm) { run_many({.update = false}, with_clipping, 6000, 100); }
