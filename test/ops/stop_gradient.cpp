// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stop_gradient
#include <boost/test/unit_test.hpp>
#include <sinter/ops/stop_gradient.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

struct stopped {
    static constexpr shape operands[] = {extents(3), extents(3)};
    static constexpr tensor apply(tensor a, tensor b) { return stop_gradient(a * b) + stop_gradient(a) * b; }
};
BOOST_AUTO_TEST_CASE(lets_values_through_alone) {
    const op_result r = run_op<stopped>({doubles({3}, {1, 2, 3}), doubles({3}, {4, 5, 6})});
    BOOST_TEST(r.y == (std::vector<float>{8, 20, 36}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == (std::vector<float>{0, 0, 0}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[1] == (std::vector<float>{1, 2, 3}), boost::test_tools::per_element());
}

struct of_weights {   // as they lie, in the kernels' own layout
    static constexpr shape operands[] = {extents(1, 3), packed(extents(3, 4))};
    static constexpr tensor apply(tensor x, tensor w) {
        return ops::matmul(x, w) + ops::matmul(x * 2.f, stop_gradient(w));
    }
};
BOOST_AUTO_TEST_CASE(weights_stay_packed) {
    const op_result r = run_op<of_weights>({doubles({1, 3}, {1, 2, 3}), doubles({3, 4}, std::vector<double>(12, 0.5))});
    BOOST_TEST(r.y == std::vector<float>(4, 9), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == std::vector<float>(3, 6), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[1] == (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}),
               boost::test_tools::per_element());
}
