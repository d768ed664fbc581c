// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE interpolate
#include <boost/test/unit_test.hpp>

#include <sinter/ops/interpolate.hpp>

#include "support/check_op.hpp"
#include "support/moves.hpp"
#include "support/pytorch_blocks.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

/// The width before the height, which upsample does the other way round.
template <ops::corners C>
struct larger {
    static constexpr shape operands[] = {extents(3, 4, 2)};
    static constexpr tensor apply(tensor x) { return interpolate(interpolate(x, 1, 8, C), 0, 5, C); }
};
template <ops::corners C, int N, int M, int K>
void check(const double (&x)[N], const double (&y)[M], const double (&dx)[K], const char* what) {
    const op_result a = run_op<larger<C>>({from(extents(3, 4, 2), x)});
    same(a.y, y, what);
    same(a.gradients[0], dx, what);
}
BOOST_AUTO_TEST_CASE(as_pytorch_has_them) {
    check<ops::corners::free>(f::bilinear_x, f::bilinear_y, f::bilinear_dx, "bilinear");
    check<ops::corners::aligned>(f::bilinear_corners_x, f::bilinear_corners_y, f::bilinear_corners_dx,
                                 "corners aligned");
}

/// A tent over the distance of two places.
template <shape A, int Axis, int N, ops::corners C>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return interpolate(a * a, Axis, N, C); }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        std::vector<int> d = a.d;
        const int n = d[axis];
        d[axis] = N;
        doubles y(d);
        for (int i = 0; i < y.size(); ++i) {
            places at = y.where(i);
            double place = C == ops::corners::free ? (at[axis] + 0.5) * n / N - 0.5
                : N > 1 ? at[axis] * (n - 1.0) / (N - 1.0) : 0.0;
            place = std::fmin(std::fmax(place, 0.0), n - 1.0);
            for (int j = 0; j < n; ++j) {
                at[axis] = j;
                y[i] += std::fmax(0.0, 1 - std::fabs(place - j)) * a.at(at) * a.at(at);
            }
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    using enum ops::corners;
    check_op<op_of<batch_of(3, 2), 0, 7, free>>();
    check_op<op_of<batch_of(4, 37), 0, 6, aligned>, programs::fused_only>();   // a few vectors and some lanes
    check_op<op_of<extents(2, 3, 70), 1, 4, free>, programs::fused_only>();
    // fewer places, of which some are left out
    check_op<op_of<batch_of(2, 11), -1, 4, free>, programs::fused_only>();
    check_op<op_of<batch_of(2, 11), -1, 4, aligned>, programs::fused_only>();
    // from one place; more of them than are added at once
    check_op<op_of<batch_of(1, 3), 0, 12, free>, programs::fused_only>();
    check_op<op_of<batch_of(3, 2), 0, 1, aligned>, programs::fused_only>();
}

BOOST_AUTO_TEST_CASE(faults) {
    const auto bad = [](auto x) { return refuses(batch_of(3, 3), fault_kind::axis_out_of_range, x); };
    BOOST_TEST(bad([](tensor x) { return interpolate(x, 2, 4); }));
    BOOST_TEST(bad([](tensor x) { return interpolate(x, 0, 0); }));
    BOOST_TEST(!bad([](tensor x) { return interpolate(x, 0, 3); }));
}
