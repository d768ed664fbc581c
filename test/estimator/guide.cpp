// SPDX-License-Identifier: BSL-1.0
// The code of doc/estimator.md: each of its lines stands here as well (tools/documents.sh looks), compiled and run.
#define BOOST_TEST_MODULE estimator_guide
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/interrupt.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/losses/mae.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/metrics.hpp>
#include <cmath>

using namespace sinter;

constexpr auto net = features<4> >> dense<16> >> relu >> dense<3>;

void train(const data::dataset& training, const data::dataset& held_out) {
    auto data = training | data::shuffle(10'000) | data::batch(64);
    auto validation = held_out | data::batch(64);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}};

    keep_best best({.file = "best.safetensors"});
    early_stop stop({.patience = 8});
    const std::vector<epoch_result> history = model.train(data, {.epochs = 100, .validation = &validation},
        best, stop, reduce_on_plateau({.factor = 0.5f, .patience = 3}), csv_log("run.csv"), stop_on_interrupt(),
        save_checkpoints("run.safetensors", {.every_seconds = 600, .resume = true}));
    best.restore(model);

    const evaluation_result r = model.evaluate(validation);
    std::printf("%zu epochs, the best %d: loss %g, accuracy %g\n", history.size(), best.best_epoch(),
                r.loss, r.accuracy);
    const std::vector<float> scores = model.predict(validation);   // [examples, 3]
    model.save("net.safetensors");
}

void measure(data::pipeline& data, data::pipeline& held_out) {
    estimator model{net, softmax_cross_entropy, adam{}};
    const evaluation_result r = model.evaluate(held_out, metrics::top_k{2},
                                               metrics::named("third place", metrics::top_k{3}));
    std::printf("%g %g %g\n", r.value("loss"), r.value("top_k"), r.value("third place"));
    keep_best best({.monitor = "val_top_k"});
    model.train(data, {.validation = &held_out, .metrics = {metrics::top_k{2}}}, best);
}

/// The share of predictions that are off by less than a tolerance.
struct within {
    static constexpr const char* name = "within";
    float tolerance = 0.5f;
    std::int64_t hits = 0, all = 0;
    void add(const float* predictions, const float* targets, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) hits += std::abs(predictions[i] - targets[i]) < tolerance;
        all += n;
    }
    double value() const { return static_cast<double>(hits) / static_cast<double>(all); }
    void state(auto& s) { s("hits", hits)("all", all); }   // where several processes train one model
};

struct worst_batch {
    double worst = 0;
    void epoch_begin(training_run&) { worst = 0; }
    void after_step(training_run& run, const data::batch_view&) { if (run.loss > worst) worst = run.loss; }
    void pass_end(training_run& run) { run.result.metrics.push_back({"worst batch", worst, true}); }
    void epoch_end(training_run& run) { if (worst < 0.05) run.stop("no batch has a large loss"); }
};

void train_with_own(data::pipeline& data) {
    estimator model{net, softmax_cross_entropy, adam{}};
    const auto history = model.train(data, {.epochs = 20}, worst_batch{},
                                     [](const epoch_result& r) { return r.loss < 100; });   // false stops
    std::printf("%g\n", history.back().value("worst batch"));
}

constexpr auto two = features<4> >> dense<16> >> relu >> [](tensor x) { return outputs(dense<1>(x), dense<3>(x)); };

void train_both(data::pipeline& data) {
    estimator model{two, per_output(weigh<0.1>(mae), softmax_cross_entropy), adam{}};
    model.train(data);
    const std::vector<float> classes = model.predict(data, 1);   // of the second output
    const evaluation_result r = model.evaluate(data, metrics::named("accuracy of classes", metrics::accuracy{}, 1));
    std::printf("%g\n", r.value("accuracy of classes"));
}
struct both {
    static constexpr target_list targets{target_spec(target_kind::same_as_output).of_output(0),
                                         target_spec(target_kind::class_index).of_output(1)};
    constexpr tensor operator()(bundle y, bundle t) const {
        return 0.1f * mae(y[0], t[0]) + softmax_cross_entropy(y[1], t[1]);
    }
};

/// Records the loss of each step, and ends training once it is small. The losses are saved with a run.
struct small_loss {
    static constexpr const char* name = "small_loss";
    std::vector<float> losses;
    void after_step(training_run& run, const data::batch_view&) {
        losses.push_back(run.loss);
        if (run.loss < 0.05f) run.stop("the loss is small");
    }
    void state(hook_state& s) { s("losses", losses); }
};

