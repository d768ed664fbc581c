// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_permutation
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_permutation.hpp>

#include <map>

#include "support/draws.hpp"
#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

bool is_permutation_of_all(std::vector<float> x) {
    std::sort(x.begin(), x.end());
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] != static_cast<float>(i)) return false;
    return true;
}
/// 300 is more than one sort is enough for.
template <int N>
struct permutation {
    static constexpr tensor apply(tensor a) { return ops::to_float(ops::random_permutation(a, N)); }
};
/// Of rows [10 r, 10 r + 1].
struct shuffled {
    static constexpr tensor apply(tensor a) {
        return ops::random_shuffle(a * 0.f + ops::table(a, extents(3, 2), rows, 10.f));
    }
    static void rows(float* to, const shape& s, float step) {
        for (int r = 0; r < s.d[0]; ++r)
            for (int i = 0; i < s.d[1]; ++i) *to++ = step * static_cast<float>(r) + static_cast<float>(i);
    }
};
constexpr shape any = batch_of(3, 2);

BOOST_AUTO_TEST_CASE(each_number_once) {
    const auto x = draws<permutation<300>, any>(1, 0);
    BOOST_TEST(x.size() == 300u);
    BOOST_TEST(is_permutation_of_all(x));
    BOOST_TEST((draws<permutation<300>, any>(1, 1) != x));
    BOOST_TEST((draws<permutation<300>, any>(2, 0) != x));
}
BOOST_AUTO_TEST_CASE(all_orders_as_often) {
    const auto p = make_run<op_net<draw_case<shuffled, any>>, weighted_sum, as_fused>();
    std::map<std::vector<float>, int> seen;
    constexpr int steps = 400, batch = 5;
    int different = 0;
    for (int step = 0; step < steps; ++step) {
        p->run(batch, {doubles({batch, 3, 2}, 0.), doubles({batch, 3, 2}, 1.)}, step);
        const auto y = p->output(0, batch);
        std::vector<float> first;
        for (int b = 0; b < batch; ++b) {
            std::vector<float> order;
            for (int r = 0; r < 3; ++r) {
                const float row = y[static_cast<std::size_t>(6 * b + 2 * r)];
                BOOST_REQUIRE_EQUAL(y[static_cast<std::size_t>(6 * b + 2 * r + 1)], row + 1);   // rows stay whole
                order.push_back(row / 10);
            }
            BOOST_REQUIRE(is_permutation_of_all(order));
            ++seen[order];
            if (b == 0) first = order;
            different += order != first;
        }
    }
    BOOST_TEST(seen.size() == 6u);
    double chi_squared = 0;   // five degrees of freedom: above 25.7 once in 10,000
    for (const auto& s : seen)
        chi_squared += (s.second - steps * batch / 6.) * (s.second - steps * batch / 6.) / (steps * batch / 6.);
    BOOST_TEST(chi_squared < 25.7);
    BOOST_TEST(different > steps);   // each example has an order of its own
}
BOOST_AUTO_TEST_CASE(the_same_again) { check_reproducible<shuffled, any>(); }

/// Whatever the order: sorted, everything is where it would be without it, and so is the gradient.
template <shape A>
struct in_order_again {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return sort(ops::random_shuffle(a, 1), 1); }
    static doubles reference(const doubles& a) {
        doubles y = a;
        const int n = A.d[1];
        for (auto row = y.v.begin(); row != y.v.end(); row += n) std::sort(row, row + n);
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<in_order_again<batch_of(2, 7)>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(any, fault_kind::axis_out_of_range, [](tensor x) { return ops::random_shuffle(x, 2); }));
    BOOST_TEST(refuses(any, fault_kind::axis_out_of_range, [](tensor x) { return ops::random_permutation(x, 0); }));
}
