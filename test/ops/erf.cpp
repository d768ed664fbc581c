// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE erf
#include <boost/test/unit_test.hpp>

#include <sinter/ops/erf.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::erf(a); }
    static double value(double x) { return std::erf(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places<op_of>({0., 20., -20., infinity, -infinity, no_number});
    check_same(r.y, {0, 1, -1, 1, -1, no_number});
    check_same({r.gradients[0].begin() + 1, r.gradients[0].end()}, {0, 0, 0, 0, no_number});
}
