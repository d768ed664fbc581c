// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE ftrl
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/ftrl.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_keras) {
    check_training(ftrl{.learning_rate = 0.2f, .l1 = 0.05f, .l2 = 0.01f, .beta = 0.1f}, golden::ftrl);
}
