// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE log
#include <boost/test/unit_test.hpp>

#include <sinter/ops/log.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.1, high = 4;
    static constexpr tensor apply(tensor a) { return ops::log(a); }
    static double value(double x) { return std::log(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({1., 0., -1., infinity, no_number});
    check_same(r.y, {0, -infinity, no_number, infinity, no_number});
    check_same(r.gradients[0], {1, infinity, -1, 0, no_number});
}
