// SPDX-License-Identifier: BSL-1.0
// expect: elastic(sharded_update(...)): a model that one loss trains, not several that alternate
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/elastic.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>

using namespace sinter;

constexpr auto net = features<4> >> named<"eye">(dense<3>) >> named<"hand">(dense<2>);
constexpr alternating turns{phase<"eye/*">(mse_loss{}, sgd{}), phase<"hand/*">(mse_loss{}, sgd{})};
using parts = decltype(elastic(sharded_update(multi_worker<ring>{})));

int main() {
    using trained = alternating_trainer<std::remove_const_t<decltype(net)>, std::remove_const_t<decltype(turns)>, 8, parts>;
    trained model{turns, parts{}};
}
