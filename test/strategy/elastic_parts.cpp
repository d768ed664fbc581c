// SPDX-License-Identifier: BSL-1.0
// shows elastic: with the optimizer's memory divided: a death around each message of a step, two at once
// needs: distributed
// weighs: 2
#define BOOST_TEST_MODULE elastic_parts
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

// elastic(sharded_update(canonical<4>(...))): each part of the optimizer's memory is kept by two members. Weights,
// states and slots have the bits of one process, whoever dies and comes again, and wherever in a step.
using namespace sinter;
using namespace sinter::test;
using collective::kind;
using enum fault_place;

namespace {

constexpr auto model_net = features<2> >> dense<40> >> batch_norm >> relu >> dropout<0.25> >> dense<2>;

constexpr auto adam_model = [](const auto& s) {
    return estimator{model_net, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, in_four_shards(s),
                     {.threads = 1}};
};
constexpr auto gathering_model = [](const auto& s) {
    return estimator{model_net, softmax_cross_entropy, accumulate<3>(adam{.learning_rate = 0.02f}), max_batch<16>,
                     in_four_shards(s), {.threads = 1}};
};
constexpr auto in_parts = [](const auto& m) { return elastic(sharded_update(canonical<4>(m))); };
template <class Make = decltype(adam_model)>
std::string live(const std::vector<std::string>& at, int slot, const plan& p, Make make = {}) {
    try {
        return life<faulty_ring>(make, in_parts, at, slot, p);
    } catch (const std::exception& e) {
        return e.what();
    }
}
/// All of these members have ended well, with the bits of one process.
void have_the_bits(processes& job, const std::vector<int>& who) {
    std::vector<std::string> texts;
    for (const int i : who) texts.push_back(job.result(i, 100));
    are_equal(texts);
    for (const std::string& t : texts) BOOST_TEST(word_behind(t, "off") == "nothing", t);
}
/// Five members, of whom three die, one after the other.
template <class Make = decltype(adam_model)>
void three_die(const std::vector<planned_fault>& how, int first_step, Make make = {}) {
    const auto at = own_addresses(5);
    processes job;
    const int dies[] = {4, 0, 2};
    for (int r = 0; r < 5; ++r)
        job.start([&, r] {
            plan p;
            for (int i = 0; i < 3; ++i)
                if (dies[i] == r) p.fault_behind = first_step + 12 * i, p.what = how[static_cast<std::size_t>(i)];
            return live(at, r, p, make);
        });
    have_the_bits(job, {1, 3});
    BOOST_TEST(word_behind(job.result(1, 100), "members") == "5432");
    for (const int d : dies) BOOST_TEST(job.result(d, 100) == "KILLED");
}

} // namespace

