// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE hooks
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "support/no_model.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/interrupt.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/decoupled_decay.hpp>
#include <sinter/train/optimizers/l1_penalty.hpp>
#include <sinter/train/optimizers/l2_penalty.hpp>
#include <sinter/train/optimizers/max_norm.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <unistd.h>

// What hooks decide on given sequences of values; the expected decisions were derived by hand from
// the rules of Keras 3's callbacks (wait counts epochs since the best; a change by min_delta or
// less is none).
using namespace sinter;

constexpr auto net = features<1> >> dense<1>;
template <class Estimator>
using trainer_of = typename Estimator::trainer_type;

static epoch_result result(int epoch, double validation_loss, double accuracy = NAN) {
    return {.epoch = epoch, .accuracy = accuracy, .validation_loss = validation_loss};
}
/// Whether the hook goes on after an epoch of this result.
template <class Hook, class Run>
static bool goes_on(Hook& hook, Run& run, const epoch_result& r) {
    run.result = r;
    hook.epoch_end(run);
    return !run.stopping();
}
static bool goes_on(early_stop& hook, const epoch_result& r) {
    training_run run;
    return goes_on(hook, run, r);
}
/// The epoch after which it stops; 0: never.
static int stops_after(early_stop_options o, std::initializer_list<double> values) {
    early_stop stop(o);
    int epoch = 0;
    for (const double v : values)
        if (!goes_on(stop, o.what == watched::accuracy ? result(++epoch, 0, v) : result(++epoch, v))) return epoch;
    return 0;
}

