// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE broadcast
#include <boost/test/unit_test.hpp>

#include <sinter/graph/broadcast.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct product {
    static constexpr tensor apply(tensor a, tensor b) { return a * b + b; }
    static double value(double x, double y) { return x * y + y; }
};
template <shape A, shape B>
void check() {
    check_op<binary_case<product, A, B>, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(numbers_of_axes_differ) {
    check<extents(), batch_of(4)>();
    check<extents(2, 1), extents(2, 3)>();
    check<extents(4, 1, 3), extents(1, 2, 1)>();   // both are stretched
    check<batch_of(3, 1), extents(1, 7)>();
}
BOOST_AUTO_TEST_CASE(single_columns_and_rows) {
    check<batch_of(6, 1), extents(6, 1)>();
    check<batch_of(1), extents(1)>();
    check<batch_of(1, 3, 1), extents(3, 1)>();
}

// What clashes, and what would put the batch axis on an inner one.
constexpr bool fits(shape a, shape b) {
    shape s;
    return broadcast_shape(a, b, s);
}
static_assert(fits(batch_of(3, 5), extents(5)) && fits(extents(5), batch_of(3, 5)) && fits(extents(), extents(2)));
static_assert(!fits(batch_of(3, 5), extents(4)) && !fits(batch_of(5), extents(3, 5)) &&
              !fits(extents(2, 5), batch_of(5)));
