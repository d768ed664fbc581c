// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE prod
#include <boost/test/unit_test.hpp>

#include <sinter/ops/prod.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

using axes = std::initializer_list<int>;

struct product_of {
    static constexpr tensor apply(tensor a, axes x, keep k) { return prod(a, x, k) * 2.f; }
    static double value(const std::vector<double>& v) {
        double p = 2;
        for (double x : v) p *= x;
        return p;
    }
};
BOOST_AUTO_TEST_CASE(any_axes) {
    check_op<reduced<product_of, keep::no, batch_of(3, 5), -1>>();
    check_op<reduced<product_of, keep::yes, batch_of(3, 2, 4), 0, 2>, programs::fused_only>();
    check_op<reduced<product_of, keep::no, extents(2, 19), 1>, programs::fused_only>();   // more than a vector side by side
}
struct rows {
    static constexpr shape operands[] = {extents(3, 6), extents(3)};
    static constexpr tensor apply(tensor a, tensor b) { return prod(a, {1}) * b; }
};
BOOST_AUTO_TEST_CASE(zeros_as_pytorch_has_them) {
    using namespace fixture::arrays;
    const op_result r = run_op<rows>({recorded({3, 6}, scan_x), doubles({3}, {scan_dy[0], scan_dy[6], scan_dy[12]})});
    check_recorded(r.gradients[0], prod_dx);
    check_recorded(r.gradients[1], fixture::arrays::prod);
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::batch_axis_refused, [](tensor x) { return sinter::prod(x, {batch_axis}); }));
}
