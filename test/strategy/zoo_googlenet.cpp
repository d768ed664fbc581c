// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
// once: sanitized by clang it takes 80 s of a core, 42 of them to compile (1.1 GB); it passed on 2026-11-28
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/googlenet.hpp>

#include "support/same_under_strategies.hpp"

// GoogLeNet, narrower, under strategies. Which units drop out is drawn for each half of a batch by
// itself: it is trained as on one device that computes on both halves, one after the other.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(three_outputs) {
    constexpr adam o{.learning_rate = 1e-3f, .epsilon = 1e-4f};
    check_under_strategies("googlenet", trainers_of(zoo::googlenet<80, 10, 8>, zoo::googlenet_loss, o),
                           canonical<2>());
}
