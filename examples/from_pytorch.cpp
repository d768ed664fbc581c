// SPDX-License-Identifier: BSL-1.0
// smoke: --threads 1 --weights {examples}/weights/pytorch.safetensors --report from_pytorch.json --onnx from_pytorch.onnx
//
// Lesson 13: weights from PyTorch.
//
//   from_pytorch --give digits.npz                            writes its training images for NumPy
//   python3 from_pytorch.py digits.npz pytorch.safetensors    trains the same net on them in PyTorch
//   from_pytorch --weights pytorch.safetensors                takes the weights over, and trains on
//
// PyTorch has outputs and channels first, and calls layers as their module does. A map says which is which; kernels are
// turned by Sinter. What does not fit is told by name, and nothing is loaded then.
#include "common/images_for_python.hpp"
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/load_weights.hpp>
using namespace sinter;

// As PyTorch's BatchNorm2d: its momentum of 0.1 is what a step adds, ours what it keeps.
constexpr auto norm = batch_norm_with<0.9, 1e-5>;

constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3, window{}, bias::no> >> norm >> relu >> max_pool<2>
    >> conv2d<16, 3, window{}, bias::no> >> norm >> relu >> max_pool<2>
    >> flatten >> dense<10>;

static const name_map from_pytorch{
    .from = framework::pytorch,
    .rules = {{"conv1.*", "conv2d/*"},
              {"norm1.*", "batch_norm/*"},
              {"conv2.*", "conv2d_1/*"},
              {"norm2.*", "batch_norm_1/*"},
              // Behind its flatten, channels come first: [16, 7, 7]. Here they come last.
              {"fc.*", "dense/*", {}, {16, 7, 7}}}};

static void train(const example::options& options, const std::string& weights) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, at_most<256>,
                    {.threads = options.threads, .seed = options.seed}};
    model.load_weights(weights, from_pytorch);
    std::printf("As it came from PyTorch: test accuracy %.4f\n", model.evaluate(test).accuracy);

    const auto history = model.train(training, {.epochs = options.epochs});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("from_pytorch", options, images.name, model.threads(), history, model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 1, .largest_batch = 256};
    std::string weights = "pytorch.safetensors", give;
    example::command_line line("Takes over the weights of a net that PyTorch trained, and trains on.");
    line.add("weights", weights, "FILE", "what from_pytorch.py wrote")
        .output("give", give, "write the training images here (.npz), and do nothing else");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] {
        if (give.empty()) train(options, weights);
        else example::write_images(example::find_dataset(options.data, options.seed), give);
    });
}
