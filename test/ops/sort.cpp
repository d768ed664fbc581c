// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sort
#include <boost/test/unit_test.hpp>

#include <sinter/ops/sort.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int Axis, order O = order::ascending>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return sort(a * a, Axis, O); }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        doubles y = map(a, [](double v) { return v * v; });
        for (int round = 0; round < a.d[axis]; ++round)   // neighbours change places until all is in order
            for (int n = 0; n < y.size(); ++n) {
                places at = y.where(n), next = at;
                if (++next[axis] == a.d[axis]) continue;
                double &u = y.at(at), &v = y.at(next);
                if (O == order::ascending ? v < u : v > u) std::swap(u, v);
            }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(5, 3), 0>>();
    check_op<op_of<batch_of(2, 40), -1, order::descending>, programs::fused_only>();   // longer than the list of few
}
template <order O>
struct odd {
    static constexpr shape operands[] = {extents(12)};
    static constexpr tensor apply(tensor a) { return sort(a, 0, O); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_and_pytorch_have_them) {
    const doubles x = recorded({12}, fixture::arrays::order_x);
    check_recorded(run_op<odd<order::ascending>>({x}).y, fixture::arrays::order_up);
    check_recorded(run_op<odd<order::descending>>({x}).y, fixture::arrays::order_down);
}
