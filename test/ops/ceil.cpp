// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE ceil
#include <boost/test/unit_test.hpp>

#include <sinter/ops/ceil.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3.3, high = 3.7;
    static constexpr tensor apply(tensor a) { return ops::ceil(a); }
    static double value(double x) { return std::ceil(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({1.5, -1.5, 2., -0., 0.25, -0.25, 8388607.5, -8388607.5, 3e9,
                                                infinity, -infinity, no_number});
    check_same(r.y, {2, -1, 2, 0, 1, 0, 8388608, -8388607, 3e9, infinity, -infinity, no_number});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(signs_of_zeros) {
    const std::vector<float> y = at_places_light<op_of>({-0., 0., -0.25, 0.25}).y;
    BOOST_TEST((std::signbit(y[0]) && !std::signbit(y[1]) && std::signbit(y[2]) && !std::signbit(y[3])));
}
