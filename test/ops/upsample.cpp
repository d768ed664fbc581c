// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE upsample
#include <boost/test/unit_test.hpp>

#include <sinter/ops/upsample.hpp>

#include "support/pytorch_blocks.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

template <int Which>
struct op_of {
    static constexpr shape operands[] = {extents(3, 4, 2)};
    static constexpr tensor apply(tensor x) {
        if (Which == 0) return ops::upsample_nearest(x, {2, 3});
        return ops::upsample_bilinear(x, 5, 8, Which == 1 ? ops::corners::free : ops::corners::aligned);
    }
};
template <int Which, int N, int M, int K>
void check(const double (&x)[N], const double (&y)[M], const double (&dx)[K], const char* what) {
    const op_result a = run_op<op_of<Which>>({from(extents(3, 4, 2), x)});
    same(a.y, y, what);
    same(a.gradients[0], dx, what);
}
BOOST_AUTO_TEST_CASE(as_pytorch_has_them) {
    check<0>(f::nearest_x, f::nearest_y, f::nearest_dx, "nearest");
    check<1>(f::bilinear_x, f::bilinear_y, f::bilinear_dx, "bilinear");
    check<2>(f::bilinear_corners_x, f::bilinear_corners_y, f::bilinear_corners_dx, "bilinear, corners aligned");
}

struct batched {
    static constexpr shape operands[] = {batch_of(2, 3, 2)};
    static constexpr tensor apply(tensor x) { return ops::upsample_bilinear(ops::upsample_nearest(x, {1, 2}), 4, 6); }
    static doubles reference(const doubles& x) {   // rows doubled: a quarter of the neighbour
        doubles y({x.d[0], 4, 6, 2});
        for (int i = 0; i < y.size(); ++i) {
            const auto at = y.where(i);
            const int near = at[1] / 2, other = at[1] == 1 ? 1 : at[1] == 2 ? 0 : near;
            y[i] = 0.75 * x.at({at[0], near, at[2] / 2, at[3]}) + 0.25 * x.at({at[0], other, at[2] / 2, at[3]});
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<batched, programs::fused_only>(); }
