// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sum
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

BOOST_AUTO_TEST_CASE(last_axes) {
    check_op<sums<drawn_batch(0, 3), -1>>();
    check<means<drawn_batch(1, 3), -1, -2>>();
    check<sums<drawn_batch(2, 2), 0, 1>>();
}
BOOST_AUTO_TEST_CASE(axes_in_the_middle) {
    check_op<means<batch_of(3, 4, 5), 1>>();
    check<sums<drawn_batch(3, 3), 0>>();
    check<means<drawn_batch(4, 3), 0, 1>>();
    check<sums<drawn_batch(5, 4), 0, 2>>();   // two runs of axes
}
BOOST_AUTO_TEST_CASE(axes_of_one_element) {
    check<sums<batch_of(1, 3, 1), 0, 2>>();
    check<means<batch_of(1, 3, 1), 1>>();
}
BOOST_AUTO_TEST_CASE(without_a_batch) {
    check<sums<drawn(6, 2), 0, 1>>();
    check<means<drawn(7, 3), 1>>();
}
