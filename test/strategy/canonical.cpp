// SPDX-License-Identifier: BSL-1.0
// shows saving: the same bits in every run, and under `canonical` on any number of replicas
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/strategy/sharded_update.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// canonical<4>: the same bits on one device, on replicas and on members.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto words = indices<6> >> embedding<40, 5> >> flatten >> dense<16> >> batch_norm >> relu >> dropout<0.3>
    >> dense<3>;
constexpr auto images = image<8, 8, 2> >> conv2d<4, 3> >> batch_norm >> relu >> max_pool<2> >> flatten >> dropout<0.5>
    >> dense<5>;
const std::vector<int> uneven{12, 7, 12, 1, 3, 11};
constexpr int steps = 12;

struct run {
    std::vector<float> variables, losses;
};
template <class Net, class Loss, class Optimizer, class Strategy>
run trained(Net n, Loss l, Optimizer o, Strategy s) {
    trainer t{n, l, o, max_batch<12>, s, {.threads = 2}};
    run r;
    r.losses = train_on(t, steps, uneven);
    r.variables = all_variables(t);
    return r;
}
/// `same`: both have the same bits.
void check(const run& got, const run& wanted, const std::string& what) {
    BOOST_TEST(same_bits(got.losses, wanted.losses),
               what << ": losses, off by " << furthest(got.losses, wanted.losses));
    BOOST_TEST(same_bits(got.variables, wanted.variables),
               what << ": variables, off by " << furthest(got.variables, wanted.variables));
}
template <int S, bool Shards = false, class Net, class Loss, class Optimizer>
void on_members(Net n, Loss l, Optimizer o, int members, const run& wanted, const char* what) {
    std::vector<run> got(static_cast<std::size_t>(members));
    const auto errors = as_members(members, [&](const auto& s) {
        run& mine = got[static_cast<std::size_t>(s.rank)];
        if constexpr (Shards) mine = trained(n, l, o, sharded_update(canonical<S>(s)));
        else mine = trained(n, l, o, canonical<S>(s));
    });
    for (std::size_t r = 0; r < got.size(); ++r) {
        BOOST_TEST(errors[r] == "", what);
        check(got[r], wanted, std::string(what) + ", member " + std::to_string(r) + " of " + std::to_string(members));
    }
}
template <class Net, class Loss, class Optimizer>
void everywhere(Net n, Loss l, Optimizer o, const char* what) {
    const run wanted = trained(n, l, o, canonical<4>());
    BOOST_TEST(wanted.variables.size() > 0);
    check(trained(n, l, o, canonical<4>(mirrored<2>{})), wanted, std::string(what) + ", mirrored<2>");
    check(trained(n, l, o, canonical<4>(mirrored<4>{})), wanted, std::string(what) + ", mirrored<4>");
    for (const int members : {1, 2, 4}) on_members<4>(n, l, o, members, wanted, what);
}

} // namespace

BOOST_AUTO_TEST_CASE(tables_dropout_and_batch_norm) {
    everywhere(words, softmax_cross_entropy, adam{.learning_rate = 0.01f}, "words");
}
BOOST_AUTO_TEST_CASE(images_and_momentum) {
    everywhere(images, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, "images");
}
BOOST_AUTO_TEST_CASE(weighted_means_and_clipping) {
    everywhere(words, weighted(softmax_cross_entropy), clip_by_global_norm{0.5f, adam{.learning_rate = 0.01f}},
               "weighted");
}
BOOST_AUTO_TEST_CASE(steps_that_are_accumulated) {
    everywhere(words, softmax_cross_entropy, accumulate<3>(adam{.learning_rate = 0.01f}), "accumulated");
    everywhere(images, weighted(softmax_cross_entropy), accumulate<4>(momentum{.learning_rate = 0.02f}),
               "accumulated, weighted");
}
BOOST_AUTO_TEST_CASE(updates_in_parts) {
    const auto both = [](auto n, auto l, auto o, const char* what) {
        const run wanted = trained(n, l, o, canonical<4>());
        on_members<4, true>(n, l, o, 2, wanted, what);
        on_members<4, true>(n, l, o, 4, wanted, what);
    };
    both(words, softmax_cross_entropy, adam{.learning_rate = 0.01f}, "words");
    both(images, softmax_cross_entropy, clip_by_global_norm{0.5f, adam{}}, "clipped");
    both(images, softmax_cross_entropy, accumulate<3>(adam{}), "accumulated");
}
BOOST_AUTO_TEST_CASE(shards_that_cannot_be_divided) {
    const auto errors =
        as_members(3, [](const auto& s) { trainer t{images, softmax_cross_entropy, sgd{}, canonical<4>(s)}; });
    for (const std::string& e : errors) BOOST_TEST(e.find("canonical<4>") != std::string::npos, e);
}
