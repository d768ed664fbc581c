// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/norm.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <int P, int N>
struct rows {
    static constexpr float p = P == 9 ? INFINITY : P == -9 ? -INFINITY : static_cast<float>(P);
    static constexpr shape operands[] = {extents(N, 3)};
    static constexpr tensor apply(tensor a) { return norm(a, p, {1}); }
};
BOOST_AUTO_TEST_CASE(as_numpy_and_pytorch_have_it) {
    using namespace fixture::arrays;
    const doubles x = recorded({5, 3}, norm_x), finite = recorded({3, 3}, norm_x);
    check_recorded(run_op<rows<0, 5>>({x}).y, norm_zero);
    check_recorded(run_op<rows<9, 5>>({x}).y, norm_infinity);
    check_recorded(run_op<rows<-9, 5>>({x}).y, norm_minus_infinity);
    check_recorded(run_op<rows<3, 5>>({x}).y, norm_three);
    check_recorded(run_op<rows<3, 3>>({finite}).gradients[0], norm_three_dx);
    check_recorded(run_op<rows<2, 3>>({finite}).gradients[0], norm_l2_dx);
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return norm(x, -1, {0}); }));
}
