// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE split
#include <boost/test/unit_test.hpp>

#include <sinter/ops/split.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {   // thirds of the last axis, and two unequal pieces of the first
    static constexpr shape operands[] = {batch_of(3, 6)};
    static constexpr tensor apply(tensor a) {
        const auto [x, y, z] = split<3>(a);
        const auto [above, below] = split(a, {1, 2}, 0);
        return x * y + z * slice(below, {{1}, {2, 4}}) + slice(above, 1, 0, 2);
    }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 3, 2});
        for (int n = 0; n < y.size(); ++n) {
            const places p = y.where(n);
            const int b = p[0], r = p[1], c = p[2];
            y[n] = a.at({b, r, c}) * a.at({b, r, 2 + c}) + a.at({b, r, 4 + c}) * a.at({b, 2, 2 + c}) + a.at({b, 0, c});
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split<3>(x); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split(x, {1, 2}); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split<2>(x, 1); }));
}
