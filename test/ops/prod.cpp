// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE prod
#include <boost/test/unit_test.hpp>

#include <sinter/ops/prod.hpp>

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
    check_op<reduced<product_of, keep::no, batch_of(11, 5), 0>, programs::fused_only>();
    // more than a vector side by side
    check_op<reduced<product_of, keep::no, extents(2, 19), 1>, programs::fused_only>();
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
BOOST_AUTO_TEST_CASE(over_the_batch) {
    using case_of = reduced<product_of, keep::no, batch_of(2, 3), batch_axis, 0>;
    check_op<case_of, programs::fused_only>();
    const auto p = make_run<op_net<case_of>, weighted_sum, as_fused>();
    p->set(p->parameters[0], doubles({2, 3}, {0, 2, 0, 3, 5, 0}));   // one zero, none, two
    p->run(1, {doubles({1, 2, 3}, 1.), doubles({3}, 1.)});
    BOOST_TEST(p->output(0, 1) == (std::vector<float>{0, 20, 0}), boost::test_tools::per_element());
    BOOST_TEST(p->gradient(0) == (std::vector<float>{6, 10, 0, 0, 4, 0}), boost::test_tools::per_element());
}
