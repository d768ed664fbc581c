// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE take_along_axis
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cast.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/take_along_axis.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
template <shape A, shape I, int Axis>
struct op_of {
    static constexpr shape operands[] = {whole(I), A};
    static constexpr double low = -1, high = A.d[Axis];
    static constexpr tensor apply(tensor i, tensor a) { return take_along_axis(a, i, Axis); }
    /// Of a place of the result, that of `of` which it reads: the first wherever `of` has but one.
    static places within(const shape& s, const doubles& of, places at) {
        if (!s.batched) at.erase(at.begin());
        for (std::size_t k = 0; k < at.size(); ++k)
            if (of.d[k] == 1) at[k] = 0;
        return at;
    }
    static doubles reference(const doubles& i, const doubles& a) {
        std::vector<int> d{A.batched ? a.d[0] : I.batched ? i.d[0] : 1};
        for (int k = 0; k < A.rank; ++k) d.push_back(k == Axis ? I.d[k] : std::max(A.d[k], I.d[k]));
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            places at = y.where(n);
            const int chosen = static_cast<int>(i.at(within(I, i, at)));
            at[Axis + 1] = chosen;
            y[n] = a.at(within(A, a, at));
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), batch_of(2, 3), 0>>();
    check_op<op_of<batch_of(2, 5), extents(2, 7), 1>, programs::fused_only>();
    check_op<op_of<extents(2, 3), batch_of(2, 2), 1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(stretched_as_numpy_does) {
    // rows by numbers of each example's own
    check_op<op_of<batch_of(2, 5, 3), batch_of(1, 4, 1), 1>, programs::fused_only>();
    check_op<op_of<batch_of(2, 3, 4), extents(2, 1, 2), 2>, programs::fused_only>();       // stretched in memory
    check_op<op_of<batch_of(1, 3), batch_of(4, 2), 1>, programs::fused_only>();            // x, too
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4, 3), fault_kind::shapes_not_broadcastable,
                       [](tensor x) { return take_along_axis(x, cast(slice(x, 1, 0, 2), 4), 0); }));
}
