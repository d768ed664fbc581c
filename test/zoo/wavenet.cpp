// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE wavenet
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/wavenet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// the first convolution; thirty blocks of filter, gate, residual and skip; two layers at the end
constexpr zoo::counts all = zoo::count(zoo::wavenet<>);
constexpr int products = 2 * 256 * 32 + 30 * (2 * 2 * 32 * 32 + 32 * 32 + 32 * 512) + 512 * 512 + 512 * 256;
constexpr int biases = 32 + 30 * (32 + 32 + 32 + 512) + 512 + 256;
static_assert(all.parameters == products + biases);
static_assert(all.multiply_adds == 16'000LL * products);
static_assert(zoo::wavenet_size{}.reach() == 3'071);

constexpr zoo::wavenet_size small{.samples = 24, .symbols = 12, .residual = 8, .gate = 8, .skip = 16,
                                    .stacks = 2, .doublings = 3};
BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<4>(zoo::wavenet<small>, softmax_cross_entropy, adam{.learning_rate = 2e-2f}, 0.99f);
}
