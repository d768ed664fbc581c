// SPDX-License-Identifier: BSL-1.0
// shows elastic: a death amid accumulated steps: what was lost is accumulated again
// needs: distributed
// waits: until members are missed, and in each step
#define BOOST_TEST_MODULE elastic_accumulates
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/train/optimizers/accumulate.hpp>

// Elastic jobs whose optimizer accumulates four steps: who dies takes along what it had gathered since the last update,
// and the others gather it anew, each a larger part.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<8> >> relu >> dense<2>;

template <class Strategy>
auto model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, accumulate<4>(adam{.learning_rate = 0.05f}), max_batch<16>, s,
                     {.threads = 1}};
}
std::string live(const std::vector<std::string>& at, int slot, const plan& p) {
    return life([](const auto& s) { return model_under(s); }, [](const auto& m) { return elastic(m); }, at, slot, p);
}

} // namespace

// Behind each of the four steps of a round; the chief, or another.
BOOST_AUTO_TEST_CASE(dead_behind_any_step_of_a_round) {
    for (int k = 0; k < 4; ++k) {
        const auto at = own_addresses(3);
        processes job;
        const int dies = k % 2;
        for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {.die_at = r == dies ? 20 + k : -1}); });
        const std::string a = job.result(1 - dies), b = job.result(2);
        are_equal({a, b});
        BOOST_TEST(word_behind(a, "members") == "32", a);
    }
}
// From outside, at whatever place.
BOOST_AUTO_TEST_CASE(killed_anywhere) {
    temporary_folder folder;
    for (int round = 0; round < 3; ++round) {
        const std::string file = folder / ("run" + std::to_string(round)).c_str();
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {.pause = 0.01, .checkpoints = file}); });
        for (int i = 0; i < 30000 && ::access((file + "/step-5.safetensors").c_str(), F_OK) != 0; ++i) ::usleep(2000);
        ::usleep(static_cast<useconds_t>(41'000 * round + 3'000));
        job.signal(round, SIGKILL);
        are_equal({job.result((round + 1) % 3), job.result((round + 2) % 3)});
    }
}
// A run that was saved within a round goes on, and the one that has got all that had been gathered dies.
BOOST_AUTO_TEST_CASE(what_a_saved_round_had_is_not_lost) {
    temporary_folder folder;
    const std::string file = folder / "run";
    {
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, {.checkpoints = file, .steps = 22}); });
        for (int r = 0; r < 3; ++r) BOOST_TEST(holds(job.result(r), "ok"), job.result(r));
    }
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 0 ? 23 : -1, .checkpoints = file}); });
    are_equal({job.result(1), job.result(2)});
}
// Who joins does so between two rounds.
BOOST_AUTO_TEST_CASE(who_is_started_again_joins) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 1 ? 9 : -1, .pause = 0.06, .joined = 3}); });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] { return live(at, 1, {.pause = 0.06, .joined = 3}); });
    const std::string a = job.result(0), b = job.result(2), c = job.result(again);
    are_equal({a, b, c});
    BOOST_TEST(word_behind(a, "members") == "323", a);
    BOOST_TEST(word_behind(c, "waited") == "0", c);
}
