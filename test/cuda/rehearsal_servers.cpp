// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>

#include "cuda/rehearsal.hpp"
#include "strategy/parameter_server/job.hpp"
#include "support/same_training.hpp"

// A worker with two GPUs, whose gradients the first adds up, and whose tables' rows come from servers: those that a
// batch names, and those that a step draws.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr int batch = 8, width = 3, classes = 40, steps = 10;
constexpr auto net = indices<width> >> embedding<20, 6> >> flatten >> dense<8> >> relu >> candidate_scores<classes>;

struct examples {
    std::int32_t words[steps * batch * width], labels[steps * batch];
    examples() {
        random_stream r(4);
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % 20);
        for (std::int32_t& l : labels) l = static_cast<int>(r.word() % classes);
    }
};
const examples all;

/// The losses of steps and of an evaluation, which reads a table whole; what the evaluation's stands for is in them.
template <class Strategy>
std::string losses(const Strategy& s) {
    trainer t{net, sampled_softmax<classes, 7>, sgd{.learning_rate = 0.2f}, max_batch<batch>, s};
    if (t.has_served()) return "served";
    std::string text;
    for (int i = 0; i < steps; ++i) {
        const data::input_view in{nullptr, all.words + i * batch * width, width};
        const batch_view b{.labels = all.labels + i * batch, .size = i % 4 == 3 ? 3 : batch, .inputs = {&in, 1}};
        text += base::general_text(static_cast<double>(i == 5 ? t.evaluate(b) : t.step(b)), 9) + " ";
    }
    t.end_training();
    return text;
}
std::vector<float> numbers_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<float> x;
    for (float v = 0; in >> v;) x.push_back(v);
    return x;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_trains_as_a_processor) {
    server_job job(1, 2);
    job.start_all([](const cluster& c) { return losses(canonical<2>(parameter_server<sync<0>, rehearsal_peer>{c})); });
    const std::string found = job.result(0), expected = losses(canonical<2>(single<cpu_device>{}));
    BOOST_TEST(numbers_of(found).size() == std::size_t{steps}, found);
    BOOST_TEST(furthest(numbers_of(found), numbers_of(expected)) < 2e-4, found << " and not " << expected);
    for (int i = 1; i < 3; ++i) BOOST_TEST(job.result(i) == "served");
}
