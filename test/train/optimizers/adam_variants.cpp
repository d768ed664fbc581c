// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE adam_variants
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/adamax.hpp>
#include <sinter/train/optimizers/amsgrad.hpp>
#include <sinter/train/optimizers/nadam.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(amsgrad_as_pytorch) {
    check_training(amsgrad{.learning_rate = 0.05f, .beta2 = 0.9f}, golden::amsgrad);
}
BOOST_AUTO_TEST_CASE(adamax_as_pytorch) { check_training(adamax{.learning_rate = 0.05f}, golden::adamax); }
BOOST_AUTO_TEST_CASE(nadam_as_pytorch) { check_training(nadam{.learning_rate = 0.05f}, golden::nadam); }
