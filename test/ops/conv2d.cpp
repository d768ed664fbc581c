// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
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

/// Extents drawn, weights packed.
template <int Number, window O>
void check_drawn() {
    constexpr drawn_window d(Number, O);
    check<op_of<d.image(), packed(d.weights()), O>>();
}

BOOST_AUTO_TEST_CASE(same) {
    check_op<op_of<batch_of(5, 6, 3), packed(extents(3, 3, 3, 4))>, programs::all, 4>();
    check_drawn<1, window{}>();
    check<op_of<batch_of(4, 3, 2), packed(extents(2, 4, 2, 17))>>();   // even windows: one row more below, to the right
    check<op_of<batch_of(2, 2, 1), packed(extents(5, 5, 1, 1))>>();    // larger than the image
}
BOOST_AUTO_TEST_CASE(valid_padding) {
    check_drawn<2, valid>();
    check_drawn<3, valid>();
    check<op_of<batch_of(3, 3, 4), packed(extents(3, 3, 4, 3)), valid>>();   // one place
    check<op_of<batch_of(1, 1, 17), packed(extents(1, 1, 17, 5)), valid>>();
}
BOOST_AUTO_TEST_CASE(strides) {
    check_drawn<5, by_two>();
    check_drawn<6, by_two_valid>();
}
BOOST_AUTO_TEST_CASE(few_channels_go_out) {   // of which lanes run along those that come in
    check_op<op_of<batch_of(4, 18, 16), packed(extents(3, 3, 16, 3))>, programs::all, 4>();
    check<op_of<batch_of(5, 17, 32), packed(extents(1, 1, 32, 1))>>();
    check<op_of<batch_of(6, 33, 16), packed(extents(3, 3, 16, 2)), by_two>>();
}
BOOST_AUTO_TEST_CASE(plain_weights) {
    constexpr drawn_window d(8, window{});
    check<op_of<d.image(), d.weights()>>();
}
