// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --report custom_layer.json --onnx custom_layer.onnx
//
// Lesson 4: a layer with parameters, and a loss, of your own.
//
// A layer is an empty type that says what it computes, on symbolic tensors. It may call other
// layers and own parameters; `name` opens a scope for them, so that they are saved as
// squeeze_excite/kernel and so on. A loss is a function of what the net gives and of what the data
// says. Gradients of both are Sinter's work.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
using namespace sinter;

/// Squeeze and excitation (Hu et al. 2018): from the means of all channels, how much each channel
/// shall count.
template <int Squeezed>
struct squeeze_excite_layer : layer<squeeze_excite_layer<Squeezed>> {
    static constexpr const char* name = "squeeze_excite";
    static constexpr tensor trace(tensor x) {                        // [H, W, C]
        const int channels = x.shape().last();
        const tensor squeezed = relu(dense<Squeezed>(global_avg_pool(x)));
        // dense<N> wants its size in the code; this one follows from x, so we keep these two
        // parameters ourselves.
        const tensor kernel = weights(x, "kernel", extents(Squeezed, channels), glorot_uniform(Squeezed, channels));
        const tensor bias = parameter(x, "bias", extents(channels), zeros);
        const tensor share = sigmoid(matmul(squeezed, kernel) + bias);   // [C], each in (0, 1)
        return x * ops::reshape(share, extents(1, 1, channels));         // the same for all pixels
    }
};
template <int Squeezed>
inline constexpr squeeze_excite_layer<Squeezed> squeeze_excite{};

/// Cross entropy against labels that are taken for right with 90 %, the rest spread evenly (Szegedy
/// et al. 2016).
struct smoothed_cross_entropy_loss {
    static constexpr target_kind target = target_kind::class_index;   // the data's labels are class numbers
    constexpr tensor operator()(tensor logits, tensor labels) const {
        const int classes = logits.shape().last();
        const tensor wanted = one_hot(labels, classes) * 0.9f + 0.1f / static_cast<float>(classes);
        return -sum(wanted * log_softmax(logits), {-1});              // one number an example; the mean is taken for us
    }
};
inline constexpr smoothed_cross_entropy_loss smoothed_cross_entropy{};

constexpr auto net = image<28, 28, 1>
    >> conv2d<16, 3> >> relu >> max_pool<2> >> squeeze_excite<4>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> squeeze_excite<8>
    >> flatten >> dense<10>;

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, smoothed_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("custom_layer", options, images.name, model.threads(), history,
                          model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 3, .largest_batch = 256};
    example::command_line line("Trains a net with a layer and a loss that the example defines itself.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
