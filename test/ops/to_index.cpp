// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE to_index
#include <boost/test/unit_test.hpp>

#include <sinter/ops/gather_rows.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

template <shape X, int V, int E>
struct op_of {   // shown by the rows that it gathers; central differences of the numbers are 0 but for a few jumps
    static constexpr shape operands[] = {X, extents(V, E)};
    static constexpr double low = -1, high = V + 1;
    static constexpr bool plain_inputs = true;
    static constexpr tensor apply(tensor x, tensor t) { return gather_rows(t, to_index(x, V)); }
    static doubles reference(const doubles& x, const doubles& t) {
        auto d = x.d;
        d.push_back(E);
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            const int row = std::clamp(static_cast<int>(std::floor(x[n / E])), 0, V - 1);
            y[n] = t[row * E + n % E];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_the_table_s_gradient) {
    check_op<op_of<batch_of(5), 4, 3>>();
    check_op<op_of<drawn_batch(1, 2), 7, 2>, programs::fused_only>();
}
struct seen {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(9), {}, {0});
        g.inputs.push(x.id);
        return ops::to_float(to_index(x, 1000)) * 1.f;
    }
};
BOOST_AUTO_TEST_CASE(beyond_all_bounds) {
    const auto p = make_run<seen, weigh_outputs, as_fused, 1, program_mode::prediction>();
    p->run(1, {doubles({1, 9}, {NAN, INFINITY, -INFINITY, 1e30, -1e30, 999.9, 1000, -0.5, 3.99})});
    BOOST_TEST(p->output(0, 1) == (std::vector<float>{0, 999, 0, 999, 0, 999, 999, 0, 3}));
}