// What sends in a step: the loss and what belongs to it, gradients, states, that all have all, new weights.
BOOST_AUTO_TEST_CASE(dead_before_or_behind_whatever_is_sent) {
    for (const fault_place where : {before, after})
        for (const kind what : {kind::all_reduce_tree, kind::reduce_scatter_tree, kind::shift, kind::barrier,
                                kind::all_gather}) {
            BOOST_TEST_CONTEXT("kind " << static_cast<int>(what) << ", place " << static_cast<int>(where)) {
                three_die({{what, 0, where}, {what, what <= kind::reduce_scatter_tree ? 1 : 0, where},
                           {what, what <= kind::reduce_scatter_tree ? 2 : 0, where}},
                          11);
            }
        }
}
// While something is sent, so that some of the others have it and some have not.
BOOST_AUTO_TEST_CASE(dead_in_the_midst) {
    for (int round = 0; round < 4; ++round)
        three_die({{kind::barrier, 0, within, 40 * round}, {kind::all_gather, 0, within, 30 * round},
                   {kind::all_reduce_tree, 0, within, 70 * round}},
                  9 + round);
}
// Members that have not learned that all had all sums, while others have updated already and one of these dies: they
// make their part of the update, and the copies of the dead one's weights are given to all.
BOOST_AUTO_TEST_CASE(who_was_in_doubt_follows) {
    for (int dies = 0; dies < 4; ++dies) {
        const auto at = own_addresses(4);
        processes job;
        for (int r = 0; r < 4; ++r)
            job.start([=] {
                const int k = (r - dies + 4) % 4;
                if (k == 0) return live(at, r, {.fault_behind = 20, .what = {kind::all_gather, 0, before}});
                if (k < 3) return live(at, r, {.fault_behind = 20, .what = {kind::barrier, 0, lost_after}});
                return live(at, r, {});
            });
        std::vector<int> left;
        for (int r = 0; r < 4; ++r)
            if (r != dies) left.push_back(r);
        have_the_bits(job, left);
        for (const int r : left) BOOST_TEST(word_behind(job.result(r, 100), "members") == "43");
    }
}
BOOST_AUTO_TEST_CASE(within_a_round_of_steps) {
    for (int k = 0; k < 3; ++k)
        three_die({{kind::all_reduce_tree, k, before}, {kind::barrier, 0, after},
                   {kind::all_gather, 0, before}},
                  9 + k, gathering_model);
    const auto at = own_addresses(4);
    processes job;   // the update of step 21 is followed
    for (int r = 0; r < 4; ++r)
        job.start([=] {
            const planned_fault dies{kind::all_gather, 0, before}, doubts{kind::barrier, 0, lost_after};
            return live(at, r, r == 3 ? plan{} : plan{.fault_behind = 20, .what = r == 1 ? dies : doubts},
                        gathering_model);
        });
    have_the_bits(job, {0, 2, 3});
}
// Two of five at once. Where they are no neighbours there is a copy of each one's part.
BOOST_AUTO_TEST_CASE(two_at_once) {
    temporary_folder folder;
    const std::string file = folder / "run";
    const auto run = [&](int one, int other, processes& job) {
        const auto at = own_addresses(5);
        for (int r = 0; r < 5; ++r)
            job.start([=] { return live(at, r, {.die_at = r == one || r == other ? 23 : -1, .checkpoints = file}); });
    };
    {
        processes job;
        run(1, 2, job);
        for (const int r : {0, 3, 4}) {
            const std::string said = job.result(r, 100);
            BOOST_TEST(holds(said, "the optimizer's memory of part 1 of 5 is lost"), said);
            BOOST_TEST(holds(said, "go on from the last checkpoint, " + file + "/step-20.safetensors"), said);
        }
    }
    processes job;   // which does
    run(4, 1, job);
    have_the_bits(job, {0, 2, 3});
}
// One member has not got the first of the sums at an epoch's end, while others have and are at the next one.
BOOST_AUTO_TEST_CASE(out_of_touch_between_two_sums) {
    for (int one = 0; one < 3; ++one) {
        const auto at = own_addresses(3);
        processes job;
        for (int r = 0; r < 3; ++r)
            job.start([=] {
                return live(at, r, {.fault_behind = r == one ? 12 : -1, .what = {kind::all_reduce, 0, lost_after}});
            });
        have_the_bits(job, {0, 1, 2});
        BOOST_TEST(word_behind(job.result(0, 100), "members") == "3");
    }
}
// A saved run goes on with another number of members.
BOOST_AUTO_TEST_CASE(saved_by_three_for_four) {
    temporary_folder folder;
    const std::string file = folder / "run";
    for (const int members : {3, 4}) {
        const auto at = own_addresses(members);
        const bool last = members == 4;
        processes job;
        for (int r = 0; r < members; ++r)
            job.start([=] {
                return live(at, r, {.die_at = last && r == 2 ? 40 : -1, .checkpoints = file, .steps = last ? 60 : 31});
            });
        if (last) have_the_bits(job, {0, 1, 3});
        else
            for (int r = 0; r < 3; ++r) BOOST_TEST(holds(job.result(r, 100), "ok"), job.result(r, 100));
    }
}
// Who joins is given its parts, which are needed when its neighbours die.
BOOST_AUTO_TEST_CASE(who_is_started_again_joins) {
    for (const bool gathers : {false, true}) {
        const auto at = own_addresses(3);
        const auto start = [&](processes& job, int r, plan p) {
            p.pause = 0.05, p.joined = r == 0 ? 0 : 3;
            return job.start([=] { return gathers ? live(at, r, p, gathering_model) : live(at, r, p); });
        };
        processes job;
        for (int r = 0; r < 3; ++r) start(job, r, {.die_at = r == 1 ? 7 : r == 0 ? 50 : -1});
        BOOST_TEST(job.result(1, 100) == "KILLED");
        const int again = start(job, 1, {});
        have_the_bits(job, {2, again});
        BOOST_TEST(word_behind(job.result(2, 100), "members") == "3232");
        BOOST_TEST(word_behind(job.result(again, 100), "waited") == "1");
    }
}
BOOST_AUTO_TEST_CASE(spares_take_the_places_of_the_dead) {
    const auto at = own_addresses(4);
    processes job;
    for (int r = 0; r < 4; ++r)
        job.start([=] { return live(at, r, {.die_at = r == 1 ? 10 : -1, .pause = 0.05, .spares = 1, .joined = 3}); });
    have_the_bits(job, {0, 2, 3});
    BOOST_TEST(word_behind(job.result(0, 100), "members") == "323");
}
