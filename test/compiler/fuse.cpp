// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fuse
#include <boost/test/unit_test.hpp>

#include <sinter/expr/parameter.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/log_softmax.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>

#include "compiler/fused_graph.hpp"

/// What becomes one kernel and what must not. (Random graphs: random_graphs.cpp.)
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct small : fused_graph {
    tensor x;
    explicit small(shape s = batch_of(4, 6)) : x(input(g, s)) {}

    /// Fuses everything that `outputs` need; the number of groups.
    int groups(std::initializer_list<tensor> outputs, bool on = true) {
        need(outputs);
        p.fuse_all({.fuse = on});
        return checked_groups();
    }
    tensor own(const char* name, shape s) { return parameter(x, name, s, zeros); }
};

BOOST_AUTO_TEST_CASE(elementwise_chain_is_one_walk) {
    small s;
    const tensor a = ops::tanh(s.x), b = a * 2.f, c = ops::exp(b) + a;
    BOOST_TEST(s.groups({c}) == 1);
    BOOST_TEST(!s.stored(a));
    BOOST_TEST(!s.stored(b));
    BOOST_TEST(s.stored(c));
}
BOOST_AUTO_TEST_CASE(without_fusion_every_op_is_a_kernel) {
    small s;
    BOOST_TEST(s.groups({ops::exp(ops::tanh(s.x) * 2.f)}, false) == 3);
}
BOOST_AUTO_TEST_CASE(softmax_is_one_walk_in_phases) {
    small s;
    BOOST_TEST(s.groups({ops::log_softmax(ops::tanh(s.x))}) == 1);
}
BOOST_AUTO_TEST_CASE(layer_norm_is_one_walk) {
    small s;
    const tensor d = s.x - mean(s.x, {-1}, keep::yes), v = mean(d * d, {-1}, keep::yes);
    BOOST_TEST(s.groups({d / ops::sqrt(v + 1e-5f) * s.own("gamma", extents(6)) + s.own("beta", extents(6))}) == 1);
}
BOOST_AUTO_TEST_CASE(a_product_takes_what_is_behind_it) {
    small s;
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 8), zeros)),
        z = ops::relu(y + s.own("b", extents(8)));
    BOOST_TEST(s.groups({z}) == 1);
    BOOST_TEST(!s.stored(y));
    BOOST_TEST(s.stored(z));
    BOOST_TEST(s.p.f.g[0].root_op);
}
BOOST_AUTO_TEST_CASE(a_narrow_product_takes_no_more_than_its_bias) {   // a walk of its own goes across rows
    small s;
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 2), zeros)) + s.own("b", extents(2)),
        z = ops::exp(ops::tanh(y));
    BOOST_TEST(s.groups({z}) == 2);
    BOOST_TEST(s.stored(y));
}
BOOST_AUTO_TEST_CASE(what_is_before_a_product_is_stored) {
    small s;
    const tensor a = ops::tanh(s.x), y = ops::matmul(a, weights(s.x, "w", extents(6, 8), zeros));
    BOOST_TEST(s.groups({y}) == 2);
    BOOST_TEST(s.stored(a));
}
BOOST_AUTO_TEST_CASE(two_products_never_join) {
    small s;
    const tensor y = ops::matmul(ops::matmul(s.x, weights(s.x, "a", extents(6, 6), zeros)),
                                 weights(s.x, "b", extents(6, 6), zeros));
    BOOST_TEST(s.groups({y}) == 2);
}
BOOST_AUTO_TEST_CASE(no_row_reduction_behind_a_product) {   // its tiles do not hold whole rows
    small s;
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 8), zeros)), m = max(y, {-1}, keep::yes);
    BOOST_TEST(s.groups({y - m}) == 2);
    BOOST_TEST(s.of(y) != s.of(m));
}
BOOST_AUTO_TEST_CASE(what_is_read_later_is_computed_later) {   // from what lies in memory anyway
    small s;
    const tensor a = ops::matmul(s.x, weights(s.x, "w", extents(6, 64), zeros)), off = a - sum(a, {batch_axis, 0});
    const tensor b = ops::matmul(ops::relu(a), weights(s.x, "v", extents(64, 64), zeros)), y = b * off;
    BOOST_TEST(s.groups({y, a}) == 2);
    BOOST_TEST(!s.stored(off));
    BOOST_TEST(!s.stored(b));
}
BOOST_AUTO_TEST_CASE(column_sums_ride_along_but_are_not_at_hand) {
    small s;
    const tensor y = ops::tanh(s.x), total = sum(y, {batch_axis, 0}), centred = y - total;
    s.groups({centred});
    BOOST_TEST(s.of(y) == s.of(total));
    BOOST_TEST(s.of(centred) != s.of(total));
    BOOST_TEST(s.stored(total));
}
BOOST_AUTO_TEST_CASE(views_of_other_rows_are_not_read_in_place) {
    small s;
    const tensor y = ops::tanh(s.x), same = ops::reshape(y, extents(2, 2, 6)) * 2.f,
        other = ops::reshape(y, extents(8, 3)) * 2.f;
    s.groups({same, other});
    BOOST_TEST(s.of(y) == s.of(same));
    BOOST_TEST(s.of(y) != s.of(other));
}
BOOST_AUTO_TEST_CASE(random_numbers_and_labels_float) {
    small s;
    const tensor alive = ops::binary<op::greater>(constant(&s.g, 0.5f), ops::random_uniform(s.x));
    const tensor y = ops::matmul(s.x * alive, weights(s.x, "w", extents(6, 6), zeros));
    s.groups({y * alive});
    BOOST_TEST(s.of(alive) == rematerialized);
    BOOST_TEST(!s.stored(alive));
}
BOOST_AUTO_TEST_CASE(what_a_kernel_reads_does_not_float) {
    small s;
    const tensor u = ops::random_uniform(s.x), y = ops::matmul(u, weights(s.x, "w", extents(6, 6), zeros));
    s.groups({y});
    BOOST_TEST(s.of(u) >= 0);
    BOOST_TEST(s.stored(u));
}
BOOST_AUTO_TEST_CASE(costly_values_of_inputs_do_not_float) {
    small s;
    const tensor a = ops::tanh(s.x), b = s.x * 0.5f;
    const tensor y = ops::matmul(s.x, weights(s.x, "w", extents(6, 6), zeros));
    s.groups({y * a, y + b});
    BOOST_TEST(s.of(a) >= 0);
    BOOST_TEST(s.of(b) == rematerialized);
}
BOOST_AUTO_TEST_CASE(max_pool_joins_its_convolution) {
    small s(batch_of(8, 8, 2));
    const tensor c = ops::conv2d(s.x, weights(s.x, "w", extents(3, 3, 2, 4), zeros));
    const tensor y = ops::relu(ops::max_pool(c, 2, {2, padding::valid}) + s.own("b", extents(4)));
    BOOST_TEST(s.groups({y}) == 1);
    BOOST_TEST(s.p.f.g[0].pool >= 0);
    BOOST_TEST(s.p.f.g[0].space.d[0] == 4);
    BOOST_TEST(!s.stored(c));
}
BOOST_AUTO_TEST_CASE(max_pool_stays_alone_where_the_convolution_is_needed) {
    small s(batch_of(8, 8, 2));
    const tensor c = ops::conv2d(s.x, weights(s.x, "w", extents(3, 3, 2, 4), zeros));
    BOOST_TEST(s.groups({ops::max_pool(c, 2, {2, padding::valid}), ops::relu(c)}) == 2);
    small overlapping(batch_of(8, 8, 2));
    const tensor d = ops::conv2d(overlapping.x, weights(overlapping.x, "w", extents(3, 3, 2, 4), zeros));
    BOOST_TEST(overlapping.groups({ops::max_pool(d, 3, {2, padding::valid})}) == 2);
    small odd(batch_of(7, 8, 2));   // the last window hangs over the edge
    const tensor e = ops::conv2d(odd.x, weights(odd.x, "w", extents(3, 3, 2, 4), zeros));
    BOOST_TEST(odd.groups({ops::max_pool(e, 2, {2, padding::same})}) == 2);
}
BOOST_AUTO_TEST_CASE(recomputed_nodes_stay_out_of_forward_groups) {
    small s;
    const tensor w = s.own("w", extents(6));
    const tensor a = ops::tanh(s.x * w);
    const int first = s.g.n.n;
    const tensor b = ops::exp(ops::sigmoid(a) * a), c = ops::tanh(b) * b;
    s.g.regions.push(first), s.g.regions.push(c.id);
    tensor l = ops::reshape(c * c, extents(24));
    s.g.loss = ops::sum(ops::sum(l, {-1}), {batch_axis}).id;
    s.p.differentiate_all();
    s.groups({});
    int again = 0;
    for (int v = 0; v < s.g.n.n; ++v)
        if (s.g.n[v].epoch && s.p.f.live[v] && s.p.f.of[v] >= 0) {
            ++again;
            BOOST_TEST(s.p.f.of[v] != s.of(a));
            BOOST_TEST(s.p.f.g[s.p.f.of[v]].epoch == 1);
        }
    BOOST_TEST(again > 2);
    BOOST_TEST(!s.stored(b));   // what lies within is not kept
}
BOOST_AUTO_TEST_CASE(groups_stay_below_their_limits) {
    small s;
    tensor y = s.x;
    for (int i = 0; i < 200; ++i) y = ops::tanh(y * 1.5f) + s.x;
    BOOST_TEST(s.groups({y}) > 3);
    for (int i = 0; i < s.p.f.groups; ++i) {
        BOOST_TEST(s.p.f.g[i].members <= max_members);
        BOOST_TEST(s.p.f.g[i].code <= max_code);
    }
}
BOOST_AUTO_TEST_CASE(what_nobody_needs_is_not_computed) {
    small s;
    const tensor unused = ops::exp(s.x);
    BOOST_TEST(s.groups({ops::tanh(s.x)}) == 1);
    BOOST_TEST(!s.p.f.live[unused.id]);
}
