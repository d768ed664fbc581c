// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE layers_convolution
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/pool.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

doubles plus(const doubles& y, const doubles& b) { return map(y, b, [](double p, double q) { return p + q; }); }

BOOST_AUTO_TEST_CASE(rows) {
    static constexpr window past{.padding = padding::causal, .dilation = 2, .groups = 2};
    check_net<programs::fused_only>(array<6, 2> >> conv1d<4, 3> >> conv1d<2, 2, past, bias::no> >> max_pool<2>,
                                    [](const auto& p, const auto& x) {
                                        const doubles a = plus(convolution(x[0], p[0], {}), p[1]);
                                        return std::vector{max_pooled(convolution(a, p[2], past), 2,
                                                                      {.stride = 2, .padding = padding::valid})};
                                    });
}
BOOST_AUTO_TEST_CASE(volumes_and_depthwise) {
    static constexpr window all{.padding = padding::valid};
    check_net<programs::fused_only>(array<2, 5, 4, 2> >> conv3d<3, 2, all>
                                    >> [](tensor x) { return ops::reshape(x, extents(4, 3, 3)); }
                                        >> depthwise_conv2d<per_axis(3, 2), window{.stride = {2, 1}}, 2>,
                                    [](const auto& p, const auto& x) {
                                        doubles a = plus(convolution(x[0], p[0], all), p[1]);
                                        a.d = {a.d[0], 4, 3, 3};
                                        doubles w = p[2];
                                        w.d = {3, 2, 1, 6};
                                        return std::vector{plus(convolution(a, w, {.stride = {2, 1}, .groups = 3}),
                                                                p[3])};
                                    });
}

struct traced_shape {
    graph g;
    template <class Layer>
    constexpr shape operator()(Layer l, shape s) {
        const tensor x = make<op::input>(&g, s, {}, {0});
        return l(x).shape();
    }
};
template <class Layer>
shape after(Layer l, shape s) {
    return traced_shape{}(l, s);
}
/// Keras: Conv2DTranspose(8, 3, strides=2) gives 2 H for `same` and 2 (H - 1) + 3 for `valid`.
BOOST_AUTO_TEST_CASE(extents_of_transposed_convolutions) {
    BOOST_TEST((after(conv2d_transpose<8, 3, window{.stride = 2}>, batch_of(5, 6, 2)) == batch_of(10, 12, 8)));
    BOOST_TEST((after(conv2d_transpose<8, 3, window{.stride = 2, .padding = padding::valid}>, batch_of(5, 6, 2)) ==
                batch_of(11, 13, 8)));
    BOOST_TEST((after(conv2d_transpose<8, 3, window{.stride = 2, .padding = 1}, 1>, batch_of(5, 6, 2)) ==
                batch_of(10, 12, 8)));
    BOOST_TEST((after(conv1d_transpose<4, 3, window{.stride = 3}>, batch_of(5, 2)) == batch_of(15, 4)));
    BOOST_TEST((after(conv3d_transpose<4, 2, window{.stride = 2, .padding = padding::valid}>, batch_of(2, 3, 4, 2)) ==
                batch_of(4, 6, 8, 4)));
    BOOST_TEST((after(separable_conv2d<4, 3, window{.stride = 2}, 2>, batch_of(5, 6, 3)) == batch_of(3, 3, 4)));
}
