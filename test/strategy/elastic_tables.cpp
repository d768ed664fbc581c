// SPDX-License-Identifier: BSL-1.0
// shows elastic: a process that joins has the others' weights and tables, and contributes nothing before
// needs: distributed
// waits: until members are missed, and in each step
#define BOOST_TEST_MODULE elastic_tables
#include <boost/test/unit_test.hpp>
#include "net/processes.hpp"
#include "strategy/elastic_jobs.hpp"
#include <sinter/base/philox.hpp>
#include <sinter/layers/embedding.hpp>

// Elastic jobs with a table that is updated by rows, under canonical<4>: who joins is given the model's state in the
// group, for a list of rows is not told to it step by step; the bits are those of one process all the same.
using namespace sinter;
using namespace sinter::test;
using collective::kind;
using enum fault_place;

namespace {

constexpr auto words = indices<6> >> embedding<40, 5> >> flatten >> dense<32> >> relu >> dense<3>;

auto texts() {
    random_stream random(7);
    std::vector<std::int32_t> text, labels;
    for (int i = 0; i < 96; ++i) {
        for (int k = 0; k < 6; ++k) text.push_back(static_cast<std::int32_t>(random.uniform(0, 39.9f)));
        labels.push_back(text.back() % 3);
    }
    data::dataset d;
    d.input(extents(6), std::move(text)).labels(std::move(labels), 3);
    return d | data::shuffle(50) | data::batch(16);
}
auto model_under(const auto& s) {
    return estimator{words, softmax_cross_entropy, adam{.learning_rate = 0.02f}, max_batch<16>, s, {.threads = 1}};
}
std::vector<float> trained(auto& model, auto&... hooks) {
    auto data = texts();
    model.train(data, {.max_steps = 60, .progress = nullptr}, hooks...);
    return numbers(model);
}
template <class Under>
std::string live(Under under, const std::vector<std::string>& at, int slot, const plan& p) {
    auto model = model_under(under(multi_worker<faulty_ring>{cluster::of(at, slot, quick())}));
    std::string members;
    conduct c{p, members};
    const std::vector<float> x = trained(model, c);
    auto alone = model_under(canonical<4>());
    return "members " + members + ", waited " + std::to_string(model.inner().session().healed_by().waits) +
           (x == trained(alone) ? ", the same bits" : ", other bits");
}
constexpr auto everywhere = [](const auto& m) { return elastic(canonical<4>(m)); };
constexpr auto in_parts = [](const auto& m) { return elastic(sharded_update(canonical<4>(m))); };

template <class Under>
void joins(Under under) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r)
        job.start([=] { return live(under, at, r, {.die_at = r == 1 ? 8 : -1, .pause = 0.05, .joined = 3}); });
    BOOST_TEST(job.result(1, 100) == "KILLED");
    const int again = job.start([=] { return live(under, at, 1, {.pause = 0.05, .joined = 3}); });
    for (const int i : {0, 2}) BOOST_TEST(job.result(i, 100) == "members 323, waited 0, the same bits");
    BOOST_TEST(job.result(again, 100) == "members 3, waited 1, the same bits");
}

} // namespace

BOOST_AUTO_TEST_CASE(who_is_started_again_joins) { joins(everywhere); }
BOOST_AUTO_TEST_CASE(who_joins_is_given_its_parts) { joins(in_parts); }
// Under sharded_update a table is updated by all: also by those who have not learned that others have done so.
BOOST_AUTO_TEST_CASE(who_was_in_doubt_follows) {
    for (const int dies : {0, 2}) {
        const auto at = own_addresses(4);
        processes job;
        for (int r = 0; r < 4; ++r)
            job.start([=] {
                plan p;
                if (r == dies) p.fault_behind = 20, p.what = {kind::all_gather, 0, before};
                else if (r != 3) p.fault_behind = 20, p.what = {kind::barrier, 0, lost_after};
                return live(in_parts, at, r, p);
            });
        for (int r = 0; r < 4; ++r)
            if (r != dies) BOOST_TEST(job.result(r, 100) == "members 43, waited 0, the same bits");
    }
}
