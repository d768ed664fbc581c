// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE argmax
#include <boost/test/unit_test.hpp>

#include <sinter/ops/argmax.hpp>
#include <sinter/ops/take_along_axis.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"

using namespace sinter;
using namespace sinter::test;

/// The largest element itself, by its place: whose gradient is then max's.
template <shape A, int Axis>
struct largest {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        return take_along_axis(a, argmax(a, Axis, keep::yes), Axis) +
            0.f * cast(argmax(a, Axis, keep::yes), dtype::f32);
    }
    static doubles reference(const doubles& a) {
        std::vector<int> d = a.d;
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        d[axis] = 1;
        doubles y(d, -INFINITY);
        for (int n = 0; n < a.size(); ++n) {
            places at = a.where(n);
            at[axis] = 0;
            y.at(at) = std::max(y.at(at), a[n]);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(any_axis) {
    check_op<largest<batch_of(4, 3), 0>>();
    check_op<largest<batch_of(2, 9), -1>, programs::fused_only>();
}
struct rows {   // integers as a net's output: floats
    static constexpr shape operands[] = {extents(6, 4)};
    static constexpr tensor apply(tensor a) { return cast(argmax(a), dtype::f32); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    check_recorded(run_op<rows>({recorded({6, 4}, fixture::arrays::extreme_x)}).y, fixture::arrays::argmax);
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return argmax(x, 1); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type, [](tensor x) { return argmax(cast(x, 3)); }));
}
