// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE differentiate
#include <boost/test/unit_test.hpp>

#include <sinter/ops/silu.hpp>

#include "compiler/random_graph.hpp"

/// Gradients: known small ones, and those of random graphs against central differences.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;

namespace tt = boost::test_tools;

struct small {
    passes p;
    graph& g = p.g;
    surroundings o;
    tensor par(const char* name, const numbers& values, shape s) {
        const tensor t = parameter(in_graph(g), name, s, zeros);
        o.parameters.push_back(values);
        return t;
    }
    tensor par(const char* name, const numbers& values) {
        return par(name, values, extents(static_cast<int>(values.size())));
    }
    /// Gradients of the sum of y.
    std::vector<numbers> gradients(tensor y) {
        y = ops::unpack(y);
        g.loss = ops::sum(ops::reshape(y, extents(y.shape().size())), {-1}).id;
        p.differentiate_all();
        const auto value = evaluate(g.n, o);
        std::vector<numbers> d;
        for (int i = 0; i < p.gradients.n; ++i) d.push_back(p.gradients[i] < 0 ? numbers{} : value[p.gradients[i]]);
        return d;
    }
};

BOOST_AUTO_TEST_CASE(product) {
    small s;
    const tensor a = s.par("a", {2, 3}), b = s.par("b", {5, 7});
    const auto d = s.gradients(a * b);
    BOOST_TEST(d[0] == (numbers{5, 7}), tt::per_element());
    BOOST_TEST(d[1] == (numbers{2, 3}), tt::per_element());
}
BOOST_AUTO_TEST_CASE(shared_operands_add_up) {
    small s;
    const tensor a = s.par("a", {2, 3});
    BOOST_TEST(s.gradients(a * a + a * 4.f)[0] == (numbers{8, 10}), tt::per_element());
}
BOOST_AUTO_TEST_CASE(stretched_operands_are_summed) {
    small s;
    const tensor a = s.par("a", {1, 2, 3, 4, 5, 6}, extents(2, 3)), row = s.par("row", {1, 1, 1}),
        column = s.par("column", {1, 2}, extents(2, 1));
    const auto d = s.gradients(a * row * column);
    BOOST_TEST(d[1] == (numbers{1 + 8, 2 + 10, 3 + 12}), tt::per_element());
    BOOST_TEST(d[2] == (numbers{6, 15}), tt::per_element());
}
BOOST_AUTO_TEST_CASE(nothing_flows_through_stop_gradient) {
    small s;
    const tensor a = s.par("a", {2, 3}), b = s.par("b", {1, 1});
    const auto d = s.gradients(stop_gradient(a) * a + stop_gradient(b));
    BOOST_TEST(d[0] == (numbers{2, 3}), tt::per_element());
    BOOST_TEST(d[1].empty());   // no gradient at all
}
BOOST_AUTO_TEST_CASE(matrix_product_and_its_order) {
    small s;
    const tensor x = input(s.g, batch_of(2));
    s.o.ports = {{1, 2, 3, 4}};
    s.o.batch = 2;
    shape w = extents(2, 2);
    w.form = layout::weights;
    const tensor a = s.par("a", {1, 2, 3, 4}, w), b = s.par("b", {1, 1, 1, 2}, w);
    tensor y = ops::matmul(ops::matmul(x, a), b);
    y = ops::sum(ops::sum(y, {-1}), {batch_axis});
    const auto d = s.gradients(y);
    // d a = x^T (1 b^T), d b = (x a)^T 1
    BOOST_TEST(d[0] == (numbers{8, 12, 12, 18}), tt::per_element());
    BOOST_TEST(d[1] == (numbers{22, 22, 32, 32}), tt::per_element());
    // the first layer's input needs no gradient: one product for d b's chain, two for weights
    int products = 0, transposed = 0;
    for (int i = 0; i < s.g.n.n; ++i) products += s.g.n[i].k == op::gemm, transposed += s.g.n[i].k == op::gemm_tn;
    BOOST_TEST(products == 3);
    BOOST_TEST(transposed == 2);
}
BOOST_AUTO_TEST_CASE(gradients_that_are_one_node_get_places_of_their_own) {
    small s;
    const tensor a = s.par("a", {2, 3}), b = s.par("b", {5, 7});
    const auto d = s.gradients(a + b);
    BOOST_TEST(d[0] == (numbers{1, 1}), tt::per_element());
    BOOST_TEST(d[1] == (numbers{1, 1}), tt::per_element());
    BOOST_TEST(base_of(s.g.n, s.p.gradients[0]) != base_of(s.g.n, s.p.gradients[1]));
}
BOOST_AUTO_TEST_CASE(a_gradient_that_is_an_output_too) {
    small s;
    const tensor a = s.par("a", {2, 3}), b = s.par("b", {5, 7});
    const tensor y = ops::tanh(b);
    s.g.outputs.push(y.id);   // d (a tanh b) / d a is tanh b
    s.gradients(a * y);
    BOOST_TEST(base_of(s.g.n, s.p.gradients[0]) != y.id);
}

