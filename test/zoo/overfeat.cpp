// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
#define BOOST_TEST_MODULE overfeat
#include <boost/test/unit_test.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/overfeat.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;

// the paper's table 4: 145 million parameters, 2810 million connections
constexpr zoo::counts all = zoo::count(zoo::overfeat_fast<>);
static_assert(all.parameters == 145'920'872);
static_assert((all.multiply_adds + 5'000'000) / 10'000'000 == 280);

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<8>(zoo::overfeat_fast<71, 10, 12, 48>, softmax_cross_entropy,
                            adam{.learning_rate = 2e-3f}, 1.f);
}
