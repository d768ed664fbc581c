// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv2d
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv2d.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, shape W, window O = window{}>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::conv2d(x, w, O); }
    static doubles reference(const doubles& x, const doubles& w) { return convolution(x, w, O); }
};
template <class Case>
void check() {
    check_op<Case, programs::fused_only, 4>();
}

BOOST_AUTO_TEST_CASE(same) {
    check_op<op_of<batch_of(5, 6, 3), packed(extents(3, 3, 3, 4))>, programs::all, 4>();
    check<op_of<batch_of(6, 5, 1), packed(extents(5, 5, 1, 6))>>();
    check<op_of<batch_of(4, 3, 2), packed(extents(2, 4, 2, 17))>>();   // even windows: one row more below, to the right
    check<op_of<batch_of(2, 2, 1), packed(extents(5, 5, 1, 1))>>();    // larger than the image
}
BOOST_AUTO_TEST_CASE(valid_padding) {
    check<op_of<batch_of(7, 6, 2), packed(extents(3, 2, 2, 5)), valid>>();
    check<op_of<batch_of(3, 3, 4), packed(extents(3, 3, 4, 3)), valid>>();
    check<op_of<batch_of(3, 2, 17), packed(extents(1, 1, 17, 5)), valid>>();
}
BOOST_AUTO_TEST_CASE(strides) {
    check<op_of<batch_of(6, 5, 3), packed(extents(3, 3, 3, 4)), by_two>>();
    check<op_of<batch_of(7, 6, 1), packed(extents(3, 3, 1, 4)), by_two_valid>>();
}
BOOST_AUTO_TEST_CASE(plain_weights) { check<op_of<batch_of(4, 5, 2), extents(3, 3, 2, 5)>>(); }
