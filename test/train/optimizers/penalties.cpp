// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE penalties
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/decoupled_decay.hpp>
#include <sinter/train/optimizers/l1_penalty.hpp>
#include <sinter/train/optimizers/l2_penalty.hpp>
#include <sinter/train/optimizers/nadam.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(clipped_by_value) {
    check_training(clip_by_value{0.05f, sgd{.learning_rate = 0.2f}}, golden::clip_by_value);
}
BOOST_AUTO_TEST_CASE(absolute_values) { check_training(l1_penalty{0.05f, sgd{.learning_rate = 0.2f}}, golden::l1); }
BOOST_AUTO_TEST_CASE(squares) { check_training(l2_penalty{0.05f, sgd{.learning_rate = 0.2f}}, golden::l2); }
BOOST_AUTO_TEST_CASE(decay_apart_from_the_gradient) {
    check_training(decoupled_decay{0.1f, nadam{.learning_rate = 0.05f}}, golden::decoupled);
}