static tensor block(tensor x, tensor w) { return ops::tanh(ops::softmax(x * w) * x) + ops::sigmoid(x * w); }

BOOST_AUTO_TEST_CASE(checkpoints_recompute_and_change_nothing) {
    small plain, kept, nested;
    std::vector<std::vector<numbers>> all;
    for (small* s : {&plain, &kept, &nested}) {
        const tensor w = s->par("w", {0.5, -1, 2}), x = s->par("x", {1, 0.25, -0.75});
        const int first = s->g.n.n;
        const tensor y = block(x, w);
        const int between = s->g.n.n;
        const tensor u = ops::random_uniform(y);   // drawn again, it must be the same number
        const tensor z = block(y, w) * u;
        if (s == &nested) s->g.regions.push(between), s->g.regions.push(s->g.n.n - 1);
        if (s != &plain) s->g.regions.push(first), s->g.regions.push(s->g.n.n - 1);
        all.push_back(s->gradients(z * z));
    }
    for (std::size_t i = 1; i < 3; ++i)
        for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(all[i][k] == all[0][k], tt::per_element());
    int again = 0;
    for (int i = 0; i < kept.g.n.n; ++i) again += kept.g.n[i].epoch == 1;
    BOOST_TEST(again > 10);
    for (int i = 0; i < plain.g.n.n; ++i) BOOST_TEST(plain.g.n[i].epoch == 0);
}

// relu's gradient reads it, and the last product is not done again
BOOST_AUTO_TEST_CASE(a_checkpoint_keeps_its_result) {
    auto products = [](bool checkpointed) {
        small s;
        const tensor x = input(s.g, batch_of(4));
        auto dense = [&](tensor t, const char* name) {
            return ops::relu(ops::matmul(t, weights(x, name, extents(4, 4), zeros)));
        };
        const tensor before = dense(x, "a");
        const int first = s.g.n.n;
        const tensor y = dense(dense(dense(before, "b"), "c"), "d");
        if (checkpointed) s.g.regions.push(first), s.g.regions.push(s.g.n.n - 1);
        s.g.loss = ops::over_batch(ops::sum(ops::sum(ops::exp(y), {-1}), {batch_axis})).id;
        s.p.differentiate_all();
        s.p.fuse_all({});
        int n = 0;
        for (int v = 0; v < s.g.n.n; ++v) n += s.p.f.live[v] && s.g.n[v].k == op::gemm;
        return n;
    };
    BOOST_TEST(products(true) == products(false) + 2);
}

BOOST_AUTO_TEST_CASE(random_graphs_against_central_differences) {
    for (unsigned seed = 1; seed <= 60; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
        auto p = std::make_unique<passes>();
        random_graph r(p->g, seed, false);
        r.build(3 + static_cast<int>(seed % 9));
        surroundings o = r.values(2);
        graph& g = p->g;
        const int forward = g.n.n;
        p->differentiate_all();
        const auto value = evaluate(g.n, o);
        const view<node> nodes{g.n.p, forward};
        for (int i = 0; i < g.parameters.n; ++i) {
            numbers& x = o.parameters[i];
            for (std::size_t k = 0; k < x.size() && k < 3; ++k) {
                const double old = x[k], h = 1e-5;
                double side[4];
                for (int j = 0; j < 4; ++j) {
                    x[k] = old + h * (j < 2 ? 2 * j - 1 : 2 * (2 * j - 5));
                    side[j] = evaluate(nodes, o)[g.loss][0];
                }
                x[k] = old;
                const double near = (side[1] - side[0]) / (2 * h), far = (side[3] - side[2]) / (4 * h);
                if (std::abs(near - far) > 1e-6) continue;   // a kink lies between
                const double got = p->gradients[i] < 0 ? 0 : value[p->gradients[i]][k];
                BOOST_TEST(std::abs(got - near) <= 1e-6 * (1 + std::abs(near)),
                           "parameter " << i << '[' << k << "]: " << got << ", not " << near);
            }
        }
    }
}

