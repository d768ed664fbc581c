// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE separable_conv2d
#include <boost/test/unit_test.hpp>

#include <sinter/ops/separable_conv2d.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr window o{.stride = 2, .padding = padding::valid};
    static constexpr shape operands[] = {batch_of(6, 5, 2), extents(3, 2, 2, 2), packed(extents(1, 1, 4, 3))};
    static constexpr tensor apply(tensor x, tensor d, tensor p) { return ops::separable_conv2d(x, d, p, o); }
    /// One dense convolution whose weights are the two kernels' products.
    static doubles reference(const doubles& x, const doubles& d, const doubles& p) {
        doubles w({3, 2, 2, 3});
        for (int tap = 0; tap < 6; ++tap)
            for (int i = 0; i < 2; ++i)
                for (int f = 0; f < 3; ++f)
                    for (int m = 0; m < 2; ++m)
                        w[(tap * 2 + i) * 3 + f] += d[(tap * 2 + i) * 2 + m] * p[(i * 2 + m) * 3 + f];
        return convolution(x, w, o);
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only, 4>(); }
