// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE argsort
#include <boost/test/unit_test.hpp>

#include <sinter/ops/argsort.hpp>
#include <sinter/ops/cast.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"

using namespace sinter;
using namespace sinter::test;

template <order O, int N>
struct odd {
    static constexpr shape operands[] = {extents(N)};
    static constexpr tensor apply(tensor a) { return cast(argsort(a, 0, O), dtype::f32); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_and_pytorch_have_them) {
    const doubles x = recorded({12}, fixture::arrays::order_x);
    check_recorded(run_op<odd<order::ascending, 12>>({x}).y, fixture::arrays::order_up_places);
    check_recorded(run_op<odd<order::descending, 12>>({x}).y, fixture::arrays::order_down_places);
}
BOOST_AUTO_TEST_CASE(stable) {   // of many: by merging
    doubles x({100});
    for (int i = 0; i < 100; ++i) x[i] = i % 7;
    const std::vector<float> up = run_op<odd<order::ascending, 100>>({x}).y,
        down = run_op<odd<order::descending, 100>>({x}).y;
    int at = 0;
    for (int v = 0; v < 7; ++v)
        for (int i = v; i < 100; i += 7) BOOST_TEST(up[static_cast<std::size_t>(at++)] == static_cast<float>(i));
    at = 0;
    for (int v = 6; v >= 0; --v)
        for (int i = v; i < 100; i += 7) BOOST_TEST(down[static_cast<std::size_t>(at++)] == static_cast<float>(i));
}
/// The order of one tensor applied to another.
struct by_another {
    static constexpr shape operands[] = {batch_of(4, 2), batch_of(4, 2)};
    static constexpr tensor apply(tensor a, tensor b) { return take_along_axis(a, argsort(b, 0), 0); }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles y(a.d);
        for (int n = 0; n < a.size(); ++n) {
            const places at = a.where(n);
            int before = 0;
            for (int i = 0; i < 4; ++i) before += b.at({at[0], i, at[2]}) < b[n];
            y.at({at[0], before, at[2]}) = a[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(names_places) { check_op<by_another, programs::fused_only>(); }
