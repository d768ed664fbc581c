// SPDX-License-Identifier: BSL-1.0
// shows data: members that share a stream compute their own rows, also those of a member that dies within a step
// needs: distributed
// weighs: 2
// waits: until members are missed
#define BOOST_TEST_MODULE elastic_streams
#include <boost/test/unit_test.hpp>
#include "strategy/elastic_jobs.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/shuffle_window.hpp>
#include <sinter/data/stages/source.hpp>
#include <atomic>

// elastic(canonical<4>(...)) over a stream whose elements are drawn at random and left out by chance. Who dies within a
// step leaves rows of its batch to the others, who had not computed them. All bits are those of one process.
using namespace sinter;
using namespace sinter::test;
using collective::kind;
using enum fault_place;

namespace {

struct point {
    std::array<float, 2> x;
    std::int32_t label;
};
std::atomic<int> computed{0};   ///< rows, by this process

auto stream() {
    return data::from(300, [](std::int64_t i) {
        random_stream random(7, static_cast<std::uint64_t>(i));
        const float x = random.uniform(), y = random.uniform();
        return point{{x, y}, x > y};
    }) | data::shuffle({.seed = 1}) | data::filter([](const point& p) { return p.x[0] + p.x[1] > 0.3f; })
       | data::shuffle(40) | data::map([](const point& p, random_stream& random) {
             ++computed;
             return point{{p.x[0] + random.uniform() / 10, p.x[1]}, p.label};
         });
}
auto by_the_caller() { return stream() | data::batch(16); }
auto by_two_threads() { return stream() | data::batch(16) | data::prefetch(3) | data::parallel(2); }

constexpr auto model_under = [](const auto& s) {
    return estimator{features<2> >> dense<8> >> relu >> dense<2>, softmax_cross_entropy, adam{.learning_rate = 0.02f},
                     max_batch<16>, in_four_shards(s), {.threads = 1}};
};
constexpr auto four_shards = [](const auto& m) { return elastic(canonical<4>(m)); };
template <class Data>
std::string live(const std::vector<std::string>& at, int slot, const plan& p, Data make_data) {
    try {
        return life<faulty_ring>(model_under, four_shards, at, slot, p, make_data);
    } catch (const std::exception& e) {
        return e.what();
    }
}
/// Of four members two die: one before and one behind what it sends in a step.
template <class Data>
void two_die(int which, fault_place where, Data make_data) {
    const auto at = own_addresses(4);
    processes job;
    for (int r = 0; r < 4; ++r)
        job.start([&, r] {
            plan p;
            if (r == 3 || r == 0) p.fault_behind = r == 3 ? 11 : 29, p.what = {kind::all_reduce_tree, which, where};
            return live(at, r, p, make_data);
        });
    std::vector<std::string> texts;
    for (const int r : {1, 2}) texts.push_back(job.result(r, 100));
    are_equal(texts);
    for (const std::string& t : texts) {
        BOOST_TEST(word_behind(t, "off") == "nothing", t);
        BOOST_TEST(word_behind(t, "members") == "432", t);
    }
    for (const int r : {0, 3}) BOOST_TEST(job.result(r, 100) == "KILLED");
}

} // namespace

BOOST_AUTO_TEST_CASE(members_die_within_steps) {
    for (const fault_place where : {before, after})
        for (const int which : {0, 1}) {   // the loss and what belongs to it, and gradients
            BOOST_TEST_CONTEXT("sum " << which << ", place " << static_cast<int>(where))
                two_die(which, where, &by_the_caller);
        }
    two_die(1, before, &by_two_threads);
}
BOOST_AUTO_TEST_CASE(each_member_computes_its_part) {
    const auto at = own_addresses(2);
    processes job;
    for (int r = 0; r < 2; ++r)
        job.start([&, r] {
            auto data = by_the_caller();
            auto m = model_under(four_shards(multi_worker<ring>{cluster::of(at, r, quick(10))}));
            m.train(data, {.epochs = 2, .progress = nullptr});
            return std::to_string(computed);
        });
    const int a = std::stoi(job.result(0)), b = std::stoi(job.result(1));
    auto alone = by_the_caller();
    estimator one = model_under(single<cpu_device>{});
    one.train(alone, {.epochs = 2, .progress = nullptr});
    BOOST_TEST(a + b == computed);
    BOOST_TEST(std::abs(a - b) <= 2);   // of each pass the last batch, which is not full, is not cut in equal parts
}
