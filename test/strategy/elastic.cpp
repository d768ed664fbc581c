// SPDX-License-Identifier: BSL-1.0
// shows elastic: a member, the chief too, dies anywhere: the others repeat the step and end where one process ends;
//     splits, returns, spares
// needs: distributed
// waits: until members are missed, and in each step
#define BOOST_TEST_MODULE elastic
#include <boost/test/unit_test.hpp>
#include "net/linked_hosts.hpp"
#include "strategy/elastic_jobs.hpp"
#include <iostream>
#include <sinter/base/cluster_error.hpp>
#include <sinter/layers/norm.hpp>

// Elastic jobs as real processes: members are killed at any time, stopped and started again, and the weights are those
// of one process that trained on the same batches, for a gradient is the mean over the global batch whoever makes it.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> synchronised_batch_norm >> dense<8> >> relu >> dense<2>;

template <class Strategy>
auto model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, s, {.threads = 1}};
}
std::string live(const std::vector<std::string>& at, int slot, const plan& p) {
    return life([](const auto& s) { return model_under(s); }, [](const auto& m) { return elastic(m); }, at, slot, p);
}
/// The same, where calls to other members can fail.
std::string live_among_faults(const std::vector<std::string>& at, int slot, const plan& p) {
    return life<faulty_ring>([](const auto& s) { return model_under(s); }, [](const auto& m) { return elastic(m); }, at,
                             slot, p);
}

} // namespace

