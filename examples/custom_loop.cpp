// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --save custom_loop.safetensors --report custom_loop.json --onnx custom_loop.onnx
//
// Lesson 5: the training loop, written by hand.
//
// estimator::train is a loop around trainer::step. Whoever wants something else between two steps
// writes that loop: here, training stops when the validation loss has not improved for a while, and
// goes back to the best weights.
#include "common/onnx.hpp"
#include "common/results.hpp"
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

// A learning rate that rises for 200 steps and then falls along half a cosine. A trainer is for one
// loss, one optimizer and one largest batch; their types are part of its own, because all of it
// becomes one program.
constexpr adam optimizer{.learning_rate = warm_up(200, cosine(3e-3f, 4'000, 1e-4f))};
using trainer_type = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 256>;

// What a step needs is known while this file is compiled. Here the build stops if the net outgrows
// a small device.
static_assert(trainer_type::bytes() < 4'000'000);

static evaluation_result evaluate(trainer_type& model, data::pipeline& images) {
    metrics::mean loss;
    metrics::accuracy accuracy;
    for (const data::batch_view& batch : images) {
        loss.add(model.evaluate(batch), batch.size);
        accuracy.add(model.output().data(), batch.labels, batch.size, 10);
    }
    return {loss.value(), accuracy.value(), accuracy.count()};
}

/// What was learned, as plain numbers. A net with batch_norm would have states to keep, too.
static std::vector<std::vector<float>> weights_of(const trainer_type& model) {
    std::vector<std::vector<float>> weights;
    for (int i = 0; i < model.parameters(); ++i) weights.push_back(model.plain(model.parameter(i)));
    return weights;
}
static void set_weights(trainer_type& model, const std::vector<std::vector<float>>& weights) {
    for (int i = 0; i < model.parameters(); ++i)
        model.set_plain(model.parameter(i), weights[static_cast<std::size_t>(i)].data());
}

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch)
                  | data::prefetch();
    auto validation = data::source(images.validation) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);

    trainer_type model(optimizer, {.threads = options.threads, .seed = options.seed});
    const int patience = 3;   // epochs without improvement

    std::vector<epoch_result> history;
    std::vector<std::vector<float>> best;
    double best_loss = std::numeric_limits<double>::infinity();
    for (int epoch = 1, waited = 0; epoch <= options.epochs && waited < patience; ++epoch) {
        metrics::mean loss;
        const double began = base::monotonic_seconds();
        for (const data::batch_view& batch : training) loss.add(model.step(batch), batch.size);   // here it learns
        const double seconds = base::monotonic_seconds() - began;

        const evaluation_result v = evaluate(model, validation);
        history.push_back({.epoch = epoch, .loss = loss.value(), .accuracy = v.accuracy, .validation_loss = v.loss,
                           .seconds = seconds, .examples = loss.count()});
        const bool better = v.loss < best_loss;
        std::printf("epoch %d: loss %.4f, validation loss %.4f, accuracy %.4f%s\n", epoch, loss.value(), v.loss,
                    v.accuracy, better ? ", the best so far" : "");
        if (better) {
            best = weights_of(model);
            best_loss = v.loss;
            // So that a run that is killed leaves its best behind.
            if (!options.save.empty()) save(model, options.save);
        }
        waited = better ? 0 : waited + 1;
    }
    if (best.empty())   // NaN is not less than anything, not even in the first epoch
        throw data_error("validation loss is never finite: try a smaller learning rate", "custom_loop",
                         std::to_string(history.back().validation_loss), "a finite loss");
    set_weights(model, best);
    example::write_onnx(options, model, images.test);
    example::tell_results("custom_loop", options, images.name, model.threads(), history,
                          evaluate(model, test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 20, .largest_batch = 256};
    example::command_line line("Trains a small net in a loop of the example's own, until it stops getting better.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
