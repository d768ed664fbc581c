// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lamb
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/lamb.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_keras) { check_training(lamb{.learning_rate = 0.05f}, golden::lamb); }
BOOST_AUTO_TEST_CASE(with_decay_inside_the_ratio) {
    check_training(lamb{.learning_rate = 0.05f, .weight_decay = 0.1f}, golden::lamb_decay);
}
