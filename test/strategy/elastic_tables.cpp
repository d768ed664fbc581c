// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
#define BOOST_TEST_MODULE elastic_tables
#include <boost/test/unit_test.hpp>
#include "net/processes.hpp"
#include <sinter/elastic.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/base/philox.hpp>

// Elastic jobs with a table that is updated by rows, under canonical<4>: who joins is given the model's state in the
// group, for a list of rows is not told to it step by step; the bits are those of one process all the same.
using namespace sinter;

namespace {

constexpr auto words = indices<6> >> embedding<40, 5> >> flatten >> dense<3>;

auto training() {
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
struct conduct {
    int die_at;
    void after_step(auto& run, const data::batch_view&) {
        const bool waits = run.model.session().member().count < 3 && run.step > 30;   // who is to join has time to
        ::usleep(waits ? 500'000 : 50'000);
        if (run.step == die_at) ::raise(SIGKILL);
    }
};
std::vector<float> trained(auto& model, auto&... hooks) {
    auto data = training();
    model.train(data, {.max_steps = 60, .progress = nullptr}, hooks...);
    std::vector<float> all;
    for (int i = 0; i < model.inner().parameters(); ++i)
        for (const float x : model.inner().plain(model.inner().parameter(i))) all.push_back(x);
    return all;
}
std::string live(const std::vector<std::string>& at, int slot, int die_at) {
    auto model = model_under(elastic(canonical<4>(multi_worker<ring>{cluster::of(at, slot, quick())})));
    conduct c{die_at};
    const std::vector<float> x = trained(model, c);
    auto alone = model_under(canonical<4>());
    return "waited " + std::to_string(model.inner().session().healed_by().waits) +
           (x == trained(alone) ? ", the same bits" : ", other bits");
}

} // namespace

BOOST_AUTO_TEST_CASE(who_is_started_again_joins) {
    const auto at = own_addresses(3);
    processes job;
    for (int r = 0; r < 3; ++r) job.start([=] { return live(at, r, r == 1 ? 8 : -1); });
    BOOST_TEST(job.result(1) == "KILLED");
    const int again = job.start([=] { return live(at, 1, -1); });
    for (const int i : {0, 2}) BOOST_TEST(job.result(i) == "waited 0, the same bits");
    BOOST_TEST(job.result(again) == "waited 1, the same bits");
}
