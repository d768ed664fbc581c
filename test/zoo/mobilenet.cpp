// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE mobilenet
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/mobilenet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// Parameters are those that Keras 3 trains; table 4 of the paper has 4.2 million, and 569 million multiply-adds.
constexpr zoo::counts all = zoo::count(zoo::mobilenet<>);
static_assert(all.parameters == 4'231'976);
static_assert((all.multiply_adds + 500'000) / 1'000'000 == 569);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<8>(zoo::mobilenet<32, 10, 8>, softmax_cross_entropy, adam{.learning_rate = 2e-3f}, 1.f);
}
