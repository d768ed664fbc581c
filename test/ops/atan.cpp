// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE atan
#include <boost/test/unit_test.hpp>

#include <sinter/ops/atan.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -4, high = 4;
    static constexpr tensor apply(tensor a) { return ops::atan(a); }
    static double value(double x) { return std::atan(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({0., infinity, -infinity, no_number});
    check_same(r.y, {0, static_cast<double>(1.57079637f), static_cast<double>(-1.57079637f), no_number});
    check_same(r.gradients[0], {1, 0, 0, no_number});
}
