// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE relu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/relu.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::relu(a); }
    static double value(double x) { return x > 0 ? x : 0; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(at_zero_and_beyond) {
    const op_result r = at_places<op_of>({0., -0., 2e-38, -2e-38, infinity, -infinity, no_number});
    check_same(r.y, {0, 0, static_cast<double>(2e-38f), 0, infinity, 0, no_number});
    check_same(r.gradients[0], {0, 0, 1, 0, 1, 0, 1});
}

struct twice {   // the rule of its gradient: what relu blocks stays blocked
    static constexpr tensor apply(tensor a) { return ops::relu(ops::relu(a) - 0.5f); }
    static double value(double x) { return x > 0.5 ? x - 0.5 : 0; }
};
BOOST_AUTO_TEST_CASE(behind_itself) { check_unary<twice>(); }
