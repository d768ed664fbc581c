// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv3d
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv3d.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, shape W, window O = window{}>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::conv3d(x, w, O); }
    static doubles reference(const doubles& x, const doubles& w) { return convolution(x, w, O); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(3, 4, 2, 2), extents(2, 3, 2, 2, 3)>, programs::all, 4>();
    check_op<op_of<batch_of(4, 3, 5, 4), extents(2, 2, 3, 2, 2),
                   window{.stride = {1, 2, 2}, .padding = padding::valid, .groups = 2}>,
             programs::fused_only, 4>();
    check_op<op_of<batch_of(3, 3, 4, 3), extents(3, 2, 2, 1, 3),
                   window{.padding = 1, .dilation = {1, 2, 1}, .groups = 3}>,
             programs::fused_only, 4>();   // depthwise
}
