// SPDX-License-Identifier: BSL-1.0
// smoke: --epochs 3 --threads 1 --save csv_classification.safetensors --report csv_classification.json
// smoke: --onnx csv_classification.onnx
//
// Lesson 8: classes from a CSV file.
//
//   csv_classification --data DIR --save income.safetensors
//
// Tells from a census who earns more than 50,000 dollars a year. A net takes numbers around zero,
// so each column of the file becomes some: that is what feature columns do. What they must know for
// it (means, vocabularies) they learn from the training data alone, and it is saved beside the
// weights: without it, nobody could use them.
#include "common/onnx.hpp"
#include "common/people.hpp"
#include "common/results.hpp"
#include <sinter/data/features/save.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/metrics/auc.hpp>
#include <cmath>
using namespace sinter;

// The categories of the vocabulary below, and how many numbers an occupation becomes.
constexpr int occupations = 16, width_of_occupation = 4;

static data::features columns() {
    data::features f;
    f.number("age").number("education_num").number("hours_per_week");                   // standardised:      3 numbers
    f.number("capital_gain", {.logarithm = true});                                      // most are 0:        1
    f.indicator(data::bucketized("age", {20, 25, 30, 35, 40, 45, 50, 55, 60, 65}));     // stretches of life: 12
    f.indicator(data::bucketized("capital_gain", {1, 3000, 5000, 7000, 20000}));        //                    7
    f.indicator(data::vocabulary("workclass", 8));                                      // 7 most frequent, rest: 8
    f.indicator(data::vocabulary("marital_status", 8));                                 // likewise:             8
    f.indicator(data::vocabulary("sex", {"Female", "Male"}));                           // with others:          3
    f.indicator(data::crossed(64, {data::vocabulary("sex", {"Female", "Male"}),         // sex and family together: 64
                                   data::vocabulary("marital_status", 8)}));
    f.index(data::vocabulary("occupation", occupations));                               // for the embedding
    return f.label("income", {"<=50K", ">50K"});
}
constexpr int width = 106;   // of all numbers together

// Two inputs: the numbers, and the occupation's place in its vocabulary, for which the net learns
// some numbers itself. They have names, which the columns of the data have as well, and an ONNX file.
constexpr auto net = inputs(input<"numbers">(features<width>), input<"occupation">(indices<1>))
    >> [](tensor numbers, tensor occupation) {
           return concat(numbers, flatten(embedding<occupations, width_of_occupation>(occupation)));
       }
    >> dense<64> >> relu >> dropout<0.3f> >> dense<32> >> relu >> dropout<0.3f> >> dense<2> >> output<"scores">;

static void train(const example::options& options) {
    const std::string features_file = example::beside(options.save, "csv_classification", ".features");
    if (!options.save.empty()) example::check_writable(features_file);

    const example::people people = example::find_people(options.data, options.seed);
    data::features features = columns();
    features.fit(people.train);
    const auto examples_of = [&](const data::csv::table& rows) {
        return features.apply(rows).names({"numbers", "occupation", "income"});
    };
    const data::dataset all = examples_of(people.train);
    const std::int64_t kept = all.size() / 12;   // for watching
    auto training = data::source(all.slice(kept, all.size() - kept)) | data::shuffle(100'000, options.seed)
                  | data::batch(options.batch);
    auto validation = data::source(all.slice(0, kept)) | data::batch(options.batch);
    auto test = data::source(examples_of(people.test)) | data::batch(options.batch);

    estimator model{net, expects<"income">(softmax_cross_entropy), adamw{.learning_rate = 1e-3f}, max_batch<256>,
                    {.threads = options.threads, .seed = options.seed}};
    const auto history = model.train(training, {.epochs = options.epochs, .validation = &validation});
    if (!options.save.empty()) {
        model.save(options.save);
        data::save(features, features_file);
        std::printf("Wrote %s and %s.\n", options.save.c_str(), features_file.c_str());
    }
    // Accuracy looks at one threshold; the area under the ROC curve at all of them.
    metrics::accuracy accuracy;
    metrics::auc area;
    for (const data::batch_view& b : test) {
        const span<const float> y = model.predict(b);
        accuracy.add(y.data(), b.labels, b.size, 2);
        std::vector<float> chance;
        for (std::size_t i = 0; i < y.size(); i += 2) chance.push_back(1 / (1 + std::exp(y[i] - y[i + 1])));
        area.add(chance.data(), b.labels, b.size);
    }
    example::write_onnx(options, model, examples_of(people.test));
    example::tell_measured("csv_classification", options, people.name, model.threads(), history,
                           {{"accuracy", accuracy.value()}, {"area under ROC", area.roc()}});
}

int main(int argc, char** argv) {
    example::options options{.epochs = 8, .largest_batch = 256};
    example::command_line line("Learns from a census, in CSV, who earns more than 50,000 dollars a year.");
    options.declare(line);
    example::declare_onnx(line, options);
    return example::run(argc, argv, line, [&] { train(options); });
}
