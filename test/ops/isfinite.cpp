// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE isfinite
#include <boost/test/unit_test.hpp>

#include <sinter/ops/isfinite.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a) { return ops::isfinite(a); }
    static double value(double x) { return std::isfinite(x); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }
BOOST_AUTO_TEST_CASE(one_or_zero) {
    const op_result r = at_places_light<op_of>({2.5, 0., -0., infinity, -infinity, no_number});
    check_same(r.y, {1, 1, 1, 0, 0, 0});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0});
}
