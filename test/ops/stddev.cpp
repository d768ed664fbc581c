// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stddev
#include <boost/test/unit_test.hpp>

#include <sinter/ops/stddev.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

template <int Ddof, int N>
struct rows {
    static constexpr shape operands[] = {extents(N, 4)};
    static constexpr tensor apply(tensor a) { return stddev(a, {1}, Ddof); }
};
template <int N>
void check(const double (&y0)[N], const double (&y1)[N]) {
    using namespace fixture::arrays;
    const doubles x = recorded({4, 4}, spread_x), both = recorded({2, 4}, spread_x);
    check_recorded(run_op<rows<0, 4>>({x}).y, y0);
    check_recorded(run_op<rows<1, 4>>({x}).y, y1);
    check_recorded(run_op<rows<0, 2>>({both}).gradients[0], std0_dx);
    check_recorded(run_op<rows<1, 2>>({both}).gradients[0], std1_dx);
}
BOOST_AUTO_TEST_CASE(as_numpy_and_pytorch_have_it) { check(fixture::arrays::std0, fixture::arrays::std1); }

/// Sums of such numbers overflow; their distances do not.
BOOST_AUTO_TEST_CASE(of_numbers_near_the_largest) {
    const double e = std::ldexp(1., 104), x = 3e38;   // one unit in the last place
    const double first = static_cast<double>(static_cast<float>(x));
    const op_result r = run_op<rows<0, 2>>({doubles({2, 4}, {first, first + 2 * e, first, first + 2 * e, -first, -first,
                                                             -first, -first + 4 * e})});
    BOOST_TEST(static_cast<double>(r.y[0]) == e, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(static_cast<double>(r.y[1]) == std::sqrt(3.) * e, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(r.gradients[0][0] == -0.25f, boost::test_tools::tolerance(1e-5f));
}
/// Nor do these distances fit into a float.
BOOST_AUTO_TEST_CASE(of_numbers_of_both_signs) {
    const op_result r = run_op<rows<0, 2>>({doubles({2, 4}, {3e38, -3e38, 3e38, -3e38, 3e38, 3e38, 3e38, -3e38})});
    BOOST_TEST(static_cast<double>(r.y[0]) == 3e38, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(static_cast<double>(r.y[1]) == 3e38 * std::sqrt(0.75), boost::test_tools::tolerance(1e-6));
}
