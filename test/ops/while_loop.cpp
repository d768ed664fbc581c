// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE while_loop
#include <boost/test/unit_test.hpp>

#include <sinter/ops/greater.hpp>
#include <sinter/ops/sum.hpp>
#include <sinter/ops/while_loop.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// Doubles w and adds b until the sum of squares exceeds a limit: 0, 3 or all 6 iterations.
template <int Limit>
struct growing_net {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(2), {}, {0});
        g.inputs.push(x.id);
        const tensor w = parameter(x, "w", extents(2), ones), b = parameter(x, "b", extents(2), ones);
        const bundle r = while_loop(
            [](bundle c) { return ops::greater(constant(c.g, static_cast<float>(Limit)), sum(c[0] * c[0], {0})); },
            [=](bundle c) { return bundle(c[0] * 2.f + b * c[0] * c[0]); }, w * w + 0.5f, 6);
        return x * r[0];
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        double c[2] = {p[0][0] * p[0][0] + 0.5, p[0][1] * p[0][1] + 0.5};
        for (int t = 0; t < 6 && c[0] * c[0] + c[1] * c[1] < Limit; ++t)
            for (int i = 0; i < 2; ++i) c[i] = c[i] * 2 + p[1][i] * c[i] * c[i];
        doubles y(in[0].d);
        for (int i = 0; i < y.size(); ++i) y[i] = in[0][i] * c[i % 2];
        return {y};
    }
};
BOOST_AUTO_TEST_CASE(some_iterations) { check_net(growing_net<40>{}, growing_net<40>::reference); }
BOOST_AUTO_TEST_CASE(no_iteration) { check_net<programs::fused_only>(growing_net<0>{}, growing_net<0>::reference); }
