// SPDX-License-Identifier: BSL-1.0
// expect: elastic(sharded_update(...)): a model that one loss trains, not several that alternate
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>

using namespace sinter;

constexpr auto net = features<4> >> named<"eye">(dense<3>) >> named<"hand">(dense<2>);
constexpr alternating losses{phase<"eye/*">(mse_loss{}, sgd{}), phase<"hand/*">(mse_loss{}, sgd{})};

int main() { alternating_trainer gan{net, losses, max_batch<8>, elastic(sharded_update(multi_worker<ring>{}))}; }
