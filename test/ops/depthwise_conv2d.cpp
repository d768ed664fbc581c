// SPDX-License-Identifier: BSL-1.0
// optimise: sanitized
#define BOOST_TEST_MODULE depthwise_conv2d
#include <boost/test/unit_test.hpp>

#include <sinter/ops/depthwise_conv2d.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, shape W, window O = window{}>
struct op_of {
    static constexpr shape operands[] = {X, W};
    static constexpr tensor apply(tensor x, tensor w) { return ops::depthwise_conv2d(x, w, O); }
    /// Channel by channel, each an image of its own.
    static doubles reference(const doubles& x, const doubles& w) {
        const int c = x.d[3], m = w.d[3], taps = w.d[0] * w.d[1];
        doubles y;
        for (int i = 0; i < c; ++i) {
            doubles one({x.d[0], x.d[1], x.d[2], 1}), filter({w.d[0], w.d[1], 1, m});
            for (int k = 0; k < one.size(); ++k) one[k] = x[k * c + i];
            for (int k = 0; k < taps * m; ++k) filter[k] = w[(k / m * c + i) * m + k % m];
            const doubles part = convolution(one, filter, O);
            if (i == 0) y = doubles({part.d[0], part.d[1], part.d[2], c * m});
            for (int k = 0; k < part.size(); ++k) y[(k / m * c + i) * m + k % m] = part[k];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 9, 17), extents(3, 3, 17, 1)>, programs::fused_only, 4>();
    check_op<op_of<batch_of(5, 4, 3), extents(2, 3, 3, 2), window{.stride = 2, .dilation = {1, 2}}>,
             programs::fused_only, 4>();
}
