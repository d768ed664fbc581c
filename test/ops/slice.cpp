// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE slice
#include <boost/test/unit_test.hpp>

#include <sinter/ops/slice.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

template <shape A, int Axis, int First, int N, int Step = 1>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return slice(a * a, Axis, First, N, Step) * 2.f; }
    static doubles reference(const doubles& a) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        std::vector<int> d = a.d;
        d[axis] = N;
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            auto at = y.where(n);
            at[axis] = First + at[axis] * Step;
            y[n] = 2 * a.at(at) * a.at(at);
        }
        return y;
    }
};
/// A piece of any length, anywhere on the axis.
constexpr int first_of(shape s, int axis, int number) { return shape_source(number).below(s.d[axis]); }
constexpr int length_of(shape s, int axis, int number) {
    return 1 + shape_source(number + 100).below(s.d[axis] - first_of(s, axis, number));
}
template <shape A, int Axis, int Number>
using piece = op_of<A, Axis, first_of(A, Axis, Number), length_of(A, Axis, Number)>;

BOOST_AUTO_TEST_CASE(each_axis) {
    check_op<op_of<batch_of(4, 3, 5), 0, 1, 2>>();
    check_op<piece<drawn_batch(1, 3), 1, 1>, programs::fused_only>();
    check_op<piece<drawn(4, 2), 1, 2>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(steps_forwards_and_backwards) {
    check_op<op_of<batch_of(7, 3), 0, 1, 3, 2>, programs::fused_only>();
    check_op<op_of<extents(4, 10), -1, 9, 4, -3>, programs::fused_only>();
}

/// Stretches of several axes at once, one of them backwards: x[1:, ::-2, 1:3] in NumPy.
struct several_axes {
    static constexpr shape operands[] = {batch_of(3, 5, 4)};
    static constexpr tensor apply(tensor a) { return slice(a, {{1}, {.step = -2}, {1, 3}}); }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 2, 3, 2});
        for (int n = 0; n < y.size(); ++n) {
            const auto at = y.where(n);
            y[n] = a.at({at[0], 1 + at[1], 4 - 2 * at[2], 1 + at[3]});
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(stretches) { check_op<several_axes, programs::fused_only>(); }

/// Ends count from the back where negative and are cut off where too large, as in Python.
BOOST_AUTO_TEST_CASE(ends_as_in_python) {
    graph g;
    const tensor x = make<op::input>(&g, extents(5, 6), {}, {0});
    const auto rows = [&](part r) { return slice(x, {r}).shape().d[0]; };
    BOOST_TEST(rows({}) == 5);
    BOOST_TEST(rows({-2}) == 2);
    BOOST_TEST(rows({1, -1}) == 3);
    BOOST_TEST(rows({-100, 100}) == 5);
    BOOST_TEST(rows({.step = -1}) == 5);
    BOOST_TEST(rows({3, 0, -1}) == 3);
    BOOST_TEST(rows({.begin = 100, .step = -3}) == 2);
    BOOST_TEST((g.err.what == fault_kind::none));
    BOOST_TEST(!slice(x, {part{3, 3}}).ok());   // an extent is never zero
    BOOST_TEST((g.err.what == fault_kind::axis_out_of_range));
}

/// Several pieces of one tensor: their gradients meet again.
struct halves {
    static constexpr shape operands[] = {batch_of(2, 6)};
    static constexpr tensor apply(tensor a) { return slice(a, 1, 0, 4) * slice(a, 1, 2, 4); }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 2, 4});
        for (int i = 0; i < y.size(); ++i) y[i] = a[i / 4 * 6 + i % 4] * a[i / 4 * 6 + i % 4 + 2];
        return y;
    }
};
BOOST_AUTO_TEST_CASE(overlapping_pieces) { check_op<halves, programs::fused_only>(); }
