// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lion
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/lion.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_keras) { check_training(lion{.learning_rate = 0.01f, .weight_decay = 0.1f}, golden::lion); }
