// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sum_over_batch
#include <boost/test/unit_test.hpp>

#include <sinter/ops/sum.hpp>

#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Axes>
using sums = over_axes<reduce_by::sum, keep::no, A, Axes...>;
template <shape A, int... Axes>
using means = over_axes<reduce_by::mean, keep::yes, A, Axes...>;
template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(batch_alone) {
    check_op<sums<drawn_batch(0, 2), batch_axis>>();
    check<means<batch_of(1), batch_axis>>();
}
BOOST_AUTO_TEST_CASE(all_but_the_last) {   // as batch_norm
    check_op<means<drawn_batch(2, 3), batch_axis, 0, 1>>();
    check<sums<drawn_batch(1, 3), batch_axis, 0>>();
}
BOOST_AUTO_TEST_CASE(others) {
    check<sums<drawn_batch(4, 3), batch_axis, 1>>();
    check<means<drawn_batch(6, 2), batch_axis, -1>>();
    check<sums<drawn_batch(3, 3), batch_axis, 0, 1, 2>>();
    check<means<drawn_batch(5, 3), batch_axis, 1, 2>>();
}
