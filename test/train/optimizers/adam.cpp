// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE adam
#include <boost/test/unit_test.hpp>

#include <sinter/train/optimizers/adam.hpp>

#include "support/optimizer_run.hpp"
#include "support/optimizer_steps.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::pytorch;

BOOST_AUTO_TEST_CASE(as_pytorch) {
    check_steps(adam{.learning_rate = 0.01f, .epsilon = 1e-8f}, golden::optimizer_adam);
}
BOOST_AUTO_TEST_CASE(adamw_as_pytorch) {
    check_steps(adamw{.learning_rate = 0.01f, .weight_decay = 0.1f}, golden::optimizer_adamw);
}
BOOST_AUTO_TEST_CASE(fifty_steps_of_a_net) {
    check_training(adam{.learning_rate = 0.05f, .epsilon = 1e-8f}, fixture::optimizers::adam);
    check_training(adamw{.learning_rate = 0.05f, .weight_decay = 0.1f}, fixture::optimizers::adamw);
}
