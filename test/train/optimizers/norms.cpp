// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE norms
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/max_norm.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(each_gradient_is_clipped) {
    check_training(clip_by_norm{0.1f, sgd{.learning_rate = 0.2f}}, golden::clip_by_norm);
}
BOOST_AUTO_TEST_CASE(each_tensor_is_kept_small) {
    check_training(max_norm{0.8f, sgd{.learning_rate = 0.2f}}, golden::max_norm);
}
