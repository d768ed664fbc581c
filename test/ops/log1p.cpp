// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE log1p
#include <boost/test/unit_test.hpp>

#include <sinter/ops/log1p.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -0.8, high = 4;
    static constexpr tensor apply(tensor a) { return ops::log1p(a); }
    static double value(double x) { return std::log1p(x); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({0., -1., -2., infinity, 1e-20, -1e-20, no_number});
    check_same(r.y, {0, -infinity, no_number, infinity, static_cast<double>(1e-20f), static_cast<double>(-1e-20f),
                     no_number});
    check_same(r.gradients[0], {1, infinity, -1, 0, 1, 1, no_number});
}
