// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE local_response_norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/local_response_norm.hpp>

#include "support/pytorch_blocks.hpp"

using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::blocks;

struct op_of {
    static constexpr shape operands[] = {extents(3, 2, 6)};
    static constexpr tensor apply(tensor x) { return ops::local_response_norm(x, {.size = 5, .alpha = 0.5f, .beta = 0.75f, .k = 2.f}); }
};
BOOST_AUTO_TEST_CASE(as_pytorch_has_it) {
    const op_result a = run_op<op_of>({from(extents(3, 2, 6), f::local_response_norm_x)});
    same(a.y, f::local_response_norm_y, "y");
    same(a.gradients[0], f::local_response_norm_dx, "dx");
}

/// An even size: one channel more before than behind.
struct even {
    static constexpr shape operands[] = {batch_of(3, 5)};
    static constexpr tensor apply(tensor x) { return ops::local_response_norm(x, {.size = 4, .alpha = 2.f, .beta = 0.5f}); }
    static doubles reference(const doubles& x) {
        doubles y(x.d);
        for (int i = 0; i < x.size(); ++i) {
            double sum = 0;
            for (int c = i % 5 - 2; c <= i % 5 + 1; ++c)
                if (c >= 0 && c < 5) sum += x[i - i % 5 + c] * x[i - i % 5 + c];
            y[i] = x[i] / std::sqrt(1 + 0.5 * sum);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(even_sizes) { check_op<even, programs::fused_only>(); }
