// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE split
#include <boost/test/unit_test.hpp>

#include <sinter/ops/split.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

struct op_of {   // thirds of the last axis, and two unequal pieces of the first
    static constexpr shape operands[] = {batch_of(3, 6)};
    static constexpr tensor apply(tensor a) {
        const auto [x, y, z] = split<3>(a);
        const auto [above, below] = split(a, {1, 2}, 0);
        return x * y + z * slice(below, {{1}, {2, 4}}) + slice(above, 1, 0, 2);
    }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 3, 2});
        for (int n = 0; n < y.size(); ++n) {
            const places p = y.where(n);
            const int b = p[0], r = p[1], c = p[2];
            y[n] = a.at({b, r, c}) * a.at({b, r, 2 + c}) + a.at({b, r, 4 + c}) * a.at({b, 2, 2 + c}) + a.at({b, 0, c});
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }

/// Parts whose gradients lie side by side, in another order than they are used in, with a gap at
/// first, twice, backwards, and others.
template <int Which>
struct parts_of {
    static constexpr shape operands[] = {batch_of(2, 10)};
    static constexpr tensor part(tensor a, int first, int n, int step = 1) { return ops::slice(a, -1, first, n, step); }
    static constexpr tensor apply(tensor a) {
        if (Which == 0) {   // five whole parts: more than one copy takes
            const auto p = split<5>(a);
            return p[0] * p[3] + p[1] * p[2] + p[4];
        }
        // all but the first
        if (Which == 1) return part(a, 6, 2) * part(a, 2, 2) + part(a, 4, 2) * part(a, 8, 2);
        if (Which == 2) return part(a, 0, 4) * part(a, 4, 4) + part(a, 0, 4) + part(a, 2, 4);            // some meet
        return part(a, 4, 5, -1) * part(a, 5, 5) + part(a, 9, 5, -2) * part(a, 0, 5, 2);                 // not in order
    }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 2, Which == 2 ? 4 : Which == 3 ? 5 : 2});
        for (int i = 0; i < y.size(); ++i) {
            const places at = y.where(i);
            const auto v = [&](int first, int step = 1) { return a.at({at[0], at[1], first + at[2] * step}); };
            y[i] = Which == 0 ? v(0) * v(6) + v(2) * v(4) + v(8)
                 : Which == 1 ? v(6) * v(2) + v(4) * v(8)
                 : Which == 2 ? v(0) * v(4) + v(0) + v(2)
                              : v(4, -1) * v(5) + v(9, -2) * v(0, 2);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(gradients_of_parts) {
    check_op<parts_of<0>, programs::fused_only>();
    check_op<parts_of<1>, programs::fused_only>();
    check_op<parts_of<2>, programs::fused_only>();
    check_op<parts_of<3>, programs::fused_only>();
}
/// How many kernels of this op a training program has.
template <class Case>
int kernels(op_id k) {
    using program =
        compiled<request<op_net<Case>, weighted_sum, sgd, program_mode::training, 3, cpu_device::target, as_fused>>;
    int n = 0;
    for (int i = 0; i < program::v.n_launches; ++i) n += program::v.specs[program::v.launches[i].spec].kind == k;
    return n;
}
BOOST_AUTO_TEST_CASE(parts_that_make_a_whole_are_put_together) {
    BOOST_TEST(kernels<parts_of<0>>(op::insert) == 0);
    BOOST_TEST(kernels<parts_of<0>>(op::concat) == 2);
    BOOST_TEST(kernels<parts_of<1>>(op::insert) == 1);
    BOOST_TEST(kernels<parts_of<1>>(op::concat) == 1);
    BOOST_TEST(kernels<parts_of<3>>(op::concat) == 0);
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split<3>(x); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split(x, {1, 2}); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return split<2>(x, 1); }));
}
