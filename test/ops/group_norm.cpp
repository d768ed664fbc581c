// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE group_norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/group_norm.hpp>

#include "support/pytorch_blocks.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

template <int Groups>
struct op_of {
    static constexpr shape operands[] = {extents(3, 2, 6), extents(6), extents(6)};
    static constexpr tensor apply(tensor x, tensor gamma, tensor beta) {
        return ops::group_norm(x, Groups) * gamma + beta;
    }
};
BOOST_AUTO_TEST_CASE(as_pytorch_has_them) {
    const op_result a = run_op<op_of<3>>({from(extents(3, 2, 6), f::group_norm_x),
                                          from(extents(6), f::group_norm_gamma), from(extents(6), f::group_norm_beta)});
    same(a.y, f::group_norm_y, "groups");
    same(a.gradients[2], f::group_norm_dbeta, "dbeta");
    for (std::size_t i = 0; i < 36; ++i) BOOST_TEST(std::abs(a.gradients[0][i] - f::group_norm_dx[i]) < 2e-5);
    const op_result b =
        run_op<op_of<6>>({from(extents(3, 2, 6), f::instance_norm_x), from(extents(6), f::instance_norm_gamma),
                          from(extents(6), f::instance_norm_beta)});
    same(b.y, f::instance_norm_y, "instances");
    same(b.gradients[2], f::instance_norm_dbeta, "dbeta");
}

template <shape A, int Groups>
struct batched {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor x) { return ops::group_norm(x, Groups); }
    static doubles reference(const doubles& x) {
        doubles y(x.d);
        constexpr int channels = A.last(), places = A.size() / channels, own = channels / Groups;
        for (int e = 0; e < x.d[0]; ++e)
            for (int g = 0; g < Groups; ++g) {
                double mean = 0, square = 0;
                const auto each = [&](auto act) {
                    for (int p = 0; p < places; ++p)
                        for (int c = 0; c < own; ++c) act((e * places + p) * channels + g * own + c);
                };
                each([&](int i) { mean += x[i] / (places * own); });
                each([&](int i) { square += (x[i] - mean) * (x[i] - mean) / (places * own); });
                each([&](int i) { y[i] = (x[i] - mean) / std::sqrt(square + 1e-5); });
            }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<batched<batch_of(2, 3, 4), 2>, programs::fused_only>();
    // a vector, and some lanes, of rows some of which are summed apart
    check_op<batched<batch_of(3, 5, 20), 4>, programs::fused_only>();
    check_op<batched<batch_of(2, 1, 70), 7>, programs::fused_only>();   // vectors side by side
}
