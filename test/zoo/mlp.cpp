// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE mlp
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <zoo/mlp.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

static_assert(zoo::count(zoo::mlp<10, 128>) == zoo::counts{101'770, 784 * 128 + 128 * 10});
static_assert(zoo::count(zoo::mlp<10, 300, 100>) == zoo::counts{266'610, 784 * 300 + 300 * 100 + 100 * 10});

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<16>(zoo::mlp<10, 40, 20>, softmax_cross_entropy, sgd{.learning_rate = 0.05f}, 0.9f);
}
