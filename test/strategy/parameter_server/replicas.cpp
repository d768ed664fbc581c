// SPDX-License-Identifier: BSL-1.0
// shows servers: second copies in whole sessions: a killed server changes no bit
// needs: distributed
#include "io/temporary_folder.hpp"
#include "job.hpp"
#include "words.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <atomic>

// Servers that keep their parts twice: one of them is killed, and the job goes on as if nothing had been.
using namespace sinter;
using server_words::net, server_words::batch, server_words::examples;

namespace {

constexpr int steps = 40;
using progress = std::atomic<std::int64_t>;

/// What a run of the loop comes to: all that a file has of it.
template <class Strategy>
std::string trained(const Strategy& strategy, progress* made = nullptr, std::int64_t max_steps = steps) {
    static const examples all;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    double loss = 0;
    for (int i = 0; i < max_steps; ++i) {
        loss = double{server_words::step(t, all, i)};
        if (made && t.session().member().chief()) ++*made;
    }
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    return to_text(
        {t.steps(), " steps, loss ", base::general_text(loss, 9), ", file ", hash_of_file(t)});
}

parameter_server_options twice(double reconnect_within = 30) {
    parameter_server_options o;
    o.replicas = 2;
    o.reconnect_within = reconnect_within;
    return o;
}

BOOST_AUTO_TEST_CASE(a_killed_server_changes_no_bit) {
    static const std::string expected = trained(canonical<4>(single<cpu_device>{}));
    for (const int victim : {0, 1, 2}) {
        progress& made = in_shared_memory<progress>(0);
        const int workers = 2, servers = victim == 2 ? 3 : 2;
        server_job job(workers, servers);
        job.start_all(
            [&](const cluster& c) { return trained(canonical<4>(parameter_server<sync<0>>{c, twice()}), &made); });
        for (int i = 0; i < 60000 && made < 5 + 11 * victim; ++i) ::usleep(500);
        job.signal(workers + victim, SIGKILL);
        BOOST_TEST(job.result(0) == expected, "server " << victim << " was killed");
        BOOST_TEST(job.result(1) == to_text({steps}));
        for (int s = 0; s < servers; ++s) BOOST_TEST(job.result(workers + s) == (s == victim ? "KILLED" : "served"));
    }
}

BOOST_AUTO_TEST_CASE(each_asynchronous_step_counts_once) {
    progress& made = in_shared_memory<progress>(0);
    server_job job(3, 2);
    job.start_all([&](const cluster& c) { return trained(parameter_server<async>{c, twice()}, &made, 60); });
    for (int i = 0; i < 60000 && made < 20; ++i) ::usleep(500);
    job.signal(3, SIGKILL);
    BOOST_TEST(holds(job.result(0), "180 steps"), job.result(0));
    BOOST_TEST(job.result(3) == "KILLED");
    BOOST_TEST(job.result(4) == "served");
}

/// Goes back to an earlier state and, `again`, begins anew. A server is lost when the last of these is done.
template <class Strategy>
std::string goes_back(const Strategy& strategy, const std::string& file, bool again, const shared_flag* done = nullptr,
                      const shared_flag* lost = nullptr) {
    static const examples all;
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    int i = 0;
    const auto go_on = [&](int steps) {
        for (const int end = i + steps; i < end; ++i) server_words::step(t, all, i);
    };
    go_on(10);
    const std::string early = hash_of_file(t);
    save(t, file);
    go_on(10);
    load(t, file);
    std::string said = to_text({t.steps(), hash_of_file(t) == early ? " loaded, " : " something else, "});
    if (again) {
        go_on(6);
        t.reset();
        said += to_text({t.steps(), " ", hash_of_file(t), ", "});
    }
    if (done) {
        if (t.session().member().chief()) done->set();
        lost->wait();
    }
    go_on(10);
    t.end_training();
    return to_text({said, t.steps(), " ", hash_of_file(t)});
}

BOOST_AUTO_TEST_CASE(both_copies_go_back_and_begin_anew) {
    for (const bool again : {false, true}) {
        const temporary_folder folder;
        const std::string expected = goes_back(canonical<4>(single<cpu_device>{}), folder / "alone", again);
        BOOST_TEST(expected.starts_with("10 loaded, "), expected);
        for (const int victim : {0, 1}) {
            const shared_flag done, lost;
            server_job job(2, 2);
            job.start_all([&](const cluster& c) {
                return goes_back(canonical<4>(parameter_server<sync<0>>{c, twice()}), folder / "file", again, &done,
                                 &lost);
            });
            BOOST_TEST(job.kill_once(done, 2 + victim, lost) == "KILLED");
            for (const int w : {0, 1}) BOOST_TEST(job.result(w) == expected, "server " << victim);
            BOOST_TEST(job.result(3 - victim) == "served");
        }
    }
}

/// What a job has restored from the servers' checkpoints, without a step.
std::string restored(const cluster& c, parameter_server_options o) {
    trainer t{
        net, softmax_cross_entropy, adam{}, max_batch<batch>, canonical<4>(parameter_server<sync<0>>{c, o}),
        {.threads = 1}};
    if (t.has_served()) return "served";
    t.session().begin_training(0, 0, false);
    t.end_training();
    if (!t.session().member().chief()) return "";
    return hash_of_file(t);
}

BOOST_AUTO_TEST_CASE(who_takes_over_writes_the_checkpoints) {
    const temporary_folder folder;
    parameter_server_options o = twice();
    o.checkpoints = folder / "servers", o.save_every_steps = steps;
    progress& made = in_shared_memory<progress>(0);
    std::string ended;
    {
        server_job job(2, 2);
        job.start_all([&](const cluster& c) { return trained(canonical<4>(parameter_server<sync<0>>{c, o}), &made); });
        for (int i = 0; i < 60000 && made < 9; ++i) ::usleep(500);
        job.signal(2, SIGKILL);
        ended = job.result(0);
        BOOST_TEST(holds(ended, to_text({steps, " steps"})), ended);
        for (const int i : {1, 3}) job.result(i);
    }
    server_job again(2, 2);
    again.start_all([&](const cluster& c) { return restored(c, o); });
    const std::string hash = again.result(0);
    BOOST_TEST((!hash.empty() && ended.ends_with("file " + hash)), ended << "; restored: " << hash);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused_by_name) {
    const auto said = [](int servers, parameter_server_options o) {
        server_job job(1, servers);
        job.start(0, [&](const cluster& c) { return trained(parameter_server<async>{c, o}); });
        return job.result(0);
    };
    parameter_server_options o = twice();
    BOOST_TEST(holds(said(1, o), "one server cannot keep its part twice"));
    o.reconnect_within = 0;
    BOOST_TEST(holds(said(2, o), "cannot find another server"));
    o.replicas = 3;
    BOOST_TEST(holds(said(2, o), "1 or 2"));
}

}   // namespace
