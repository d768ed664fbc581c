// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE squared_difference
#include <boost/test/unit_test.hpp>

#include <sinter/ops/squared_difference.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a, tensor b) { return ops::squared_difference(a, b); }
    static double value(double x, double y) { return (x - y) * (x - y); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary_light<op_of>(); }
BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({3., 1., infinity, infinity}, {1., 3., 1., infinity});
    check_same(r.y, {4, 4, infinity, no_number});
    check_same(r.gradients[0], {4, -4, infinity, no_number});
    check_same(r.gradients[1], {-4, 4, -infinity, no_number});
}
