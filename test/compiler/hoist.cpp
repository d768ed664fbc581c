// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE hoist
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/gelu.hpp>
#include <sinter/ops/max_pool.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/compiler/passes/hoist.hpp>

#include "compiler/interpret.hpp"

/// Monotone work moves behind a max-pool, other work stays, and the values stay in any case.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct hoisted {
    graph g;
    tensor x, bias;
    hoisted() : x(input(g, batch_of(4, 4, 3))) { bias = parameter(x, "bias", extents(3), zeros); }

    /// Does the pool read the graph's input after hoist()? Checks on the way that no output changes.
    bool moves(tensor y) {
        g.outputs.push(y.id);
        surroundings o;
        o.batch = 2;
        for (int i = 0; i < 2 * 48; ++i) o.ports.resize(1), o.ports[0].push_back(std::sin(i * 1.7));
        o.parameters = {{0.3, -0.2, 0.1}};
        const auto before = evaluate(g.n, o);
        hoist(g);
        const auto after = evaluate(g.n, o);
        for (int i = 0; i < g.outputs.n; ++i)
            BOOST_TEST(before[g.outputs[i]] == after[g.outputs[i]], boost::test_tools::per_element());
        for (int i = 0; i < g.n.n; ++i)
            for (int k = 0; k < g.n[i].operands; ++k) BOOST_TEST(g.n[i].in[k] < i);
        for (int i = 0; i < g.n.n; ++i)
            if (g.n[i].k == op::max_pool) return g.n[i].in[0] == x.id;
        return false;
    }
};
static tensor pool(tensor t) { return ops::max_pool(t, 2, {2, padding::valid}); }

BOOST_AUTO_TEST_CASE(activation_and_bias_move) {
    hoisted c;
    BOOST_TEST(c.moves(pool(ops::relu(c.x + c.bias))));
    BOOST_TEST((c.g.n[c.g.outputs[0]].k == op::relu));
    BOOST_TEST(c.g.n[c.g.outputs[0]].s.d[0] == 2);
}
BOOST_AUTO_TEST_CASE(every_monotone_op_moves) {
    for (auto f : {&ops::tanh, &ops::sigmoid, &ops::exp, &ops::erf}) {
        hoisted c;
        BOOST_TEST(c.moves(pool(f(c.x))));
    }
}
BOOST_AUTO_TEST_CASE(gelu_stays) {
    hoisted c;
    BOOST_TEST(!c.moves(pool(ops::gelu(c.x))));
}
BOOST_AUTO_TEST_CASE(negation_stays) {
    hoisted c;
    BOOST_TEST(!c.moves(pool(-c.x)));
}
BOOST_AUTO_TEST_CASE(a_scale_stays) {   // it might be negative
    hoisted c;
    BOOST_TEST(!c.moves(pool(c.x * c.bias)));
}
BOOST_AUTO_TEST_CASE(an_activation_with_other_users_stays) {
    hoisted c;
    const tensor a = ops::relu(c.x);
    c.g.outputs.push((a * 2.f).id);
    BOOST_TEST(!c.moves(pool(a)));
}
BOOST_AUTO_TEST_CASE(an_output_stays) {
    hoisted c;
    const tensor a = ops::relu(c.x);
    c.g.outputs.push(a.id);
    BOOST_TEST(!c.moves(pool(a)));
}
BOOST_AUTO_TEST_CASE(what_varies_within_a_window_stays) {
    hoisted c;
    const tensor place = parameter(c.x, "place", extents(4, 4, 1), zeros);
    surroundings o;
    hoist(c.g);
    const tensor y = pool(c.x + place);
    c.g.outputs.push(y.id);
    hoist(c.g);
    BOOST_TEST((c.g.n[c.g.outputs[0]].k == op::max_pool));
    const tensor residual = pool(c.x + ops::tanh(c.x));
    c.g.outputs.push(residual.id);
    hoist(c.g);
    BOOST_TEST((c.g.n[c.g.outputs[1]].k == op::max_pool));
}
