// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE squeeze
#include <boost/test/unit_test.hpp>

#include <sinter/ops/squeeze.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

constexpr shape after(std::initializer_list<int> axes) {
    graph g;
    return squeeze(make<op::input>(&g, batch_of(1, 3, 1, 4), {}, {0}), axes).shape();
}
static_assert(after({0}) == batch_of(3, 1, 4) && after({-2}) == batch_of(1, 3, 4) && after({0, 2}) == batch_of(3, 4));

struct op_of {
    static constexpr shape operands[] = {batch_of(1, 3, 1)};
    static constexpr tensor apply(tensor a) { return squeeze(a * a) * 2.f; }
    static doubles reference(const doubles& a) {
        return map(doubles({a.d[0], 3}, a.v), [](double v) { return 2 * v * v; });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<op_of, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(1, 2), fault_kind::axis_out_of_range, [](tensor x) { return squeeze(x, {1}); }));
}
