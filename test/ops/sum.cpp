// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sum
#include <boost/test/unit_test.hpp>

#include <sinter/ops/sum.hpp>

#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Axes>
using sums = reduction<reduce_by::sum, keep::no, A, Axes...>;
template <shape A, int... Axes>
using means = reduction<reduce_by::mean, keep::yes, A, Axes...>;
template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(last_axes) {
    check_op<sums<batch_of(3, 2, 17), -1>>();
    check<means<batch_of(3, 2, 5), -1, -2>>();
    check<sums<batch_of(3, 5), 0, 1>>();
}
BOOST_AUTO_TEST_CASE(axes_in_the_middle) {
    check_op<means<batch_of(3, 4, 5), 1>>();
    check<sums<batch_of(3, 2, 5), 0>>();
    check<means<batch_of(3, 2, 5), 0, 1>>();
    check<sums<batch_of(3, 2, 5), 0, -1>>();   // two runs of axes
}
BOOST_AUTO_TEST_CASE(axes_of_one_element) {
    check<sums<batch_of(1, 3, 1), 0, 2>>();
    check<means<batch_of(1, 3, 1), 1>>();
}
BOOST_AUTO_TEST_CASE(without_a_batch) {
    check<sums<extents(3, 5), 0, 1>>();
    check<means<extents(2, 3, 5), 1>>();
}
