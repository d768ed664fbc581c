// SPDX-License-Identifier: BSL-1.0
// shows numbers: options, threads and lazy tables change nothing that is trained
// alone: takes as long to compile as a group
// once: random_programs.cpp compares both kinds of program when sanitized, and every test that trains runs fused ones
#define BOOST_TEST_MODULE fused_against_unfused
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/softmax.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include <random>

/// Fusion changes nothing but speed: nets trained for five steps from one seed, every op a kernel of its own and fused,
/// have the same losses and weights up to rounding.
using namespace sinter;

template <program_options O, class Net, class Loss, class Optimizer>
static auto five_steps(Net, Loss, Optimizer o, int examples) {
    using model = trainer<Net, Loss, Optimizer, build_options{6, O}>;
    model t(o, {.threads = 1, .seed = 42});
    constexpr auto& p = model::training::v;
    const int inputs = p.inputs[0].s.size(), targets = p.targets[0].s.size();
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> losses;
    for (int step = 0; step < 5; ++step) {
        std::vector<float> x(static_cast<std::size_t>(examples * inputs)),
            y(static_cast<std::size_t>(examples * targets));
        std::vector<std::int32_t> labels(y.size());
        for (float& e : x) e = normal(random);
        for (float& e : y) e = normal(random);
        for (std::int32_t& e : labels) e = static_cast<std::int32_t>(random() % 3);
        data::batch_view b;
        b.size = examples;
        b.x = x.data();
        b.y = y.data();
        b.labels = labels.data();
        losses.push_back(t.step(b));
    }
    std::vector<std::vector<float>> weights;
    for (int i = 0; i < t.parameters(); ++i) weights.push_back(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) weights.push_back(t.plain(t.state(i)));
    return std::pair(losses, weights);
}

template <class Net, class Loss, class Optimizer>
static void check(Net net, Loss loss, Optimizer o, int examples = 6) {
    const auto [a, v] = five_steps<program_options{.fuse = true}>(net, loss, o, examples);
    const auto [b, w] = five_steps<program_options{.fuse = false}>(net, loss, o, examples);
    for (std::size_t i = 0; i < a.size(); ++i) {
        BOOST_TEST(std::isfinite(a[i]));
        BOOST_TEST(std::abs(a[i] - b[i]) <= 2e-4f * std::abs(b[i]) + 1e-5f,
                   "loss " << i << ": " << a[i] << " and " << b[i]);
    }
    BOOST_REQUIRE(v.size() == w.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
        float worst = 0;
        for (std::size_t k = 0; k < v[i].size(); ++k)
            worst = std::max(worst, std::abs(v[i][k] - w[i][k]) / (1 + std::abs(w[i][k])));
        BOOST_TEST(worst <= 5e-4f, "weights " << i << " differ by " << worst);
    }
}
constexpr momentum steady{.learning_rate = 0.02f};
constexpr sgd plain{.learning_rate = 0.05f};

