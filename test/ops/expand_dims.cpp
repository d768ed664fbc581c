// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE expand_dims
#include <boost/test/unit_test.hpp>

#include <sinter/ops/expand_dims.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr shape after(int axis) {
    graph g;
    return expand_dims(make<op::input>(&g, batch_of(3, 4), {}, {0}), axis).shape();
}
static_assert(after(0) == batch_of(1, 3, 4) && after(1) == batch_of(3, 1, 4) && after(2) == batch_of(3, 4, 1));
static_assert(after(-1) == batch_of(3, 4, 1) && after(-3) == batch_of(1, 3, 4));

struct outer_product {
    static constexpr shape operands[] = {batch_of(3), batch_of(4)};
    static constexpr tensor apply(tensor a, tensor b) { return expand_dims(a, 1) * expand_dims(b, 0); }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles y({a.d[0], 3, 4});
        for (int n = 0; n < y.size(); ++n) y[n] = a[n / 4] * b[n / 12 * 4 + n % 4];
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<outer_product, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return expand_dims(x, 2); }));
    BOOST_TEST(refuses(batch_of(1, 1, 1, 1, 1), fault_kind::axis_out_of_range,
                       [](tensor x) { return expand_dims(x, 0); }));
}
