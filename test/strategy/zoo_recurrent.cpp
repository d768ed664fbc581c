// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/gru_speech.hpp>
#include <zoo/wavenet.hpp>

#include "support/same_under_strategies.hpp"

// GRUs on top of each other, and WaveNet, under strategies: as on one device.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(stack_of_grus) {
    constexpr adam o{.learning_rate = 1e-2f, .epsilon = 1e-4f};
    check_under_strategies("gru", trainers_of(zoo::gru_speech<12, 6, 2> >> dense<9>, softmax_cross_entropy, o),
                           default_strategy{});
}
BOOST_AUTO_TEST_CASE(dilated_convolutions) {
    constexpr zoo::wavenet_size small{.samples = 16, .symbols = 12, .residual = 8, .gate = 8, .skip = 16,
                                      .stacks = 1, .doublings = 3};
    constexpr momentum o{.learning_rate = 0.1f};
    check_under_strategies("wavenet", trainers_of(zoo::wavenet<small>, softmax_cross_entropy, o), default_strategy{},
                           2);   // the last block's residual product goes nowhere
}
