// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE min
#include <boost/test/unit_test.hpp>

#include <sinter/ops/min.hpp>

#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

using axes = std::initializer_list<int>;

struct smallest {
    static constexpr tensor apply(tensor a, axes x, keep k) { return min(a, x, k); }
    static double value(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
};
BOOST_AUTO_TEST_CASE(any_axes) {
    check_op<reduced<smallest, keep::no, batch_of(3, 4), -1>>();
    check_op<reduced<smallest, keep::yes, batch_of(3, 2, 4), 0, 2>, programs::fused_only>();
    check_op<reduced<smallest, keep::no, batch_of(3, 2), batch_axis, 0>, programs::fused_only>();
}
struct rows {
    static constexpr shape operands[] = {extents(6, 4)};
    static constexpr tensor apply(tensor a) { return min(a, {1}); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    check_recorded(run_op<rows>({recorded({6, 4}, fixture::arrays::extreme_x)}).y, fixture::arrays::smallest);
}
