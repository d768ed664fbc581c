// SPDX-License-Identifier: BSL-1.0
// processors: 2
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/lamb.hpp>

#include "support/same_training.hpp"

// Replicas in one memory, whose updates read all gradients: the bits of replicas whose gradients are added up before.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto numbers = features<6> >> dense<33> >> relu >> dense<3>;
constexpr auto words = indices<4> >> embedding<40, 5> >> flatten >> dense<16> >> relu >> dense<3>;
const std::vector<int> uneven{12, 7, 12, 1, 2, 11};   // also fewer examples than replicas

template <int N>
struct adds_before : mirrored<N> {
    static constexpr strategy_traits traits = [] {
        strategy_traits t = mirrored<N>::traits;
        t.gradient_sources = 1;
        return t;
    }();
};
template <int N, class Net, class Loss, class Optimizer>
void same(Net n, Loss l, Optimizer o, const char* what) {
    static_assert(mirrored<N>::traits.gradient_sources == N);
    trainer reads{n, l, o, max_batch<12>, mirrored<N>{}, {.threads = 2}};
    trainer adds{n, l, o, max_batch<12>, adds_before<N>{}, {.threads = 2}};
    const std::vector<float> before = all_variables(reads);
    for (int i = 0; i < 12; ++i) {
        const random_batch<typename decltype(reads)::evaluation> b(static_cast<std::uint64_t>(i),
                                                                   uneven[static_cast<std::size_t>(i) % 6]);
        BOOST_TEST(reads.step(b.view()) == adds.step(b.view()), what << ": loss of step " << i);
        BOOST_TEST(same_bits(all_variables(reads), all_variables(adds)), what << ", " << N << " replicas, step " << i);
    }
    BOOST_TEST(furthest(all_variables(reads), before) > 1e-3, what);
    auto moved = std::move(reads);   // and goes on where it was
    train_on(moved, 2, uneven);
    train_on(adds, 2, uneven);
    BOOST_TEST(same_bits(all_variables(moved), all_variables(adds)), what);
}

} // namespace

BOOST_AUTO_TEST_CASE(sweeps) {
    same<2>(numbers, mse, adam{.learning_rate = 0.01f}, "adam");
    same<5>(numbers, mse, sgd{.learning_rate = 0.1f}, "sgd");
}
BOOST_AUTO_TEST_CASE(norms) {
    same<3>(numbers, mse, clip_by_global_norm{0.1f, adam{.learning_rate = 0.01f}}, "clipped");
    same<2>(words, mse, lamb{.learning_rate = 0.01f}, "lamb");
}
BOOST_AUTO_TEST_CASE(tables) {
    same<3>(words, mse, adam{.learning_rate = 0.01f}, "words");
    same<2>(words, mse, clip_by_global_norm{0.1f, adam{.learning_rate = 0.01f}}, "words, clipped");
}
BOOST_AUTO_TEST_CASE(accumulation) {
    same<2>(words, mse, accumulate<2>(adam{.learning_rate = 0.01f}), "accumulated");
    same<3>(numbers, mse, accumulate<3>(clip_by_global_norm{0.1f, adam{.learning_rate = 0.01f}}),
            "accumulated, clipped");
}
