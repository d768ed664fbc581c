// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/ctc.hpp>
#include <zoo/deep_speech_2.hpp>

#include "support/same_under_strategies.hpp"

// Deep Speech 2, narrower, under strategies. batch_norm takes its statistics from each half of a
// batch: it is trained as on one device that computes on both halves, one after the other.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(spectrograms) {
    constexpr zoo::deep_speech_2_size small{.frames = 24, .bins = 17, .filters = 4,
                                            .units = 8, .layers = 2, .letters = 6};
    constexpr clip_by_global_norm o{1.f, momentum{.learning_rate = 0.05f}};
    check_under_strategies("deep_speech_2", trainers_of(zoo::deep_speech_2<small>, ctc<4>, o), canonical<2>());
}
