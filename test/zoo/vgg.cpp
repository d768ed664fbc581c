// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE vgg
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/vgg.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// torchvision's numbers of VGG-11 and VGG-16; the paper's table 2 has 133 and 138 million
constexpr zoo::counts of_a = zoo::count(zoo::vgg_a<>), of_d = zoo::count(zoo::vgg_d<>);
static_assert(of_a.parameters == 132'863'336 && of_d.parameters == 138'357'544);
static_assert(zoo::tenths_of_billions(of_a.multiply_adds) == 76 && zoo::tenths_of_billions(of_d.multiply_adds) == 155);

// Half of the dense layers' units drop out, so that a step's loss is a matter of chance, too: the
// more, the larger the steps.
BOOST_AUTO_TEST_CASE(ten_steps_of_a) {
    zoo::check_ten_steps<8>(zoo::vgg_a<32, 10, 8, 64>, softmax_cross_entropy, adam{.learning_rate = 5e-4f}, 1.f);
}
BOOST_AUTO_TEST_CASE(ten_steps_of_d) {
    zoo::check_ten_steps<8>(zoo::vgg_d<32, 10, 8, 64>, softmax_cross_entropy, adam{.learning_rate = 5e-4f}, 1.f);
}