BOOST_AUTO_TEST_CASE(early_stop_decides) {
    BOOST_TEST(stops_after({.patience = 2}, {5, 4, 4.5, 3, 3.5, 3, 2}) == 6);      // 3 is not below 3
    BOOST_TEST(stops_after({.patience = 3}, {5, 4, 4.5, 3, 3.5, 3, 2}) == 0);
    BOOST_TEST(stops_after({.patience = 0}, {5, 4, 3, 3}) == 4);
    BOOST_TEST(stops_after({.patience = 1}, {5}) == 0);
    BOOST_TEST(stops_after({.min_delta = 0.5, .patience = 1}, {5, 4.25, 3.75}) == 3);   // 0.5 less is not enough
    // the best of those looked at is 9
    BOOST_TEST(stops_after({.patience = 1, .start_from = 3}, {1, 2, 3, 9, 10}) == 5);
    BOOST_TEST(stops_after({.patience = 2, .baseline = 3}, {5, 4, 3.5}) == 0);          // better each time: none stops
    // but none of it made patience anew
    BOOST_TEST(stops_after({.patience = 2, .baseline = 3}, {5, 4, 4, 4}) == 3);
    BOOST_TEST(stops_after({.what = watched::accuracy, .patience = 2}, {0.5, 0.7, 0.6, 0.7, 0.8}) == 4);
    early_stop stop({.patience = 1});
    for (const double v : {3., 1., 2.}) goes_on(stop, result(static_cast<int>(4 - v), v));
    BOOST_TEST(stop.best() == 1);
    BOOST_TEST(stop.best_epoch() == 3);
    BOOST_TEST(stop.stopped());
}
BOOST_AUTO_TEST_CASE(reduce_on_plateau_decides) {
    estimator m{net, mse, sgd{.learning_rate = 1}, {.threads = 1}};
    auto data = data::dataset(extents(1), {1}).targets(extents(1), {1}) | data::batch(1);
    model_run<trainer_of<decltype(m)>> run(m.inner(), data);
    reduce_on_plateau slower({.factor = 0.5f, .patience = 2, .min_delta = 0, .cooldown = 1, .min_rate = 0.2f});
    slower.begin(run);
    const double losses[] = {4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3};
    // waits 0 1 2: halved; one epoch of cooldown has ended when the next is looked at, which counts 1; and so on
    const float rates[] = {1, 1, 0.5f, 0.5f, 0.25f, 0.25f, 0.25f, 0.25f, 0.2f, 0.2f, 0.2f, 0.2f};
    for (int i = 0; i < 12; ++i) {
        BOOST_TEST(goes_on(slower, run, result(i + 1, losses[i])));
        BOOST_TEST(m.inner().optimizer().learning_rate.at(0) == rates[i], "epoch " << i + 1);
    }
    BOOST_TEST(slower.reductions() == 3);
}
/// An optimizer, and no net.
template <class Optimizer>
struct optimizer_alone : sinter::test::no_model {
    Optimizer o;
    explicit optimizer_alone(const Optimizer& x) : o(x) {}
    void each_constant_rate(const char*, base::function_ref<void(float&)> f) override {
        compiler::each_schedule(o, [&](schedule& s) { f(s.peak); });
    }
};
/// Rates after one reduction to a half, whatever is around them.
template <class Optimizer>
static std::vector<float> halved(Optimizer o) {
    optimizer_alone<Optimizer> model(o);
    auto data = data::dataset(extents(1), {1}) | data::batch(1);
    loop_run run(model, data);
    reduce_on_plateau slower({.what = watched::loss, .factor = 0.5f, .patience = 0, .min_rate = 0.04f}), again;
    slower.begin(run);
    for (int epoch = 1; epoch <= 2; ++epoch) {
        run.result = {};
        run.result.epoch = epoch;
        run.result.loss = 1;
        slower.epoch_end(run);
    }
    BOOST_TEST(slower.reductions() == 1);
    std::vector<float> rates;
    compiler::each_schedule(model.o, [&](const schedule& s) { rates.push_back(s.at(0)); });
    BOOST_TEST(slower.rate() == rates[0]);
    return rates;
}
BOOST_AUTO_TEST_CASE(rates_are_lowered_through_all_that_wraps_optimizers) {
    const sgd inner{.learning_rate = 1};
    const std::vector<float> half{0.5f};
    BOOST_TEST(halved(inner) == half);
    BOOST_TEST(halved(accumulate<4>(inner)) == half);
    BOOST_TEST(halved(clip_by_global_norm{1.f, inner}) == half);
    BOOST_TEST(halved(clip_by_norm{1.f, inner}) == half);
    BOOST_TEST(halved(clip_by_value{1.f, inner}) == half);
    BOOST_TEST(halved(decoupled_decay{0.1f, inner}) == half);
    BOOST_TEST(halved(l1_penalty{0.1f, inner}) == half);
    BOOST_TEST(halved(l2_penalty{0.1f, inner}) == half);
    BOOST_TEST(halved(max_norm{1.f, inner}) == half);
    BOOST_TEST(halved(moving_average{0.9f, inner}) == half);
    BOOST_TEST(halved(accumulate<2>(moving_average{0.9f, clip_by_global_norm{1.f, inner}})) == half);
    const parameter_groups groups{inner, group_of<"a*">(adam{.learning_rate = 0.06f}), frozen<"b*">,
                                  group_of<"c*">(l2_penalty{0.1f, sgd{.learning_rate = 0.02f}})};
    const std::vector<float> each{0.5f, 0.04f, 0.02f};   // a rate that is below the least one stays
    BOOST_TEST(halved(groups) == each);
    BOOST_TEST(halved(clip_by_global_norm{1.f, groups}) == each);
}
BOOST_AUTO_TEST_CASE(the_best_weights_come_back) {
    estimator m{net, mse, sgd{.learning_rate = 0.1f}, {.threads = 1}};
    const std::string file = "keep_best_test.safetensors";
    keep_best best({.file = file.c_str()});
    auto data = data::dataset(extents(1), {1}).targets(extents(1), {1}) | data::batch(1);
    model_run<trainer_of<decltype(m)>> run(m.inner(), data);
    best.begin(run);
    const auto weight = [&] { return m.inner().plain(m.inner().parameter(0))[0]; };
    const auto put = [&](float w) { m.inner().set_plain(m.inner().parameter(0), &w); };
    best.restore(m);   // nothing yet
    int epoch = 0;
    for (const float loss : {3.f, 1.f, 2.f, 4.f}) {
        put(10 * loss);
        BOOST_TEST(goes_on(best, run, result(++epoch, static_cast<double>(loss))));
    }
    BOOST_TEST(best.best_epoch() == 2);
    best.restore(m);
    BOOST_TEST(weight() == 10);
    put(0);
    m.load(file);
    BOOST_TEST(weight() == 10);
    std::remove(file.c_str());
}
BOOST_AUTO_TEST_CASE(options_that_cannot_be) {
    check_error<option_error>([] { early_stop({.patience = -1}); }, "patience", "early_stop", "-1");
    check_error<option_error>([] { early_stop({.min_delta = -1}); }, "smallest change", "early_stop");
    check_error<option_error>([&] { reduce_on_plateau r({.factor = 1}); }, "factor", "reduce_on_plateau");
    estimator scheduled{net, mse, sgd{.learning_rate = cosine(0.1f, 10)}, {.threads = 1}};
    auto data = data::dataset(extents(1), {1}).targets(extents(1), {1}) | data::batch(1);
    check_error<option_error>([&] { scheduled.train(data, {.progress = nullptr}, reduce_on_plateau()); }, "schedule",
                              "reduce_on_plateau");
    BOOST_TEST(scheduled.inner().steps() == 0);
    early_stop stop;
    check_error<data_error>([&] { goes_on(stop, result(7, NAN)); }, "not measured", "epoch 7", "validation_loss");
}
BOOST_AUTO_TEST_CASE(an_interrupt_ends_training_after_its_step) {
    estimator m{net, mse, sgd{}, {.threads = 1}};
    auto data = data::dataset(extents(1), {1, 2, 3, 4}).targets(extents(1), {1, 2, 3, 4}) |
                data::batch(1);
    stop_on_interrupt interrupt;
    struct {
        int steps = 0;
        void after_step(training_run&, const data::batch_view&) {
            if (++steps == 6) std::raise(SIGINT);
        }
    } interrupts;
    const auto history = m.train(data, {.epochs = 50, .progress = nullptr}, interrupts, interrupt);
    BOOST_TEST(static_cast<bool>(interrupt));
    BOOST_TEST(m.inner().steps() == 6);
    BOOST_TEST(history.size() == 2u);
}
/// A handler that is told more than the signal's number is afterwards told it again.
BOOST_AUTO_TEST_CASE(handlers_come_back_whole) {
    static int from = 0;
    struct sigaction own {}, old {};
    own.sa_flags = SA_SIGINFO;
    own.sa_sigaction = [](int, siginfo_t* info, void*) { from = info->si_pid; };
    for (const int number : {SIGINT, SIGTERM}) {
        ::sigaction(number, &own, &old);
        { stop_on_interrupt interrupt; }
        { stop_on_signals signals; }
        struct sigaction now {};
        ::sigaction(number, nullptr, &now);
        BOOST_TEST((now.sa_flags & SA_SIGINFO) != 0);
        from = 0;
        ::kill(::getpid(), number);
        BOOST_TEST(from == ::getpid());
        ::sigaction(number, &old, nullptr);
    }
}
