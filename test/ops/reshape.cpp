// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE reshape
#include <boost/test/unit_test.hpp>

#include <sinter/ops/reshape.hpp>

#include <sinter/ops/sum.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// Squares [3, 10] under other extents in the middle of elementwise work and a reduction.
struct between {
    static constexpr shape operands[] = {batch_of(3, 10), extents(5, 6)};
    static constexpr tensor apply(tensor a, tensor b) {
        const tensor x = ops::reshape(a * a, extents(5, 6)) * b;
        return ops::reshape(x, extents(2, 3, 5)) +
            ops::reshape(sum(ops::reshape(x, extents(2, 15)), {-1, -2}), extents(1, 1, 1));
    }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles y({a.d[0], 2, 3, 5});
        for (int n = 0; n < a.d[0]; ++n) {
            double all = 0;
            for (int i = 0; i < 30; ++i) all += y[30 * n + i] = a[30 * n + i] * a[30 * n + i] * b[i];
            for (int i = 0; i < 30; ++i) y[30 * n + i] += all;
        }
        return y;
    }
};
/// The last axis split and joined: what was a row becomes a column.
template <shape A, shape B>
struct shaped {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return sum(ops::reshape(a * 2.f, B), {-1}) * 3.f; }
    static doubles reference(const doubles& a) {
        std::vector<int> d(B.d, B.d + B.rank - 1);
        if (A.batched) d.insert(d.begin(), a.d[0]);
        doubles y(d);
        for (int i = 0; i < a.size(); ++i) y[i / B.last()] += 6 * a[i];
        return y;
    }
};
constexpr shape three = drawn(1, 3), four = drawn(2, 4);
BOOST_AUTO_TEST_CASE(between_fused_ops) {
    check_op<between>();
    check_op<shaped<batch_of(6), extents(6, 1)>>();
    check_op<shaped<batch_of(three.d[0], three.d[1], three.d[2]), extents(three.d[0] * three.d[1] * three.d[2])>,
             programs::fused_only>();
    check_op<shaped<extents(four.d[0], four.d[1] * four.d[2], four.d[3]),
                    extents(four.d[0] * four.d[1], four.d[2] * four.d[3])>, programs::fused_only>();
}

constexpr shape reshaped(shape s) {
    graph g;
    const tensor y = ops::reshape(make<op::input>(&g, batch_of(4, 6), {}, {0}), s);
    return g.err.what == fault_kind::sizes_differ ? extents(-9) : y.shape();
}
static_assert(reshaped(extents(-1)) == batch_of(24) && reshaped(extents(2, -1, 3)) == batch_of(2, 4, 3));
static_assert(reshaped(extents(-1, 5)) == extents(-9) && reshaped(extents(-1, -1)) == extents(-9) &&
              reshaped(extents(-1, 0)) == extents(-9));
