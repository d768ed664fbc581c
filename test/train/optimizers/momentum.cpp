// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE momentum
#include <boost/test/unit_test.hpp>

#include <sinter/train/optimizers/momentum.hpp>

#include "support/optimizer_steps.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::pytorch;

BOOST_AUTO_TEST_CASE(as_pytorch) {
    check_steps(momentum{.learning_rate = 0.1f, .momentum_rate = 0.9f}, golden::optimizer_momentum);
}
