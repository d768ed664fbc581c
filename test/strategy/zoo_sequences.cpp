// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/gpt.hpp>
#include <zoo/lstm_language_model.hpp>

#include "support/same_under_strategies.hpp"

// Language models under strategies: as on one device. Both without dropout, which depends on how a
// batch is cut.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(gpt_net) {
    constexpr zoo::gpt_size small{.symbols = 30, .context = 8, .width = 24, .heads = 3, .blocks = 2, .dropout = 0};
    constexpr clip_by_global_norm o{1.f, momentum{.learning_rate = 0.05f}};
    // Keys' biases add the same to all scores of a place, which softmax takes away: their gradients
    // are roundings, and an optimizer that divides by them, as adam does, would have them differ.
    check_under_strategies("gpt", trainers_of(zoo::gpt<small>, softmax_cross_entropy, o), default_strategy{},
                           small.blocks);
}
BOOST_AUTO_TEST_CASE(lstm_net) {
    constexpr zoo::lstm_language_model_size small{.symbols = 30, .steps = 6, .units = 24, .dropout = 0};
    constexpr adam o{.learning_rate = 2e-2f, .epsilon = 1e-4f};
    check_under_strategies("lstm", trainers_of(zoo::lstm_language_model<small>, softmax_cross_entropy, o),
                           default_strategy{});
}
