// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --batch 32 --seed 7 --report custom_op.json --onnx custom_op.onnx
//
// Lesson 3: an operation of your own.
//
// elementwise() makes a layer of a function over symbolic scalars. Sinter differentiates it, and
// fuses it into the kernels around it like its own activations: nothing is called at run time, and
// nothing else needs writing.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
using namespace sinter;

// LiSHT (Roy et al. 2019), x tanh(x), which Sinter does not have: never negative, and steep on both
// sides.
constexpr auto lisht = elementwise([](scalar x) { return x * tanh(x); });

// Two operands make a function of two tensors. This one lets the second decide how much of the
// first gets through.
constexpr auto gate = elementwise([](scalar value, scalar control) { return value / (1.f + exp(-control)); });

constexpr auto net = image<28, 28, 1> >> flatten
    >> dense<128> >> lisht
    >> [](tensor x) { return gate(dense<64>(x), dense<64>(x)); }
    >> dense<10>;

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("custom_op", options, images.name, model.threads(), history, model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 3, .largest_batch = 256};
    example::command_line line("Trains a net with an activation that the example defines itself.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
