// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fill
#include <boost/test/unit_test.hpp>

#include <sinter/ops/fill.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr shape operands[] = {batch_of(2, 3)};
    static constexpr tensor apply(tensor a) { return a * fill(a, extents(3), 2.5f) + fill_like(a, -1); }
    static doubles reference(const doubles& a) {
        return map(a, [](double v) { return 2.5 * v - 1; });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }

struct alone {   // the net's output is nothing but that
    static constexpr shape operands[] = {extents(2)};
    static constexpr tensor apply(tensor a) { return fill(a, extents(2, 2), 3) + ops::reshape(a, extents(1, 2)); }
};
BOOST_AUTO_TEST_CASE(values) {
    BOOST_TEST(run_op<alone>({doubles({2}, {0, 1})}).y == (std::vector<float>{3, 4, 3, 4}),
               boost::test_tools::per_element());
}
