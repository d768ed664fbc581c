// SPDX-License-Identifier: BSL-1.0
// The code of doc/layers.md: each of its lines stands here as well (tools/documents.sh looks), compiled and run.
#define BOOST_TEST_MODULE layers_guide
#include <boost/test/unit_test.hpp>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <cmath>
#include <string>
#include <vector>

using namespace sinter;

constexpr auto perceptron = features<20> >> dense<64> >> relu >> dropout<0.2f> >> dense<3>;

constexpr auto residual = [](tensor x) { return relu(x + (conv2d<8, 3> >> batch_norm >> relu >> conv2d<8, 3>)(x)); };

constexpr auto two_inputs = inputs(image<8, 8, 1>, features<3>) >> [](tensor picture, tensor numbers) {
    const tensor seen = (conv2d<8, 3> >> relu >> residual >> global_avg_pool)(picture);
    const tensor both = relu(dense<16>(concat({seen, numbers})));
    return outputs(dense<1>(both), softmax(dense<4>(both)));       // a net of two outputs
};

constexpr auto squashed = features<4> >> dense<8> >> activation::tanh
                       >> elementwise([](scalar x) { return x / (1.f + abs(x)); }) >> dense<1>;

constexpr auto tower = shared<"tower">(dense<16> >> relu >> dense<8>);
constexpr auto siamese = inputs(features<10>, features<10>) >> [](tensor a, tensor b) {
    return named<"verdict">(dense<1>)(abs(tower(a) - tower(b)));
};

void halve_biases(auto& model) {                                   // an estimator
    auto& trainer = model.inner();
    for (int i = 0; i < trainer.parameters(); ++i) {
        const variable_info& v = trainer.parameter(i);             // v.s: its extents
        std::vector<float> numbers = trainer.plain(v);             // row after row
        if (!trainer.path(v).ends_with("/bias")) continue;
        for (float& x : numbers) x /= 2;
        trainer.set_plain(v, numbers.data());
    }
}

/// y = gain x + shift, for each place of the last axis.
struct scale_layer : layer<scale_layer> {
    static constexpr const char* name = "scale";
    static constexpr tensor trace(tensor x) {
        const int n = x.shape().last();
        return x * parameter(x, "gain", extents(n), ones) + parameter(x, "shift", extents(n), zeros);
    }
};
inline constexpr scale_layer scale;

/// y = x W + W's mean, with W [K, N].
template <int N>
struct centred_layer : layer<centred_layer<N>> {
    static constexpr const char* name = "centred";
    static constexpr tensor trace(tensor x) {
        const int k = x.shape().last();
        const tensor w = weights(x, "kernel", extents(k, N), glorot_uniform(k, N));
        return matmul(x, w) + mean(w, {0});
    }
};
template <int N>
inline constexpr centred_layer<N> centred;

constexpr auto own = features<4> >> scale >> centred<6> >> relu >> dense<2>;

/// y = x less its mean over all examples of the global batch, whoever computes them.
struct centre_layer : layer<centre_layer> {
    static constexpr const char* name = "centre";
    static constexpr tensor trace(tensor x) {
        return x - detail::shard_sum(over_global_batch(sum(x, {batch_axis})));
    }
};
inline constexpr centre_layer centre;
constexpr auto whole_batch = features<4> >> centre >> dense<2>;

namespace {
/// A pass of training in silence, and what the model then says of the data.
template <class Model>
std::vector<float> trained(Model& model, const data::dataset& set, int output = 0) {
    auto batches = set | data::batch(16);
    model.train(batches, {.progress = nullptr});
    return model.predict(batches, output);
}
std::vector<float> numbers(std::size_t n) {
    random_stream random(3, n);
    std::vector<float> x(n);
    for (float& v : x) v = random.normal();
    return x;
}
struct small_outputs {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle y, bundle) const { return sum(square(y[0]), {-1}) + sum(square(y[1]), {-1}); }
};
template <class Model>
std::string paths(const Model& model) {
    std::string all;
    for (int i = 0; i < model.inner().parameters(); ++i) all += model.inner().path(model.inner().parameter(i)) + " ";
    return all;
}
} // namespace

BOOST_AUTO_TEST_CASE(inputs_and_outputs) {
    data::dataset set(extents(8, 8, 1), numbers(32 * 64));
    set.input(extents(3), numbers(32 * 3));
    estimator model{two_inputs, small_outputs{}, sgd{}};
    const std::vector<float> y = trained(model, set, 1);
    BOOST_TEST(y.size() == 32U * 4);
    for (std::size_t i = 0; i < y.size(); i += 4)
        BOOST_TEST(std::abs(y[i] + y[i + 1] + y[i + 2] + y[i + 3] - 1) < 1e-5f);
}

BOOST_AUTO_TEST_CASE(shared_weights) {
    data::dataset set(extents(10), numbers(320));
    set.input(extents(10), numbers(320)).targets(extents(1), numbers(32));
    estimator model{siamese, mse, sgd{}};
    trained(model, set);
    BOOST_TEST(paths(model) == "tower/dense/kernel tower/dense/bias tower/dense_1/kernel tower/dense_1/bias "
                               "verdict/kernel verdict/bias ");
}

BOOST_AUTO_TEST_CASE(layers_of_ones_own) {
    data::dataset set(extents(4), numbers(128));
    set.targets(extents(2), numbers(64));
    estimator model{own, mse, sgd{}};
    const std::vector<float> y = trained(model, set);
    BOOST_TEST(y.size() == 64U);
    halve_biases(model);
    auto batches = set | data::batch(16);
    const std::vector<float> z = model.predict(batches);   // half of the last bias is gone
    for (std::size_t i = 2; i < z.size(); ++i) BOOST_TEST(std::abs(y[i] - z[i] - (y[i % 2] - z[i % 2])) < 1e-5f);
    BOOST_TEST(y[0] != z[0]);
    BOOST_TEST(paths(model) == "scale/gain scale/shift centred/kernel dense/kernel dense/bias ");
}

BOOST_AUTO_TEST_CASE(layers_that_know_of_replicas) {
    std::vector<float> x = numbers(12 * 4), y = numbers(12 * 2);
    for (std::size_t i = 0; i < x.size() / 2; ++i) x[i] += 3;   // the first half of the batch has another mean
    const data::batch_view b{.x = x.data(), .y = y.data(), .size = 12};
    const auto steps = [&](auto model) {
        for (int i = 0; i < 3; ++i) model.step(b);
        return model.plain(model.parameter(0));
    };
    const std::vector<float> one = steps(trainer{whole_batch, mse, sgd{}, max_batch<12>, {.threads = 1}}),
                             two = steps(trainer{whole_batch, mse, sgd{}, max_batch<12>, mirrored<2>{}});
    for (std::size_t i = 0; i < one.size(); ++i) BOOST_TEST(std::abs(one[i] - two[i]) < 1e-5f);
}

BOOST_AUTO_TEST_CASE(activations) {
    data::dataset set(extents(4), numbers(128));
    set.targets(extents(1), numbers(32));
    estimator model{squashed, mse, sgd{}};
    for (const float y : trained(model, set)) BOOST_TEST(std::isfinite(y));
}