// ---- several elementwise ops of one tensor: their derivative is a value of its own, multiplied by what comes in

namespace {
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double silu_slope(double x) { return logistic(x) * (1 + x * (1 - logistic(x))); }
bool depends(const graph& g, int v, int on) {
    if (v == on) return true;
    for (int k = 0; k < g.n[v].operands; ++k)
        if (depends(g, g.n[v].in[k], on)) return true;
    return false;
}
}

BOOST_AUTO_TEST_CASE(a_chain_leaves_one_factor) {
    small s;
    const tensor a = s.par("a", {-1, 2}), b = s.par("b", {5, 7});
    const auto d = s.gradients(ops::silu(a) * b);
    BOOST_TEST(d[0] == (numbers{5 * silu_slope(-1), 7 * silu_slope(2)}), tt::tolerance(1e-12) << tt::per_element());
    const node& n = s.g.n[s.p.gradients[0]];
    BOOST_REQUIRE((n.k == op::mul));
    BOOST_TEST(depends(s.g, n.in[0], b.id));    // what comes in
    BOOST_TEST(!depends(s.g, n.in[1], b.id));   // the derivative: made of a alone
    for (int i = 0; i < s.g.n.n; ++i)           // and nothing is multiplied by one
        if (s.g.n[i].k == op::mul && depends(s.g, s.p.gradients[0], i))
            for (int k = 0; k < 2; ++k)
                BOOST_TEST(!(s.g.n[s.g.n[i].in[k]].k == op::constant && s.g.n[s.g.n[i].in[k]].f == 1.f));
}
BOOST_AUTO_TEST_CASE(a_value_with_other_users_ends_a_chain) {
    small s;
    const tensor a = s.par("a", {-1, 2}), b = s.par("b", {5, 7});
    const tensor part = ops::sigmoid(a);
    const auto d = s.gradients(a * part * b + part);
    const auto slope = [](double x) { return logistic(x) * (1 - logistic(x)); };
    BOOST_TEST(d[0] == (numbers{5 * silu_slope(-1) + slope(-1), 7 * silu_slope(2) + slope(2)}),
               tt::tolerance(1e-12) << tt::per_element());
}
BOOST_AUTO_TEST_CASE(a_chain_does_not_pass_stop_gradient) {
    small s;
    const tensor a = s.par("a", {-1, 2}), b = s.par("b", {5, 7});
    const auto d = s.gradients(a * stop_gradient(ops::sigmoid(a)) * (a + 3.f) * b);
    const auto slope = [](double x) { return logistic(x) * (2 * x + 3); };
    BOOST_TEST(d[0] == (numbers{5 * slope(-1), 7 * slope(2)}), tt::tolerance(1e-12) << tt::per_element());
}
BOOST_AUTO_TEST_CASE(a_chain_adds_to_what_other_users_leave) {
    small s;
    const tensor a = s.par("a", {-1, 2});
    const auto d = s.gradients(ops::silu(a) + a * a * 0.5f);
    BOOST_TEST(d[0] == (numbers{silu_slope(-1) - 1, silu_slope(2) + 2}), tt::tolerance(1e-12) << tt::per_element());
}
BOOST_AUTO_TEST_CASE(gradients_asked_for_within_a_chain) {
    small s;
    const tensor a = s.par("a", {-1, 2}), part = ops::sigmoid(a), y = ops::sum(a * part, {-1});
    growing<int> of;
    of.push(a.id);
    of.push(part.id);
    growing<int> gradients;
    differentiate(s.g, y.id, of, gradients);
    const auto value = evaluate(s.g.n, s.o);
    BOOST_TEST(value[gradients[0]] == (numbers{silu_slope(-1), silu_slope(2)}),
               tt::tolerance(1e-12) << tt::per_element());
    BOOST_TEST(value[gradients[1]] == (numbers{-1, 2}), tt::per_element());
}
