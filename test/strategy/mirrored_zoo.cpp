// SPDX-License-Identifier: BSL-1.0
// processors: 2
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <zoo/gpt.hpp>
#include <zoo/resnet.hpp>

#include "support/same_training.hpp"

// Nets of the zoo at reduced size: twenty steps under mirrored<2> are those of one device. Where
// dropout or batch_norm's statistics depend on how a batch is cut, canonical<2> on one device is
// the measure.
using namespace sinter;
using namespace sinter::test;

namespace {

template <class Net, class Optimizer>
void as_single(Net n, Optimizer o, const char* what) {
    trainer one{n, softmax_cross_entropy, o, max_batch<6>, {.threads = 1}};
    trainer two{n, softmax_cross_entropy, o, max_batch<6>, mirrored<2>{}, {.threads = 2}};
    const std::vector<float> start = all_weights(one);
    const std::vector<float> losses = train_on(one, 20, {6, 5}), got = train_on(two, 20, {6, 5});
    BOOST_TEST(furthest(got, losses) < 1e-4, what);
    BOOST_TEST(furthest(all_weights(two), all_weights(one)) < 1e-5, what);
    BOOST_TEST(furthest(all_weights(one), start) > 1e-4, what);
}

} // namespace

BOOST_AUTO_TEST_CASE(gpt) {
    as_single(zoo::gpt<zoo::gpt_size{.symbols = 20, .context = 8, .width = 16, .heads = 2, .blocks = 2, .dropout = 0}>,
              momentum{.learning_rate = 0.01f}, "gpt");
}
BOOST_AUTO_TEST_CASE(resnet_with_batch_norm) {
    const auto n = zoo::resnet18<16, 4, 4>;
    trainer one{n, softmax_cross_entropy, sgd{}, max_batch<6>, canonical<2>(), {.threads = 1}};
    trainer two{n, softmax_cross_entropy, sgd{}, max_batch<6>, canonical<2>(mirrored<2>{}), {.threads = 2}};
    train_on(one, 5, {6, 5});
    train_on(two, 5, {6, 5});
    BOOST_TEST(same_bits(all_variables(one), all_variables(two)));
}
