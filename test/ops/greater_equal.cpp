// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE greater_equal
#include <boost/test/unit_test.hpp>

#include <sinter/ops/greater_equal.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a, tensor b) { return greater_equal(a, b); }
    static double value(double x, double y) { return x >= y; }
};
BOOST_AUTO_TEST_CASE(one_or_zero) {
    const op_result r = at_places<op_of>({2., 1., 2., 0., infinity, -infinity, no_number, 1., no_number},
                                         {1., 2., 2., -0., infinity, 3., no_number, no_number, 1.});
    check_same(r.y, {1, 0, 1, 1, 1, 0, 0, 0, 0});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0, 0, 0});
    check_same(r.gradients[1], {0, 0, 0, 0, 0, 0, 0, 0, 0});
}

struct with_numbers {   // times a, so that there is a gradient to look at: none comes through the comparison
    static constexpr tensor apply(tensor a) { return a * greater_equal(a, 1.f) + greater_equal(0.5f, a); }
    static double value(double x) { return x * (x >= 1) + (0.5 >= x); }
};
BOOST_AUTO_TEST_CASE(numbers) {
    check_unary_light<with_numbers>();
    const double places[] = {0.5, 1., 1.5};
    check_same(at_places_light<with_numbers>(places).y,
               {with_numbers::value(0.5), with_numbers::value(1), with_numbers::value(1.5)});
}
