// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE acosh
#include <boost/test/unit_test.hpp>

#include <sinter/ops/acosh.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 1.2, high = 6;
    static constexpr tensor apply(tensor a) { return ops::acosh(a); }
    static double value(double x) { return std::acosh(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({1., 0.5, -2., infinity, no_number});
    check_same(r.y, {0, no_number, no_number, infinity, no_number});
}
