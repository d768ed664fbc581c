// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE adagrad
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/adadelta.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/proximal_adagrad.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_pytorch) { check_training(adagrad{.learning_rate = 0.1f}, golden::adagrad); }
BOOST_AUTO_TEST_CASE(from_another_accumulator) {
    check_training(adagrad{.learning_rate = 0.1f, .initial_accumulator = 0.25f, .weight_decay = 0.01f},
                   golden::adagrad_start);
}
BOOST_AUTO_TEST_CASE(proximal_as_tensorflow) {
    check_training(proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.02f, .l2 = 0.01f}, golden::proximal_adagrad);
}
BOOST_AUTO_TEST_CASE(adadelta_as_pytorch) { check_training(adadelta{}, golden::adadelta); }
