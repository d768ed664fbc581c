// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <zoo/alexnet.hpp>
#include <zoo/overfeat.hpp>
#include <zoo/vgg.hpp>

#include "support/same_under_strategies.hpp"

// Nets for larger images, narrower, under strategies. Which units drop out is drawn for each half
// of a batch by itself: they are trained as on one device that computes on both halves, one after
// the other.
using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(alexnet) {
    constexpr momentum o{.learning_rate = 0.02f};
    check_under_strategies("alexnet", trainers_of(zoo::alexnet<67, 10, 8, 32>, softmax_cross_entropy, o),
                           canonical<2>());
}
BOOST_AUTO_TEST_CASE(vgg_of_column_a) {
    constexpr momentum o{.learning_rate = 0.05f};
    check_under_strategies("vgg", trainers_of(zoo::vgg_a<32, 10, 8, 32>, softmax_cross_entropy, o), canonical<2>());
}
BOOST_AUTO_TEST_CASE(overfeat) {
    constexpr momentum o{.learning_rate = 0.05f};
    check_under_strategies("overfeat", trainers_of(zoo::overfeat_fast<71, 10, 6, 24>, softmax_cross_entropy, o),
                           canonical<2>());
}
