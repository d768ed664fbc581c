// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE mul
#include <boost/test/unit_test.hpp>

#include <sinter/ops/mul.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return a * b; }
    static double value(double x, double y) { return x * y; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

struct square {
    static constexpr tensor apply(tensor a) { return a * a * 0.5f; }
    static double value(double x) { return x * x / 2; }
};
BOOST_AUTO_TEST_CASE(with_itself) { check_op<unary_case<square, batch_of(2, 9)>>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({infinity, 0., no_number}, {0., 2., 1.});
    check_same(r.y, {no_number, 0, no_number});
    check_same(r.gradients[0], {0, 2, 1});
    check_same(r.gradients[1], {infinity, 0, no_number});
}
