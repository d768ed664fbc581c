// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE reciprocal
#include <boost/test/unit_test.hpp>

#include <sinter/ops/reciprocal.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::reciprocal(a); }
    static double value(double x) { return 1 / x; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({2., -4., 0., -0., infinity, no_number});
    check_same(r.y, {0.5, -0.25, infinity, -infinity, 0, no_number});
    check_same(r.gradients[0], {-0.25, -0.0625, -infinity, -infinity, 0, no_number});
}
