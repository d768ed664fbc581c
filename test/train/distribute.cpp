// SPDX-License-Identifier: BSL-1.0
// processors: 2
#include <boost/test/unit_test.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/distribute.hpp>

#include "support/gan_losses.hpp"
#include "support/same_training.hpp"
#include "support/synchronous_members.hpp"

// Loops of one's own under every strategy: one loss, and two that alternate (a small GAN).
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<4> >> dense<8> >> relu >> dense<2>;
constexpr alternating rounds{phase<"critic/*">(telling{}, adam{.learning_rate = 0.01f}),
                             phase<"generator/*">(drawing{}, momentum{.learning_rate = 0.02f})};
template <bool Normalised>
constexpr auto gan = features<4> >> [](tensor x) {
    constexpr auto critic = [] {
        if constexpr (Normalised) return shared<"critic">(dense<6> >> batch_norm >> relu >> dense<1>);
        else return shared<"critic">(dense<6> >> relu >> dense<1>);
    }();
    const tensor drawn = named<"generator">(dense<4>)(x * 0.5f);
    return outputs(critic(x), critic(drawn));
};

std::vector<float> drawn(int n, std::uint64_t seed) {
    random_stream r(seed);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& v : x) v = r.normal();
    return x;
}
data::dataset examples(int n, std::uint64_t seed) {
    data::dataset d(batch_of(4), drawn(4 * n, seed));
    d.targets(batch_of(2), drawn(2 * n, seed + 100));
    return d;
}
/// Three passes; the mean losses of each.
template <class Trainer>
std::vector<float> passes(Trainer& t, data::pipeline& batches) {
    std::vector<float> means;
    for (int k = 0; k < 3; ++k) {
        double sums[2] = {};
        for (const data::batch_view& b : distribute(t, batches)) {
            const double loss = static_cast<double>(t.step(b));
            if (t.last_step().examples == 0) continue;   // all have ended
            sums[0] += loss * t.loss_weight();
            sums[1] += t.loss_weight();
        }
        means.push_back(static_cast<float>(sums[0] / sums[1]));
    }
    return means;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_same_loop_under_every_strategy) {
    const data::dataset set = examples(26, 1);
    auto batches = data::source(set) | data::batch(10);   // 10, 10 and 6
    trainer one{net, mse, adam{.learning_rate = 0.01f}, max_batch<10>, {.threads = 1}};
    trainer two{net, mse, adam{.learning_rate = 0.01f}, max_batch<10>, mirrored<2>{}, {.threads = 1}};
    const std::vector<float> wanted = passes(one, batches), got = passes(two, batches);
    BOOST_TEST(furthest(got, wanted) < 1e-5);
    BOOST_TEST(furthest(all_weights(two), all_weights(one)) < 1e-5);
    std::vector<std::vector<float>> told(3), last(3);
    const auto errors = as_members(3, [&](const auto& s) {
        auto mine = data::source(set) | data::batch(10);
        trainer t{net, mse, adam{.learning_rate = 0.01f}, max_batch<10>, s, {.threads = 1}};
        told[static_cast<std::size_t>(s.rank)] = passes(t, mine);
        last[static_cast<std::size_t>(s.rank)] = all_weights(t);
    });
    for (std::size_t r = 0; r < 3; ++r) {
        BOOST_TEST(errors[r] == "");
        BOOST_TEST(furthest(told[r], wanted) < 1e-5);
        BOOST_TEST(furthest(last[r], all_weights(one)) < 1e-5);
    }
}

// Members have 3, 2 and 1 batches of their own: three steps, as on one device with all examples.
BOOST_AUTO_TEST_CASE(members_with_different_numbers_of_batches) {
    constexpr int mine[] = {15, 10, 5};
    const data::dataset sets[] = {examples(15, 1), examples(10, 2), examples(5, 3)};
    trainer one{net, mse, adam{.learning_rate = 0.01f}, max_batch<15>, {.threads = 1}};
    std::vector<float> wanted;
    for (int k = 0; k < 3; ++k) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
            std::vector<float> x, y;
            for (int r = 0; r < 3; ++r)
                if (5 * i < mine[r]) {
                    const auto a = drawn(4 * mine[r], static_cast<std::uint64_t>(r) + 1),
                        b = drawn(2 * mine[r], static_cast<std::uint64_t>(r) + 101);
                    x.insert(x.end(), a.begin() + 20 * i, a.begin() + 20 * (i + 1));
                    y.insert(y.end(), b.begin() + 10 * i, b.begin() + 10 * (i + 1));
                }
            sum +=
                static_cast<double>(one.step({.x = x.data(), .y = y.data(), .size = static_cast<int>(x.size()) / 4})) *
                static_cast<double>(x.size()) / 4;
        }
        wanted.push_back(static_cast<float>(sum / 30));
    }
    std::vector<std::vector<float>> told(3), last(3);
    const auto errors = as_members(3, [&](const auto& s) {
        auto batches = data::source(sets[s.rank]) | data::batch(5);
        trainer t{net, mse, adam{.learning_rate = 0.01f}, max_batch<5>, s, {.threads = 1}};
        told[static_cast<std::size_t>(s.rank)] = passes(t, batches);
        last[static_cast<std::size_t>(s.rank)] = all_weights(t);
        if (t.steps() != 9) throw std::runtime_error("steps: " + std::to_string(t.steps()));
    }, batch_input::per_worker);
    for (std::size_t r = 0; r < 3; ++r) {
        BOOST_TEST(errors[r] == "");
        BOOST_TEST(furthest(told[r], wanted) < 1e-5);
        BOOST_TEST(furthest(last[r], all_weights(one)) < 1e-5);
    }
}

template <class Trainer>
std::vector<float> alternate(Trainer& t, data::pipeline& batches) {
    for (int k = 0; k < 4; ++k)
        for (const data::batch_view& b : distribute(t, batches)) {
            t.step(0, b);
            t.step(1, b);
        }
    return all_variables(t);
}
BOOST_AUTO_TEST_CASE(losses_that_alternate) {
    const data::dataset set(batch_of(4), drawn(26 * 4, 5));
    auto batches = data::source(set) | data::batch(10);
    alternating_trainer one{gan<false>, rounds, max_batch<10>, {.threads = 1}};
    alternating_trainer two{gan<false>, rounds, max_batch<10>, mirrored<2>{}, {.threads = 2}};
    const std::vector<float> wanted = alternate(one, batches);
    BOOST_TEST(furthest(alternate(two, batches), wanted) < 1e-5);
    BOOST_TEST((two.phase_steps() == one.phase_steps()));

    alternating_trainer same{gan<true>, rounds, max_batch<10>, canonical<4>(), {.threads = 1}};
    alternating_trainer four{gan<true>, rounds, max_batch<10>, canonical<4>(mirrored<4>{}), {.threads = 2}};
    const std::vector<float> bits = alternate(same, batches);
    BOOST_TEST(same_bits(alternate(four, batches), bits));
    std::vector<std::vector<float>> got(2);
    const auto errors = as_members(2, [&](const auto& s) {
        auto mine = data::source(set) | data::batch(10);
        alternating_trainer t{gan<true>, rounds, max_batch<10>, canonical<4>(s), {.threads = 1}};
        got[static_cast<std::size_t>(s.rank)] = alternate(t, mine);
    });
    for (std::size_t r = 0; r < 2; ++r) BOOST_TEST(same_bits(got[r], bits), errors[r]);
}
