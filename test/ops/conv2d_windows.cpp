// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE conv2d_windows
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv2d.hpp>

#include "support/convolutions.hpp"

/// Windows beyond the usual ones, and gradients of gradients.
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

BOOST_AUTO_TEST_CASE(padding_in_numbers) {
    check<op_of<batch_of(4, 5, 2), packed(extents(3, 2, 2, 5)), window{.stride = 2, .padding = {2, 1, 0, 3}}>>();
    check<op_of<batch_of(3, 3, 4), packed(extents(2, 2, 4, 3)), window{.padding = 3}>>();   // more than the window
}
BOOST_AUTO_TEST_CASE(what_the_dense_kernels_do_not_know) {
    check<op_of<batch_of(6, 5, 2), packed(extents(3, 2, 2, 4)), window{.stride = {2, 1}, .dilation = {1, 2}}>>();
    check<op_of<batch_of(4, 5, 4), packed(extents(3, 3, 2, 6)), window{.groups = 2}>>();
}

/// The two gradients as ops of their own, whose gradients are convolutions again.
struct weight_gradient {
    static constexpr shape operands[] = {batch_of(4, 5, 3), batch_of(2, 3, 2)};
    static constexpr window o{.stride = 2, .padding = padding::same};
    static constexpr tensor apply(tensor x, tensor d) {
        return ops::unpack(make<op::conv_weight_gradient>(x.g, packed(extents(3, 3, 3, 2)), {x, d}, {3, 3, 2, 0, 1}));
    }
    static doubles reference(const doubles& x, const doubles& d) {
        doubles w({3, 3, 3, 2});
        each_window(x, 3, 3, o, [&](int to, int from, int tap) {
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 2; ++j) w[(tap * 3 + i) * 2 + j] += x[from * 3 + i] * d[to * 2 + j];
        });
        return w;
    }
};
BOOST_AUTO_TEST_CASE(gradient_of_the_weight_gradient) { check<weight_gradient>(); }
