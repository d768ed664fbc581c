// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE mod
#include <boost/test/unit_test.hpp>

#include <sinter/ops/mod.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.4, high = 3;
    static constexpr tensor apply(tensor a, tensor b) { return ops::mod(a * 2.f - 3.f, b); }
    static double value(double x, double y) {
        x = 2 * x - 3;
        return x - y * std::floor(x / y);
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary_light<op_of>(); }

struct alone {
    static constexpr tensor apply(tensor a, tensor b) { return ops::mod(a, b); }
    static double value(double, double) { return 0; }
};
BOOST_AUTO_TEST_CASE(edges) {   // as NumPy
    const double inf = infinity, nan = no_number, tenth = static_cast<double>(0.1f);
    const double a[] = {7., -7., 7., -7., 6., 1., 1., inf, 1., -1., nan, 1., 0., -2.5, 1e8, 3e38};
    const double b[] = {3., 3., -3., -3., 3., tenth, 0., 2., inf, inf, 1., nan, 5., 1., 3., 7.};
    const op_result r = at_places_light<alone>(a, b);
    const double big = static_cast<double>(std::fmod(3e38f, 7.f));
    check_same(r.y,
               {1, 2, -2, -1, 0, static_cast<double>(std::fmod(1.f, 0.1f)), nan, nan, 1, inf, nan, nan, 0, 0.5,
                1, big});
    check_same({r.gradients[0][0], r.gradients[1][0], r.gradients[1][1]}, {1, -2, 3});
}
