// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/random_normal.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>

#include "support/same_under_strategies.hpp"

// The nets that draw, smaller, under strategies. They draw random numbers for each half of a batch
// by itself: they are trained as on one device that computes on both halves, one after the other.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int side = 6, pixels = side * side, numbers = 5;

constexpr auto encoder = dense<16> >> relu >> [](tensor h) { return outputs(dense<numbers>(h), dense<numbers>(h)); };
constexpr auto decoder = named<"decoder">(dense<16> >> relu >> dense<pixels>);
constexpr auto autoencoder = image<side, side, 1> >> flatten >> [](tensor x) {
    const bundle cloud = encoder(x);
    const tensor mean = cloud[0], log_variance = cloud[1];
    tensor point = mean;
    if (x.ok() && x.g->mode() != program_mode::prediction)
        point = mean + exp(log_variance * 0.5f) * ops::random_normal(mean);
    return outputs(x, decoder(point), mean, log_variance);
};
struct evidence_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const {
        const tensor image = y[0], drawn = y[1], mean = y[2], log_variance = y[3];
        const tensor missed = maximum(drawn, 0.f) - drawn * image + log(exp(-maximum(drawn, -drawn)) + 1.f);
        const tensor distance = 0.5f * (mean * mean + exp(log_variance) - log_variance - 1.f);
        return sum(missed, {-1}) + sum(distance, {-1});
    }
};

constexpr auto leaky = [](tensor x) { return maximum(x, x * 0.2f); };
constexpr auto generator = named<"generator">(dense<12> >> relu >> dense<pixels> >> sigmoid);
constexpr auto discriminator = shared<"discriminator">(dense<16> >> leaky >> dense<8> >> leaky >> dense<1>);
constexpr auto adversaries = image<side, side, 1> >> flatten >> [](tensor x) {
    const tensor z = ops::random_normal(ops::slice(x, -1, 0, numbers));
    const tensor drawn = generator(z);
    const tensor of_real = discriminator(x), slope = ops::gradient(of_real, x);
    return outputs(of_real, discriminator(drawn), sum(slope * slope, {-1}), drawn);
};
struct telling_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const {
        return ops::softplus(-y[0]) + ops::softplus(y[1]) + 0.5f * ops::reshape(y[2], extents(1));
    }
};
struct drawing_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return ops::softplus(-y[1]); }
};

} // namespace

BOOST_AUTO_TEST_CASE(variational_autoencoder) {
    constexpr momentum o{.learning_rate = 0.002f};
    check_under_strategies("vae", trainers_of(autoencoder, evidence_loss{}, o), canonical<2>());
}
BOOST_AUTO_TEST_CASE(adversarial_net) {
    constexpr momentum o{.learning_rate = 0.05f};
    constexpr alternating phases{phase<"discriminator/*">(telling_loss{}, o), phase<"generator/*">(drawing_loss{}, o)};
    check_under_strategies("gan", [=](auto most, auto strategy) {
        return alternating_trainer{adversaries, phases, most, strategy, {.threads = 1}};
    }, canonical<2>());
}
