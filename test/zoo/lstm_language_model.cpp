// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE lstm_language_model
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/lstm_language_model.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// Known as the models of 20 and 66 million parameters. Each symbol is multiplied with all of them
// but the embedding's table and the biases.
constexpr zoo::counts medium = zoo::count(zoo::lstm_language_model<>);
constexpr zoo::counts large =
    zoo::count(zoo::lstm_language_model<zoo::lstm_language_model_size{.units = 1500, .dropout = 0.65}>);
static_assert(medium.parameters == 19'775'200 && large.parameters == 66'022'000);
static_assert(medium.multiply_adds == 35 * (medium.parameters - 10'000 * 650 - 2 * 4 * 650 - 10'000));

constexpr zoo::lstm_language_model_size small{.symbols = 30, .steps = 6, .units = 24, .recurrent = {.carried = true}};
BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<4>(zoo::lstm_language_model<small>, softmax_cross_entropy,
                            adam{.learning_rate = 1e-2f}, 0.95f);
}
