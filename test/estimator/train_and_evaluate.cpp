// SPDX-License-Identifier: BSL-1.0
// shows saving: a damaged newest checkpoint: the one before is taken
#define BOOST_TEST_MODULE train_and_evaluate
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/points.hpp"
#include "support/thread_members.hpp"
#include <csignal>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/stop_at.hpp>
#include <sinter/train/metrics.hpp>
#include <sys/wait.h>
#include <unistd.h>

// One call in every role. What it must come to is what training, and evaluation of its checkpoints, come to by hand.
using namespace sinter_test;

static constexpr auto net = features<2> >> dense<4> >> relu >> dropout<0.3f> >> dense<2>;
using sinter::test::points;
struct one_call {
    std::int64_t max_steps = 20;
    duty does = duty::automatic;
    double throttle = 0, give_up = 0;
    std::int64_t batches = 0;
    double (*clock)() = base::monotonic_seconds;
    double start_delay = 0;
    std::function<void(std::int64_t, const evaluation_result&)> evaluated{};
};
static std::vector<std::int64_t> steps_of(const train_and_evaluate_result& r) {
    std::vector<std::int64_t> all;
    for (const step_evaluation& e : r.evaluations) all.push_back(e.step);
    return all;
}
template <class Strategy, class... Hooks>
static train_and_evaluate_result go(const std::string& folder, const Strategy& s, one_call c, Hooks&&... hooks) {
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.05f}, s, {.threads = 1}};
    auto data = points(50, 3) | data::shuffle(20) | data::batch(8);
    auto test = points(30, 4) | data::batch(8);
    return train_and_evaluate(
        model,
        {.data = &data, .max_steps = c.max_steps, .folder = folder, .every_steps = 4, .keep = 3, .does = c.does,
         .progress = nullptr},
        {.data = &test, .metrics = {metrics::f1{}}, .batches = c.batches, .start_delay = c.start_delay,
         .throttle = c.throttle, .give_up_after = c.give_up, .evaluated = c.evaluated, .clock = c.clock},
        hooks...);
}
static const single<cpu_device> here{};
static void same(const std::vector<std::int64_t>& a, std::vector<std::int64_t> b) {
    BOOST_TEST(a == b, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(alone) {
    temporary_folder folder;
    train_and_evaluate_result r = go(folder / "a", here, {});
    same(steps_of(r), {4, 8, 12, 16, 20});
    BOOST_TEST(r.steps == 20);
    BOOST_TEST(!r.interrupted);
    // each is what the checkpoint's weights give
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.05f}, {.threads = 1}};
    auto test = points(30, 4) | data::batch(8);
    for (const std::size_t i : {2u, 3u, 4u}) {   // of which files are kept
        model.load(checkpoint_folder(folder / "a", 3).name(r.evaluations[i].step));
        const evaluation_result want = model.evaluate(test, metrics::f1{});
        BOOST_TEST(r.evaluations[i].result.loss == want.loss);
        BOOST_TEST(r.evaluations[i].result.value("f1") == want.value("f1"));
    }
    // max_steps is absolute: the same call trains nothing, and evaluates once; a larger one goes on
    r = go(folder / "a", here, {});
    BOOST_TEST(r.epochs.empty());
    same(steps_of(r), {20});
    r = go(folder / "a", here, {.max_steps = 22, .batches = 2});
    same(steps_of(r), {22});
    BOOST_TEST(r.evaluations[0].result.examples == 16);
}

static double tenth() {
    static double t = 0;
    return t += 1;
}
BOOST_AUTO_TEST_CASE(throttled) {
    temporary_folder folder;
    // a clock that advances by one second at each call: once for each checkpoint
    same(steps_of(go(folder / "a", here, {.max_steps = 32, .throttle = 3, .clock = tenth})), {4, 16, 28, 32});
}

// An evaluator in a thread, and one in a process: they end by themselves behind the last checkpoint, also where
// training stopped early.
BOOST_AUTO_TEST_CASE(an_evaluator) {
    temporary_folder folder;
    for (const bool early : {false, true}) {
        const std::string name = folder / (early ? "early" : "whole");
        train_and_evaluate_result found;
        std::thread evaluator([&] { found = go(name, here, {.does = duty::evaluate}); });
        const train_and_evaluate_result trained =
            go(name, here, {.does = duty::train}, stop_at({.step = early ? 10 : 1000}));
        evaluator.join();
        BOOST_TEST(trained.evaluations.empty());
        BOOST_TEST(trained.steps == (early ? 10 : 20));
        BOOST_TEST(found.epochs.empty());
        BOOST_REQUIRE(!found.evaluations.empty());
        BOOST_TEST(found.evaluations.back().step == trained.steps);
        // one that comes late evaluates the last alone
        const train_and_evaluate_result late = go(name, here, {.does = duty::evaluate});
        same(steps_of(late), {trained.steps});
        BOOST_TEST(late.evaluations[0].result.loss == found.evaluations.back().result.loss);
    }
    // nobody trains: it gives up
    BOOST_CHECK_THROW(go(folder / "none", here, {.does = duty::evaluate, .give_up = 0.2}), io_error);
}

