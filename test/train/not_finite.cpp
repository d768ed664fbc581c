// SPDX-License-Identifier: BSL-1.0
// shows training: a loss that is not finite ends the step unchanged and is explained; impossible rates are refused;
//     bad weights replace no file
#define BOOST_TEST_MODULE not_finite
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "support/captured.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/full_batch.hpp>
#include <sinter/train/optimizers/ftrl.hpp>
#include <sinter/train/optimizers/l2_penalty.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>
#include <sinter/train/predictor.hpp>
#include <sinter/train/checkpoint/run_checkpoint.hpp>
#include <sinter/train/checkpoint/weights_file.hpp>
#include <cmath>
#include <cstdio>

// A loss that is not finite changes nothing, what is not finite is named, and it is not saved.
using namespace sinter;

template <class Trainer>
static std::vector<float> everything(const Trainer& t) {
    std::vector<float> all{static_cast<float>(t.steps())};
    auto add = [&](const std::vector<float>& v) { all.insert(all.end(), v.begin(), v.end()); };
    for (int i = 0; i < t.parameters(); ++i) {
        add(t.plain(t.parameter(i)));
        for (int k = 0; k < t.slots_of(t.parameter(i)); ++k) add(t.plain_slot(t.parameter(i), k));
    }
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}
template <class Optimizer, program_options Options = program_options{}, class Net>
static void check_step(Net, Optimizer o, const char* what, int threads = 2) {
    trainer<Net, mse_loss, Optimizer, build_options{4, Options}> t(o, {.threads = threads}),
        undisturbed(o, {.threads = threads});
    const int width = t.output_shape().size();
    float x[12] = {1, 2, 3, -1, 0, 1, 4, 4, 2, 0, 0, -3};
    std::vector<float> y(static_cast<std::size_t>(4 * width), 0.5f);
    const data::batch_view b{.x = x, .y = y.data(), .size = 4, .y_width = width};
    t.step(b), undisturbed.step(b);
    const std::vector<float> before = everything(t);
    for (float* const place : {x + 4, y.data() + 1})
        for (const float wrong : {NAN, INFINITY}) {
            const float right = *place;
            *place = wrong;
            BOOST_TEST(!std::isfinite(t.step(b)), what);
            BOOST_TEST((everything(t) == before), what);
            BOOST_TEST(t.output().empty());
            *place = right;
        }
    for (int i = 0; i < 3; ++i) t.step(b), undisturbed.step(b);
    BOOST_TEST((everything(t) == everything(undisturbed)), what);
}
BOOST_AUTO_TEST_CASE(a_step_changes_nothing) {
    constexpr auto deep = features<3> >> dense<5> >> batch_norm >> relu >> dense<2>;
    check_step(features<3> >> dense<2>, sgd{.learning_rate = 0.1f}, "one layer");
    check_step(features<3> >> dense<1>, adam{}, "one column");
    check_step(deep, sgd{.learning_rate = 0.1f}, "sgd");
    check_step(deep, adam{}, "adam");
    check_step(deep, adam{}, "adam, one thread", 1);
    check_step(deep, clip_by_global_norm{1.f, adam{}}, "clipped");
    check_step(deep, accumulate<2>(momentum{}), "accumulated");
    check_step<adam, program_options{.store_gradients = true}>(deep, adam{}, "stored gradients");
    check_step<adam, program_options{.fuse = false}>(deep, adam{}, "not fused");
}

constexpr auto line = features<1> >> dense<1>;
static auto fresh(float rate) {
    return estimator(line, mse, sgd{.learning_rate = rate}, trainer_options{.threads = 1});
}
static auto pairs(std::vector<float> x, std::vector<float> y) {
    return data::dataset(extents(1), std::move(x)).targets(extents(1), std::move(y)) | data::batch(2);
}

