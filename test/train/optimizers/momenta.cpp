// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE momenta
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/averaged_momentum.hpp>
#include <sinter/train/optimizers/heavy_ball.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/nesterov.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(rate_outside_the_velocity) { check_training(momentum{.learning_rate = 0.1f}, golden::momentum); }
BOOST_AUTO_TEST_CASE(rate_inside_the_velocity) {
    check_training(heavy_ball{.learning_rate = 0.1f}, golden::heavy_ball);
}
BOOST_AUTO_TEST_CASE(average_of_the_gradients) {
    check_training(averaged_momentum{.learning_rate = 0.2f}, golden::averaged_momentum);
}
BOOST_AUTO_TEST_CASE(looking_ahead) {
    check_training(nesterov{.learning_rate = 0.1f, .weight_decay = 0.01f}, golden::nesterov);
}
