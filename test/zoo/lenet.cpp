// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE lenet
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <zoo/lenet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// layer by layer
constexpr zoo::counts all = zoo::count(zoo::lenet<>);
static_assert(all.parameters == 156 + 2'416 + 48'120 + 10'164 + 850);
static_assert(all.parameters == 61'706);
static_assert(all.multiply_adds == 28 * 28 * 150 + 10 * 10 * 2'400 + 48'000 + 10'080 + 840);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<16>(zoo::lenet<>, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, 0.95f);
}
