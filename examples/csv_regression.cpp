// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 3 --threads 1 --report csv_regression.json --onnx csv_regression.onnx
//
// Lesson 9: a number from a CSV file.
//
// Guesses people's age from what else a census asks. The target is standardised as the features
// are: a net whose outputs are near zero learns at once, one that must first find out about forty
// does not. What it gives is turned back into years before anybody looks at it.
#include "common/onnx.hpp"
#include "common/people.hpp"
#include "common/results.hpp"
#include <sinter/data/features.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/metrics/mae.hpp>
#include <sinter/train/metrics/r2.hpp>
using namespace sinter;

static data::features columns() {
    data::features f;
    f.number("education_num").number("hours_per_week").number("capital_gain", {.logarithm = true});
    f.indicator(data::quantiles("hours_per_week", 8)).indicator(data::bucketized("education_num", {8, 9, 10, 13, 14}));
    f.indicator(data::vocabulary("workclass", 8)).indicator(data::vocabulary("marital_status", 8));
    f.indicator(data::vocabulary("occupation", 16)).indicator(data::vocabulary("sex", {"Female", "Male"}));
    f.indicator(data::vocabulary("income", {"<=50K", ">50K"}));
    return f.target("age");
}
constexpr int width = 57;

constexpr auto net = features<width> >> dense<64> >> relu >> dense<32> >> relu >> dense<1>;

static void train(const example::options& options) {
    const example::people people = example::find_people(options.data, options.seed);
    data::features features = columns();
    features.fit(people.train);
    const data::dataset all = features.apply(people.train);
    const std::int64_t kept = all.size() / 12;
    auto training = data::source(all.slice(kept, all.size() - kept)) | data::shuffle(100'000, options.seed)
                  | data::batch(options.batch);
    auto validation = data::source(all.slice(0, kept)) | data::batch(options.batch);
    auto test = data::source(features.apply(people.test)) | data::batch(options.batch);

    estimator model{net, mse, adamw{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) model.save(options.save);

    metrics::mae error, error_of_mean;
    metrics::r2 explained;
    for (const data::batch_view& b : test) {
        const auto years = [&](const float* y) {
            std::vector<float> v;
            for (int i = 0; i < b.size; ++i)
                v.push_back(static_cast<float>(features.target().original(static_cast<double>(y[i]))));
            return v;
        };
        const std::vector<float> guessed = years(model.predict(b).data()), true_age = years(b.y);
        const std::vector<float> mean(true_age.size(), static_cast<float>(features.target().mean));
        error_of_mean.add(mean.data(), true_age.data(), b.size);
        error.add(guessed.data(), true_age.data(), b.size);
        explained.add(guessed.data(), true_age.data(), b.size);
    }
    example::write_onnx(options, model, features.apply(people.test));
    example::tell_measured("csv_regression", options, people.name, model.threads(), history,
                           {{"mean error in years", error.value()},
                            {"of whoever always says the mean", error_of_mean.value()},
                            {"R2", explained.value()}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 10, .largest_batch = 256};
    example::command_line line("Learns from a census, in CSV, to guess people's age.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
