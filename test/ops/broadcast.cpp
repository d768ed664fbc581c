// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE broadcast
#include <boost/test/unit_test.hpp>

#include <sinter/ops/broadcast.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct product {
    static constexpr tensor apply(tensor a, tensor b) { return a * b + a; }
    static double value(double x, double y) { return x * y + x; }
};
/// All under drawn extents [P, Q, R] of each example; what is shared with them, from the outside in, is marked.
constexpr int P = shape_source(0).one_of({2, 3}), Q = shape_source(1).one_of({2, 3}),
    R = shape_source(2).one_of({3, 5, 7, 9});
template <shape A, shape B = batch_of(P, Q, R), programs Which = programs::fused_only>
void check() {
    check_op<binary_case<product, A, B>, Which>();
}

BOOST_AUTO_TEST_CASE(trailing_axes) {
    check<extents(R)>();
    check<extents(Q, R)>();
    check<extents(P, Q, R)>();
}
BOOST_AUTO_TEST_CASE(leading_axes) {
    check<batch_of(1, 1, 1)>();
    check<batch_of(P, 1, 1)>();
    check<batch_of(P, Q, 1), batch_of(P, Q, R), programs::all>();
    check<batch_of(P, 1, R)>();
}
BOOST_AUTO_TEST_CASE(in_the_middle) {   // neither: the operand is spelled out first
    check<extents(P, 1, R), batch_of(P, Q, R), programs::all>();
    check<batch_of(1, Q, 1)>();
    check<extents(P, 1, 1)>();
}
BOOST_AUTO_TEST_CASE(axes_of_one_under_axes_of_one) { check<stretching_to(drawn_batch(1, 4), 2), drawn_batch(1, 4)>(); }

BOOST_AUTO_TEST_CASE(extents_that_do_not_fit) {
    struct wrong { shape from, to; };
    for (const wrong& w : {wrong{extents(5), extents(3)}, {extents(2, 3), extents(3)}, {batch_of(3), extents(3)},
                           {batch_of(3), batch_of(2, 3)}}) {
        graph g;
        const tensor x = parameter(make<op::input>(&g, batch_of(1), {}, {0}), "x", w.from, ones);
        ops::broadcast_to(w.from.batched ? make<op::input>(&g, w.from, {}, {1}) : x, w.to);
        const bool ranks = w.from.batched && w.to.rank > w.from.rank;   // which of its axes is meant?
        BOOST_TEST((g.err.what == (ranks ? fault_kind::batched_ranks_differ : fault_kind::shapes_not_broadcastable)));
    }
}
