// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE tril
#include <boost/test/unit_test.hpp>

#include <sinter/ops/map_fn.hpp>
#include <sinter/ops/tril.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int K>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return tril(a * a, K); }
    static doubles reference(const doubles& a) {
        doubles y(a.d);
        for (int n = 0; n < y.size(); ++n) {
            const places at = a.where(n);
            if (at.back() - at[at.size() - 2] <= K) y[n] = a[n] * a[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), 0>>();
    check_op<op_of<extents(2, 3, 5), 1>, programs::fused_only>();
    check_op<op_of<batch_of(2, 4, 1), -1>, programs::fused_only>();
}
struct square {
    static constexpr shape operands[] = {extents(2, 2)};
    static constexpr tensor apply(tensor a) { return tril(a); }
};
BOOST_AUTO_TEST_CASE(what_is_cut_off_does_not_matter) {
    const op_result r = run_op<square>({doubles({2, 2}, {1, NAN, -2, INFINITY})});
    BOOST_TEST(r.y == (std::vector<float>{1, 0, -2, INFINITY}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == (std::vector<float>{1, 0, 1, 1}), boost::test_tools::per_element());
}

/// What a loop has computed lies step by step, the mask example by example.
struct of_a_loop {
    static constexpr shape operands[] = {batch_of(6, 4)};
    static constexpr tensor apply(tensor x) { return ops::tril(map_fn([](tensor s) { return s * 2.f; }, x), -1); }
    static doubles reference(const doubles& x) {
        doubles y(x.d);
        for (int i = 0; i < x.size(); ++i) y[i] = i % 4 < i / 4 % 6 ? 2 * x[i] : 0;
        return y;
    }
};
BOOST_AUTO_TEST_CASE(of_what_a_loop_computed) { check_op<of_a_loop, programs::fused_only>(); }
