// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE one_hot
#include <boost/test/unit_test.hpp>

#include <sinter/ops/one_hot.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape labels(shape s) {
    s.type = dtype::i32;
    return s;
}
template <shape L, shape A>
struct op_of {   // rows of `a`, each at the place of its label
    static constexpr shape operands[] = {labels(L), A};
    static constexpr double low = 0, high = A.last();
    static constexpr tensor apply(tensor i, tensor a) { return one_hot(i, A.last()) * a; }
    static doubles reference(const doubles& i, const doubles& a) {
        const doubles all = stretch(a, [&] { auto d = i.d; d.push_back(A.last()); return d; }());
        doubles y(all.d);
        for (int n = 0; n < y.size(); ++n)
            if (n % A.last() == i[n / A.last()]) y[n] = all[n];
        return y;
    }
};
constexpr int rows = shape_source(3).few();
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(), drawn(0, 1)>>();
    check_op<op_of<batch_of(rows), batch_of(rows, drawn(2, 1).last())>>();
    check_op<op_of<drawn_batch(1, 2), extents(2)>, programs::fused_only>();
    check_op<op_of<batch_of(3), extents(1)>, programs::fused_only>();
}
