// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE estimator
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "support/captured.hpp"
#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <chrono>
#include <cmath>
#include <thread>
#include <algorithm>

using namespace sinter;

constexpr auto net = features<2> >> dense<8> >> relu >> dense<2>;

/// Points in the unit square; the class says on which side of the diagonal.
static data::dataset points(int n) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(5);
    for (int i = 0; i < n; ++i) {
        const float a = random.uniform(0, 1), b = random.uniform(0, 1);
        x.insert(x.end(), {a, b});
        labels.push_back(a > b);
    }
    return data::dataset(extents(2), std::move(x)).labels(std::move(labels), 2);
}
static auto fresh(float rate = 0.3f) {
    return estimator<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd,
                     16>(net, softmax_cross_entropy, sgd{.learning_rate = rate}, trainer_options{.threads = 1});
}

BOOST_AUTO_TEST_CASE(learns_and_says_how_it_went) {
    auto model = fresh();
    auto training = points(100) | data::shuffle(100) | data::batch(16);
    auto validation = points(60) | data::batch(7);
    const auto history = model.train(training, {.epochs = 60, .validation = &validation, .progress = nullptr});
    BOOST_TEST(history.size() == 60u);
    BOOST_TEST(history.front().epoch == 1);
    BOOST_TEST(history.back().epoch == 60);
    BOOST_TEST(history.back().examples == 100);
    BOOST_TEST(history.back().loss < 0.5 * history.front().loss);
    BOOST_TEST(history.back().accuracy > 0.9);
    const evaluation_result r = model.evaluate(validation);
    BOOST_TEST(r.examples == 60);
    BOOST_TEST(r.accuracy == history.back().accuracy);
    BOOST_TEST(r.loss == history.back().validation_loss);
}
BOOST_AUTO_TEST_CASE(one_pass_unless_told_otherwise) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    BOOST_TEST(model.train(p, {.progress = nullptr}).size() == 1u);
    BOOST_TEST(model.inner().steps() == 3);
}
BOOST_AUTO_TEST_CASE(steps_are_counted_in_all) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    BOOST_TEST(model.train(p, {.max_steps = 7, .progress = nullptr}).size() == 3u);   // 3 + 3 + 1
    BOOST_TEST(model.inner().steps() == 7);
    BOOST_TEST(model.train(p, {.max_steps = 7, .progress = nullptr}).empty());
    BOOST_TEST(model.inner().steps() == 7);
    BOOST_TEST(model.train(p, {.epochs = 1, .max_steps = 100, .progress = nullptr}).size() == 1u);
    BOOST_TEST(model.inner().steps() == 9);   // the pass went on where the last one was left

    auto exact = fresh();   // the last step is the last of a pass, whose end nobody has seen
    p.rewind();
    exact.train(p, {.max_steps = 3, .progress = nullptr});
    BOOST_TEST(exact.train(p, {.progress = nullptr}).at(0).examples == 40);
    BOOST_TEST(exact.inner().steps() == 6);
}
BOOST_AUTO_TEST_CASE(a_function_may_end_training) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    const auto history =
        model.train(p, {.epochs = 10, .progress = nullptr}, [](const epoch_result& r) { return r.epoch < 4; });
    BOOST_TEST(history.size() == 4u);
}
BOOST_AUTO_TEST_CASE(an_early_end_is_told) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    const test::captured progress;
    model.train(p, {.epochs = 10, .progress = progress.file}, [](const epoch_result& r) { return r.epoch < 2; });
    const std::string s = progress.text();
    BOOST_TEST(s.ends_with("\ntraining ended after step 6: a function of the epoch's result\n"), s);
}
BOOST_AUTO_TEST_CASE(what_cannot_be_trained) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    check_error<option_error>([&] { model.train(p, {.epochs = -1, .progress = nullptr}); }, "number of epochs", "train",
                              "-1", "0 or more");
    check_error<option_error>([&] { model.train(p, {.max_steps = -1, .progress = nullptr}); }, "number of steps",
                              "train", "-1", "0 or more");
    auto empty = points(0) | data::batch(16);
    check_error<data_error>([&] { model.train(empty, {.max_steps = 5, .progress = nullptr}); }, "nothing to train on",
                            "train", "", "at least one");
    auto wide = points(40) | data::batch(17);
    check_error<data_error>([&] { model.train(wide, {.progress = nullptr}); }, "batch size", "batch", "17", "1 to 16");
    auto wild = fresh(1e30f);
    check_error<data_error>([&] { wild.train(p, {.epochs = 5, .progress = nullptr}); }, "not finite", "step", "",
                            "a finite loss");
}
BOOST_AUTO_TEST_CASE(data_without_an_end) {
    auto model = fresh();
    auto p = points(40) | data::repeat() | data::batch(16), finite = points(40) | data::batch(16);
    check_error<option_error>([&] { model.train(p, {.epochs = 2, .progress = nullptr}); }, "never end", "train", "",
                              "max_steps");
    check_error<option_error>([&] { model.evaluate(p); }, "never end", "evaluate", "", "a pass that ends");
    check_error<option_error>([&] { model.train(finite, {.validation = &p, .progress = nullptr}); }, "never end",
                              "validation");
    BOOST_TEST(model.inner().steps() == 0);   // said before the first step, not after the first epoch
    BOOST_TEST(model.train(p, {.max_steps = 5, .progress = nullptr}).size() == 1u);
    BOOST_TEST(model.inner().steps() == 5);
}
BOOST_AUTO_TEST_CASE(an_evaluation_sees_a_whole_pass_or_says_that_there_is_none) {
    auto model = fresh();
    auto p = points(32) | data::batch(16), empty = points(0) | data::batch(16);
    p.next(), p.next();   // the last batch is out, the end of the pass not yet seen
    BOOST_TEST(model.evaluate(p).examples == 32);
    check_error<data_error>([&] { model.evaluate(empty); }, "nothing to evaluate", "evaluate", "", "at least one");
}

