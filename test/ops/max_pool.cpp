// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE max_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/max_pool.hpp>

#include <sinter/ops/relu.hpp>
#include <sinter/ops/sigmoid.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, int K, window O>
struct op_of {
    static constexpr shape operands[] = {X};
    static constexpr tensor apply(tensor x) { return ops::max_pool(x, K, O); }
    static doubles reference(const doubles& x) { return max_pooled(x, K, O); }
};
template <int Number, window O>
void check_drawn() {
    constexpr drawn_window d(Number, O);
    check_op<op_of<d.image(), d.square(), O>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 6, 3), 2, by_two_valid>>();
    check_op<op_of<batch_of(3, 2, 17), 3, by_two>, programs::fused_only>();     // windows overlap, and hang over the edge
    check_drawn<1, by_two>();
    check_drawn<2, valid>();
    check_drawn<3, window{}>();
}

/// Bias and activation in front: they move behind the pool, which leaves fewer of them.
struct hoisted {
    static constexpr shape operands[] = {batch_of(4, 6, 3), extents(3)};
    static constexpr tensor apply(tensor x, tensor b) { return ops::max_pool(ops::sigmoid(ops::relu(x * x + b) + 0.5f), 2, by_two_valid); }
    static doubles reference(const doubles& x, const doubles& b) {
        return max_pooled(map(x, b, [](double p, double q) { return 1 / (1 + std::exp(-std::max(p * p + q, 0.) - 0.5)); }), 2, by_two_valid);
    }
};
BOOST_AUTO_TEST_CASE(behind_bias_and_activation) { check_op<hoisted>(); }

BOOST_AUTO_TEST_CASE(the_first_of_equals_takes_the_gradient) {
    using net = op_net<op_of<batch_of(4, 4, 1), 2, by_two_valid>>;
    const auto p = make_run<net, weighted_sum, as_fused, 1>();
    p->set(p->parameters[0], doubles({4, 4, 1}, {1, 1, 2, 3,  1, 1, 3, 2,  -1, -2, 0, 0,  -2, -1, 0, 0}));
    p->run(1, {doubles({1, 4, 4, 1}, 1.), doubles({1, 2, 2, 1}, 4.)});
    BOOST_TEST(p->output(0, 1) == (std::vector<float>{1, 3, -1, 0}), boost::test_tools::per_element());
    BOOST_TEST(p->gradient(0) == (std::vector<float>{1, 0, 0, 1,  0, 0, 0, 0,  1, 0, 1, 0,  0, 0, 0, 0}), boost::test_tools::per_element());
}
