// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE estimator
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<2> >> dense<8> >> relu >> dense<2>;

/// Points in the unit square; the class says on which side of the diagonal.
static data::example_set points(int n) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(5);
    for (int i = 0; i < n; ++i) {
        const float a = random.uniform(0, 1), b = random.uniform(0, 1);
        x.insert(x.end(), {a, b});
        labels.push_back(a > b);
    }
    return data::example_set(extents(2), std::move(x)).labels(std::move(labels), 2);
}
static auto fresh(float rate = 0.3f) {
    return estimator<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 16>(net, softmax_cross_entropy, sgd{.learning_rate = rate}, trainer_options{.threads = 1});
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
    const auto history = model.train(p, {.epochs = 10, .progress = nullptr, .after_epoch = [](const epoch_result& r) { return r.epoch < 4; }});
    BOOST_TEST(history.size() == 4u);
}
BOOST_AUTO_TEST_CASE(what_cannot_be_trained) {
    auto model = fresh();
    auto p = points(40) | data::batch(16);
    check_error<option_error>([&] { model.train(p, {.epochs = -1, .progress = nullptr}); }, "number of epochs", "train", "-1", "0 or more");
    check_error<option_error>([&] { model.train(p, {.max_steps = -1, .progress = nullptr}); }, "number of steps", "train", "-1", "0 or more");
    auto empty = points(0) | data::batch(16);
    check_error<data_error>([&] { model.train(empty, {.max_steps = 5, .progress = nullptr}); }, "nothing to train on", "train", "", "at least one");
    auto wide = points(40) | data::batch(17);
    check_error<data_error>([&] { model.train(wide, {.progress = nullptr}); }, "batch size", "batch", "17", "1 to 16");
    auto wild = fresh(1e30f);
    check_error<data_error>([&] { wild.train(p, {.epochs = 5, .progress = nullptr}); }, "not finite", "step", "", "a finite loss");
}
