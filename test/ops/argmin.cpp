// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE argmin
#include <boost/test/unit_test.hpp>

#include <sinter/ops/argmin.hpp>
#include <sinter/ops/permute.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"

using namespace sinter;
using namespace sinter::test;

struct rows {
    static constexpr shape operands[] = {extents(6, 4)};
    static constexpr tensor apply(tensor a) { return cast(argmin(a), dtype::f32); }
};
struct columns {   // the same along another axis
    static constexpr shape operands[] = {extents(6, 4)};
    static constexpr tensor apply(tensor a) { return cast(argmin(transpose(a), 0), dtype::f32); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    const doubles x = recorded({6, 4}, fixture::arrays::extreme_x);
    const op_result r = run_op<rows>({x});
    check_recorded(r.y, fixture::arrays::argmin);
    check_recorded(run_op<columns>({x}).y, fixture::arrays::argmin);
    BOOST_TEST(r.gradients[0] == std::vector<float>(24, 0.f), boost::test_tools::per_element());   // it has none
}
