// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE atan2
#include <boost/test/unit_test.hpp>

#include <sinter/ops/atan2.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return ops::atan2(a, b); }
    static double value(double x, double y) { return std::atan2(x, y); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary_light<op_of>({.gradient = 5e-5}); }
BOOST_AUTO_TEST_CASE(edges) {
    const double inf = infinity;
    const double a[] = {0., -0., 0., -0., 1., -1., 1., inf, inf, -inf, -inf, 2., no_number, 1.};
    const double b[] = {1., 1., -1., -0., 0., 0., -inf, inf, -inf, inf, -inf, inf, 1., no_number};
    const std::vector<float> y = at_places_light<op_of>(a, b).y;
    std::vector<double> want;
    for (std::size_t i = 0; i < y.size(); ++i) want.push_back(std::atan2(a[i], b[i]));
    for (std::size_t i = 0; i < y.size(); ++i) {
        BOOST_TEST_CONTEXT("atan2(" << a[i] << ", " << b[i] << ")") {
            if (std::isnan(want[i])) BOOST_TEST(std::isnan(y[i]));
            else BOOST_TEST(std::abs(y[i] - want[i]) <= 1e-6);
        }
        BOOST_TEST((std::isnan(want[i]) || std::signbit(y[i]) == std::signbit(want[i])));
    }
}
BOOST_AUTO_TEST_CASE(no_gradient_at_the_origin) {   // as in PyTorch
    const op_result r = at_places_light<op_of>({0., -0., 0., 3.}, {0., 0., -0., 4.});
    for (const auto& g : r.gradients)
        for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(g[i] == 0.f);
    BOOST_TEST(std::abs(r.gradients[0][3] - 0.16f) < 1e-7f);
    BOOST_TEST(std::abs(r.gradients[1][3] + 0.12f) < 1e-7f);
}
