// SPDX-License-Identifier: BSL-1.0
// alone: its macros
#define BOOST_TEST_MODULE recurrent
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/rnn.hpp>

#include <map>

#include "fixtures/pytorch_recurrent.hpp"
#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

namespace golden = fixture::pytorch;

template <std::size_t N>
doubles list(const double (&x)[N]) {
    return doubles({static_cast<int>(N)}, std::vector<double>(x, x + N));
}
struct expected {
    doubles value, gradient, gradient_with_lengths;
};
/// What PyTorch had for a parameter, by our name of it.
using expectations = std::map<std::string, expected>;
#define GOLDEN(LAYER, NAME)                                                                  \
    {#LAYER "/" #NAME, {list(golden::LAYER##_##NAME), list(golden::LAYER##_d##NAME),         \
                        list(golden::LAYER##_d##NAME##_lengths)}}
static const expectations of_lstm{
    GOLDEN(lstm, kernel_i), GOLDEN(lstm, kernel_f), GOLDEN(lstm, kernel_c), GOLDEN(lstm, kernel_o),
    GOLDEN(lstm, recurrent_kernel_i), GOLDEN(lstm, recurrent_kernel_f), GOLDEN(lstm, recurrent_kernel_c),
    GOLDEN(lstm, recurrent_kernel_o), GOLDEN(lstm, bias_i), GOLDEN(lstm, bias_f), GOLDEN(lstm, bias_c),
    GOLDEN(lstm, bias_o)};
static const expectations of_gru{
    GOLDEN(gru, kernel_z), GOLDEN(gru, kernel_r), GOLDEN(gru, kernel_h), GOLDEN(gru, recurrent_kernel_z),
    GOLDEN(gru, recurrent_kernel_r), GOLDEN(gru, recurrent_kernel_h), GOLDEN(gru, bias_z), GOLDEN(gru, bias_r),
    GOLDEN(gru, bias_h), GOLDEN(gru, recurrent_bias_h)};

static void compare(program_run& p, const expectations& all, std::vector<doubles> ports, const doubles& y,
                    bool lengths) {
    for (std::size_t i = 0; i < p.parameters.size(); ++i) {
        BOOST_REQUIRE_MESSAGE(all.count(p.paths[i]), p.paths[i]);
        p.set(p.parameters[i], all.at(p.paths[i]).value);
    }
    const double mean = 1. / 3;   // over the batch
    p.run(3, ports);
    check_close(p.output(0, 3), y, 1e-5, "results");
    for (std::size_t i = 0; i < p.parameters.size(); ++i) {
        const expected& e = all.at(p.paths[i]);
        const doubles want = map(lengths ? e.gradient_with_lengths : e.gradient, [mean](double v) { return v * mean; });
        const std::vector<float> got = p.gradient(static_cast<int>(i));
        check_close(got, want, 2e-5, "gradient of " + p.paths[i]);
    }
}

template <class Layer>
constexpr auto with_lengths(Layer) {
    return inputs(array<5, 4>, array<1>) >> Layer{};
}
static const doubles the_lengths({3, 1}, std::vector<double>{5, 2, 4});

BOOST_AUTO_TEST_CASE(lstm_as_pytorch) {
    constexpr auto net = array<5, 4> >> lstm<6>;
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 3>();
    compare(*p, of_lstm, {list(golden::lstm_x), list(golden::lstm_dy)}, list(golden::lstm_y), false);
}
BOOST_AUTO_TEST_CASE(lstm_with_lengths_as_pytorch) {
    constexpr auto net = with_lengths(lstm<6, recurrent_options{.recompute = true}>);
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 3>();
    compare(*p, of_lstm, {list(golden::lstm_x), the_lengths, list(golden::lstm_dy)},
            list(golden::lstm_y_lengths), true);
}
BOOST_AUTO_TEST_CASE(gru_as_pytorch) {
    constexpr auto net = array<5, 4> >> gru<6>;
    const auto p = make_run<decltype(net), weigh_outputs, as_trained, 3>();
    compare(*p, of_gru, {list(golden::gru_x), list(golden::gru_dy)}, list(golden::gru_y), false);
}
BOOST_AUTO_TEST_CASE(gru_with_lengths_as_pytorch) {
    constexpr auto net = with_lengths(gru<6>);
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 3>();
    compare(*p, of_gru, {list(golden::gru_x), the_lengths, list(golden::gru_dy)}, list(golden::gru_y_lengths), true);
}
