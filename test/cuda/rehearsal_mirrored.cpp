// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "cuda/rehearsal.hpp"
#include "support/same_training.hpp"

// Replicas with memory of their own, whose programs are planned for CUDA, train as one device does. Tables have no lists of rows
// there: whole gradients are added up, and the rows that occur in any replica's part of the batch are updated, no others.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto words = indices<4> >> embedding<60, 5> >> flatten >> dense<16> >> relu >> dense<3>;
template <auto Norm>
constexpr auto numbers = features<6> >> dense<16> >> Norm >> relu >> dense<3>;
const std::vector<int> uneven{12, 7, 12, 1, 2, 11};

template <int N, class Net, class Loss, class Optimizer>
void as_single(Net n, Loss l, Optimizer o, const char* what) {
    trainer one{n, l, o, max_batch<12>, single<rehearsal_device>{}};
    trainer many{n, l, o, max_batch<12>, mirrored<N, rehearsal_device>{}, {.threads = 2}};
    trainer peers{n, l, o, max_batch<12>, mirrored<N, rehearsal_peer>{}, {.threads = 2}};
    const std::vector<float> before = all_variables(one);
    train_on(one, 8, uneven);
    const std::vector<float> losses = train_on(many, 8, uneven);
    BOOST_TEST(same_bits(train_on(peers, 8, uneven), losses), what << ", sums by the devices");
    BOOST_TEST(same_bits(all_variables(peers), all_variables(many)), what << ", sums by the devices");
    const std::vector<float> wanted = all_variables(one), got = all_variables(many);
    BOOST_TEST(furthest(got, wanted) < 2e-5, what);
    BOOST_TEST(furthest(before, wanted) > 1e-3, what);
    for (std::size_t i = 0; i < before.size(); ++i)
        if (wanted[i] == before[i]) BOOST_TEST(got[i] == before[i], what << ": a number that rests on one device");
}

} // namespace

BOOST_AUTO_TEST_CASE(tables) {
    as_single<3>(words, mse, adam{.learning_rate = 0.01f, .epsilon = 1e-3f}, "words");
    as_single<2>(words, mse, clip_by_global_norm{0.1f, momentum{.learning_rate = 0.1f}}, "words, clipped");
    as_single<2>(words, mse, accumulate<2>(momentum{.learning_rate = 0.1f}), "words, accumulated");
}
BOOST_AUTO_TEST_CASE(statistics_of_the_whole_batch) {
    trainer one{numbers<batch_norm>, mse, momentum{.learning_rate = 0.05f}, max_batch<12>, single<rehearsal_device>{}};
    trainer many{numbers<synchronised_batch_norm>, mse, momentum{.learning_rate = 0.05f}, max_batch<12>, mirrored<3, rehearsal_device>{}};
    train_on(one, 8, {12, 7, 2});
    train_on(many, 8, {12, 7, 2});
    BOOST_TEST(furthest(all_variables(many), all_variables(one)) < 2e-5);
}
