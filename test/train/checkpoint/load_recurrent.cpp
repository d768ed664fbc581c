// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE load_recurrent
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/expr/input.hpp>
#include <sinter/io/safetensors.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/rnn.hpp>
#include <sinter/train/checkpoint/load_weights.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include "fixtures/recurrent_weights.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <map>

// Recurrent layers that PyTorch and Keras saved give their results here.
using namespace sinter;
namespace golden = fixture::recurrent_weights;

template <std::size_t N>
static std::string written(const temporary_folder& folder, const char (&file)[N]) {
    return write_bytes(folder / "original", {file, N - 1});
}
template <class Net, std::size_t N, std::size_t Y>
static void gives(Net, const char (&file)[N], const name_map& map, const double (&y)[Y]) {
    const temporary_folder folder;
    trainer<std::remove_const_t<Net>, mse_loss, sgd, 4> t(sgd{}, {.threads = 1});
    load_weights(t, written(folder, file), map);
    const std::vector<float> x(std::begin(golden::x), std::end(golden::x));
    const auto got = t.predict({.x = x.data(), .size = 3});
    BOOST_REQUIRE_EQUAL(got.size(), Y);
    for (std::size_t i = 0; i < Y; ++i)
        BOOST_TEST(std::abs(static_cast<double>(got[i]) - y[i]) < 2e-6, i << ": " << got[i] << ", not " << y[i]);
}

constexpr auto torch_net = array<5, 4> >> lstm<3> >> lstm<3> >> bidirectional(gru<2>);
static const name_map from_torch{.from = framework::pytorch,
                                 .rules = {{"encoder.*", "lstm/*"}, {"encoder_1.*", "lstm_1/*"},
                                           {"tagger.*", "bidirectional/*"}}};

BOOST_AUTO_TEST_CASE(pytorch_layers_of_several_directions) {
    gives(torch_net, golden::pytorch_file, from_torch, golden::pytorch_y);
}
BOOST_AUTO_TEST_CASE(keras_layers_of_all_kinds) {
    constexpr auto net = array<5, 4> >> bidirectional(lstm<3>) >> gru<4>
        >> gru<2, recurrent_options{}, gru_reset::before_product> >> rnn<2>;
    gives(net, golden::keras_file, {.from = framework::keras}, golden::keras_y);
}
BOOST_AUTO_TEST_CASE(a_layer_without_gates_is_transposed_once) {
    const temporary_folder folder;
    const float input[] = {1, 2, 3, 4}, hidden[] = {5, 6, 7, 8}, bias[] = {0.5f, 1};
    safetensors::write(folder / "rnn", {{"weight_ih_l0", safetensors::dtype::f32, {2, 2}, input},
                                        {"weight_hh_l0", safetensors::dtype::f32, {2, 2}, hidden},
                                        {"bias_ih_l0", safetensors::dtype::f32, {2}, bias},
                                        {"bias_hh_l0", safetensors::dtype::f32, {2}, bias}});
    trainer t(array<5, 2> >> rnn<2>, mse, sgd{}, trainer_options{.threads = 1});
    load_weights(t, folder / "rnn", {.from = framework::pytorch});
    std::map<std::string, std::vector<float>> got;
    for (int i = 0; i < t.parameters(); ++i) got[t.path(t.parameter(i))] = t.plain(t.parameter(i));
    BOOST_TEST((got == std::map<std::string, std::vector<float>>{{"rnn/kernel", {1, 3, 2, 4}},
                                                                 {"rnn/recurrent_kernel", {5, 7, 6, 8}},
                                                                 {"rnn/bias", {1, 2}}}));
}
BOOST_AUTO_TEST_CASE(other_units_are_told_by_gate) {
    const temporary_folder folder;
    constexpr auto larger = array<5, 4> >> lstm<3> >> lstm<4> >> bidirectional(gru<2>);
    trainer<std::remove_const_t<decltype(larger)>, mse_loss, sgd, 4> t(sgd{}, {.threads = 1});
    try {
        load_weights(t, written(folder, golden::pytorch_file), from_torch);
        BOOST_ERROR("it was taken");
    } catch (const mismatch_error& e) {
        BOOST_TEST(std::string(e.what()).find("'lstm_1/recurrent_kernel_f': shape: got F32 [3, 3], needed [4, 4]") !=
                   std::string::npos, e.what());
    }
}
