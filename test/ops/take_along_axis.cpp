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
    static doubles reference(const doubles& i, const doubles& a) {
        const int batch = A.batched ? a.d[0] : I.batched ? i.d[0] : 1;
        std::vector<int> d(I.d, I.d + I.rank);
        d.insert(d.begin(), batch);
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            places at = y.where(n), index = at;
            if (!I.batched) index.erase(index.begin());
            at[Axis + 1] = static_cast<int>(i.at(index));
            if (!A.batched) at.erase(at.begin());
            y[n] = a.at(at);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3), batch_of(2, 3), 0>>();
    check_op<op_of<batch_of(2, 5), extents(2, 7), 1>, programs::fused_only>();
    check_op<op_of<extents(2, 3), batch_of(2, 2), 1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4, 3), fault_kind::shapes_not_broadcastable, [](tensor x) { return take_along_axis(x, cast(slice(x, 1, 0, 2), 4), 0); }));
}
