// SPDX-License-Identifier: BSL-1.0
// once: a net of layers that other tests share
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE googlenet
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <zoo/googlenet.hpp>
#include "count.hpp"
#include "ten_steps.hpp"

using namespace sinter;
using namespace sinter::compiler;

// Caffe's parameters, of which the heads have 3,188,840 and 3,190,888; the paper's table 1 has 6.8
// million and 1.5 G without them
constexpr zoo::counts all = zoo::count(zoo::googlenet<>);
static_assert(all.parameters == 13'378'280);
static_assert(zoo::tenths_of_billions(all.multiply_adds) == 16);

/// {outputs, parameters}: the heads have no part in predictions, but their parameters keep their places.
constexpr std::pair<int, int> made_of(program_mode mode) {
    graph g;
    trace<std::remove_const_t<decltype(zoo::googlenet<>)>, zoo::googlenet_loss_layer>(g, mode);
    return {g.outputs.n, g.parameters.n};
}
static_assert(made_of(program_mode::prediction) == std::pair(1, 128) &&
              made_of(program_mode::training) == std::pair(3, 128));

BOOST_AUTO_TEST_CASE(ten_steps) {
    zoo::check_ten_steps<8>(zoo::googlenet<80, 10, 16>, zoo::googlenet_loss, adam{.learning_rate = 2e-3f}, 1.f);
}
