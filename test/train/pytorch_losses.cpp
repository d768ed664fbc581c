// SPDX-License-Identifier: BSL-1.0
// shows numbers: whole nets beside the losses that PyTorch gave
// optimise: sanitized
// processors: 2
// also: parts64
#define BOOST_TEST_MODULE pytorch_losses
#include <boost/test/unit_test.hpp>
#include "fixtures/generate.hpp"
#include "fixtures/pytorch_losses.hpp"
#include <sinter/sinter.hpp>

// The first 20 losses of two nets under two optimizers against PyTorch's in double precision, from the same weights.
using namespace sinter;
namespace golden = fixture::pytorch;

constexpr auto mlp = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;
constexpr auto cnn = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;

/// Kernels from the formula, in the order in which the net declares them; biases zero.
template <class Trainer>
static void set_weights(Trainer& t) {
    std::uint32_t layer = 0;
    for (int i = 0; i < t.parameters(); ++i) {
        const variable_info& v = t.parameter(i);
        std::vector<float> x(static_cast<std::size_t>(v.s.size()));
        if (v.s.rank > 1) {
            std::size_t taps = 1;   // of a convolution
            for (int k = 0; k + 2 < v.s.rank; ++k) taps *= static_cast<std::size_t>(v.s.d[k]);
            const auto in = static_cast<std::size_t>(v.s.d[v.s.rank - 2]), out = static_cast<std::size_t>(v.s.last());
            fixture::fill_kernel(layer++, fixture::kernel_limit(taps * in, taps * out), x);
        }
        t.set_plain(v, x.data());
    }
}

template <program_options O = program_options{}, class Net, class Optimizer>
static void compare(Net, Optimizer optimizer, const double (&expected)[golden::steps], double limit = 1e-4) {
    trainer<Net, softmax_cross_entropy_loss, Optimizer, build_options{64, O}> t(optimizer, {.threads = 2});
    set_weights(t);
    std::vector<float> x(fixture::batch_size * fixture::image_size);
    std::vector<std::int32_t> labels(fixture::batch_size);
    for (int step = 0; step < golden::steps; ++step) {
        fixture::fill_batch(static_cast<std::size_t>(step) % fixture::batch_count, x, labels);
        const float loss =
            t.step({.x = x.data(), .labels = labels.data(), .size = static_cast<int>(fixture::batch_size)});
        BOOST_TEST_CONTEXT("step " << step)
        BOOST_TEST(std::abs(loss / expected[step] - 1) <= limit, "got " << loss << ", PyTorch " << expected[step]);
    }
}

BOOST_AUTO_TEST_CASE(both_sides_hold_the_same_formula) {
    std::vector<float> x(fixture::batch_size * fixture::image_size), kernel(784 * 128);
    std::vector<std::int32_t> labels(fixture::batch_size);
    fixture::fill_batch(0, x, labels);
    fixture::fill_kernel(0, fixture::kernel_limit(784, 128), kernel);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(static_cast<double>(x[24 + i]) == golden::first_image[i]);
    for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(labels[i] == golden::first_labels[i]);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(static_cast<double>(kernel[i]) == golden::first_weights[i]);
}
BOOST_AUTO_TEST_CASE(mlp_sgd) { compare(mlp, sgd{.learning_rate = 0.05f}, golden::mlp_sgd); }
BOOST_AUTO_TEST_CASE(mlp_adam) { compare(mlp, adam{}, golden::mlp_adam); }
BOOST_AUTO_TEST_CASE(cnn_sgd) { compare(cnn, sgd{.learning_rate = 0.05f}, golden::cnn_sgd); }
BOOST_AUTO_TEST_CASE(cnn_adam) { compare(cnn, adam{}, golden::cnn_adam); }
/// Rounded operands make the last loss another by 6e-5.
BOOST_AUTO_TEST_CASE(mlp_bfloat16) {
    compare<program_options{.products = precision::bfloat16}>(mlp, sgd{.learning_rate = 0.05f},
                                                              golden::mlp_bfloat16_sgd, 1.5e-5);
}
