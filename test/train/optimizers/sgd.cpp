// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sgd
#include <boost/test/unit_test.hpp>

#include <sinter/train/optimizers/sgd.hpp>

#include "support/optimizer_steps.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::pytorch;

BOOST_AUTO_TEST_CASE(as_pytorch) { check_steps(sgd{.learning_rate = 0.1f}, golden::optimizer_sgd); }
BOOST_AUTO_TEST_CASE(with_weight_decay) {
    check_steps(sgd{.learning_rate = 0.1f, .weight_decay = 0.01f}, golden::optimizer_sgd_decay);
}
