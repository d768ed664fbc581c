// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE tanh
#include <boost/test/unit_test.hpp>

#include <sinter/ops/tanh.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::tanh(a); }
    static double value(double x) { return std::tanh(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places<op_of>({0., 50., -50., infinity, -infinity, no_number});
    check_same(r.y, {0, 1, -1, 1, -1, no_number});
    check_same(r.gradients[0], {1, 0, 0, 0, 0, no_number});
}
