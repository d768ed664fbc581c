// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE max
#include <boost/test/unit_test.hpp>

#include <sinter/ops/max.hpp>

#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Axes>
using largest = over_axes<reduce_by::max, keep::no, A, Axes...>;
template <shape A, int... Axes>
using kept = over_axes<reduce_by::max, keep::yes, A, Axes...>;
template <class Case>
void check() {
    check_op<Case, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(any_axes) {
    check_op<largest<drawn_batch(0, 3), -1>>();
    check_op<kept<batch_of(3, 4, 5), 1>>();
    check<kept<drawn_batch(1, 3), 0, 1, 2>>();
    check<largest<drawn_batch(2, 3), 0, 2>>();
    check<largest<extents(1, 3, 1), 1>>();
    check<largest<batch_of(19, 21), 0>>();   // rows some of which are combined apart
}
BOOST_AUTO_TEST_CASE(over_the_batch) {
    check_op<largest<batch_of(3, 4), batch_axis>>();
    check<kept<batch_of(3, 2, 4), batch_axis, 0, 2>>();
}

template <int Axis>
struct along {
    static constexpr shape operands[] = {Axis ? extents(2, 4) : extents(4, 2)};
    static constexpr tensor apply(tensor a) { return max(a, {Axis}); }
};
BOOST_AUTO_TEST_CASE(ties_share_the_gradient) {
    const op_result r = run_op<along<1>>({doubles({2, 4}, {1, 3, 3, 2, -5, -5, -5, -5})});
    BOOST_TEST(r.y == (std::vector<float>{3, -5}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == (std::vector<float>{0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25}),
               boost::test_tools::per_element());
    const op_result c = run_op<along<0>>({doubles({4, 2}, {1, -5, 3, -5, 3, -5, 2, -5})});
    BOOST_TEST(c.gradients[0] == (std::vector<float>{0, 0.25, 0.5, 0.25, 0.5, 0.25, 0, 0.25}),
               boost::test_tools::per_element());
}
struct rows {
    static constexpr shape operands[] = {extents(6, 4)};
    static constexpr tensor apply(tensor a) { return max(a, {1}); }
};
struct columns {
    static constexpr shape operands[] = {extents(4, 6)};
    static constexpr tensor apply(tensor a) { return max(a, {0}); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {   // NaN if there is one
    const doubles x = recorded({6, 4}, fixture::arrays::extreme_x);
    doubles turned({4, 6});
    for (int i = 0; i < 24; ++i) turned[i % 4 * 6 + i / 4] = x[i];
    check_recorded(run_op<rows>({x}).y, fixture::arrays::largest);
    check_recorded(run_op<columns>({turned}).y, fixture::arrays::largest);
}
