// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gradient_penalty
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/layers/transformer.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/tanh.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/trainer.hpp>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

/// A critic that tells points on the left from points on the right learns, by a penalty on its
/// slope, to rise by 1 a unit everywhere (Gulrajani et al. 2017). The slope is measured by
/// differences of what it predicts.
using namespace sinter;
using namespace sinter::base;

constexpr auto net = features<2> >> [](tensor x) {
    const tensor score = dense<1>(ops::tanh(dense<16>(x)));
    return outputs(score, ops::gradient(score, x));
};
constexpr auto attentive = features<2> >> [](tensor x) {
    const tensor score = dense<1>(flatten(transformer_block<2, 6>(ops::reshape(dense<8>(x), extents(2, 4)))));
    return outputs(score, ops::gradient(score, x));
};
struct critic_loss {
    static constexpr target_list targets{number_target<1>()};   // 1 on the right, -1 on the left
    constexpr tensor operator()(bundle y, bundle side) const {
        const tensor off = ops::sqrt(sum(y[1] * y[1], {-1}) + 1e-12f) - 1.f;
        return 10.f * off * off - sum(y[0] * side[0], {-1});
    }
};
template <class Net>
using critic = trainer<std::remove_const_t<Net>, critic_loss, adam, 64>;

/// The slopes' mean distance from 1, and the mean slope to the right.
template <class Critic>
static std::pair<double, double> slopes(Critic& c, const std::vector<float>& x) {
    const float h = 0.01f;
    double apart = 0, right = 0;
    for (std::size_t i = 0; i < x.size(); i += 2) {
        double d[2];
        for (std::size_t k = 0; k < 2; ++k) {
            float at[] = {x[i], x[i + 1], x[i], x[i + 1]};
            at[k] += h;
            at[2 + k] -= h;
            const std::span<const float> y = c.predict({.x = at, .size = 2});
            d[k] = static_cast<double>(y[0] - y[1]) / (2 * static_cast<double>(h));
        }
        apart += std::abs(std::sqrt(d[0] * d[0] + d[1] * d[1]) - 1) / (static_cast<double>(x.size()) / 2);
        right += d[0] / (static_cast<double>(x.size()) / 2);
    }
    return {apart, right};
}

template <class Net>
static void train(int steps) {
    random_stream random(stream(1, 2));
    std::vector<float> x(128), side(64);
    auto draw = [&] {
        for (std::size_t i = 0; i < 64; ++i) {
            side[i] = i % 2 ? 1.f : -1.f;
            x[2 * i] = side[i] + random.uniform(-1, 1);
            x[2 * i + 1] = random.uniform(-1, 1);
        }
    };
    critic<Net> c(adam{.learning_rate = 0.01f}, {.threads = 1});
    draw();
    const auto before = slopes(c, x);
    for (int i = 0; i < steps; ++i) {
        draw();
        c.step({.x = x.data(), .y = side.data(), .size = 64});
    }
    const auto after = slopes(c, x);
    BOOST_TEST_MESSAGE("from " << before.first << " to " << after.first);
    BOOST_TEST(before.first > 0.2);
    BOOST_TEST(after.first < 0.1);
    BOOST_TEST(after.second > 0.9);
}

BOOST_AUTO_TEST_CASE(trains_the_slope_to_one) { train<decltype(net)>(500); }
BOOST_AUTO_TEST_CASE(through_a_transformer_block) { train<decltype(attentive)>(1500); }
