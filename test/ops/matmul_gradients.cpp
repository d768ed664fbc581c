// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE matmul_gradients
#include <boost/test/unit_test.hpp>

#include <sinter/ops/matmul.hpp>

#include "support/check_op.hpp"

/// The ops that gradients of products are made of, as ops whose own gradients are products again.
using namespace sinter;
using namespace sinter::test;

struct weight_gradient {
    static constexpr shape operands[] = {batch_of(3, 5), batch_of(3, 17)};
    static constexpr tensor apply(tensor a, tensor d) {
        return ops::unpack(make<op::gemm_tn>(a.g, packed(extents(5, 17)), {a, d}));
    }
    static doubles reference(const doubles& a, const doubles& d) {
        doubles w({5, 17});
        for (int r = 0; r < a.size() / 5; ++r)
            for (int i = 0; i < w.size(); ++i) w[i] += a[r * 5 + i / 17] * d[r * 17 + i % 17];
        return w;
    }
};
struct transposed_weights {
    static constexpr shape operands[] = {packed(extents(3, 18))};
    static constexpr tensor apply(tensor w) { return ops::unpack(rule<op::weight_transpose>::transposed(w)); }
    static doubles reference(const doubles& w) {
        doubles t({18, 3});
        for (int i = 0; i < t.size(); ++i) t[i] = w[i % 3 * 18 + i / 3];
        return t;
    }
};
BOOST_AUTO_TEST_CASE(of_weights) { check_op<weight_gradient, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(of_transposed_weights) { check_op<transposed_weights, programs::fused_only>(); }
