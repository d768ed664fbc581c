// SPDX-License-Identifier: BSL-1.0
// shows servers: workers whose device has memory of its own end with the bits of workers on processors
// weighs: 3
// needs: distributed
#include "job.hpp"
#include "support/far_device.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/layers/candidate_scores.hpp>
#include <sinter/layers/hashed_embedding.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>
#include <sinter/train/optimizers/clip.hpp>

// Workers on a device whose memory the host does not see: gradients and rows go through the host. A job of theirs ends
// as the same job on processors does, to the bit. Servers have no such device.
using namespace sinter;
using sinter::test::far_device;

namespace {

constexpr int batch = 8, width = 3, classes = 40, passes = 6;

struct examples {
    std::vector<float> x = std::vector<float>(passes * batch * 8);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(passes * batch);
    std::vector<std::int32_t> words = std::vector<std::int32_t>(passes * batch * 2 * width);
    examples() {
        random_stream r(3);
        for (float& v : x) v = r.normal();
        for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
        for (std::int32_t& w : words) w = static_cast<std::int32_t>(r.word() % 20);
    }
    batch_view numbers(int i) const {
        return {.x = x.data() + i % passes * batch * 8, .labels = labels.data() + i % passes * batch, .size = batch};
    }
};
const examples all;

struct story {
    std::string text{};
    void add(float x) { text += base::general_text(static_cast<double>(x), 9) + " "; }
    template <class Trainer>
    std::string end(Trainer& t) {
        t.end_training();
        return to_text({t.steps(), ": ", text, hash_of_file(t)});
    }
};
constexpr auto net = features<8> >> dense<16> >> batch_norm >> relu >> dense<3>;

/// Steps, an evaluation, a prediction, values that are written in mid-training, and steps again.
template <class Strategy>
std::string of_numbers(const Strategy& s) {
    trainer t{net, softmax_cross_entropy, clip_by_global_norm{0.5f, adam{.learning_rate = 1e-2f}}, max_batch<batch>, s,
              {.threads = 1}};
    if (t.has_served()) return "served";
    story told;
    for (int i = 0; i < 7; ++i) told.add(t.step(all.numbers(i)));
    told.add(t.evaluate(all.numbers(1)));
    told.add(t.predict(all.numbers(2))[1]);
    double here = 1;
    t.session().reduce({&here, 1});   // all have looked at the values before they change
    t.set_plain(t.parameter(0), std::vector<float>(8 * 16, 0.1f).data());
    for (int i = 0; i < 4; ++i) told.add(t.step(all.numbers(i)));
    return told.end(t);
}
/// A table of which a step reads the batch's rows and those that it draws.
template <class Strategy>
std::string of_drawn_rows(const Strategy& s) {
    constexpr auto words = indices<width> >> embedding<20, 6> >> flatten >> candidate_scores<classes>;
    trainer t{words, sampled_softmax<classes, 7>, adam{.learning_rate = 0.05f}, max_batch<batch>, s, {.threads = 1}};
    if (t.has_served()) return "served";
    story told;
    for (int i = 0; i < 9; ++i) {
        const data::input_view in{nullptr, all.words.data() + i % passes * batch * width, width};
        const batch_view b{.labels = all.labels.data() + i % passes * batch, .size = i % 4 == 3 ? 3 : batch,
                           .inputs = {&in, 1}};
        told.add(i == 5 ? t.evaluate(b) : t.step(b));
    }
    return told.end(t);
}
/// A table of 64-bit keys.
template <class Strategy>
std::string of_keys(const Strategy& s) {
    constexpr auto keyed = keys<width> >> hashed_embedding<6> >> flatten >> dense<3>;
    trainer t{keyed, softmax_cross_entropy, adam{.learning_rate = 0.05f}, max_batch<batch>, s, {.threads = 1}};
    if (t.has_served()) return "served";
    story told;
    for (int i = 0; i < 8; ++i) {
        const data::input_view in{nullptr, all.words.data() + i % passes * batch * 2 * width, 2 * width};
        told.add(t.step({.labels = all.labels.data() + i % passes * batch, .size = batch, .inputs = {&in, 1}}));
    }
    return told.end(t);
}

/// `run(strategy)` in a job of so many workers and one server, on both devices: `make<Device>(cluster)`.
template <class Near, class Far>
void compare(const char* what, int workers, Near near, Far far) {
    std::vector<std::string> expected;
    for (const bool is_far : {false, true}) {
        server_job job(workers, 1);
        job.start_all([&](const cluster& c) {
            far_device::is_here = c.self().role != cluster_role::ps;
            return is_far ? far(c) : near(c);
        });
        for (int i = 0; i < workers; ++i) {
            const std::string found = job.result(i);
            if (!is_far) expected.push_back(found);
            const std::string& needed = expected[static_cast<std::size_t>(i)];
            BOOST_TEST(found == needed, what << ": " << found << " and not " << needed);
        }
        BOOST_TEST(job.result(workers) == "served");
        BOOST_TEST(expected[0].find(": ") != std::string::npos, what << ": " << expected[0]);
    }
}
const parameter_server_options twice{.push_every = 2};

BOOST_AUTO_TEST_CASE(one_worker_at_its_own_pace) {
    compare("numbers", 1, [](const cluster& c) { return of_numbers(parameter_server<async>{c}); },
            [](const cluster& c) { return of_numbers(parameter_server<async, far_device>{c}); });
    compare("two steps of one push", 1, [](const cluster& c) { return of_numbers(parameter_server<async>{c, twice}); },
            [](const cluster& c) { return of_numbers(parameter_server<async, far_device>{c, twice}); });
}
BOOST_AUTO_TEST_CASE(workers_in_step) {
    compare("two shards each", 2,
            [](const cluster& c) { return of_numbers(canonical<4>(parameter_server<sync<0>>{c})); },
            [](const cluster& c) { return of_numbers(canonical<4>(parameter_server<sync<0>, far_device>{c})); });
}
BOOST_AUTO_TEST_CASE(tables) {
    compare("drawn rows", 1, [](const cluster& c) { return of_drawn_rows(parameter_server<async>{c}); },
            [](const cluster& c) { return of_drawn_rows(parameter_server<async, far_device>{c}); });
    compare("keys", 1, [](const cluster& c) { return of_keys(parameter_server<async>{c, twice}); },
            [](const cluster& c) { return of_keys(parameter_server<async, far_device>{c, twice}); });
}

} // namespace