void train_until_small(data::pipeline& data) {
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.01f}};
    small_loss small;
    model.train(data, {.epochs = 1000}, small, [](const epoch_result& r) { std::printf("%g\n", r.loss); });
    std::printf("after %zu steps\n", small.losses.size());
}

void whole_program(data::pipeline& training, data::pipeline& test) {
    estimator model{net, softmax_cross_entropy, adam{}};
    const train_and_evaluate_result r = train_and_evaluate(
        model, {.data = &training, .max_steps = 200, .folder = "steps", .every_steps = 50},
        {.data = &test, .metrics = {metrics::top_k{2}}, .throttle = 0});
    for (const step_evaluation& e : r.evaluations)
        std::printf("step %lld: loss %g\n", static_cast<long long>(e.step), e.result.loss);
}

static data::dataset examples(int n) {
    std::vector<float> x;
    std::vector<std::int32_t> y;
    for (int i = 0; i < n; ++i) {
        y.push_back(i % 3);
        for (int k = 0; k < 4; ++k) x.push_back(static_cast<float>(i * (k + 3) % 11) / 11 + (k == i % 3 ? 2.f : 0.f));
    }
    data::dataset s(extents(4), x);
    s.labels(y, 3);
    return s;
}
BOOST_AUTO_TEST_CASE(options_and_hooks) {
    temporary_folder folder;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");   // the page's files have names without a folder
    train(examples(90), examples(30));
    BOOST_TEST(std::filesystem::exists("best.safetensors"));
    estimator model{net, softmax_cross_entropy, adam{}};
    auto held_out = data::source(examples(30)) | data::batch(64);
    const double untrained = model.evaluate(held_out).loss;
    model.load("run.safetensors");
    BOOST_TEST(model.evaluate(held_out).loss < untrained / 2);
    std::filesystem::current_path(before);
}
BOOST_AUTO_TEST_CASE(training_and_evaluation_in_one_call) {
    temporary_folder folder;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    auto data = data::source(examples(90)) | data::batch(32), held_out = data::source(examples(30)) | data::batch(32);
    whole_program(data, held_out);
    BOOST_TEST(std::filesystem::exists("steps/step-200.safetensors"));
    std::filesystem::current_path(before);
}
BOOST_AUTO_TEST_CASE(a_hook_of_ones_own) {
    auto data = data::source(examples(90)) | data::batch(32);
    train_until_small(data);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.01f}};
    small_loss small;
    const auto history = model.train(data, {.epochs = 1000, .progress = nullptr}, small);
    BOOST_TEST(history.size() < 1000u);   // it ended training
    BOOST_TEST(small.losses.back() < 0.05f);
    for (std::size_t i = 0; i + 1 < small.losses.size(); ++i) BOOST_TEST(small.losses[i] >= 0.05f);
    BOOST_TEST(small.losses.size() == static_cast<std::size_t>(model.inner().steps()));
}
BOOST_AUTO_TEST_CASE(metrics_by_name) {
    estimator model{net, softmax_cross_entropy, adam{}};
    auto data = data::source(examples(90)) | data::batch(32), held_out = data::source(examples(30)) | data::batch(32);
    measure(data, held_out);
    BOOST_TEST(model.evaluate(held_out, metrics::top_k{3}).value("top_k") == 1);
    const data::dataset set = examples(30);   // pipelines that are made in the call
    model.train(set | data::batch(32), {.epochs = 2, .progress = nullptr});
    BOOST_TEST(model.inner().steps() == 2);
    BOOST_TEST(model.evaluate(set | data::batch(7)).loss == model.evaluate(held_out).loss,
               boost::test_tools::tolerance(1e-5));
    BOOST_TEST((model.predict(set | data::batch(32)) == model.predict(held_out)));
}
BOOST_AUTO_TEST_CASE(several_outputs) {
    data::dataset s = examples(32);
    s.targets(extents(1), std::vector<float>(32, 0.5f));
    auto data = data::source(s) | data::batch(16);
    train_both(data);
    train_with_own(data);
    estimator one{two, per_output(weigh<0.1>(mae), softmax_cross_entropy), adam{}};
    estimator other{two, both{}, adam{}};
    const std::vector<float> y = one.predict(data);
    double near = 0;
    for (const float v : y) near += v > 0.25f && v < 0.75f;
    const evaluation_result r = one.evaluate(data, metrics::named("near", within{.tolerance = 0.25f}, 0));
    BOOST_TEST(r.value("near") == near / 32);
    BOOST_TEST(one.evaluate(data).loss == other.evaluate(data).loss, boost::test_tools::tolerance(1e-6));
}
