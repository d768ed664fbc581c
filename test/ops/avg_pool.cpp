// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE avg_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/avg_pool.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape X, per_axis K, window O>
struct op_of {
    static constexpr shape operands[] = {X};
    static constexpr tensor apply(tensor x) { return ops::avg_pool(x, K, O); }
    static doubles reference(const doubles& x) { return mean_pooled(x, K, O); }
};
template <int Number, window O>
void check_drawn() {
    constexpr drawn_window d(Number, O);
    check_op<op_of<d.image(), d.square(), O>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 6, 3), 2, by_two_valid>>();
    // windows that hang over count what they hold
    check_op<op_of<batch_of(3, 2, 17), 3, by_two>, programs::fused_only>();
    check_drawn<1, by_two>();
    check_drawn<2, valid>();
    check_drawn<3, window{}>();
}
BOOST_AUTO_TEST_CASE(oblong_windows_rows_and_volumes) {
    constexpr window hanging{.stride = {2, 3}, .padding = {1, 0, 0, 1}, .rounding = rounding::ceil};
    check_op<op_of<batch_of(6, 7, 5), per_axis(3, 2), hanging>, programs::fused_only>();
    check_op<op_of<batch_of(7, 3), 2, window{.stride = 2, .padding = padding::valid, .rounding = rounding::ceil}>,
             programs::fused_only>();
    check_op<op_of<batch_of(3, 4, 5, 2), per_axis(2, 3, 2), window{.stride = {1, 2, 2}, .padding = {1, 0, 0, 1, 1, 1}}>,
             programs::fused_only>();
}

/// The padding that was asked for counts, what hangs over that does not: one row of zeros above and two columns right.
struct with_padding {
    static constexpr shape operands[] = {batch_of(4, 5, 3)};
    static constexpr tensor apply(tensor x) {
        return ops::avg_pool(x, 3,
                             {.stride = 2, .padding = {1, 0, 0, 2}, .rounding = rounding::ceil, .count_padding = true});
    }
    static doubles reference(const doubles& x) {
        doubles larger({x.d[0], 5, 7, 3});
        for (int i = 0; i < x.size(); ++i) {
            auto at = x.where(i);
            ++at[1];
            larger.at(at) = x[i];
        }
        return mean_pooled(larger, 3, {.stride = 2, .padding = padding::valid, .rounding = rounding::ceil});
    }
};
BOOST_AUTO_TEST_CASE(padding_counts) { check_op<with_padding, programs::fused_only>(); }

/// avg_pool_gradient as an op whose own gradient is a pool again.
struct spread {
    static constexpr window o{.stride = 2, .padding = padding::same};
    static constexpr shape operands[] = {batch_of(2, 3, 2)};
    static constexpr tensor apply(tensor d) {
        shape s = d.shape();
        s.d[0] = 4, s.d[1] = 5;
        return make<op::avg_pool_gradient>(d.g, s, {d}, {3, 2, 2, 2, 0, 0, 0});
    }
    static doubles reference(const doubles& d) {
        doubles x({d.d[0], 4, 5, 2}), n({d.d[0], 2, 3, 2});
        each_window(x, 3, 2, o, [&](int to, int, int) { n[2 * to] += 1; });
        each_window(x, 3, 2, o, [&](int to, int from, int) {
            for (int j = 0; j < 2; ++j) x[2 * from + j] += d[2 * to + j] / n[2 * to];
        });
        return x;
    }
};
BOOST_AUTO_TEST_CASE(gradient_of_the_gradient) { check_op<spread, programs::fused_only>(); }
