// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE resnet
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <zoo/resnet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// torchvision's parameters; the paper's table 1 has 1.8 and 3.6 G
constexpr zoo::counts of_18 = zoo::count(zoo::resnet18<>), of_34 = zoo::count(zoo::resnet34<>);
static_assert(of_18.parameters == 11'689'512 && of_34.parameters == 21'797'672);
static_assert(zoo::tenths_of_billions(of_18.multiply_adds) == 18);
static_assert(zoo::tenths_of_billions(of_34.multiply_adds) == 37);

BOOST_AUTO_TEST_CASE(ten_steps_of_18) {
    zoo::check_ten_steps<8>(zoo::resnet18<32, 10, 4>, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, 0.9f);
}
BOOST_AUTO_TEST_CASE(ten_steps_of_34) {
    zoo::check_ten_steps<8>(zoo::resnet34<32, 10, 4>, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, 0.9f);
}
