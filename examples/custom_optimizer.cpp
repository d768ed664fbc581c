// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 1 --threads 1 --report custom_optimizer.json --onnx custom_optimizer.onnx
//
// Lesson 6: an optimizer of your own.
//
// An optimizer says what becomes of a parameter, given its gradient and whatever the optimizer
// remembers of earlier steps. It is an expression like a layer, traced once for all parameters.
// Where a gradient is computed, Sinter puts the update into the same kernel; saving, resuming and
// clipping by global norm then work with it too.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/sinter.hpp>
using namespace sinter;

/// Lion (Chen et al. 2023): each weight moves by the learning rate, up or down; a momentum decides
/// which.
struct lion {
    schedule learning_rate = 1e-4f;
    float beta1 = 0.9f, beta2 = 0.99f, weight_decay = 0.01f;

    static constexpr int slots = 1;       // numbers remembered for each weight: the momentum
    static constexpr int n_scalars = 4;   // numbers that are the same for all weights, but may change at each step

    static constexpr void update(update_context& u) {
        const tensor p = u.parameter(), g = u.gradient(), m = u.slot(0);
        const tensor rate = u.scalar(0), b1 = u.scalar(1), b2 = u.scalar(2), decay = u.scalar(3);
        const tensor direction = m * b1 + g * (1.f - b1);
        const tensor sign = greater(direction, 0.f) - greater(-direction, 0.f);   // -1, 0 or 1
        u.set_parameter(p - (sign + p * decay) * rate);
        u.set_slot(0, m * b2 + g * (1.f - b2));
    }
    /// Called before each step, on the host.
    void scalars(std::int64_t step, float* out) const {
        out[0] = learning_rate.at(step);
        out[1] = beta1;
        out[2] = beta2;
        out[3] = weight_decay;
    }
};

constexpr auto net = image<28, 28, 1>
    >> conv2d<16, 3> >> relu >> max_pool<2>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> flatten >> dense<64> >> relu >> dense<10>;

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    estimator model{net, softmax_cross_entropy, lion{.learning_rate = warm_up(100, 3e-4f)}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);
    example::write_onnx(options, model, images.test);
    example::tell_results("custom_optimizer", options, images.name, model.threads(), history,
                          model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 3, .largest_batch = 256};
    example::command_line line("Trains a net with Lion, an optimizer that the example defines itself.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
