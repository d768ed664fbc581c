// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE where
#include <boost/test/unit_test.hpp>

#include <sinter/ops/where.hpp>

#include <sinter/ops/greater.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor c, tensor a, tensor b) { return where(greater(c, 0.f), a, b); }
    static double value(double c, double x, double y) { return c > 0 ? x : y; }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_ternary<op_of>(); }

struct alone {
    static constexpr tensor apply(tensor c, tensor a, tensor b) { return where(c, a, b); }
    static double value(double c, double x, double y) { return c != 0 ? x : y; }
};
BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<alone>({1., 0., -0., -2., no_number, 1., 0.},
                                         {1., 2., 3., 4., 5., infinity, no_number},
                                         {no_number, -2., -3., -4., -5., -6., -infinity});
    check_same(r.y, {1, -2, -3, 4, 5, infinity, -infinity});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0});
    check_same(r.gradients[1], {1, 0, 0, 1, 1, 1, 0});
    check_same(r.gradients[2], {0, 1, 1, 0, 0, 0, 1});
}

struct with_numbers {
    static constexpr tensor apply(tensor a) {
        const tensor negative = greater(0.f, a);
        return where(negative, a, 0.25f) * where(negative, 2.f, a) + where(negative, 0.5f, -0.5f);
    }
    static double value(double x) { return x < 0 ? 2 * x + 0.5 : 0.25 * x - 0.5; }
};
BOOST_AUTO_TEST_CASE(numbers) { check_unary_light<with_numbers>(); }
