// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE windows_pytorch
#include <boost/test/unit_test.hpp>

#include <sinter/ops/conv2d.hpp>
#include <sinter/ops/convolution_transpose.hpp>
#include <sinter/ops/lp_pool.hpp>
#include <sinter/ops/max_pool.hpp>

#include "support/pytorch_blocks.hpp"

/// Where places begin and end, what rounding up adds, what padding counts: PyTorch's own numbers.
using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

struct conv2d_of {
    static constexpr shape operands[] = {extents(7, 6, 4), extents(3, 2, 2, 6)};
    static constexpr tensor apply(tensor x, tensor w) {
        return ops::conv2d(x, w, {.stride = {2, 1}, .padding = {1, 1, 0, 0}, .dilation = {1, 2}, .groups = 2});
    }
};
struct conv_transpose2d_of {
    static constexpr shape operands[] = {extents(3, 4, 4), extents(3, 3, 2, 4)};
    static constexpr tensor apply(tensor x, tensor w) {
        return ops::convolution_transpose(x, w, {.stride = 2, .padding = 1, .groups = 2}, {1, 0});
    }
};
BOOST_AUTO_TEST_CASE(convolutions) {
    const op_result a =
        run_op<conv2d_of>({from(conv2d_of::operands[0], f::conv2d_x), from(conv2d_of::operands[1], f::conv2d_w)});
    same(a.y, f::conv2d_y, "conv2d");
    same(a.gradients[0], f::conv2d_dx, "conv2d, dx");
    same(a.gradients[1], f::conv2d_dw, "conv2d, dw");
    using transposed_op = conv_transpose2d_of;
    const op_result b = run_op<transposed_op>({from(transposed_op::operands[0], f::conv_transpose2d_x),
                                               from(transposed_op::operands[1], f::conv_transpose2d_w)});
    same(b.y, f::conv_transpose2d_y, "transposed");
    same(b.gradients[0], f::conv_transpose2d_dx, "transposed, dx");
    same(b.gradients[1], f::conv_transpose2d_dw, "transposed, dw");
}

template <int Which>
struct pool_of {
    static constexpr shape operands[] = {extents(6, 7, 2)};
    static constexpr tensor apply(tensor x) {
        constexpr window up{.stride = 2, .padding = 1, .rounding = rounding::ceil, .count_padding = Which == 1};
        if (Which == 0) return ops::max_pool(x, 3, up);
        if (Which == 3) return ops::lp_pool(x, 3, 2, {.stride = 2, .padding = padding::valid});
        return ops::avg_pool(x, {3, 2}, up);
    }
};
template <int Which, int N, int M, int K>
void check_pool(const double (&x)[N], const double (&y)[M], const double (&dx)[K], const char* what) {
    const op_result a = run_op<pool_of<Which>>({from(extents(6, 7, 2), x)});
    same(a.y, y, what);
    same(a.gradients[0], dx, what);
}
BOOST_AUTO_TEST_CASE(pools) {
    check_pool<0>(f::max_pool_x, f::max_pool_y, f::max_pool_dx, "max_pool");
    check_pool<1>(f::avg_pool_counted_x, f::avg_pool_counted_y, f::avg_pool_counted_dx, "avg_pool with its padding");
    check_pool<2>(f::avg_pool_x, f::avg_pool_y, f::avg_pool_dx, "avg_pool");
    check_pool<3>(f::lp_pool_x, f::lp_pool_y, f::lp_pool_dx, "lp_pool");
}
