// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cumprod
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cumprod.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int Axis, bool Exclusive, bool Reverse>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return cumprod(a, Axis, {.exclusive = Exclusive, .reverse = Reverse}); }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        doubles y(a.d, 1);
        for (int n = 0; n < a.size(); ++n) {   // whoever stands before, in the same line
            places at = a.where(n);
            const int i = at[axis];
            for (int j = 0; j < a.d[axis]; ++j) {
                at[axis] = j;
                if ((Reverse ? j > i : j < i) || (!Exclusive && i == j)) y[n] *= a.at(at);
            }
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), 0, false, false>>();
    check_op<op_of<batch_of(2, 5), -1, true, true>, programs::fused_only>();
    // more lines than lanes, more elements than lanes
    check_op<op_of<batch_of(7, 19), -1, false, true>, programs::fused_only>();
}
struct rows {
    static constexpr shape operands[] = {extents(3, 6), extents(3, 6)};
    static constexpr tensor apply(tensor a, tensor b) { return cumprod(a) * b; }
};
struct odd {
    static constexpr shape operands[] = {extents(7)};
    static constexpr tensor apply(tensor a) { return cumprod(a); }
};
BOOST_AUTO_TEST_CASE(zeros_as_pytorch_has_them) {
    using namespace fixture::arrays;
    const op_result r = run_op<rows>({recorded({3, 6}, scan_x), recorded({3, 6}, scan_dy)});
    check_recorded(r.gradients[0], cumprod_dx);
    check_recorded(r.gradients[1], fixture::arrays::cumprod);
    check_recorded(run_op<odd>({recorded({7}, scan_odd)}).y, cumprod_odd);
}