// An evaluator looks at nothing before its start delay is over, though all checkpoints are there.
static double ticks = 0;
BOOST_AUTO_TEST_CASE(an_evaluator_begins_late) {
    temporary_folder folder;
    go(folder / "a", here, {.does = duty::train});
    for (const double delay : {0., 6.}) {
        double first = 0;
        ticks = 0;
        const auto note = [&](std::int64_t, const evaluation_result&) { first = ticks; };
        const train_and_evaluate_result r =
            go(folder / "a", here, {.does = duty::evaluate, .clock = [] { return ticks += 1; }, .start_delay = delay,
                                    .evaluated = note});
        same(steps_of(r), {20});
        BOOST_TEST((first >= 1 + 6) == (delay == 6), "evaluated at " << first);
    }
}

// The last checkpoint is damaged: the evaluator says so and ends.
BOOST_AUTO_TEST_CASE(a_damaged_checkpoint) {
    temporary_folder folder;
    go(folder / "a", here, {.does = duty::train});
    write_bytes(checkpoint_folder(folder / "a", 3).name(20), "nothing");
    BOOST_TEST(go(folder / "a", here, {.does = duty::evaluate}).evaluations.empty());
}

BOOST_AUTO_TEST_CASE(signals) {
    temporary_folder folder;
    struct raises {
        void after_step(training_run& run, const data::batch_view&) {
            if (run.step == 9) std::raise(SIGTERM);
        }
    };
    train_and_evaluate_result r = go(folder / "a", here, {}, raises{});
    BOOST_TEST(r.interrupted);
    BOOST_TEST(r.steps == 9);
    same(steps_of(r), {4, 8});
    BOOST_TEST(!std::filesystem::exists(folder / "a/ended"));
    r = go(folder / "a", here, {});
    const train_and_evaluate_result whole = go(folder / "b", here, {});
    same(steps_of(r), {12, 16, 20});
    BOOST_TEST(r.evaluations.back().result.loss == whole.evaluations.back().result.loss);
    // an evaluator, too
    static int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    const auto tells = [] {   // that it waits by now
        return ::write(ends[1], "x", 1) == 1 ? base::monotonic_seconds() : 0;
    };
    const pid_t child = ::fork();
    if (child == 0) ::_exit(go(folder / "none", here, {.does = duty::evaluate, .clock = tells}).interrupted ? 7 : 0);
    char waits = 0;
    BOOST_TEST(::read(ends[0], &waits, 1) == 1);
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

// Members of a job: all train, the chief writes, all evaluate together; one of them has the signal.
BOOST_AUTO_TEST_CASE(of_several_members) {
    temporary_folder folder;
    std::vector<train_and_evaluate_result> got(3);
    auto thrown = in_members(3, [&](int r, auto& g) {
        got[static_cast<std::size_t>(r)] = go(folder / "a", thread_member({&g}), {.throttle = 1000});
    });
    for (const std::string& t : thrown) BOOST_TEST(t == "");
    for (const train_and_evaluate_result& r : got) {
        same(steps_of(r), {4, 20});
        BOOST_TEST(r.evaluations[1].result.loss == got[0].evaluations[1].result.loss);
        BOOST_TEST(r.evaluations[1].result.examples == 30);
    }
}

BOOST_AUTO_TEST_CASE(specs) {
    estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
    auto data = points(8, 3) | data::batch(8);
    const train_spec t{.data = &data, .max_steps = 1, .folder = "/tmp/never"};
    const eval_spec e{.data = &data};
    const auto refused = [&](auto change) {
        train_spec a = t;
        eval_spec b = e;
        change(a, b);
        BOOST_CHECK_THROW(train_and_evaluate(model, a, b), option_error);
    };
    refused([](auto& a, auto&) { a.max_steps = 0; });
    refused([](auto& a, auto&) { a.folder = ""; });
    refused([](auto& a, auto&) { a.data = nullptr; });
    refused([](auto&, auto& b) { b.data = nullptr; });
    refused([](auto& a, auto&) { a.keep = 0; });
    refused([](auto& a, auto&) { a.every_seconds = 0; });
    train_spec little = t;
    little.every_seconds = -1e-9;
    BOOST_CHECK_EXCEPTION(train_and_evaluate(model, little, e), option_error, [](const option_error& refusal) {
        return std::string(refusal.what()).find("0 steps, -1e-09 s") != std::string::npos;
    });
    refused([](auto&, auto& b) { b.throttle = -1; });
    refused([](auto&, auto& b) { b.batches = -1; });
}
