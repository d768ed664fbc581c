// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE equal
#include <boost/test/unit_test.hpp>

#include <sinter/ops/equal.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {   // times a, so that there is a gradient to look at: none comes through the comparison
    static constexpr tensor apply(tensor a, tensor b) { return a * equal(a, b); }
    static double value(double x, double y) { return x == y ? x : 0; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

struct alone {
    static constexpr tensor apply(tensor a, tensor b) { return equal(a, b); }
    static double value(double x, double y) { return x == y; }
};
BOOST_AUTO_TEST_CASE(one_or_zero) {
    const op_result r = at_places<alone>({2., 1., 2., 0., infinity, -infinity, no_number, 1.},
                                         {1., 2., 2., -0., infinity, 3., no_number, no_number});
    check_same(r.y, {0, 0, 1, 1, 1, 0, 0, 0});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 0, 0});
}

struct with_number {
    static constexpr tensor apply(tensor a) { return a * equal(a, 1.f); }
    static double value(double x) { return x == 1 ? x : 0; }
};
BOOST_AUTO_TEST_CASE(number) { check_same(at_places<with_number>({0.5, 1., 1.5}).y, {0, 1, 0}); }
