// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE triu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/triu.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int K>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return triu(a, K); }
    static doubles reference(const doubles& a) {
        doubles y(a.d);
        for (int n = 0; n < y.size(); ++n) {
            const places at = a.where(n);
            if (at.back() - at[at.size() - 2] >= K) y[n] = a[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), 0>, programs::fused_only>();
    check_op<op_of<extents(2, 3, 5), -1>, programs::fused_only>();
}