BOOST_AUTO_TEST_CASE(nobody_dies) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {}); });
    are_equal({job.result(0), job.result(1), job.result(2)});
}
// One of three is killed in the midst of training: the two others repeat the step that it was missing from.
BOOST_AUTO_TEST_CASE(survivors_go_on_without_the_dead) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {.die_at = r == 1 ? 20 : -1}); });
    const std::string a = job.result(0), b = job.result(2);
    are_equal({a, b});
    for (const std::string& t : {a, b}) BOOST_TEST(word_behind(t, "members") == "32", t);
}
// The chief is killed: the first of the others is the chief from then on, and writes the checkpoints.
BOOST_AUTO_TEST_CASE(the_chief_may_die) {
    temporary_folder folder;
    const std::string file = folder / "run";
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 0 ? 22 : -1, .checkpoints = file}); });
    const std::string a = job.result(1), b = job.result(2);
    are_equal({a, b});
    BOOST_TEST(word_behind(a, "chief") == "1", a);
    BOOST_TEST(word_behind(b, "chief") == "0", b);
    BOOST_TEST(::access((folder / "run/step-60.safetensors").c_str(), F_OK) == 0);
}
// Of two the chief is killed. The other one cannot know whether it is cut off, and must not go on.
BOOST_AUTO_TEST_CASE(half_without_the_chief_ends) {
    const auto at = own_addresses(2);
    processes job;
    for (int r = 0; r < 2; ++r) job.start([=] { return live(at, r, {.die_at = r == 0 ? 20 : -1}); });
    const std::string b = job.result(1);
    BOOST_TEST(holds(b, "agreeing on members: of 2 members 1 is left or can be reached"), b);
    processes half;   // and half with the chief goes on
    const auto other = own_addresses(2);
    for (int r = 0; r < 2; ++r) half.start([=] { return live(other, r, {.die_at = r == 1 ? 20 : -1}); });
    const std::string a = half.result(0);
    is_well(a);
    BOOST_TEST(word_behind(a, "members") == "21", a);
}
// A member is killed, started again, and goes on where the others are: with their weights, in the midst of an epoch.
BOOST_AUTO_TEST_CASE(who_is_started_again_joins) {
    for (const int dies : {1, 0}) {
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r)
            job.start([=] { return live(at, r, {.die_at = r == dies ? 10 : -1, .pause = 0.06, .joined = 3}); });
        BOOST_TEST(job.result(dies) == "KILLED");
        const int again = job.start([=] { return live(at, dies, {.pause = 0.06, .joined = 3}); });
        const std::string a = job.result(dies == 0 ? 1 : 0), b = job.result(2), c = job.result(again);
        are_equal({a, b, c});
        BOOST_TEST(word_behind(a, "members") == "323", a);
        BOOST_TEST(word_behind(c, "members") == "3", c);
        BOOST_TEST(word_behind(c, "chief") == (dies == 0 ? "1" : "0"), c);
        // It was healed while the others went on, and had their bits when it joined.
        BOOST_TEST(std::stoi(word_behind(c, "repeated")) > 0, c);
        BOOST_TEST(word_behind(c, "waited") == "0", c);
    }
}
// A process with other options is told so when it wants to join, and ends, so that the right one can take its place.
BOOST_AUTO_TEST_CASE(who_differs_cannot_join) {
    const auto at = own_addresses(3);
    const auto other = [](const std::vector<std::string>& addresses) {
        const auto of = [](const auto& s) { return model_under(s); };
        const auto differs = [](auto m) {
            m.options.check_sums_every = 7;
            return elastic(m);
        };
        return life(of, differs, addresses, 1, {});
    };
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 1 ? 10 : -1, .pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(1) == "KILLED");
    const std::string said = job.result(job.start([=] { return other(at); }));
    BOOST_TEST(holds(said, "this process cannot join the job: the strategy or its options (their hash) differs"), said);
    const int again = job.start([=] { return live(at, 1, {.pause = 0.06, .joined = 3}); });
    are_equal({job.result(0), job.result(2), job.result(again)});
}
// The members and the one that joins agree, but cannot connect at once: all try again, and nobody is left behind.
BOOST_AUTO_TEST_CASE(who_cannot_connect_at_once_joins) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] {
            return live_among_faults(at, r, {.die_at = r == 1 ? 10 : -1, .pause = 0.06, .joined = 3});
        });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] {
        groups_out_of_reach = 1;
        return live_among_faults(at, 1, {.pause = 0.06, .joined = 3});
    });
    const std::string a = job.result(0), b = job.result(2), c = job.result(again);
    are_equal({a, b, c});
    BOOST_TEST(word_behind(c, "members") == "3", c);
}
// Spares wait, are needed, and come in; the batch is the same all the time, whoever takes part.
BOOST_AUTO_TEST_CASE(a_spare_takes_the_place_of_the_dead) {
    const auto at = own_addresses(4);
    processes job;
    for (int r = 0; r < 4; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 1 ? 10 : -1, .pause = 0.05, .spares = 2, .joined = 2}); });
    const std::string a = job.result(0), b = job.result(2), c = job.result(3);
    const bool second = holds(b, "ok");
    are_equal({a, second ? b : c});
    BOOST_TEST(word_behind(a, "members") == "212", a);
    BOOST_TEST(holds(second ? c : b, "the job has ended before this process could join it"), b << " | " << c);
}
// What a hook of one member throws is the end of that member alone.
BOOST_AUTO_TEST_CASE(an_exception_ends_one_member) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {.throw_at = r == 2 ? 20 : -1}); });
    are_equal({job.result(0), job.result(1)});
    BOOST_TEST(holds(job.result(2), "the data are gone; got nothing"), job.result(2));
}
// One that was stopped for too long is removed, learns of it when it goes on, and changes nothing.
BOOST_AUTO_TEST_CASE(who_was_stopped_learns_that_it_was_removed) {
    const auto at = own_addresses(3);
    processes job;
    const shared_flag begun, fewer;
    for (int r = 0; r < 3; ++r)
        job.start([&, r] { return live(at, r, {.pause = 0.12, .begun = &begun, .fewer = &fewer}); });
    begun.wait();
    job.signal(1, SIGSTOP);
    fewer.wait();
    job.signal(1, SIGCONT);
    are_equal({job.result(0), job.result(2)});
    BOOST_TEST(holds(job.result(1), "this process was removed from the job"), job.result(1));
}
// The same, killed from outside at whatever place: within a step, a checkpoint, an evaluation.
BOOST_AUTO_TEST_CASE(killed_anywhere) {
    temporary_folder folder;
    for (int round = 0; round < 6; ++round) {
        const std::string file = folder / ("run" + std::to_string(round)).c_str();
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r)
            job.start([=] { return live(at, r, {.pause = 0.01, .checkpoints = file}); });
        const int dies = round % 3;
        for (int i = 0; i < 30000 && ::access((file + "/step-5.safetensors").c_str(), F_OK) != 0; ++i) ::usleep(2000);
        ::usleep(static_cast<useconds_t>(37'000 * round + 3'000));
        job.signal(dies, SIGKILL);
        std::vector<std::string> left;
        for (int r = 0; r < 3; ++r)
            if (r != dies) left.push_back(job.result(r));
        are_equal(left);
    }
}
// The cable between two hosts is pulled out: the chief on the one is alone, and ends; the two on the other have a new
// chief, who writes the checkpoints from then on. The old one's are refused.
BOOST_AUTO_TEST_CASE(a_job_that_is_cut_in_two) {
    const linked_hosts hosts(2);
    if (!hosts.made()) {
        std::cout << "skipped: only root can make network namespaces, with the command ip\n";
        return;
    }
    temporary_folder folder;
    const std::string file = folder / "run";
    const std::vector<std::string> at{linked_hosts::address(0) + ":7000", linked_hosts::address(1) + ":7001",
                                      linked_hosts::address(1) + ":7002"};
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([&, r] {
            if (!hosts.enter(r > 0)) return std::string("no such host");
            return live(at, r, {.pause = 0.05, .checkpoints = file});
        });
    for (int i = 0; i < 30000 && ::access((file + "/step-5.safetensors").c_str(), F_OK) != 0; ++i) ::usleep(2000);
    BOOST_TEST(hosts.connect(0, 1, false));
    const std::string a = job.result(1), b = job.result(2), alone = job.result(0);
    are_equal({a, b});
    BOOST_TEST(word_behind(a, "chief") == "1", a);
    BOOST_TEST(word_behind(a, "members") == "32", a);
    BOOST_TEST(holds(alone, "of 3 members 1 is left or can be reached"), alone);
    BOOST_TEST(::access((file + "/step-60.safetensors").c_str(), F_OK) == 0);
}
// Of three hosts only the cable between the second and the third is pulled out: the first goes on with one of them.
BOOST_AUTO_TEST_CASE(one_cable_of_three) {
    const linked_hosts hosts(3);
    if (!hosts.made()) {
        std::cout << "skipped: only root can make network namespaces, with the command ip\n";
        return;
    }
    std::vector<std::string> at;
    for (int h = 0; h < 3; ++h) at.push_back(linked_hosts::address(h) + ":7000");
    const shared_flag begun;
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([&, r] {
            if (!hosts.enter(r)) return std::string("no such host");
            return live(at, r, {.pause = 0.05, .begun = &begun});
        });
    begun.wait();
    BOOST_TEST(hosts.connect(1, 2, false));
    const std::string a = job.result(0), b = job.result(1), out = job.result(2);
    are_equal({a, b});
    BOOST_TEST(word_behind(a, "members") == "32", a);
    BOOST_TEST(holds(out, "this process was removed from the job"), out);
}
// The same where datagrams come through, and connections do not.
BOOST_AUTO_TEST_CASE(two_that_cannot_connect) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] {
            if (r > 0) worker_out_of_reach = 3 - r;
            plan p{.fault_behind = r == 0 ? 20 : -1};
            p.what = {collective::kind::all_reduce, 0, fault_place::lost_after, 0};
            return live_among_faults(at, r, p);
        });
    const std::string a = job.result(0), b = job.result(1), c = job.result(2);
    const bool second = holds(b, "ok");   // is left
    are_equal({a, second ? b : c});
    BOOST_TEST(word_behind(a, "members") == "32", a);
    BOOST_TEST(holds(second ? c : b, "this process was removed from the job"), b << " | " << c);
}
namespace {

/// Trains as the variables say that torchrun sets.
std::string launched(const std::string& master, int rank, const plan& p) {
    const auto port = std::to_string(20000 + ::getppid() % 10000);
    const std::string number = std::to_string(rank);
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"RANK", number}, {"LOCAL_RANK", number}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", master},
             {"MASTER_PORT", port}})
        ::setenv(name, value.c_str(), 1);
    auto model = model_under(elastic(multi_worker<ring>{cluster::from_environment(quick())}));
    auto data = training();
    std::string members;
    model.train(data, {.max_steps = steps_of_a_life, .progress = nullptr}, conduct{p, members});
    const double off = furthest(numbers(model), trained_alone(model_under(single<cpu_device>{}), steps_of_a_life));
    return (off < 1e-3 ? "right " : "wrong ") + members;
}

} // namespace

