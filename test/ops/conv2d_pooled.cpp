// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv2d_pooled
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv2d.hpp>

#include <sinter/ops/relu.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

/// Convolution, bias, activation and pool: one kernel where the extents allow it, and its gradient by lists.
template <shape X, shape W, window O, int Pool, bool First>
struct block {
    static constexpr shape operands[] = {X, W, extents(W.last())};
    static constexpr bool plain_inputs = First;   // the images themselves: nobody asks for their gradient
    static constexpr tensor apply(tensor x, tensor w, tensor b) {
        return ops::max_pool(ops::relu(ops::conv2d(x, w, O) + b), Pool, {Pool, padding::valid});
    }
    static doubles reference(const doubles& x, const doubles& w, const doubles& b) {
        const doubles y = map(convolution(x, w, O), b, [](double p, double q) { return std::max(p + q, 0.); });
        return max_pooled(y, Pool, {Pool, padding::valid});
    }
};

BOOST_AUTO_TEST_CASE(inside_a_net) {
    check_op<block<batch_of(6, 6, 3), packed(extents(3, 3, 3, 4)), window{}, 2, false>, programs::all, 4>();
    constexpr drawn_window d(1, window{});   // its rows and columns, and as many more as the pool needs
    check_op<block<batch_of(d.h + 1, d.w + 2, d.channels), packed(d.weights()), window{}, 2, false>,
             programs::fused_only, 4>();
}
BOOST_AUTO_TEST_CASE(first_of_a_net) {
    check_op<block<batch_of(8, 8, 1), packed(extents(3, 3, 1, 6)), window{}, 2, true>, programs::all, 4>();
    check_op<block<batch_of(10, 9, 1), packed(extents(5, 5, 1, 3)), valid, 3, true>, programs::fused_only, 4>();
}
