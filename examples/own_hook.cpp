// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 2 --threads 1 --report own_hook.json
//
// A hook of your own: what shall happen between the steps of train().
//
// A hook is any class that has some of the calls which train/hooks/hook.hpp lists. This one looks
// at the losses of an epoch's batches: it adds their largest to the epoch's result, and ends
// training once even that is small.
#include "common/results.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/csv_log.hpp>
using namespace sinter;

constexpr auto net = image<28, 28, 1> >> flatten >> dense<128> >> relu >> dense<10>;

class worst_batch {
public:
    explicit worst_batch(double enough) : enough_(enough) {}
    void epoch_begin(training_run&) { worst_ = 0; }
    void after_step(training_run& run, const data::batch_view&) {
        if (const double loss = static_cast<double>(run.loss); loss > worst_) worst_ = loss;
    }
    void pass_end(training_run& run) { run.result.metrics.push_back({"worst batch", worst_, true}); }
    void epoch_end(training_run& run) {
        if (worst_ < enough_) run.stop("no batch has a large loss");
    }

private:
    double enough_, worst_ = 0;
};

static void train(const example::options& options) {
    const example::dataset images = example::find_dataset(options.data, options.seed);
    auto training = data::source(images.train) | data::shuffle(10'000, options.seed) | data::batch(options.batch);
    auto test = data::source(images.test) | data::batch(options.batch);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs}, worst_batch(0.05), csv_log("own_hook.csv"));
    for (const epoch_result& e : history) std::printf("epoch %d: worst batch %.4f\n", e.epoch, e.value("worst batch"));
    example::tell_results("own_hook", options, images.name, model.threads(), history, model.evaluate(test).accuracy);
}

int main(int argc, char** argv) {
    example::options options{.epochs = 20, .largest_batch = 256};
    example::command_line line(
        "Trains a small net with a hook of its own, which ends training when all batches do well.");
    options.declare(line);
    return example::run(argc, argv, line, [&] { train(options); });
}