BOOST_AUTO_TEST_CASE(dense_and_softmax) {
    check(features<7> >> dense<9> >> relu >> dense<3>, softmax_cross_entropy, plain);
    check(features<7> >> dense<9> >> activation::tanh >> dense<3>, softmax_cross_entropy, steady, 5);
}
BOOST_AUTO_TEST_CASE(norms_and_adam) {
    check(features<8> >> dense<10> >> batch_norm >> relu >> layer_norm >> dense<4>, mse,
          adam{.learning_rate = 0.001f, .epsilon = 1e-3f});
}
BOOST_AUTO_TEST_CASE(convolutions_and_pools) {
    check(image<9, 8, 2> >> conv2d<5, 3> >> relu >> max_pool<2> >> conv2d<4, 3, window{.padding = padding::valid}>
          >> relu >> flatten >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(pixels_of_few_channels) {   // several of which fill a vector
    check(image<16, 16, 1> >> conv2d<4, 3> >> relu >> max_pool<2> >> conv2d<5, 3> >> relu >> max_pool<2> >> flatten
          >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(pools_of_other_kinds) {
    check(image<8, 8, 2> >> conv2d<3, 3, window{.stride = 2}> >> activation::tanh >> avg_pool<2> >> flatten >> dense<3>,
          softmax_cross_entropy, plain);
    check(image<8, 8, 2> >> conv2d<3, 3> >> activation::sigmoid
          >> max_pool<3, window{.stride = 2, .padding = padding::same}> >> global_avg_pool >> dense<3>,
          softmax_cross_entropy, steady, 4);
}
BOOST_AUTO_TEST_CASE(overlapping_pools_whose_gradients_are_mostly_zero) {
    check(image<12, 11, 2> >> conv2d<16, 3> >> relu >> conv2d<6, 5> >> relu >> max_pool<3, window{.stride = 2}>
          >> flatten >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(pool_of_a_convolution_with_two_users) {
    check(image<8, 8, 2> >> conv2d<4, 3>
          >> [](tensor x) { return concat(global_avg_pool(relu(x)), flatten(max_pool<4>(x))); } >> dense<3>,
          softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(gelu_behind_a_convolution) {
    check(image<6, 6, 3> >> conv2d<6, 3> >> gelu >> max_pool<2> >> conv2d<5, 1> >> batch_norm >> relu >> global_avg_pool
          >> dense<3>, softmax_cross_entropy, plain);
}
constexpr auto block = conv2d<4, 3> >> batch_norm >> relu >> conv2d<4, 3> >> batch_norm;
BOOST_AUTO_TEST_CASE(residual_blocks) {
    check(image<6, 6, 2> >> conv2d<4, 3> >> relu >> [](tensor x) { return relu(x + block(x)); } >> global_avg_pool
          >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(concat_and_slice) {
    check(features<8> >> dense<8> >> [](tensor x) {
        const tensor a = slice(x, -1, 0, 4), b = slice(x, -1, 4, 4);
        return concat(a * ops::sigmoid(b), b - a, -1);
    } >> dense<5>, mse, plain);
}
BOOST_AUTO_TEST_CASE(dropout_draws_the_same_numbers) {
    check(features<8> >> dense<12> >> relu >> dropout<0.4f> >> dense<6> >> dropout<0.2f> >> dense<3>,
          softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(one_random_number_an_example) {
    check(features<8> >> dense<6> >> [](tensor x) {
        const tensor u = ops::random_uniform(ops::slice(x, -1, 0, 1));
        return x * u + ops::softmax(x) * u;
    } >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(attention_of_four_ops) {
    check(array<4, 6> >> [](tensor x) {
        const tensor q = named<"q">(dense<6>)(x), k = named<"k">(dense<6>)(x), v = named<"v">(dense<6>)(x);
        const tensor a = ops::softmax(matmul(q, k, transposed::no, transposed::yes) * 0.4f);
        return x + matmul(a, v);
    } >> layer_norm >> flatten >> dense<3>, softmax_cross_entropy, plain);
}
BOOST_AUTO_TEST_CASE(norm_with_two_users) {   // and rows enough for tiles that are finished in registers
    check(array<32, 32> >> layer_norm >> [](tensor x) {
        const tensor n = layer_norm(x);
        return x + named<"a">(dense<32>)(n) * ops::sigmoid(named<"b">(dense<32>)(n));
    } >> flatten >> dense<3>, softmax_cross_entropy, plain);
}
constexpr auto tower = dense<8> >> layer_norm >> gelu >> dense<8>;
BOOST_AUTO_TEST_CASE(checkpoints_and_shared_weights) {
    check(features<8> >> checkpoint(tower)
          >> [](tensor x) { return x + shared<"twice">(tower)(x) * shared<"twice">(tower)(relu(x)); } >> dense<3>,
          softmax_cross_entropy, plain);
}
