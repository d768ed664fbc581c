// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE wrapped_sequences
#include <boost/test/unit_test.hpp>
#include <sinter/expr/initialized.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/rnn.hpp>
#include <sinter/sinter.hpp>
#include <string>

// named, shared and initialized around layers that take lengths or a memory: other paths, the same numbers.
using namespace sinter;

/// Predictions of a net of sequences [5, 3] and their lengths, whose parameters are all 0.1 times
/// their place among ten.
template <class Net>
static std::vector<float> predictions(Net, std::vector<std::string>& paths) {
    trainer<Net, mse_loss, sgd, 3> model({}, {.threads = 1});
    for (int i = 0; i < model.parameters(); ++i) {
        const variable_info& v = model.parameter(i);
        std::vector<float> x(static_cast<std::size_t>(v.s.size()));
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] = 0.1f * static_cast<float>((k * 7 + static_cast<std::size_t>(i)) % 10) - 0.4f;
        model.set_plain(v, x.data());
        paths.push_back(model.path(v));
    }
    std::vector<float> x(3 * 15);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.05f * static_cast<float>(i % 13) - 0.3f;
    const float lengths[] = {5, 2, 0};
    const data::input_view in[] = {{x.data(), nullptr, 15}, {lengths, nullptr, 1}};
    const span<const float> y = model.predict({.size = 3, .inputs = {in, 2}});
    return {y.begin(), y.end()};
}
constexpr auto of = inputs(array<5, 3>, array<1>);

template <class Layer>
static void check(Layer layer) {
    std::vector<std::string> plain_paths, named_paths, shared_paths;
    const std::vector<float> plain = predictions(of >> layer, plain_paths);
    BOOST_TEST(predictions(of >> named<"block">(layer), named_paths) == plain);
    BOOST_TEST(predictions(of >> shared<"block">(layer), shared_paths) == plain);
    BOOST_REQUIRE(!plain_paths.empty());
    for (const std::string& p : named_paths) BOOST_TEST(p.rfind("block/", 0) == 0u, p);
    for (const std::string& p : shared_paths) BOOST_TEST(p.rfind("block/", 0) == 0u, p);
}

BOOST_AUTO_TEST_CASE(recurrent_layers_with_lengths) {
    check(lstm<4>);
    check(gru<4>);
    check(rnn<4>);
}
BOOST_AUTO_TEST_CASE(both_directions) {
    check(bidirectional(lstm<4>));
    check(bidirectional(gru<4>));
}
BOOST_AUTO_TEST_CASE(attention_with_a_memory) {
    constexpr auto with = [](auto layer) {
        return inputs(array<5, 3>, array<1>) >> named<"all">(layer);
    };
    std::vector<std::string> plain_paths, named_paths;
    const auto plain = predictions(with([](tensor x, tensor) { return multi_head_attention<1>(x, x * 2.f); }),
                                   plain_paths);
    BOOST_TEST(predictions(with([](tensor x, tensor) { return named<"inner">(multi_head_attention<1>)(x, x * 2.f); }),
                           named_paths) == plain);
    BOOST_TEST(named_paths[0].rfind("all/inner/", 0) == 0u, named_paths[0]);
}
BOOST_AUTO_TEST_CASE(first_values_of_a_layer_with_lengths) {
    trainer<std::remove_const_t<decltype(of >> initialized<ones, "*/kernel_i">(lstm<4>))>, mse_loss, sgd,
            3> model({}, {.threads = 1});
    for (int i = 0; i < model.parameters(); ++i)
        if (const variable_info& v = model.parameter(i); model.path(v) == "lstm/kernel_i") {
            for (const float w : model.plain(v)) BOOST_TEST(w == 1.f);
            return;
        }
    BOOST_FAIL("lstm/kernel_i is not there");
}
