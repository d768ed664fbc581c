// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --weights {examples}/weights/keras.npz --report from_keras.json --onnx from_keras.onnx
//
// Lesson 12: weights from Keras.
//
//   from_keras --give digits.npz                  writes its training images for NumPy
//   python3 from_keras.py digits.npz keras.npz    trains the same net on them in Keras
//   from_keras --weights keras.npz                takes the weights over, and trains on
//
// Keras lays kernels out as Sinter does and calls layers alike, so that nothing but `framework::keras` need be said.
// weights/keras.npz is what the script made of digits that this program draws.
#include "common/images_for_python.hpp"
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/load_weights.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3> >> relu >> max_pool<2>
    >> conv2d<16, 3> >> relu >> max_pool<2>
    >> flatten >> dense<10>;

static void train(const example::options& options, const std::string& weights) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, at_most<256>,
                    {.threads = options.threads, .seed = options.seed}};
    model.load_weights(weights, {.from = framework::keras});
    std::printf("As it came from Keras: test accuracy %.4f\n", model.evaluate(test).accuracy);

    const auto history = model.train(training, {.epochs = options.epochs});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("from_keras", options, images.name, model.threads(), history, model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 1, .largest_batch = 256};
    std::string weights = "keras.npz", give;
    example::command_line line("Takes over the weights of a net that Keras trained, and trains on.");
    line.add("weights", weights, "FILE", "what from_keras.py wrote")
        .output("give", give, "write the training images here (.npz), and do nothing else");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        if (give.empty()) train(options, weights);
        else example::write_images(example::find_dataset(options.data, options.seed), give);
    });
}