BOOST_AUTO_TEST_CASE(under_torchruns_variables) {
    {
        processes job;
        for (int r = 0; r < 3; ++r)
            job.start([=] {
                return launched("127.0.0.1", r, {.die_at = r == 0 ? 10 : -1, .pause = 0.06, .joined = 3});
            });
        BOOST_TEST(job.result(0) == "KILLED");
        const int again = job.start([=] { return launched("127.0.0.1", 0, {.pause = 0.06, .joined = 3}); });
        for (const int r : {1, 2}) BOOST_TEST(job.result(r) == "right 323");
        BOOST_TEST(job.result(again) == "right 3");
    }
    const linked_hosts hosts(2);
    if (!hosts.made()) return;
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([&, r] {
            if (!hosts.enter(r > 0)) return std::string("no such host");
            return launched(linked_hosts::address(0), r, {.die_at = r == 0 ? 10 : -1});
        });
    for (const int r : {1, 2}) BOOST_TEST(job.result(r) == "right 32");
}
// An elastic program that is started by itself is one process's.
BOOST_AUTO_TEST_CASE(alone) {
    for (const char* name : {"TF_CONFIG", "RANK", "WORLD_SIZE", "SINTER_SIZE"}) ::unsetenv(name);
    const plan p;
    std::string members;
    auto model = model_under(elastic(multi_worker<ring>{cluster::from_environment()}));
    auto data = training();
    model.train(data, {.max_steps = steps_of_a_life, .progress = nullptr}, conduct{p, members});
    BOOST_TEST(members == "1");
    const double off = furthest(numbers(model), trained_alone(model_under(single<cpu_device>{}), steps_of_a_life));
    BOOST_TEST(off < 1e-3);
}
BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
    const auto at = own_addresses(2);
    cluster_options o = quick();
    o.elastic = true;
    BOOST_CHECK_EXCEPTION(model_under(multi_worker<ring>{cluster::of(at, 0, o)}), option_error,
                          [](const option_error& e) {
                              return holds(e.what(), "an elastic job's strategy says so when it is compiled");
                          });
    o.spares = 2;
    BOOST_CHECK_EXCEPTION(model_under(elastic(multi_worker<ring>{cluster::of(at, 0, o)})), option_error,
                          [](const option_error& e) { return holds(e.what(), "number of spares; got 2"); });
    o.spares = 0;
    const auto half = cluster::with_master(0, 2, {}, o, "the master's address");
    BOOST_CHECK_EXCEPTION(model_under(elastic(multi_worker<ring>{half})), option_error, [](const option_error& e) {
        return holds(e.what(), "the address of rank 0 is not known");
    });
    // Who is missing is named.
    cluster_options soon = quick();
    soon.join_within = 1;
    BOOST_CHECK_EXCEPTION(model_under(elastic(multi_worker<ring>{cluster::of(at, 0, soon)})), cluster_error,
                          [](const cluster_error& e) { return holds(e.what(), "missing: worker/1 at 127."); });
}
