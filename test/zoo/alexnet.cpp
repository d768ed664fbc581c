// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE alexnet
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/alexnet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// torchvision's numbers
constexpr zoo::counts all = zoo::count(zoo::alexnet<>);
static_assert(all.parameters == 61'100'840);
static_assert(zoo::tenths_of_billions(all.multiply_adds) == 7);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<8>(zoo::alexnet<67, 10, 8, 64>, softmax_cross_entropy, adam{.learning_rate = 2e-3f}, 1.f);
}
