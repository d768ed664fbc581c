// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE any
#include <boost/test/unit_test.hpp>

#include <sinter/ops/any.hpp>
#include <sinter/ops/permute.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

struct rows {
    static constexpr shape operands[] = {extents(5, 3)};
    static constexpr tensor apply(tensor a) { return any(a, {1}); }
};
struct columns {   // along another axis, which stays
    static constexpr shape operands[] = {extents(5, 3)};
    static constexpr tensor apply(tensor a) { return any(transpose(a), {0}, keep::yes); }
};
BOOST_AUTO_TEST_CASE(edges_as_numpy_has_them) {
    const doubles x = recorded({5, 3}, fixture::arrays::truth_x);
    const op_result r = run_op<rows>({x});
    check_recorded(r.y, fixture::arrays::any);
    check_recorded(run_op<columns>({x}).y, fixture::arrays::any);
    BOOST_TEST(r.gradients[0] == std::vector<float>(15, 0.f), boost::test_tools::per_element());   // it has none
}
