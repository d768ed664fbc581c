// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cast
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cast.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

struct there_and_back {
    static constexpr shape operands[] = {extents(9)};
    static constexpr tensor apply(tensor a) { return cast(cast(a, dtype::i32), dtype::f32) + a * 0.f; }
};
struct clamped {
    static constexpr shape operands[] = {extents(9)};
    static constexpr tensor apply(tensor a) { return cast(cast(a, 5), dtype::f32); }
};
const doubles tried({9}, {-1.5, -0.25, 0.75, 1.999, 4, 4.5, 1e30, -1e30, 7});
BOOST_AUTO_TEST_CASE(towards_zero) {
    const op_result r = run_op<there_and_back>({tried});
    BOOST_TEST(r.y == (std::vector<float>{-1, 0, 0, 1, 4, 4, 2147483648.f, -2147483648.f, 7}),
               boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == std::vector<float>(9, 0.f), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(into_an_axis) {
    doubles x = tried;
    x.v[8] = NAN;
    BOOST_TEST(run_op<clamped>({x}).y == (std::vector<float>{0, 0, 0, 1, 4, 4, 4, 0, 0}),
               boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return cast(x, 0); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type, [](tensor x) { return cast(x, dtype::u8); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type,
                       [](tensor x) { return cast(x, dtype::i32) * 2.f; }));
}
