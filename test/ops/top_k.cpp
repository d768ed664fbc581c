// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE top_k
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cast.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/top_k.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"

using namespace sinter;
using namespace sinter::test;

/// Values, and what the places say of them.
template <shape A, int K, int Axis>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        const ops::sorted s = top_k(a, K, Axis);
        return s.values * 2.f + take_along_axis(a * a, s.indices, Axis);
    }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        std::vector<int> d = a.d;
        d[axis] = K;
        doubles y(d);
        for (int n = 0; n < a.size(); ++n) {
            places at = a.where(n), other = at;
            int larger = 0;
            for (int i = 0; i < a.d[axis]; ++i) {
                other[axis] = i;
                larger += a.at(other) > a[n];
            }
            at[axis] = larger;
            if (larger < K) y.at(at) = 2 * a[n] + a[n] * a[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(6, 2), 2, 0>>();
    check_op<op_of<batch_of(40), 35, -1>, programs::fused_only>();
}
struct odd {
    static constexpr shape operands[] = {extents(12)};
    static constexpr tensor apply(tensor a) {
        const ops::sorted s = top_k(a, 6);
        return ops::concat(s.values, cast(s.indices, dtype::f32));
    }
};
struct smallest {
    static constexpr shape operands[] = {extents(4)};
    static constexpr tensor apply(tensor a) { return top_k(a, 3, 0, order::ascending).values; }
};
BOOST_AUTO_TEST_CASE(edges_as_pytorch_has_them) {
    const std::vector<float> y = run_op<odd>({recorded({12}, fixture::arrays::order_x)}).y;
    for (std::size_t i = 0; i < 6; ++i) {
        const double v = fixture::arrays::order_down[i], got = static_cast<double>(y[i]);
        BOOST_TEST((got == v || (std::isnan(got) && std::isnan(v))));
        BOOST_TEST(y[6 + i] == static_cast<float>(fixture::arrays::order_down_places[i]));
    }
    const op_result r = run_op<smallest>({doubles({4}, {2, -1, 2, 2})});
    BOOST_TEST(r.y == (std::vector<float>{-1, 2, 2}), boost::test_tools::per_element());
    // the first of equal ones
    BOOST_TEST(r.gradients[0] == (std::vector<float>{1, 1, 1, 0}), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return top_k(x, 5).values; }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return top_k(x, 0).values; }));
}
