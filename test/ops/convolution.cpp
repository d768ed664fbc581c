// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
#define BOOST_TEST_MODULE convolution
#include <boost/test/unit_test.hpp>

#include <sinter/ops/convolution.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

/// All of these share one kernel each for the three ops, whatever the extents.
template <shape X, shape W, window O = window{}>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::convolution(x, w, O); }
    static doubles reference(const doubles& x, const doubles& w) { return convolution(x, w, O); }
};
template <class Case>
void check() {
    check_op<Case, programs::fused_only, 4>();
}

BOOST_AUTO_TEST_CASE(of_images) {
    check_op<op_of<batch_of(5, 6, 3), extents(3, 2, 3, 4), window{.dilation = 2}>, programs::all, 4>();
    check<op_of<batch_of(7, 5, 2), extents(3, 3, 2, 17),
                window{.stride = {3, 2}, .padding = {2, 0, 1, 3}, .dilation = {1, 2}}>>();
    check<op_of<batch_of(6, 5, 6), extents(2, 3, 2, 9),
                window{.stride = {1, 2}, .padding = padding::valid, .groups = 3}>>();
}
BOOST_AUTO_TEST_CASE(of_rows_and_volumes) {
    check<op_of<batch_of(9, 4), extents(3, 2, 6), window{.padding = padding::causal, .dilation = 2, .groups = 2}>>();
    check<op_of<batch_of(3, 4, 3, 2), extents(2, 3, 2, 2, 5),
                window{.stride = {2, 1, 1}, .padding = {1, 0, 0, 1, 2, 1}}>>();
}
BOOST_AUTO_TEST_CASE(depthwise) {
    check_op<op_of<batch_of(5, 9, 3), extents(3, 3, 1, 3), window{.groups = 3}>, programs::all, 4>();
    check<op_of<batch_of(6, 11, 17), extents(2, 3, 1, 17),
                window{.stride = {2, 1}, .padding = {0, 1, 2, 1}, .dilation = {1, 2}, .groups = 17}>>();
    // two results a channel
    check<op_of<batch_of(4, 2), extents(3, 1, 4), window{.padding = padding::same, .groups = 2}>>();
}
