// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --report residual.json --onnx residual.onnx
//
// Lesson 7: nets that are not a chain.
//
// A layer is a function of tensors, so that a branch is ordinary C++: take x, compute something
// from it, add x. Here it makes a small ResNet (He et al. 2016). A function or a lambda that
// captures nothing can stand between two >>.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr window by_one{}, by_two{.stride = 2};
// The running statistics, which evaluation uses, follow the batches faster than by default:
// training is short.
constexpr auto norm = batch_norm_with<0.9>;

/// Two convolutions beside which the input passes unchanged. The batch norms make their biases
/// pointless.
template <int Filters>
constexpr auto block = [](tensor x) {
    const tensor y = relu(norm(conv2d<Filters, 3, by_one, bias::no>(x)));
    return relu(x + norm(conv2d<Filters, 3, by_one, bias::no>(y)));
};
/// The same with half the height and width, and other channels: what passes by needs a 1x1
/// convolution to fit.
template <int Filters>
constexpr auto narrowing_block = [](tensor x) {
    const tensor y = relu(norm(conv2d<Filters, 3, by_two, bias::no>(x)));
    const tensor passed = norm(conv2d<Filters, 1, by_two, bias::no>(x));
    return relu(passed + norm(conv2d<Filters, 3, by_one, bias::no>(y)));
};

// checkpoint() keeps only a block's input and result for the backward pass and computes the rest
// again: less memory.
constexpr auto net = image<28, 28, 1>
    >> conv2d<16, 3, by_two, bias::no> >> norm >> relu
    >> block<16> >> narrowing_block<32> >> checkpoint(block<32>) >> narrowing_block<64>
    >> global_avg_pool >> dense<10>;

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, adamw{.learning_rate = 2e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("residual", options, images.name, model.threads(), history, model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 3, .largest_batch = 256};
    example::command_line line("Trains a small residual net.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