/// What a run writes into a file.
template <class Model>
static std::string written(Model& model, data::pipeline& training, data::pipeline* validation, int epochs,
                           std::vector<epoch_result>& history) {
    const test::captured progress;
    history = model.train(training, {.epochs = epochs, .validation = validation, .progress = progress.file});
    return progress.text();
}
static std::string shown(const char* name, double value) {
    return std::string("  ") + name + ' ' + base::fixed_text(value, 4);
}

BOOST_AUTO_TEST_CASE(lines_show_loss_and_metrics) {
    auto training = points(40) | data::batch(16), validation = points(30) | data::batch(16);
    std::vector<epoch_result> h;
    auto model = fresh();
    const std::string both = written(model, training, &validation, 2, h);
    for (const epoch_result& r : h)
        BOOST_TEST(both.find(shown("loss", r.loss) + shown("accuracy", r.training_accuracy) +
                             shown("val_loss", r.validation_loss) +
                             shown("val_accuracy", r.accuracy) + '\n') != std::string::npos, both);
    BOOST_TEST(std::count(both.begin(), both.end(), '\n') == 2);
    auto another = fresh();   // without validation there is a metric, too
    const std::string alone = written(another, training, nullptr, 1, h);
    BOOST_TEST(alone.find(shown("loss", h[0].loss) + shown("accuracy", h[0].training_accuracy) + '\n') !=
               std::string::npos, alone);
    BOOST_TEST(std::isnan(h[0].accuracy));
}
BOOST_AUTO_TEST_CASE(training_accuracy_is_that_of_the_batches_as_they_were_seen) {
    auto model = fresh(), reference = fresh();
    auto p = points(40) | data::batch(16), q = points(40) | data::batch(16);
    const auto h = model.train(p, {.epochs = 3, .progress = nullptr});
    for (const epoch_result& r : h) {
        metrics::accuracy seen;
        // this net has no dropout: evaluation before the step sees what the step will
        for (const data::batch_view& b : q) {
            reference.inner().evaluate(b);
            seen.add(reference.inner().output().data(), b.labels, b.size, 2);
            reference.inner().step(b);
        }
        BOOST_TEST(r.training_accuracy == seen.value());
    }
}
BOOST_AUTO_TEST_CASE(the_rate_is_that_of_training_alone) {
    auto model = fresh();
    auto training = points(40) | data::batch(16);
    auto slow = points(10) |
        data::map([](data::example&) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }) |
        data::batch(16);
    std::vector<epoch_result> h;
    const std::string line = written(model, training, &slow, 1, h);
    const auto at = line.find(", ", line.find(" examples, ") + 11);   // "epoch 1/1: 40/40 images, 0:00, 123 examples/s"
    BOOST_REQUIRE(at != std::string::npos);
    std::string digits;
    for (char c : line.substr(at + 2, line.find(" examples/s") - at - 2))
        if (c != ',') digits += c;
    // With validation's second the rate would be below 40.
    BOOST_TEST(std::stod(digits) > 40 / (h[0].seconds + 0.5), line);
}
/// Five places, each with two numbers and a class that says which one is larger.
static data::dataset sequences(int n) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(6);
    for (int i = 0; i < 5 * n; ++i) {
        const float a = random.uniform(0, 1), b = random.uniform(0, 1);
        x.insert(x.end(), {a, b});
        labels.push_back(a > b);
    }
    return data::dataset(extents(5, 2), std::move(x)).labels(extents(5), std::move(labels), 2);
}
BOOST_AUTO_TEST_CASE(several_labels_an_example) {
    constexpr auto tagger = array<5, 2> >> dense<8> >> relu >> dense<2>;
    estimator model{tagger, softmax_cross_entropy, sgd{.learning_rate = 1.f}, max_batch<16>, {.threads = 1}};
    auto training = sequences(60) | data::shuffle(60) | data::batch(16) | data::prefetch();
    auto validation = sequences(33) | data::batch(16);
    const auto h = model.train(training, {.epochs = 40, .validation = &validation, .progress = nullptr});
    BOOST_TEST(h.back().accuracy > 0.9);
    BOOST_TEST(h.back().training_accuracy > 0.9);
    int right = 0;
    for (const data::batch_view& b : validation) {
        BOOST_TEST(b.label_width == 5);
        const auto y = model.predict(b);
        for (std::size_t i = 0; i < static_cast<std::size_t>(5 * b.size); ++i)
            right += (y[2 * i + 1] > y[2 * i]) == (b.labels[i] == 1);
    }
    BOOST_TEST(model.evaluate(validation).accuracy == right / 165.);
}
BOOST_AUTO_TEST_CASE(losses_on_numbers_have_no_accuracy) {
    constexpr auto line = features<1> >> dense<1>;
    estimator model{line, mse, sgd{.learning_rate = 0.1f}, max_batch<8>, {.threads = 1}};
    const data::dataset set = data::dataset(extents(1), {-1, 0, 1, 2}).targets(extents(1), {-2, 0, 2, 4});
    auto training = set | data::batch(4), validation = set | data::batch(3);
    std::vector<epoch_result> h;
    const std::string text = written(model, training, &validation, 30, h);
    BOOST_TEST(text.find("accuracy") == std::string::npos);
    BOOST_TEST(text.find(shown("loss", h[7].loss) + shown("val_loss", h[7].validation_loss) + '\n') !=
               std::string::npos);
    BOOST_TEST(std::isnan(h[7].training_accuracy));
    BOOST_TEST(h.back().validation_loss < 0.05 * h.front().validation_loss);
}
