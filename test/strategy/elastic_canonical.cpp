// SPDX-License-Identifier: BSL-1.0
// shows elastic: under `canonical<4>`: the bits of one process, whoever dies and returns
// needs: distributed
// waits: until members are missed, and in each step
#define BOOST_TEST_MODULE elastic_canonical
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

// elastic(canonical<4>(...)): the bits of one process, whoever dies and comes again, and when.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto model_net = features<2> >> dense<8> >> batch_norm >> relu >> dropout<0.25> >> dense<2>;

template <class Strategy>
auto model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, in_four_shards(s),
                     {.threads = 1}};
}
template <class Strategy>
auto gathering_model_under(const Strategy& s) {
    return estimator{model_net, softmax_cross_entropy, accumulate<3>(adam{.learning_rate = 0.02f}), max_batch<16>,
                     in_four_shards(s), {.threads = 1}};
}
constexpr auto four_shards = [](const auto& m) { return elastic(canonical<4>(m)); };
std::string live(const std::vector<std::string>& at, int slot, const plan& p) {
    return life([](const auto& s) { return model_under(s); }, four_shards, at, slot, p);
}
void has_the_bits(const std::string& text) { BOOST_TEST(word_behind(text, "off") == "nothing", text); }

} // namespace

// Five members of whom four have shards; then four, three (of whom two have shards), and two.
BOOST_AUTO_TEST_CASE(one_dies_after_the_other) {
    const auto at = own_addresses(5);
    processes job;
    for (int r = 0; r < 5; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 4 ? 11 : r == 0 ? 23 : r == 2 ? 37 : -1}); });
    const std::string a = job.result(1), b = job.result(3);
    are_equal({a, b});
    for (const std::string& t : {a, b}) has_the_bits(t);
    BOOST_TEST(word_behind(a, "members") == "5432", a);
}
BOOST_AUTO_TEST_CASE(killed_anywhere_and_started_again) {
    temporary_folder folder;
    for (int round = 0; round < 2; ++round) {
        const std::string file = folder / ("run" + std::to_string(round)).c_str();
        const auto at = own_addresses(3);
        const plan p{.pause = 0.04, .checkpoints = file, .joined = 3};
        processes job;
        for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, p); });
        for (int i = 0; i < 30000 && ::access((file + "/step-5.safetensors").c_str(), F_OK) != 0; ++i) ::usleep(2000);
        ::usleep(static_cast<useconds_t>(171'000 * round + 3'000));
        job.signal(round, SIGKILL);
        BOOST_TEST(job.result(round) == "KILLED");
        const int again = job.start([=] { return live(at, round, p); });
        const std::string a = job.result(1 - round), b = job.result(2), c = job.result(again);
        are_equal({a, b, c});
        for (const std::string& t : {a, b, c}) has_the_bits(t);
        BOOST_TEST(word_behind(a, "members") == "323", a);
        BOOST_TEST(word_behind(c, "waited") == "0", c);
    }
}
// The one that heals dies while it does so; another one begins anew, and the bits are right.
BOOST_AUTO_TEST_CASE(who_heals_dies) {
    const auto at = own_addresses(4);
    processes job;
    for (int r = 0; r < 4; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 1 ? 5 : -1, .pause = 0.08, .joined = 3}); });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] { return live(at, 1, {.pause = 0.08, .joined = 3}); });
    ::usleep(150'000);   // before, while or after it is healed
    job.signal(3, SIGKILL);
    const std::string a = job.result(0), b = job.result(2), c = job.result(again);
    are_equal({a, b, c});
    for (const std::string& t : {a, b, c}) has_the_bits(t);
}
// Where steps are accumulated each shard's sums are what they were, whoever gathers them again.
BOOST_AUTO_TEST_CASE(dead_within_a_round) {
    const auto at = own_addresses(4);
    processes job;
    for (int r = 0; r < 4; ++r)
        job.start([=] {
            return life([](const auto& s) { return gathering_model_under(s); }, four_shards, at, r,
                        {.die_at = r == 0 ? 19 : r == 3 ? 28 : -1});
        });
    const std::string a = job.result(1), b = job.result(2);
    are_equal({a, b});
    for (const std::string& t : {a, b}) has_the_bits(t);
    BOOST_TEST(word_behind(a, "members") == "432", a);
}
