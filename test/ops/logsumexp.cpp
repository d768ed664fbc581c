// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE logsumexp
#include <boost/test/unit_test.hpp>

#include <sinter/ops/logsumexp.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

using axes = std::initializer_list<int>;

struct log_of_sum {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a, axes x, keep k) { return logsumexp(a, x, k); }
    static double value(const std::vector<double>& v) {
        double s = 0;
        for (double x : v) s += std::exp(x);
        return std::log(s);
    }
};
BOOST_AUTO_TEST_CASE(any_axes) {
    check_op<reduced<log_of_sum, keep::no, batch_of(3, 5), -1>>();
    check_op<reduced<log_of_sum, keep::yes, batch_of(3, 2, 4), 0, 2>, programs::fused_only>();
}
template <int N>
struct rows {
    static constexpr shape operands[] = {extents(N, 3)};
    static constexpr tensor apply(tensor a) { return logsumexp(a, {1}); }
};
BOOST_AUTO_TEST_CASE(edges_as_pytorch_has_them) {
    using namespace fixture::arrays;
    check_recorded(run_op<rows<6>>({recorded({6, 3}, logsumexp_x)}).y, fixture::arrays::logsumexp);
    doubles finite({3, 3});
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 3; ++i) finite[3 * r + i] = logsumexp_x[3 * (r == 0 ? 0 : r == 1 ? 3 : 5) + i];
    check_recorded(run_op<rows<3>>({finite}).gradients[0], logsumexp_dx);
}
