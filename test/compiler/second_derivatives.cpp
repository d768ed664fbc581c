// SPDX-License-Identifier: BSL-1.0
// alone: its macros
#define BOOST_TEST_MODULE second_derivatives
#include <boost/test/unit_test.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/ops.hpp>

#include "compiler/random_graph.hpp"
#include "compiler/second_order.hpp"

/// What the passes treat differently, its gradients and theirs; second_derivatives_of_ops.cpp has each op.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;

#define SECOND(name, ...)                    \
    BOOST_AUTO_TEST_CASE(name) {             \
        second_order s;                      \
        __VA_ARGS__                          \
    }

SECOND(functions_of_one_element, const tensor a = s.par(extents(5), 0.3, 2);
       s.check(ops::exp(a) + ops::log(a) * a + ops::sqrt(a) + ops::tanh(a) + ops::sigmoid(a) * ops::erf(a) +
               ops::gelu(a));)
SECOND(arithmetic_of_two, const tensor a = s.par(extents(3, 4)), b = s.par(extents(4), 1, 2);
       s.check(a * b + a / b - ops::maximum(a, b * 0.3f) * a + ops::minimum(a * a, b));)
SECOND(rectified, const tensor a = s.par(extents(7)); s.check(ops::relu(a) * ops::relu(a * 2.f));)
SECOND(one_or_the_other, const tensor a = s.par(extents(6)), b = s.par(extents(6));
       s.check(ops::where(ops::greater(a, b), a * b, a * a));)
SECOND(products_with_weights, const tensor x = s.in(batch_of(3)), w = s.weights_of(3, 4), v = s.weights_of(4, 2);
       s.check(ops::matmul(ops::tanh(ops::matmul(x, w)), v));)
SECOND(products_of_three_axes, const tensor x = s.in(batch_of(2, 3)), w = s.weights_of(3, 4);
       s.check(ops::exp(ops::matmul(x, w)));)
SECOND(weights_transposed, const tensor x = s.in(batch_of(3)), w = s.weights_of(3, 3);
       s.check(ops::matmul(ops::matmul(x, w), w, transposed::no, transposed::yes));)
SECOND(batched_products, const tensor x = s.in(batch_of(2, 3)), a = s.par(extents(2, 3)), b = s.par(extents(1, 3, 2));
       const tensor y = ops::matmul(x * a, ops::reshape(ops::broadcast_to(b, extents(1, 3, 2)), extents(3, 2)));
       s.check(ops::matmul(y, x * a, transposed::yes, transposed::no));)
SECOND(convolutions, const tensor x = s.in(batch_of(5, 4, 2)), own = s.par(extents(5, 4, 2)),
       w = s.par(extents(3, 3, 2, 3));
       s.check(ops::conv2d(x * own, w, {.stride = 2}));)
SECOND(pooled_maxima, const tensor x = s.in(batch_of(5, 4, 2)), own = s.par(extents(5, 4, 2));
       const tensor y = x * own; s.check(ops::max_pool(y * y, 2, {.stride = 2}));)
SECOND(pooled_means, const tensor x = s.in(batch_of(5, 4, 2)), own = s.par(extents(5, 4, 2));
       s.check(ops::avg_pool(x * own, 3, {.stride = 2}) * ops::avg_pool(x * own, 3, {.stride = 2}));)
SECOND(sums, const tensor x = s.in(batch_of(3, 4)), a = s.par(extents(3, 4)); const tensor y = x * a;
       s.check(ops::sum(y * y, {0}) * ops::sum(y, {0}) * ops::reshape(ops::sum(y, {-1, 0}), extents(1)) *
               ops::sum(y, {0, batch_axis}));)
SECOND(maxima, const tensor x = s.in(batch_of(3, 4)), a = s.par(extents(3, 4)); const tensor y = x * a;
       s.check(max(y, {-1}, keep::yes) * y + max(y, {0}, keep::yes) * y);)
SECOND(normalised_exponentials, const tensor x = s.in(batch_of(4)), a = s.par(extents(4));
       s.check(ops::softmax(x * a));)
SECOND(their_logarithms, const tensor x = s.in(batch_of(4)), a = s.par(extents(4));
       s.check(ops::log_softmax(x * a * a));)
SECOND(normalised_rows, const tensor x = s.in(batch_of(2, 5)), a = s.par(extents(5));
       const tensor y = x * a, d = y - mean(y, {-1}, keep::yes);
       s.check(d / ops::sqrt(mean(d * d, {-1}, keep::yes) + 1e-5f));)
