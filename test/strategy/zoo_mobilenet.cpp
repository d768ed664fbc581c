// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/mobilenet.hpp>

#include "support/same_under_strategies.hpp"

// MobileNet, narrower, under strategies. batch_norm takes its statistics from each half of a batch:
// it is trained as on one device that computes on both halves, one after the other.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(separable_convolutions) {
    constexpr momentum o{.learning_rate = 0.02f};
    check_under_strategies("mobilenet", trainers_of(zoo::mobilenet<32, 10, 8>, softmax_cross_entropy, o),
                           canonical<2>());
}
