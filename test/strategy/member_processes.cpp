// SPDX-License-Identifier: BSL-1.0
// shows members: what data, hooks or signals do on one member reaches all, in processes of their own
// needs: distributed
#define BOOST_TEST_MODULE member_processes
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "net/processes.hpp"
#include "support/points.hpp"
#include <fcntl.h>
#include <sinter/distributed.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>

// Members of a job as real processes, one of which has a trouble of its own: its data source or hook throws, or it
// alone is sent a signal. The time-outs are far longer than the tests: nobody learns anything by waiting for them.
using namespace sinter;

namespace {

constexpr auto model_net = features<2> >> dense<8> >> relu >> dense<2>;

void touch(const std::string& file) {
    const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY, 0666);
    if (fd >= 0) ::close(fd);
}
bool appears(const std::string& file) {
    for (int i = 0; i < 4000; ++i, ::usleep(5000))
        if (::access(file.c_str(), F_OK) == 0) return true;
    return false;
}
cluster_options patient() {
    cluster_options o = quick(30);
    o.progress_within = 600;
    return o;
}
auto model_of(const std::vector<std::string>& at, int r) {
    return estimator{model_net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, max_batch<16>,
                     multi_worker<ring>{cluster::of(at, r, patient())}, {.threads = 1}};
}
struct throws_at {
    std::int64_t step;
    void after_step(training_run& run, const data::batch_view&) {
        if (run.step == step) throw data_error("the disk is on fire", "a test's hook", "smoke", "none");
    }
};
/// Rank 1's model lives on when train() has thrown, until the other two have heard of it: nothing but the error's own
/// way tells them.
template <class F>
std::string kept_alive(const std::vector<std::string>& at, int r, const shared_flag (&heard)[3], F train) {
    auto model = model_of(at, r);
    std::string said = "nothing was thrown";
    try {
        train(model);
    } catch (const std::exception& e) {
        said = e.what();
    }
    heard[r].set();
    bool all = r != 1;
    if (!all) all = heard[0].wait(20) && heard[2].wait(20);
    return said + (all ? ", told" : ", and nobody has heard of it");
}
void all_have_its_words(processes& job, int n, const char* words) {
    for (int r = 0; r < n; ++r) {
        const std::string said = job.result(r);
        BOOST_TEST(holds(said, words), said);
        if (r != 1) BOOST_TEST(holds(said, "rank 1, worker/1 at 127."), said);
        BOOST_TEST(holds(said, ", told"), said);
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(what_a_hook_of_one_throws_ends_all) {
    const auto at = own_addresses(3);
    const shared_flag heard[3];
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=, &heard] {
            return kept_alive(at, r, heard, [&](auto& model) {
                auto data = sinter::test::points(200, 3) | data::batch(16);
                throws_at t{r == 1 ? 7 : -1};
                model.train(data, {.epochs = 3, .progress = nullptr}, t);
            });
        });
    all_have_its_words(job, 3, "the disk is on fire");
}
BOOST_AUTO_TEST_CASE(what_the_data_of_one_throw_ends_all) {
    const auto at = own_addresses(3);
    const shared_flag heard[3];
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=, &heard] {
            return kept_alive(at, r, heard, [&](auto& model) {
                int seen = 0;
                auto data = sinter::test::points(200, 3) | data::map([&, r](const data::example_view&, data::example&) {
                                if (r == 1 && ++seen == 100) throw io_error("the file is gone", "points.csv");
                            }) | data::batch(16);
                model.train(data, {.epochs = 3, .progress = nullptr});
            });
        });
    all_have_its_words(job, 3, "the file is gone");
}
// Checking sums changes no bit of them, nor does it find fault with sums that are right.
BOOST_AUTO_TEST_CASE(sums_that_are_checked_are_the_same) {
    const auto train = [](const std::vector<std::string>& at, int r, std::int64_t every) {
        estimator model{model_net, softmax_cross_entropy, adam{}, max_batch<16>,
                        multi_worker<ring, cpu_device, 64>{cluster::of(at, r, patient()), {.check_sums_every = every}},
                        {.threads = 1}};
        auto data = sinter::test::points(200, 3) | data::batch(16);
        model.train(data, {.epochs = 10, .progress = nullptr});
        std::string bits;
        for (int i = 0; i < model.inner().parameters(); ++i)
            for (const float x : model.inner().plain(model.inner().parameter(i))) bits += std::to_string(x) + " ";
        return bits;
    };
    std::vector<std::string> got;
    for (const std::int64_t every : {0, 1, 7}) {
        const auto at = own_addresses(2);
        processes job;
        for (int r = 0; r < 2; ++r) job.start([=] { return train(at, r, every); });
        for (int r = 0; r < 2; ++r) got.push_back(job.result(r));
    }
    for (const std::string& g : got) BOOST_TEST((g.size() > 100 && g == got[0]), g);
}
// One of three is sent a signal, between steps or in the midst of an evaluation that would take a minute: all stop
// behind the same step, with a checkpoint, and go on from it when they are started again.
BOOST_AUTO_TEST_CASE(a_signal_to_one_stops_all) {
    for (const int number : {SIGINT, SIGTERM})
        for (const bool in_evaluation : {false, true}) {
            temporary_folder folder;
            const std::string run = folder / "run", begun = folder / "begun";
            const auto train = [=](const std::vector<std::string>& at, int r, bool slow) {
                auto model = model_of(at, r);
                auto data = sinter::test::points(200, 3) | data::shuffle(50) | data::batch(16);
                auto test = sinter::test::points(600, 4) | data::map([=](const data::example_view&, data::example&) {
                                if (slow && in_evaluation) touch(begun), ::usleep(100'000);
                            }) | data::batch(2);
                struct {
                    bool sleeps;
                    std::string file;
                    void after_step(training_run&, const data::batch_view&) {
                        if (sleeps) touch(file), ::usleep(50'000);
                    }
                } slow_steps{slow && !in_evaluation, begun};
                stop_on_signals signals;
                const auto history =
                    model.train(data, {.epochs = 4, .validation = &test, .progress = nullptr}, signals, slow_steps,
                                save_checkpoints(run, {.every_steps = 1000, .resume = true, .keep = 2}));
                return "steps " + std::to_string(model.inner().steps()) + " signal " + std::to_string(signals.signal());
            };
            const auto at = own_addresses(3);
            processes job;
            for (int r = 0; r < 3; ++r) job.start([=] { return train(at, r, true); });
            BOOST_REQUIRE(appears(begun));
            ::usleep(150'000);
            job.signal(2, number);
            const std::string first = job.result(0), second = job.result(1), told = job.result(2);
            BOOST_TEST(holds(first, "steps "), first);
            BOOST_TEST(first == second);
            BOOST_TEST(first.substr(0, first.find(" signal")) == told.substr(0, told.find(" signal")), told);
            BOOST_TEST(holds(told, " signal " + std::to_string(number)), told);
            const std::string steps = first.substr(6, first.find(" signal") - 6);
            BOOST_TEST(::access((run + "/step-" + steps + ".safetensors").c_str(), F_OK) == 0, first);
            BOOST_TEST((in_evaluation ? steps == "13" : std::stoi(steps) < 52), steps);
            processes again;
            const auto other = own_addresses(3);
            for (int r = 0; r < 3; ++r) again.start([=] { return train(other, r, false); });
            for (int r = 0; r < 3; ++r) BOOST_TEST(again.result(r) == "steps 52 signal 0");
        }
}