SECOND(rows_of_a_table, const tensor i = s.rows(batch_of(4), 5), table = s.par(extents(5, 3));
       const tensor y = ops::gather_rows(table, i); s.check(y * y * y);)
SECOND(moves, const tensor x = s.in(batch_of(3, 4)), a = s.par(extents(3, 4)); const tensor y = x * a;
       const tensor z = ops::concat(ops::transpose(y), ops::reshape(y, extents(4, 3)), 1);
       s.check(ops::slice(z, 1, 1, 4) * ops::slice(z, 1, 0, 4) *
               ops::roll(ops::reverse(ops::pad(ops::slice(z, 1, 2, 3), {{0, 0}, {1, 0}}, 0.f), {0}), 1, 1));)
SECOND(what_is_linear_has_none, const tensor x = s.in(batch_of(3, 4)), a = s.par(extents(3, 4));
       s.check(ops::transpose(x * a) * 2.f + 1.f, true);)

BOOST_AUTO_TEST_CASE(a_third_derivative_and_zeros_of_steps) {
    second_order s;
    const tensor a = s.par(extents(3)), y = a * a * a * a;
    const tensor third = ops::gradient(ops::gradient(ops::gradient(y, a), a), a),
        none = ops::gradient(ops::sign(a) * 2.f, a);
    const auto value = evaluate(s.g.n, s.o);
    for (std::size_t k = 0; k < 3; ++k) {
        BOOST_TEST(std::abs(value[third.id][k] - 24 * s.o.parameters[0][k]) < 1e-12);
        BOOST_TEST(value[none.id][k] == 0);
    }
}
BOOST_AUTO_TEST_CASE(no_gradient_is_not_taken_for_zero) {
    {
        second_order s;
        const tensor z = s.par(extents(4, 3)), labels = s.rows(batch_of(2), 3);
        const tensor d = ops::gradient(ops::ctc_loss(z + s.in(batch_of(4, 3)), labels), z);
        BOOST_TEST(d.ok());
        ops::gradient(d, z);
        BOOST_TEST((s.g.err.what == fault_kind::no_gradient));
    }
    second_order s;
    const tensor a = s.par(extents(2)), b = s.par(extents(2));
    ops::gradient(stop_gradient(a) * b, a);
    BOOST_TEST((s.g.err.what == fault_kind::does_not_depend));
}

BOOST_AUTO_TEST_CASE(random_graphs_with_checkpoints) {   // second derivatives along one random direction each
    int compared = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
        auto p = std::make_unique<passes>();
        graph& g = p->g;
        random_graph r(g, seed, false);
        r.build(2 + static_cast<int>(seed % 7));
        surroundings o = r.values(2);
        growing<int> of, first, second;
        for (int i = 0; i < g.parameters.n; ++i) of.push(g.parameters[i].id);
        differentiate(g, g.loss, of, first);
        tensor all = constant(&g, 0.f);
        for (int i = 0; i < of.n; ++i)
            if (first[i] >= 0)
                all = all + sinter::detail::sum_of_all(ops::tanh(ops::unpack(tensor{&g, first[i]}) * 3.f));
        BOOST_REQUIRE(all.ok());
        const int forward = g.n.n;
        differentiate(g, all.id, of, second);
        BOOST_REQUIRE(g.err.what == fault_kind::none);
        const auto value = evaluate(g.n, o);
        const view<node> nodes{g.n.p, forward};
        for (int i = 0; i < g.parameters.n; ++i) {
            numbers& x = o.parameters[i];
            for (std::size_t k = 0; k < x.size() && k < 3; ++k) {
                const double old = x[k], h = 1e-5;
                double side[4];
                for (int j = 0; j < 4; ++j) {
                    x[k] = old + h * (j < 2 ? 2 * j - 1 : 2 * (2 * j - 5));
                    side[j] = evaluate(nodes, o)[all.id][0];
                }
                x[k] = old;
                const double near = (side[1] - side[0]) / (2 * h), far = (side[3] - side[2]) / (4 * h);
                if (std::abs(near - far) > 1e-6) continue;   // a kink lies between
                const double got = second[i] < 0 ? 0 : value[second[i]][k];
                BOOST_TEST(std::abs(got - near) <= 1e-6 * (1 + std::abs(near)),
                           "parameter " << i << '[' << k << "]: " << got << ", not " << near);
                compared += std::abs(near) > 1e-6;
            }
        }
    }
    BOOST_TEST(compared > 100);
}
