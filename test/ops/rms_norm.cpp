// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE rms_norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/rms_norm.hpp>

#include "support/pytorch_blocks.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

struct op_of {
    static constexpr shape operands[] = {extents(3, 2, 6), extents(6)};
    static constexpr tensor apply(tensor x, tensor gamma) { return ops::rms_norm(x) * gamma; }
};
BOOST_AUTO_TEST_CASE(as_pytorch_has_it) {
    const op_result a = run_op<op_of>({from(extents(3, 2, 6), f::rms_norm_x), from(extents(6), f::rms_norm_gamma)});
    same(a.y, f::rms_norm_y, "y");
    same(a.gradients[0], f::rms_norm_dx, "dx");
    same(a.gradients[1], f::rms_norm_dgamma, "dgamma");
}
BOOST_AUTO_TEST_CASE(zeros_stay_zeros) {
    const auto y = run_op<op_of>({doubles({3, 2, 6}, 0.), doubles({6}, 1.)}).y;
    for (float v : y) BOOST_TEST(v == 0);
}
