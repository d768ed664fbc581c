// SPDX-License-Identifier: BSL-1.0
// shows servers: 5 asynchronous workers of 100 steps make 500; `max_steps` is met exactly
// weighs: 3
// needs: distributed
#include "io/temporary_folder.hpp"
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <thread>
#include <chrono>
#include <limits>
#include <filesystem>

// Jobs of workers and servers in processes of their own, in every mode: how steps are counted, who may
// come and go, and that all of them learn.
using namespace sinter;

namespace {

constexpr auto net = features<8> >> dense<16> >> batch_norm >> relu >> dense<3>;
constexpr int batch = 8;

/// Three clouds of points, drawn anew by each worker.
struct points {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    points(int n, std::uint64_t seed) : x(static_cast<std::size_t>(8 * n)), labels(static_cast<std::size_t>(n)) {
        random_stream r(seed);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            labels[i] = static_cast<std::int32_t>(r.word() % 3);
            for (std::size_t k = 0; k < 8; ++k)
                x[8 * i + k] = 0.7f * r.normal() + (k % 3 == static_cast<std::size_t>(labels[i]) ? 1.f : 0.f);
        }
    }
    data::pipeline batches() const {
        return data::source(data::dataset(extents(8), x).labels(labels)) | data::batch(batch);
    }
};
template <auto Mode>
auto model_of(const cluster& c, parameter_server_options o = {}) {
    return estimator{net,
                     softmax_cross_entropy,
                     adam{.learning_rate = 3e-3f},
                     max_batch<batch>,
                     parameter_server<Mode>{c, o},
                     {.threads = 1}};
}
std::uint64_t seed_of(const cluster& c) { return static_cast<std::uint64_t>(10 + c.rank()); }

/// Each worker's steps, and the chief's accuracy on examples of their own.
template <auto Mode>
std::string learns(const cluster& c, std::int64_t max_steps, int pass, parameter_server_options o = {}) {
    auto model = model_of<Mode>(c, o);
    constexpr bool is_async = std::same_as<std::remove_cvref_t<decltype(Mode)>, async_mode>;
    const bool has_own = o.input ? *o.input == batch_input::per_worker : is_async;
    const points own(pass * batch, has_own && c.rank() >= 0 ? seed_of(c) : 1), test(600, 99);
    data::pipeline train = own.batches(), evaluation = test.batches();
    const std::vector<epoch_result> done =
        model.train(train, {.epochs = max_steps ? 0 : 1, .max_steps = max_steps, .progress = nullptr});
    if (model.inner().session().serves()) return "served";
    std::int64_t examples = 0;
    for (const epoch_result& e : done) examples += e.examples;
    if (c.rank() > 0) return to_text({"worker after ", examples / batch});
    const double accuracy = model.evaluate(evaluation).accuracy;
    return to_text(
        {model.inner().steps(), accuracy > 0.75 ? " learned" : " has not learned: " + std::to_string(accuracy)});
}

