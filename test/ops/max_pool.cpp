// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE max_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/max_pool.hpp>

#include <sinter/ops/relu.hpp>
#include <sinter/ops/sigmoid.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

template <shape X, per_axis K, window O>
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
    // windows overlap, and hang over the edge
    check_op<op_of<batch_of(3, 2, 17), 3, by_two>, programs::fused_only>();
    check_drawn<1, by_two>();
    check_drawn<2, valid>();
    check_drawn<3, window{}>();
}

constexpr window hanging{.stride = {2, 3}, .padding = {1, 0, 0, 1}, .rounding = rounding::ceil};
BOOST_AUTO_TEST_CASE(oblong_windows) {
    check_op<op_of<batch_of(6, 7, 5), per_axis(3, 2), hanging>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(rows_and_volumes) {
    check_op<op_of<batch_of(7, 3), 2, window{.stride = 2, .padding = padding::valid, .rounding = rounding::ceil}>,
             programs::fused_only>();
    check_op<op_of<batch_of(3, 4, 5, 2), per_axis(2, 3, 2), window{.stride = {1, 2, 2}, .padding = {1, 0, 0, 1, 1, 1}}>,
             programs::fused_only>();
}

/// max_pool_winners, the gradient of the gradient: the loss is the sum of squares of a pool's gradient.
struct penalty {
    static constexpr shape operands[] = {batch_of(5, 4, 3), batch_of(3, 2, 3)};
    static constexpr tensor apply(tensor x, tensor d) {
        const tensor y = ops::max_pool(stop_gradient(x), {2, 3}, hanging_over);
        graph& g = *x.g;
        shape w = y.shape();
        w.type = dtype::u8;
        const tensor winners = make<op::get_output>(&g, w, {y}, {1});
        const node n = y.at();
        return make<op::max_pool_gradient>(&g, x.shape(), {d * d, winners},
                                           {n.p[0], n.p[1], n.p[2], n.p[3], n.p[4], n.p[5], n.p[6]});
    }
    static constexpr window hanging_over{.stride = 2, .padding = padding::same};
    static doubles reference(const doubles& x, const doubles& d) {
        doubles top = max_pooled(x, {2, 3}, hanging_over), y(x.d);
        each_window(x, 2, 3, hanging_over, [&](int to, int from, int) {
            for (int j = 0; j < 3; ++j)
                if (x[from * 3 + j] == top[to * 3 + j]) y[from * 3 + j] += d[to * 3 + j] * d[to * 3 + j];
        });
        return y;
    }
};
BOOST_AUTO_TEST_CASE(gradient_of_the_gradient) { check_op<penalty, programs::fused_only>(); }

/// Bias and activation in front: they move behind the pool, which leaves fewer of them.
struct hoisted {
    static constexpr shape operands[] = {batch_of(4, 6, 3), extents(3)};
    static constexpr tensor apply(tensor x, tensor b) {
        return ops::max_pool(ops::sigmoid(ops::relu(x * x + b) + 0.5f), 2, by_two_valid);
    }
    static doubles reference(const doubles& x, const doubles& b) {
        return max_pooled(map(x, b, [](double p, double q) {
            return 1 / (1 + std::exp(-std::max(p * p + q, 0.) - 0.5));
        }), 2, by_two_valid);
    }
};
BOOST_AUTO_TEST_CASE(behind_bias_and_activation) { check_op<hoisted>(); }

BOOST_AUTO_TEST_CASE(the_first_of_equals_takes_the_gradient) {
    using net = op_net<op_of<batch_of(4, 4, 1), 2, by_two_valid>>;
    const auto p = make_run<net, weighted_sum, as_fused, 1>();
    p->set(p->parameters[0], doubles({4, 4, 1}, {1, 1, 2, 3,  1, 1, 3, 2,  -1, -2, 0, 0,  -2, -1, 0, 0}));
    p->run(1, {doubles({1, 4, 4, 1}, 1.), doubles({1, 2, 2, 1}, 4.)});
    BOOST_TEST(p->output(0, 1) == (std::vector<float>{1, 3, -1, 0}), boost::test_tools::per_element());
    BOOST_TEST(p->gradient(0) == (std::vector<float>{1, 0, 0, 1,  0, 0, 0, 0,  1, 0, 1, 0,  0, 0, 0, 0}),
               boost::test_tools::per_element());
}

/// As PyTorch 2.15's max_pool2d: its indices are 0, 1, 2, 3 in these windows.
BOOST_AUTO_TEST_CASE(nan_wins_and_takes_the_gradient) {
    using net = op_net<op_of<batch_of(4, 4, 1), 2, by_two_valid>>;
    const auto p = make_run<net, weighted_sum, as_fused, 1>();
    p->set(p->parameters[0], doubles({4, 4, 1}, {NAN, 1, 1, NAN,  INFINITY, 3, 3, 2,  1, NAN, 3, 1,  NAN, 2, 2, NAN}));
    p->run(1, {doubles({1, 4, 4, 1}, 1.), doubles({1, 2, 2, 1}, 4.)});
    for (const float y : p->output(0, 1)) BOOST_TEST(std::isnan(y));
    BOOST_TEST(p->gradient(0) == (std::vector<float>{1, 0, 0, 1,  0, 0, 0, 0,  0, 0, 0, 0,  1, 0, 0, 1}),
               boost::test_tools::per_element());
}
