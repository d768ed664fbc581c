// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE deep_speech_2
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/ctc.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/deep_speech_2.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// 161 bins become 81, then 41 under 32 filters each; three gates read the layer below and the state, in two directions
constexpr zoo::counts all = zoo::count(zoo::deep_speech_2<>);
constexpr std::int64_t first = 11 * 41 * 32, second = 11 * 21 * 32 * 32;
constexpr std::int64_t recurrent = 2 * 3 * ((41 * 32 + 800) * 800 + 4 * (800 + 800) * 800), letters = 800 * 29;
constexpr std::int64_t biases = 2 * 5 * 4 * 800, gains = 2 * (32 + 32 + 5 * 800);
static_assert(all.parameters == first + second + recurrent + letters + biases + gains);
static_assert(all.multiply_adds == 200 * 81 * first + 200 * 41 * second + 200 * (recurrent + letters));

constexpr zoo::deep_speech_2_size small{.frames = 24, .bins = 17, .filters = 4, .units = 12, .layers = 2, .letters = 6};
BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<4>(zoo::deep_speech_2<small>, ctc<4>, adam{.learning_rate = 1e-2f}, 0.8f);
}