BOOST_AUTO_TEST_CASE(asynchronous_steps_of_all_workers_add_up) {   // 5 workers x 100 steps
    server_job job(5, 2);
    job.start_all([](const cluster& c) { return learns<async>(c, 0, 100); });
    BOOST_TEST(job.result(0) == "500 learned");
    for (int i = 1; i < 5; ++i) BOOST_TEST(job.result(i) == "worker after 100");
    for (int i = 5; i < 7; ++i) BOOST_TEST(job.result(i) == "served");
}
BOOST_AUTO_TEST_CASE(a_number_of_steps_is_never_overshot) {
    server_job job(3, 2);
    job.start_all([](const cluster& c) { return learns<async>(c, 331, 50); });
    BOOST_TEST(job.result(0) == "331 learned");
    for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
}
BOOST_AUTO_TEST_CASE(clocks_count_once_for_all) {
    const auto of = [](auto f) {
        server_job job(3, 2);
        job.start_all(f);
        BOOST_TEST(job.result(0) == "150 learned");
        for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
    };
    of([](const cluster& c) { return learns<sync<0>>(c, 150, 50); });
    of([](const cluster& c) { return learns<sync<1>>(c, 150, 50, {.input = batch_input::per_worker}); });
    of([](const cluster& c) { return learns<stale<3>>(c, 150, 50, {.input = batch_input::per_worker}); });
}
BOOST_AUTO_TEST_CASE(workers_that_share_batches_and_lag) {   // the last step is that of a pass, too
    server_job job(3, 2);
    job.start_all([](const cluster& c) { return learns<stale<3>>(c, 200, 50, {.input = batch_input::global}); });
    BOOST_TEST(job.result(0) == "200 learned");
    for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
}
/// Counts steps, and is slow in some of them.
struct slow_steps {
    std::int64_t from = 0;
    std::int64_t seen = 0, last = 0, passed = 0;
    double loss = 0;
    template <class Run>
    void before_step(Run& run, const data::batch_view&) {
        if (from >= 0 && run.step >= from) std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
    template <class Run>
    void after_step(Run& run, const data::batch_view&) {
        ++seen, last = run.step, passed += run.model.last_step().passed;
    }
    void epoch_end(training_run& run) { loss = run.result.loss; }
};
/// Whom the others have passed does all that goes with a step, such as saving: they do it together.
BOOST_AUTO_TEST_CASE(steps_that_others_have_made) {
    for (const std::int64_t from : {0, 7}) {
        temporary_folder folder;
        server_job job(2, 2);
        job.start_all([&](const cluster& c) {
            auto model = model_of<sync<1>>(c, {.input = batch_input::global});
            data::pipeline train = points(60 * batch, 1).batches(), test = points(60, 99).batches();
            slow_steps steps{.from = c.rank() == 1 ? from : -1};
            model.train(train, {.max_steps = 12, .validation = &test, .progress = nullptr}, steps,
                        save_checkpoints(folder / "run", {.every_steps = 6, .keep = 9}));
            if (model.inner().session().serves()) return std::string("served");
            return to_text({"after ", model.inner().steps(), ": ", steps.seen, " to ", steps.last,
                           c.rank() == 1 && steps.passed < 2 ? ", none made by the other alone" : "", ", loss ",
                           std::to_string(steps.loss)});
        });
        const std::string first = job.result(0);
        BOOST_TEST(first.starts_with("after 12: 12 to 12, loss "), first);
        BOOST_TEST(first.find("loss 0.000000") == first.npos);
        BOOST_TEST(job.result(1) == first);   // early_stop and others decide by it
        for (int i = 2; i < 4; ++i) BOOST_TEST(job.result(i) == "served");
        for (const char* file : {"run/step-6.safetensors", "run/step-12.safetensors"})
            BOOST_TEST(std::filesystem::exists(folder / file), file);
    }
}
/// A number that is not finite is in one worker's part of a batch: it ends all, who need not have seen it.
BOOST_AUTO_TEST_CASE(what_one_of_those_that_lag_sees) {
    server_job job(2, 1);
    job.start_all([](const cluster& c) {
        points p(40 * batch, 1);
        p.x[8 * (20 * batch - 1)] = std::numeric_limits<float>::quiet_NaN();   // the last example of a batch
        auto model = model_of<stale<1>>(c, {.input = batch_input::global});
        data::pipeline train = p.batches();
        model.train(train, {.progress = nullptr});
        return std::string("went on");
    });
    BOOST_TEST(job.result(1).find("a number that is not finite") != std::string::npos, job.result(1));
    BOOST_TEST(job.result(0).find("a number that is not finite") != std::string::npos, job.result(0));
}
/// The chief, which has made its steps before another worker was started at all, waits for that one's.
BOOST_AUTO_TEST_CASE(the_end_does_not_depend_on_who_comes_first) {
    server_job job(2, 2);
    for (const int i : {0, 2, 3}) job.start(i, [](const cluster& c) { return learns<async>(c, 0, 150); });
    job.start(
        1, [](const cluster& c) { return learns<async>(c, 0, 150); }, 1.5);
    BOOST_TEST(job.result(0) == "300 learned");
    BOOST_TEST(job.result(1) == "worker after 150");
    for (int i = 2; i < 4; ++i) BOOST_TEST(job.result(i) == "served");
}
BOOST_AUTO_TEST_CASE(workers_come_late_and_leave_early) {
    server_job job(3, 2);
    for (const int i : {0, 3, 4}) job.start(i, [](const cluster& c) { return learns<async>(c, 12000, 50); });
    job.start(1, [](const cluster& c) { return learns<async>(c, 0, 20); });   // leaves after 20 steps
    job.start(
        2, [](const cluster& c) { return learns<async>(c, 12000, 50); }, 0.3);
    BOOST_TEST(job.result(0) == "12000 learned");
    BOOST_TEST(job.result(1) == "worker after 20");
    const std::string late = job.result(2);   // or, where the machine is fast, too late
    BOOST_TEST((late.starts_with("worker after ") || late.find("it was not there within") != late.npos), late);
    for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
}
BOOST_AUTO_TEST_CASE(in_any_order) {
    for (const bool servers_first : {true, false}) {
        server_job job(2, 2);
        for (int i = 0; i < 4; ++i)
            job.start(
                i, [](const cluster& c) { return learns<async>(c, 200, 50); },
                (i >= 2) == servers_first ? 0 : 0.3 + 0.1 * i);
        BOOST_TEST(job.result(0) == "200 learned");
        BOOST_TEST(job.result(2) == "served");
        BOOST_TEST(job.result(3) == "served");
    }
}
BOOST_AUTO_TEST_CASE(less_often) {   // DistBelief's n_fetch and n_push
    server_job job(2, 1);
    job.start_all([](const cluster& c) {
        return learns<async>(c, 0, 300, {.pull_every = 3, .push_every = 2, .prefetch = true});
    });
    BOOST_TEST(job.result(0) == "300 learned");
    BOOST_TEST(job.result(1) == "worker after 300");
}

}   // namespace
