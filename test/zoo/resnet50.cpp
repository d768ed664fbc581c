// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE resnet50
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <zoo/resnet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// torchvision's numbers; the paper's table 1, whose strides are elsewhere, has 3.8 G
constexpr zoo::counts of_50 = zoo::count(zoo::resnet50<>);
static_assert(of_50.parameters == 25'557'032);
static_assert(zoo::tenths_of_billions(of_50.multiply_adds) == 41);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<8>(zoo::resnet50<32, 10, 4>, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, 0.9f);
}
