// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE eye
#include <boost/test/unit_test.hpp>

#include <sinter/ops/eye.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <int N, int M, int K>
struct op_of {
    static constexpr shape operands[] = {batch_of(N, M)};
    static constexpr tensor apply(tensor a) { return a * 2.f + eye(a, N, M, K); }
    static doubles reference(const doubles& a) {
        doubles y(a.d);
        for (int n = 0; n < y.size(); ++n) y[n] = 2 * a[n] + (n % M - n / M % N == K);
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<3, 3, 0>, programs::fused_only>();
    check_op<op_of<2, 4, 1>, programs::fused_only>();
}
