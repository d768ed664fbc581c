// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE prelu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/prelu.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a, tensor b) { return ops::prelu(a, b); }
    static double value(double x, double slope) { return x > 0 ? x : slope * x; }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({0., -2., 2., infinity, -infinity, no_number}, {0.5, 0.5, 0.5, 0.5, 0.5,
                                          0.5});
    check_same(r.y, {0, -1, 2, infinity, -infinity, no_number});
    check_same(r.gradients[0], {0.5, 0.5, 1, 1, 0.5, 0.5});
    check_same(r.gradients[1], {0, -2, 0, 0, -infinity, no_number});
}
