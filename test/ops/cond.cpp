// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cond
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cond.hpp>
#include <sinter/ops/exp.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/tanh.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::test;

/// y = p > 0 ? tanh(x w) : x x w, once with a p that is positive and once with one that is not.
template <int Sign>
struct branching_net {
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(3), {}, {0});
        g.inputs.push(x.id);
        const tensor w = parameter(x, "w", extents(3), ones), p = parameter(x, "p", extents(), ones);
        return cond(
            ops::greater(p * p, Sign > 0 ? 0.f : 9.f), [](bundle o) { return bundle(ops::tanh(o[0] * o[1])); },
            [](bundle o) { return bundle(o[0] * o[0] * o[1]); }, bundle(x, w));
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &w = p[0], &x = in[0];
        doubles y(x.d);
        for (int i = 0; i < x.size(); ++i) y[i] = Sign > 0 ? std::tanh(x[i] * w[i % 3]) : x[i] * x[i] * w[i % 3];
        return {y};
    }
};

BOOST_AUTO_TEST_CASE(the_first_branch) { check_net(branching_net<1>{}, branching_net<1>::reference); }
BOOST_AUTO_TEST_CASE(the_second_branch) {
    check_net<programs::fused_only>(branching_net<-1>{}, branching_net<-1>::reference);
}
