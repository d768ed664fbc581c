// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/losses/nce.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>

// Sampled losses under canonical<S>: each shard draws candidates of its own, by the step's number and its own, and
// their rows come from the servers, whoever computes the shard. The very bytes of one device.
using namespace sinter;

namespace {

constexpr int batch = 8, width = 2, classes = 60, steps = 12;

struct examples {
    std::int32_t words[steps * batch * width], labels[steps * batch];
    examples() {
        random_stream r(4);
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % 40);
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % classes);
    }
};
const examples all;

template <class Trainer>
std::string trained(Trainer t) {
    if (t.has_served()) return "served";
    double losses = 0;
    for (int i = 0; i < steps; ++i) {
        const data::input_view in{nullptr, all.words + i * batch * width, width};
        // Fewer examples than shards, too.
        losses += static_cast<double>(
            t.step({.labels = all.labels + i * batch, .size = i % 4 == 3 ? 3 : batch, .inputs = {&in, 1}}));
    }
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    return to_text({"losses ", base::general_text(losses, 12), ", file ", hash_of_file(t)});
}
constexpr auto net = indices<width> >> embedding<40, 6> >> flatten >> candidate_scores<classes>;

template <class Make>
void compare(const char* what, Make make) {
    const std::string expected = trained(make(canonical<4>(single<cpu_device>{})));
    for (const int workers : {1, 2, 4}) {
        server_job job(workers, workers == 2 ? 3 : 2);
        job.start_all([=](const cluster& c) { return trained(make(canonical<4>(parameter_server<sync<0>>{c}))); });
        const std::string found = job.result(0);
        BOOST_TEST(found == expected, what << ", " << workers << " workers: " << found << " and not " << expected);
        for (int i = 1; i < workers; ++i) BOOST_TEST(job.result(i) == to_text({steps}));
        for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
    }
}

BOOST_AUTO_TEST_CASE(shards_draw_candidates_of_their_own) {
    compare("sampled softmax", [](auto strategy) {
        return trainer{net, sampled_softmax<classes, 7>, sgd{.learning_rate = 0.2f}, max_batch<batch>, strategy,
                       {.threads = 1}};
    });
    compare("nce", [](auto strategy) {
        return trainer{net, nce<classes, 5>, sgd{.learning_rate = 0.1f}, max_batch<batch>, strategy, {.threads = 1}};
    });
}
/// Losses that alternate draw each its own.
BOOST_AUTO_TEST_CASE(phases_draw_candidates_of_their_own) {
    compare("two sampled losses", [](auto strategy) {
        constexpr alternating turns{phase<"embedding/*">(sampled_softmax<classes, 7>, adam{}),
                                    phase<"candidate_scores/*">(nce<classes, 7>, sgd{.learning_rate = 0.1f})};
        return alternating_trainer{net, turns, max_batch<batch>, strategy, {.threads = 1}};
    });
}

}   // namespace
