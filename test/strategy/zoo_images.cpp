// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/lenet.hpp>
#include <zoo/mlp.hpp>

#include "support/same_under_strategies.hpp"

// Nets for small images under strategies: as on one device.
using namespace sinter;
using namespace sinter::test;

namespace {

/// The quickstart's, narrower, and without dropout: which units drop out depends on how a batch is cut.
constexpr auto quickstart = image<12, 12, 1>
    >> conv2d<8, 3> >> relu >> max_pool<2>
    >> conv2d<16, 3> >> relu >> max_pool<2>
    >> flatten >> dense<24> >> relu >> dense<10>;

} // namespace

BOOST_AUTO_TEST_CASE(mlp) {
    constexpr momentum o{.learning_rate = 0.02f};
    check_under_strategies("mlp", trainers_of(zoo::mlp<10, 32, 16>, softmax_cross_entropy, o), default_strategy{});
}
BOOST_AUTO_TEST_CASE(lenet) {
    constexpr momentum o{.learning_rate = 0.02f};
    check_under_strategies("lenet", trainers_of(zoo::lenet<>, softmax_cross_entropy, o), default_strategy{});
}
BOOST_AUTO_TEST_CASE(quickstart_net) {
    constexpr adam o{.learning_rate = 1e-3f, .epsilon = 1e-4f};
    check_under_strategies("quickstart", trainers_of(quickstart, softmax_cross_entropy, o), default_strategy{});
}
