// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gather_nd
#include <boost/test/unit_test.hpp>

#include <sinter/ops/gather_nd.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
template <shape A, shape I>
struct op_of {   // numbers up to 4, of which many lie outside and are moved to the ends
    static constexpr shape operands[] = {whole(I), A};
    static constexpr double low = -1, high = 5;
    static constexpr tensor apply(tensor i, tensor a) { return gather_nd(a, i); }
    static doubles reference(const doubles& i, const doubles& a) {
        constexpr int k = I.last();
        std::vector<int> d(i.d.begin(), i.d.end() - 1);
        d.insert(d.end(), A.d + k, A.d + A.rank);
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            const places at = y.where(n);
            places index(at.begin(), at.begin() + I.rank), from;
            if (A.batched) from.push_back(at[0]);
            index.push_back(0);
            for (int j = 0; j < k; ++j) {
                index.back() = j;
                from.push_back(std::min(static_cast<int>(i.at(index)), A.d[j] - 1));
            }
            from.insert(from.end(), at.begin() + I.rank, at.end());
            y[n] = a.at(from);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(3, 4, 2), batch_of(5, 2)>>();
    check_op<op_of<extents(3, 2), batch_of(2, 1)>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(whole(batch_of(4, 3)), fault_kind::axis_out_of_range,
                       [](tensor i) { return gather_nd(ops::reshape(i, extents(12)), i); }));
}