BOOST_AUTO_TEST_CASE(the_first_number_that_is_not_finite_is_named) {
    auto m = fresh(0.1f);
    const auto train = [&](std::vector<float> x, std::vector<float> y) {
        auto data = pairs(std::move(x), std::move(y));
        m.train(data, {.progress = nullptr});
    };
    check_error<data_error>([&] { train({1, 2, 3, NAN}, {1, 2, 3, 4}); }, "the batch has a number",
                            "input 0, example 1", "nan");
    check_error<data_error>([&] { train({1, 2, 3, 4}, {1, 2, INFINITY, 4}); }, "the batch has a number",
                            "target 0, example 0", "inf");
    check_error<data_error>([&] { train({1e30f, 1}, {0, 0}); }, "have overflowed", "step", "", "finite loss");
    for (int i = 0; i < 2; ++i)
        for (const float w : m.inner().plain(m.inner().parameter(i))) BOOST_TEST(std::isfinite(w));
    const float wrong = NAN;
    m.inner().set_plain(m.inner().parameter(0), &wrong);
    check_error<data_error>([&] { train({1, 2}, {1, 2}); }, "a weight is not finite", "dense/kernel, number 0", "nan",
                            "smaller");
}
BOOST_AUTO_TEST_CASE(rates_that_cannot_train) {
    for (const float rate : {-0.1f, NAN, INFINITY}) {
        auto m = fresh(rate);
        auto data = pairs({1, 2}, {1, 2});
        check_error<option_error>([&] { m.train(data, {.progress = nullptr}); }, "learning rate", "train, step 1", "",
                                  "0 or more");
    }
}
template <class Optimizer>
static void refuses_rate(Optimizer o, const char* where, const char* needed = "0 or more") {
    estimator m(line, mse, o, trainer_options{.threads = 1});
    auto data = pairs({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6});
    check_error<option_error>([&] { m.train(data, {.progress = nullptr}); }, "learning rate", where, "", needed);
}
/// Wherever the rate is, and whenever it comes.
BOOST_AUTO_TEST_CASE(rates_within_other_optimizers) {
    refuses_rate(clip_by_global_norm{1.f, adam{.learning_rate = -1.f}}, "train, step 1");
    refuses_rate(accumulate<2>(clip_by_global_norm{1.f, sgd{.learning_rate = NAN}}), "train, step 1");
    refuses_rate(parameter_groups{sgd{.learning_rate = 0.01f}, group_of<"*/bias">(sgd{.learning_rate = -0.1f})},
                 "train, step 1");
    const schedule falls = [](std::int64_t step) { return step < 2 ? 0.01f : -0.01f; };
    refuses_rate(sgd{.learning_rate = falls}, "train, step 3");
    const schedule ends = [](std::int64_t step) { return step < 2 ? 0.01f : 0.f; };   // which ftrl divides by
    refuses_rate(clip_by_global_norm{1.f, ftrl{.learning_rate = ends}}, "train, step 3", "more than 0");
    refuses_rate(sgd{.learning_rate = [](std::int64_t step) { return step < 1 ? 0.01f : NAN; }}, "train, step 2");
    refuses_rate(parameter_groups{sgd{.learning_rate = 0.f}, group_of<"*/bias">(adam{.learning_rate = falls})},
                 "train, step 3");
}
template <class Optimizer>
static void refuses_setting(Optimizer o, const char* name, const char* needed) {
    check_error<option_error>([&] { estimator(line, mse, o); }, "impossible setting of the optimizer", name, "",
                              needed);
    check_error<option_error>([&] { estimator(line, mse, clip_by_global_norm{1.f, o}); }, "impossible setting", name);
    estimator m(line, mse, Optimizer{}, trainer_options{.threads = 1});
    m.inner().optimizer() = o;
    auto data = pairs({1, 2}, {1, 2});
    check_error<option_error>([&] { m.train(data, {.progress = nullptr}); }, "impossible setting", name);
}
/// All other settings than rates are looked at when a model is made: NaN would be found in the weights.
BOOST_AUTO_TEST_CASE(settings_that_cannot_train) {
    for (const float x : {NAN, -1.f, 1.f, INFINITY}) {
        refuses_setting(adam{.beta1 = x}, "beta1", "below 1");
        refuses_setting(adamw{.beta2 = x}, "beta2", "below 1");
    }
    for (const float x : {NAN, -0.1f, INFINITY}) {
        refuses_setting(adam{.epsilon = x}, "epsilon", "0 or more");
        refuses_setting(adam{.weight_decay = x}, "weight_decay", "0 or more");
        refuses_setting(sgd{.weight_decay = x}, "weight_decay", "0 or more");
        refuses_setting(momentum{.momentum_rate = x}, "momentum_rate", "0 or more");
        refuses_setting(rmsprop{.rho = x}, "rho", "0 to 1");
        refuses_setting(moving_average<sgd>{.decay = x}, "decay", "0 to 1");
        refuses_setting(l2_penalty<sgd>{.strength = x}, "strength", "0 or more");
        refuses_setting(parameter_groups{sgd{}, group_of<"*/bias">(momentum{.momentum_rate = x})}, "momentum_rate",
                        "0 or more");
    }
    for (const float x : {NAN, -1.f}) {
        check_error<option_error>([&] { estimator(line, mse, clip_by_global_norm{x, sgd{}}); }, "impossible setting",
                                  "max_norm", "", "0 or more, finite or infinity, no NaN");
        check_error<option_error>([&] { estimator(line, mse, accumulate<2>(clip_by_global_norm{x, sgd{}})); },
                                  "impossible setting", "max_norm");
    }
    for (const float x : {0.f, INFINITY}) estimator(line, mse, clip_by_global_norm{x, clip_by_value{x, sgd{}}});
}
/// A step by itself looks at the rate, too, and leaves all as it was.
BOOST_AUTO_TEST_CASE(rates_of_single_steps) {
    const float x[1] = {1};
    const data::batch_view b{.x = x, .y = x, .size = 1, .y_width = 1};
    for (const float rate : {NAN, -1.f, INFINITY}) {
        trainer t(line, mse, adam{.learning_rate = rate}, trainer_options{.threads = 1});
        const std::vector<float> before = everything(t);
        check_error<option_error>([&] { t.step(b); }, "learning rate", "step 1", "", "0 or more");
        BOOST_TEST((everything(t) == before));
    }
    constexpr auto two = features<1> >> named<"a">(dense<1>) >> named<"b">(dense<1>);
    const schedule falls = [](std::int64_t step) { return step < 2 ? 0.01f : -0.01f; };
    alternating_trainer t(two,
                          alternating{phase<"a/*">(mse, sgd{}, 1), phase<"b/*">(mse, sgd{.learning_rate = falls}, 1)},
                          trainer_options{.threads = 1});
    for (int i = 0; i < 2; ++i) t.step(0, b), t.step(1, b);
    t.step(0, b), t.step(0, b);   // the second phase has made two steps of its own
    check_error<option_error>([&] { t.step(1, b); }, "learning rate", "step 3", "-0.01", "0 or more");
}
/// A rate that is too large and yet finite gets one line.
BOOST_AUTO_TEST_CASE(a_loss_that_grows) {
    for (const bool large : {false, true}) {
        auto m = fresh(large ? 1.5f : 0.01f);
        auto data = pairs({1, 2, 3, 4}, {1, 2, 3, 4});
        const test::captured shown;
        m.train(data, {.epochs = 5, .progress = shown.file});
        const std::string all = shown.text(),
            line = "the loss has grown a thousandfold since the first step: try a smaller learning rate than 1.5";
        BOOST_TEST(!all.empty());
        BOOST_TEST((all.find(line) != std::string::npos) == large);
        BOOST_TEST(all.find("thousandfold") == all.rfind("thousandfold"));
    }
}
/// The gradient of the last step overflows while its loss, taken before, is finite: training says
/// so before the hook runs.
BOOST_AUTO_TEST_CASE(what_is_not_finite_is_not_saved) {
    const std::string file = "not_finite_test.safetensors";
    auto m = fresh(0.1f);
    const float one = 1;
    m.inner().set_plain(m.inner().parameter(0), &one);
    m.save(file);
    auto data = pairs({1.8e19f}, {0});
    bool called = false;
    check_error<data_error>([&] { m.train(data, {.progress = nullptr}, [&](const epoch_result&) { called = true; }); },
                            "a weight is not finite", "train, after step 1", "inf");
    BOOST_TEST(!called);
    check_error<data_error>([&] { m.save(file); }, "a weight is not finite", file);
    BOOST_TEST(weights_file(file).plain("dense/kernel")[0] == 1);
    m.save(file, saved::whole, not_finite::saved);
    BOOST_TEST(std::isinf(weights_file(file).plain("dense/kernel")[0]));
    std::remove(file.c_str());
}
BOOST_AUTO_TEST_CASE(outputs_that_are_not_there) {
    auto m = fresh(0.1f);
    predictor p{line, m};
    const float x[1] = {1};
    const data::batch_view b{.x = x, .size = 1};
    for (const int i : {1, 2, -1, 1 << 30}) {
        check_error<option_error>([&] { m.predict(b, i); }, "no such output", "predict", "", "0 to 0");
        check_error<option_error>([&] { p.predict(b, i); }, "no such output", "predictor");
        check_error<option_error>([&] { m.inner().output(i); }, "no such output", "output");
        check_error<option_error>([&] { m.inner().output_shape(i); }, "no such output", "output_shape");
        check_error<option_error>([&] { m.inner().last_output_shape(i); }, "no such output", "last_output_shape");
    }
    BOOST_TEST(m.predict(b, 0).size() == 1u);
}
BOOST_AUTO_TEST_CASE(all_of_the_data_are_evaluated_and_predicted) {
    auto m = fresh(0.1f);
    auto data = pairs({1, 2, 3, 4, 5}, {0, 0, 0, 0, 9});
    const auto whole = m.evaluate(data);
    BOOST_TEST(whole.examples == 5);
    for (int read = 0; read < 4; ++read) {
        data.rewind();
        for (int i = 0; i < read; ++i) data.next();
        const auto again = m.evaluate(data);
        BOOST_TEST(again.examples == 5);
        BOOST_TEST(again.loss == whole.loss);
        data.rewind();
        for (int i = 0; i < read; ++i) data.next();
        BOOST_TEST(m.predict(data).size() == 5u);
    }
    const std::vector<float> y = m.predict(data);
    const float x[1] = {5};
    BOOST_TEST(y[4] == m.predict({.x = x, .size = 1})[0]);
}
/// What is measured is named as well: NaN of a validation set would only be a value that nothing is better than.
BOOST_AUTO_TEST_CASE(data_that_are_evaluated) {
    auto m = fresh(0.1f);
    auto bad = pairs({1, 2, NAN}, {1, 2, 3}), wrong = pairs({1, 2, 3}, {1, -INFINITY, 3}), good = pairs({1, 2}, {1, 2}),
         large = pairs({1e30f}, {0});
    check_error<data_error>([&] { m.evaluate(bad); }, "the batch has a number", "evaluate, input 0, example 0", "nan");
    check_error<data_error>([&] { m.evaluate(wrong); }, "the batch has a number", "evaluate, target 0, example 1",
                            "-inf");
    check_error<data_error>([&] { m.train(good, {.validation = &bad, .progress = nullptr}); }, "the batch has a number",
                            "evaluate, input 0");
    BOOST_TEST(std::isinf(m.evaluate(large).loss));   // the batch is finite, and what the net makes of it is not
    const float nan = NAN;
    m.inner().set_plain(m.inner().parameter(1), &nan);
    check_error<data_error>([&] { m.evaluate(good); }, "a weight is not finite", "evaluate, dense/bias");
    check_error<data_error>([&] { m.evaluate(wrong); }, "a weight is not finite", "evaluate, dense/bias");
    check_error<data_error>([&] { m.train(wrong, {.progress = nullptr}); }, "a weight is not finite", "step 2");
    auto both = pairs({1, NAN}, {INFINITY, 2});
    check_error<data_error>([&] { m.evaluate(both); }, "the batch has a number", "evaluate, input 0, example 1", "nan");
    estimator slots(line, mse, momentum{}, trainer_options{.threads = 1});   // of which an evaluation knows nothing
    slots.inner().set_plain_slot(slots.inner().parameter(1), 0, &nan);
    BOOST_TEST(std::isinf(slots.evaluate(large).loss));
}
struct spoils_weights {
    void before_step(auto& run, const data::batch_view&) {
        const float nan = NAN;
        if (run.step == 1) run.model.set_plain(run.model.parameter(0), &nan);
    }
    void epoch_end(auto& run) { run.save_checkpoint("not_finite_quiet.safetensors"); }
};
/// As where a GPU has updated weights before the loss was known: that the run ends is all that is said.
BOOST_AUTO_TEST_CASE(a_quiet_end_with_weights_that_are_not_finite) {
    auto m = fresh(0.1f);
    auto data = pairs({1, 2, 3, 4}, {1, 2, 3, 4}), held_out = pairs({1, 2}, {1, 2});
    const train_options o{.epochs = 3, .validation = &held_out, .progress = nullptr, .not_finite = on_not_finite::stop};
    const auto history = m.train(data, o, spoils_weights{});
    BOOST_REQUIRE(history.size() == 1u);
    BOOST_TEST(history[0].examples == 2);
    BOOST_TEST(std::isnan(history[0].validation_loss));
    BOOST_TEST(std::remove("not_finite_quiet.safetensors") != 0);
    early_stop stops;
    keep_best best, least({.what = watched::loss, .file = "not_finite_best.safetensors"});
    reduce_on_plateau lowers;
    auto watched_run = fresh(0.1f);
    BOOST_TEST(watched_run.train(data, o, spoils_weights{}, stops, best, least, lowers).size() == 1u);
    BOOST_TEST(best.best_epoch() == 0);
    BOOST_TEST(least.best_epoch() == 0);   // though the steps before had a loss
    BOOST_TEST(std::remove("not_finite_best.safetensors") != 0);
    auto finite = fresh(0.1f);   // the processor's weights are those of the step before, and are measured
    auto bad = pairs({1, 2, 3, INFINITY}, {1, 2, 3, 4});
    BOOST_TEST(std::isfinite(finite.train(bad, o)[0].validation_loss));
}
BOOST_AUTO_TEST_CASE(full_batches) {
    full_batch m(line, mse, trainer_options{.threads = 1});
    auto bad = pairs({1, 2, NAN}, {1, 2, 3}), good = pairs({1, 2}, {1, 2});
    const std::vector<float> before = m.inner().plain(m.inner().parameter(0));
    check_error<data_error>([&] { m.train(bad); }, "the batch has a number", "full_batch, input 0, example 0", "nan");
    BOOST_TEST((m.inner().plain(m.inner().parameter(0)) == before));
    for (const double x : {double{NAN}, double{INFINITY}}) {
        check_error<option_error>([&] { m.train(good, {.gradient_tolerance = x}); }, "a tolerance", "lbfgs");
        check_error<option_error>([&] { m.train(good, {.loss_tolerance = x}); }, "a tolerance", "lbfgs");
        check_error<option_error>([&] { m.train(good, {.l2 = x}); }, "l2", "lbfgs", "", "0 or more");
    }
    check_error<option_error>([&] { m.train(good, {.l2 = -1}); }, "l2", "lbfgs", "-1");
    m.train(good, {.max_iterations = 20, .gradient_tolerance = -1, .loss_tolerance = -1});   // ended by others alone
    check_error<option_error>([&] { m.train(good, {.max_iterations = -1}); }, "number of iterations", "lbfgs", "-1");
    m.train(good, {.max_iterations = 2});
    const float nan = NAN;
    m.inner().set_plain(m.inner().parameter(0), &nan);
    check_error<data_error>([&] { m.train(good); }, "a weight is not finite", "full_batch, dense/kernel");
}
/// The first step tried is so long that the loss overflows; the mask is not to blame.
BOOST_AUTO_TEST_CASE(a_trial_that_overflows_beside_a_mask) {
    constexpr auto masked = features<2> >> [](tensor x) {
        const tensor w = parameter(x, "w", extents(1), zeros);
        return ops::exp(ops::slice(x, -1, 0, 1) * w * 100.f) + ops::exp(ops::slice(x, -1, 1, 1));
    };
    full_batch m(masked, mse, trainer_options{.threads = 1});
    auto data = data::dataset(extents(2), std::vector<float>{1, -INFINITY}).targets(extents(1), std::vector<float>{2}) |
                data::batch(1);
    BOOST_TEST(m.train(data).loss < 1e-6);
}
