// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE gru_speech
#include <boost/test/unit_test.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/gru_speech.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// five matrices of 6000 x 9000 and the biases: 8.64e11 operations for a batch of 16
constexpr zoo::counts all = zoo::count(zoo::gru_speech<>);
static_assert(all.parameters == 5 * 6000 * 9000 + 5 * 4 * 3000);
static_assert(2 * 16 * all.multiply_adds == 864'000'000'000);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<4>(zoo::gru_speech<16, 6> >> dense<9>, softmax_cross_entropy,
                            adam{.learning_rate = 1e-2f}, 0.95f);
}
