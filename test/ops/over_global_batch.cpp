// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE over_global_batch
#include <boost/test/unit_test.hpp>

#include <sinter/ops/over_global_batch.hpp>

#include <sinter/ops/sum.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

struct mean_of_batch {
    static constexpr shape operands[] = {drawn_batch(0, 2)};
    static constexpr tensor apply(tensor a) { return ops::over_global_batch(sum(a * a, {batch_axis})); }
    static doubles reference(const doubles& a) {
        doubles y({a.d[1], a.d[2]});
        for (int i = 0; i < a.size(); ++i) y[i % y.size()] += a[i] * a[i] / a.d[0];
        return y;
    }
};
struct of_examples {
    static constexpr shape operands[] = {batch_of(2)};
    static constexpr tensor apply(tensor a) { return ops::over_global_batch(a); }
    static doubles reference(const doubles& a) {
        return map(a, [&](double x) { return x / a.d[0]; });
    }
};
BOOST_AUTO_TEST_CASE(an_undivided_batch_is_the_global_one) {
    check_op<mean_of_batch>();
    check_op<of_examples, programs::fused_only>();
}
