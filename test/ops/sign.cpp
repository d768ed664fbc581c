// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE sign
#include <boost/test/unit_test.hpp>

#include <sinter/ops/sign.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::sign(a); }
    static double value(double x) { return (x > 0) - (x < 0); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({0., -0., 2.5, -1e-30, infinity, -infinity, no_number});
    check_same(r.y, {0, 0, 1, -1, 1, -1, no_number});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0});
}
