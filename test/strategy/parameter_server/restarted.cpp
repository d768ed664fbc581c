// SPDX-License-Identifier: BSL-1.0
// shows servers: workers and servers started again at once: they train on, or all end and name one
// weighs: 3
// needs: distributed
#define BOOST_TEST_MODULE restarted
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/checkpoint/manifest.hpp>
#include "restarted_job.hpp"
#include <functional>
#include <filesystem>

// Members of jobs that train by train() are killed and started again, at once or later: each worker and each server, in
// each mode. Where the mode does without the dead the job ends as it should; where it does not all end, soon and in
// words that name who it was. Nobody waits for ever.
using namespace sinter;
using namespace sinter::restarts;

namespace {

using life = std::function<std::string(const cluster&)>;
template <auto Mode>
life life_of(const settings& s, board& b) {
    return [s, &b](const cluster& c) { return trains<Mode>(c, s, b); };
}
const std::string ended = "after 60";

bool has_checkpoint(const std::string& folder) {
    std::error_code not_there_yet;
    for (const auto& f : std::filesystem::directory_iterator(folder, not_there_yet))
        if (std::filesystem::exists(f.path() / "manifest.json")) return true;
    return false;
}
/// A worker is killed and started again while the others live: all end, and those who were there are told why.
void ends_the_job(const life& f, board& b, int victim, double pause) {
    BOOST_TEST_CONTEXT("worker " << victim << ", after " << pause << " s") {
        server_job job(2, 2, 5);
        job.start_all(f);
        BOOST_TEST(b.wait_for(7, 1));
        job.signal(victim, SIGKILL);
        BOOST_TEST(job.result(victim) == "KILLED");
        job.start(victim, f, pause);
        const std::string who = to_text({"worker/", victim});
        for (const int i : {1 - victim, 2, 3}) {
            const std::string said = job.result(i);
            BOOST_TEST((holds(said, "error: ") && holds(said, who) && holds(said, "started again")), i << ": " << said);
        }
        BOOST_TEST(holds(job.result(victim), "error: "), job.result(victim));
    }
}
/// Member i is killed and started again, and the job ends as if nothing had happened.
void goes_on(const life& f, board& b, int victim, double pause, int workers = 2, const std::string& folder = {}) {
    BOOST_TEST_CONTEXT("member " << victim << ", after " << pause << " s") {
        server_job job(workers, 2, 5);
        job.start_all(f);
        BOOST_TEST(b.wait_for(12));   // sums were made
        for (int i = 0; !folder.empty() && !has_checkpoint(folder) && i < 60000; ++i) ::usleep(1000);
        job.signal(victim, SIGKILL);
        BOOST_TEST(job.result(victim) == "KILLED");
        job.start(victim, f, pause);
        for (int w = 0; w < workers; ++w) BOOST_TEST(job.result(w) == ended, w << ": " << job.result(w));
        for (int s = workers; s < workers + 2; ++s) BOOST_TEST(job.result(s) == "served", s << ": " << job.result(s));
    }
}

bool is_whole(const std::string& checkpoint) {
    if (!std::filesystem::exists(checkpoint + "/manifest.json")) return false;
    const auto parts = parameter_servers::read_manifest(checkpoint + "/manifest.json").shards;
    for (const parameter_servers::shard_record& r : parts)
        if (r.step != parts[0].step || r.clock != parts[0].clock) return false;
    return parts.size() == 2;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_that_nobody_does_without_is_started_again_at_once) {
    for (const int victim : {1, 0})
        for (const double pause : {0., 0.4}) {
            board &in_step = board::make(), &stale_ones = board::make();
            in_step.pause = stale_ones.pause = 20;
            ends_the_job(life_of<sync<0>>({}, in_step), in_step, victim, pause);
            ends_the_job(life_of<stale<3>>({}, stale_ones), stale_ones, victim, pause);
        }
}
BOOST_AUTO_TEST_CASE(a_worker_of_an_asynchronous_job_is_started_again_at_once) {
    for (const int victim : {1, 0}) {
        board& b = board::make();
        goes_on(life_of<async>({.max_steps = 60}, b), b, victim, 0);
    }
}
BOOST_AUTO_TEST_CASE(the_worker_that_may_die_comes_back) {
    for (const int victim : {1, 2, 0})
        for (const double pause : {0., 0.4}) {
            board& b = board::make();
            b.pause = 20;
            goes_on(life_of<sync<1>>({}, b), b, victim, pause, 3);
            BOOST_TEST(b.made[victim] > 20);
        }
}
BOOST_AUTO_TEST_CASE(the_worker_that_may_die_comes_back_with_another_rate) {
    board& b = board::make();
    b.pause = 20;
    server_job job(3, 2, 5);
    job.start_all(life_of<sync<1>>({}, b));
    BOOST_TEST(b.wait_for(12));
    job.signal(1, SIGKILL);
    BOOST_TEST(job.result(1) == "KILLED");
    job.start(1, life_of<sync<1>>({.rate = 2e-2f}, b));
    for (const int i : {1, 0, 2, 3, 4}) {
        const std::string said = job.result(i);
        BOOST_TEST((holds(said, "members do not train alike") && holds(said, "started again, with other settings")),
                   i << ": " << said);
    }
}
BOOST_AUTO_TEST_CASE(each_server_comes_back_from_its_checkpoint_in_each_mode) {
    const auto of = [](bool in_step, auto make) {
        for (const int victim : {2, 3}) {
            const temporary_folder folder;
            board& b = board::make();
            b.pause = 40;
            goes_on(make(settings{.folder = folder / "servers"}, b), b, victim, victim == 2 ? 0 : 0.3, 2,
                    folder / "servers");
            // All servers count alike again: the last checkpoint has all parts, of one clock.
            if (in_step) BOOST_TEST(is_whole(folder / "servers/step-60"));
        }
    };
    of(false, [](const settings& s, board& b) { return life_of<async>(s, b); });
    of(true, [](const settings& s, board& b) { return life_of<stale<3>>(s, b); });
    of(true, [](const settings& s, board& b) { return life_of<sync<0>>(s, b); });
    of(true, [](const settings& s, board& b) { return life_of<sync<1>>(s, b); });
}
/// Servers go on from a checkpoint that an earlier job wrote, and one of them is started again before the next
/// checkpoint; then a worker is, which begins where this job was opened.
BOOST_AUTO_TEST_CASE(a_worker_and_a_server_come_back_before_the_next_checkpoint) {
    for (const int victim : {1, 0}) {
        const temporary_folder folder;
        settings s{.folder = folder / "servers"};
        {
            board& b = board::make();
            b.pause = 10;
            server_job job(3, 2, 5);
            job.start_all(life_of<sync<1>>(s, b));
            BOOST_TEST(b.wait_for(12));
            for (int i = 0; !has_checkpoint(s.folder) && i < 60000; ++i) ::usleep(1000);
            for (int i = 0; i < 5; ++i) job.signal(i, SIGKILL), job.result(i);
        }
        s.save_every = 1000;
        board& b = board::make();
        b.pause = 20;
        const life f = life_of<sync<1>>(s, b);
        server_job job(3, 2, 5);
        job.start_all(f);
        BOOST_TEST(b.wait_for(22, 2));
        job.signal(3, SIGKILL), job.result(3);
        job.start(3, f);
        BOOST_TEST(b.wait_for(27, 2));
        job.signal(victim, SIGKILL), job.result(victim);
        job.start(victim, f);
        for (int w = 0; w < 3; ++w) BOOST_TEST(job.result(w) == ended, w << ": " << job.result(w));
        for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served", i << ": " << job.result(i));
    }
}
BOOST_AUTO_TEST_CASE(all_workers_of_servers_with_second_copies_die_and_one_server_comes_back) {
    board& b = board::make();
    const life f = life_of<async>({.max_steps = 100000, .replicas = 2}, b);
    server_job job(2, 2, 1);
    job.options().join_within = 3;
    job.start_all(f);
    BOOST_TEST(b.wait_for(10));
    for (const int w : {0, 1}) job.signal(w, SIGKILL);
    job.signal(3, SIGKILL);
    BOOST_TEST(job.result(3) == "KILLED");
    job.start(3, f);
    for (const int s : {2, 3})
        BOOST_TEST(holds(job.result(s), "no worker is there any more"), s << ": " << job.result(s));
}
BOOST_AUTO_TEST_CASE(an_asynchronous_worker_comes_after_the_last_step) {
    board& b = board::make();
    const life f = life_of<async>({.max_steps = 30}, b);
    server_job job(3, 2);
    for (const int i : {0, 1, 3, 4}) job.start(i, f);
    BOOST_TEST(job.result(0) == "after 30");
    job.start(2, f);
    BOOST_TEST(job.result(2) == "after 30", job.result(2));
    for (const int s : {3, 4}) BOOST_TEST(job.result(s) == "served", s << ": " << job.result(s));
}
BOOST_AUTO_TEST_CASE(who_lives_and_does_not_get_on_is_named_after_progress_within) {
    const auto of = [](auto make) {
        board& b = board::make();
        const life f = make(settings{.reconnect_within = 2}, b);
        server_job job(2, 2, 1);
        job.options().progress_within = 2;
        job.start_all(f);
        BOOST_TEST(b.wait_for(7, 1));
        b.stuck = 1;
        for (const int i : {0, 2}) {
            const std::string said = job.result(i);
            BOOST_TEST((holds(said, "worker/1 lives but does not get on") && holds(said, "progress_within")),
                       i << ": " << said);
        }
        b.stuck = -1;
        for (const int i : {1, 3}) BOOST_TEST(holds(job.result(i), "error: "), i << ": " << job.result(i));
    };
    of([](const settings& s, board& b) { return life_of<sync<0>>(s, b); });
    of([](const settings& s, board& b) { return life_of<stale<3>>(s, b); });
}
