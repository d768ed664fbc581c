// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE l1_norm
#include <boost/test/unit_test.hpp>

#include <sinter/ops/l1_norm.hpp>

#include "support/moves.hpp"
#include "support/recorded.hpp"
#include "support/reductions.hpp"

using namespace sinter;
using namespace sinter::test;

struct rows {
    static constexpr shape operands[] = {extents(5, 3)};
    static constexpr tensor apply(tensor a) { return l1_norm(a, {1}); }
};
struct columns {
    static constexpr shape operands[] = {extents(3, 3)};
    static constexpr tensor apply(tensor a) { return l1_norm(a, {-1}, keep::yes); }
};
BOOST_AUTO_TEST_CASE(as_numpy_and_pytorch_have_it) {
    using namespace fixture::arrays;
    check_recorded(run_op<rows>({recorded({5, 3}, norm_x)}).y, norm_l1);
    check_recorded(run_op<columns>({recorded({3, 3}, norm_x)}).gradients[0], norm_l1_dx);
}
