// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cumsum
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cumsum.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int Axis, bool Exclusive, bool Reverse>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        return cumsum(a * a, Axis, {.exclusive = Exclusive, .reverse = Reverse});
    }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        doubles y(a.d);
        for (int n = 0; n < a.size(); ++n) {   // whoever stands before, in the same line
            places at = a.where(n);
            const int i = at[axis];
            for (int j = 0; j < a.d[axis]; ++j) {
                at[axis] = j;
                if ((Reverse ? j > i : j < i) || (!Exclusive && i == j)) y[n] += a.at(at) * a.at(at);
            }
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), 0, false, false>>();
    check_op<op_of<batch_of(2, 5), -1, true, true>, programs::fused_only>();
    // more lines than lanes, more elements than lanes
    check_op<op_of<batch_of(9, 21), -1, false, true>, programs::fused_only>();
    check_op<op_of<batch_of(7, 11, 3), 1, true, false>, programs::fused_only>();
}
struct odd {
    static constexpr shape operands[] = {extents(7)};
    static constexpr tensor apply(tensor a) { return cumsum(a); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    check_recorded(run_op<odd>({recorded({7}, fixture::arrays::scan_odd)}).y, fixture::arrays::cumsum_odd);
}
