// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE neg
#include <boost/test/unit_test.hpp>

#include <sinter/ops/neg.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return -a; }
    static double value(double x) { return -x; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({0., infinity, no_number});
    check_same(r.y, {0, -infinity, no_number});
    BOOST_TEST(std::signbit(r.y[0]));
    check_same(r.gradients[0], {-1, -1, -1});
}
