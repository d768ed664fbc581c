// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE exp
#include <boost/test/unit_test.hpp>

#include <sinter/ops/exp.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -4, high = 4;
    static constexpr tensor apply(tensor a) { return ops::exp(a); }
    static double value(double x) { return std::exp(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places<op_of>({0., -infinity, infinity, 89., -200., no_number});
    check_same(r.y, {1, 0, infinity, infinity, 0, no_number});
    check_same(r.gradients[0], {1, 0, infinity, infinity, 0, no_number});
}
