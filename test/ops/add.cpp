// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE add
#include <boost/test/unit_test.hpp>

#include <sinter/ops/add.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a, tensor b) { return a + b; }
    static double value(double x, double y) { return x + y; }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_binary<op_of>(); }

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places<op_of>({infinity, infinity, no_number, -0.}, {1., -infinity, 1., -0.});
    check_same(r.y, {infinity, no_number, no_number, 0});
    check_same(r.gradients[1], {1, 1, 1, 1});
}

struct with_itself {   // one operand twice: its gradients add up
    static constexpr tensor apply(tensor a) { return a + a; }
    static double value(double x) { return 2 * x; }
};
struct with_number {
    static constexpr tensor apply(tensor a) { return 3.f + a + 0.5f; }
    static double value(double x) { return x + 3.5; }
};
BOOST_AUTO_TEST_CASE(with_itself_and_with_numbers) {
    check_op<unary_case<with_itself, batch_of(3)>>();
    check_op<unary_case<with_number, extents(5, 3)>, programs::fused_only>();
}
