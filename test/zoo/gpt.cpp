// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE gpt
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/gpt.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// GPT-2's 124,439,808, and the last layer's own weights and biases. The paper's table 2 says 117
// million; those are the published weights'. Each symbol is multiplied with all of them but tables,
// biases and gains.
constexpr zoo::counts all = zoo::count(zoo::gpt<>);
static_assert(all.parameters == 124'439'808 + 50'257 * 768 + 50'257);
static_assert(all.multiply_adds == 1024LL * (12 * 12 * 768 * 768 + 50'257 * 768));

constexpr zoo::gpt_size small{.symbols = 30, .context = 8, .width = 24, .heads = 3, .blocks = 2};
BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<4>(zoo::gpt<small>, softmax_cross_entropy, adam{.learning_rate = 5e-3f}, 0.8f);
}
