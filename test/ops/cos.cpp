// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE cos
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cos.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -7, high = 7;
    static constexpr tensor apply(tensor a) { return ops::cos(a); }
    static double value(double x) { return std::cos(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({0., infinity, -infinity, no_number});
    check_same(r.y, {1, no_number, no_number, no_number});
    check_same(r.gradients[0], {0, no_number, no_number, no_number});
}

BOOST_AUTO_TEST_CASE(large_angles) {
    const double x = static_cast<double>(1e30f);
    check_close(at_places_light<op_of>({x}).y, doubles({1}, std::cos(x)), 1e-6, "value");
}
