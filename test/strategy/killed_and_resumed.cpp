// SPDX-License-Identifier: BSL-1.0
// shows members: killed and started again: the same bits, under `canonical<4>` those of one device
// weighs: 4
// needs: distributed
// processors: 2
#include "interrupted.hpp"
#include "io/temporary_folder.hpp"
#include "parameter_server/job.hpp"
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/collective/halving_doubling.hpp>
#include <sinter/collective/ring.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/strategy/canonical.hpp>
#include <sinter/strategy/multi_worker.hpp>

// Jobs of real processes under canonical<4>, of which one is killed at a random step, each in its
// turn: the others end in an error, and the same job, started again, ends in the very bytes of one
// device that nobody disturbed. Two kills of each kind of job; SINTER_KILLS=100 for a hundred.
using namespace sinter;

namespace {

struct slow_steps {   // so that there is time to kill somebody
    void after_step(training_run&, const data::batch_view&) { ::usleep(5000); }
};
template <class Strategy>
std::string trained(const Strategy& s, const std::string& folder) {
    slow_steps slow;
    return interrupted::trained(s, folder, slow);
}
const std::string& of_one_device() {
    static const std::string wanted = [] {
        temporary_folder folder;
        server_job alone(1, 0);   // in a process of its own: what follows forks
        alone.start(0, [&](const cluster&) { return trained(canonical<4>(single<cpu_device>{}), folder / "run"); });
        return alone.result(0);
    }();
    return wanted;
}

/// `run(cluster, folder)`: a member's life.
template <class Run>
void kill_each(const char* what, int workers, int servers, unsigned seed, Run run) {
    const std::string wanted = of_one_device();
    BOOST_TEST(wanted.starts_with("150 steps, file "), wanted);
    const char* const asked = std::getenv("SINTER_KILLS");
    std::mt19937 random(seed);
    for (int kill = 0; kill < (asked ? std::atoi(asked) : 2); ++kill) {
        temporary_folder folder;
        const std::string files = folder / "run";
        const auto start = [&](server_job& job) {
            job.start_all([run, files](const cluster& c) { return run(c, files); });
        };
        const int victim = servers == 0 ? kill % workers
                           : kill % 2   ? workers + kill / 2 % servers
                                        : kill / 2 % workers;
        {
            server_job job(workers, servers);
            start(job);
            for (int i = 0; i < 20000 && ::access((files + "/step-3.safetensors").c_str(), F_OK) != 0; ++i)
                ::usleep(1000);
            ::usleep(static_cast<useconds_t>(random() % 150'000));
            job.signal(victim, SIGKILL);
            BOOST_TEST(job.result(victim) == "KILLED", what << ", process " << victim);
            for (int i = 0; i < workers; ++i)
                if (i != victim) BOOST_TEST(job.result(i).starts_with("error: "), what << ": " << job.result(i));
        }
        server_job again(workers, servers);
        start(again);
        BOOST_TEST(again.result(0) == wanted, what << ", process " << victim << " was killed: " << again.result(0));
        for (int i = 1; i < workers; ++i) BOOST_TEST(again.result(i) == "trained");
        for (int i = workers; i < again.size(); ++i) BOOST_TEST(again.result(i) == "served");
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(members_of_a_ring) {
    kill_each("ring", 2, 0, 1, [](const cluster& c, const std::string& files) {
        return trained(canonical<4>(multi_worker<ring>{c}), files);
    });
}
BOOST_AUTO_TEST_CASE(four_members_by_halving_and_doubling) {
    kill_each("halving_doubling", 4, 0, 2, [](const cluster& c, const std::string& files) {
        return trained(canonical<4>(multi_worker<halving_doubling>{c}), files);
    });
}
BOOST_AUTO_TEST_CASE(workers_and_servers) {
    kill_each("servers", 2, 2, 3, [](const cluster& c, const std::string& files) {
        parameter_server_options o;
        o.reconnect_within = 1;
        return trained(canonical<4>(parameter_server<sync<0>>{c, o}), files);
    });
}
