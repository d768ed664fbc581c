// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 4 --threads 1 --save income.safetensors 
// smoke: --report logistic_regression.json --onnx logistic_regression.onnx
//
// Lesson 17: logistic regression, trained to the end by L-BFGS.
//
// The question of lesson 8, put to a net of one layer. Its loss has one minimum and the whole table
// is soon read, so that there is no need to feel the way from batch to batch: full_batch looks at
// all people before each step, learns the valley's shape from the steps before, and needs no
// learning rate. And such a net can be read: what it learned is the answer.
#include "common/onnx.hpp"
#include "common/people.hpp"
#include "common/results.hpp"
#include <sinter/data/features.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/full_batch.hpp>
#include <sinter/train/metrics/auc.hpp>
#include <chrono>
#include <cmath>
using namespace sinter;

// Standardised numbers first: their weights are those that are printed.
constexpr const char* numbers[] = {"age", "education_num", "hours_per_week", "capital_gain"};
constexpr int width = 52;   // with the indicators below

static data::features columns() {
    data::features f;
    f.number("age").number("education_num").number("hours_per_week").number("capital_gain", {.logarithm = true});
    f.indicator(data::bucketized("age", {25, 35, 50, 65}));   // income does not grow with age for ever
    f.indicator(data::vocabulary("workclass", 8)).indicator(data::vocabulary("marital_status", 8));
    f.indicator(data::vocabulary("occupation", 16)).indicator(data::vocabulary("sex", {"Female", "Male"}));
    f.indicator(data::bucketized("capital_gain", {1, 3000, 5000, 7000, 20000}));
    return f.label("income", {"<=50K", ">50K"});
}

// Scores of both answers; softmax of two scores is the logistic function of their difference.
constexpr auto net = features<width> >> dense<2>;

static void train(const example::options& options) {
    const example::people people = example::find_people(options.data, options.seed);
    data::features features = columns();
    features.fit(people.train);
    // Cut up, but used as a whole.
    auto training = data::source(features.apply(people.train)) | data::batch(options.batch);
    auto test = data::source(features.apply(people.test)) | data::batch(options.batch);

    full_batch model{net, softmax_cross_entropy, {.threads = options.threads, .seed = options.seed}};
    std::vector<epoch_result> history;
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
        const auto begun = std::chrono::steady_clock::now();
        const lbfgs_result r = model.train(training, {.max_iterations = 10, .l2 = 1e-4});   // goes on where it ended
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        epoch_result e;
        e.loss = r.loss;
        e.seconds = took.count();
        e.examples = static_cast<std::int64_t>(people.train.rows()) * r.evaluations;
        history.push_back(e);
        std::printf("epoch %d: %d iterations, loss with penalty %.6f, largest gradient %.1e\n", epoch + 1, r.iterations,
                    r.loss, r.gradient);
        if (r.end != lbfgs_end::iterations) break;   // this is the minimum
    }
    if (!options.save.empty()) {
        model.save(options.save);
        std::printf("Wrote %s.\n", options.save.c_str());
    }

    const std::vector<float> kernel = model.inner().plain(model.inner().parameter(0));
    for (std::size_t i = 0; i < std::size(numbers); ++i)
        std::printf("A standard deviation more of %s: the odds times %.2f.\n", numbers[i],
                    std::exp(static_cast<double>(kernel[2 * i + 1] - kernel[2 * i])));
    metrics::accuracy accuracy;
    metrics::auc area;
    for (const data::batch_view& b : test) {
        const span<const float> y = model.inner().predict(b);
        accuracy.add(y.data(), b.labels, b.size, 2);
        std::vector<float> chance;
        for (std::size_t i = 0; i < y.size(); i += 2) chance.push_back(1 / (1 + std::exp(y[i] - y[i + 1])));
        area.add(chance.data(), b.labels, b.size);
    }
    example::write_onnx(options, model.inner(), features.apply(people.test));
    example::tell_measured("logistic_regression", options, people.name, model.inner().threads(), history,
                           {{"accuracy", accuracy.value()}, {"area under ROC", area.roc()}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 30, .largest_batch = 256};
    example::command_line line(
        "Learns from a census, in CSV, who earns more than 50,000 dollars a year: logistic regression.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
