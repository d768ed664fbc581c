// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#include "job.hpp"
#include "../../io/temporary_folder.hpp"
#include "support/gan_losses.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/distribute.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <cmath>
#include <filesystem>

// Losses that alternate, on servers: a push is of one of them, and updates the parameters of its own. Tables of both,
// running statistics and random numbers; on one device the same trainer is the reference.
using namespace sinter;
using sinter::test::drawing, sinter::test::telling;

namespace {

constexpr int batch = 8, width = 4, examples = 64;

constexpr auto net = indices<width> >> [](tensor words) {
    constexpr auto critic = shared<"critic">(dense<12> >> batch_norm >> relu >> dense<1>);
    const tensor real = named<"words">(embedding<30, 4> >> flatten)(words);
    const tensor drawn =
        named<"generator">(embedding<30, 4> >> flatten >> dense<24> >> relu >> dropout<0.2f> >> dense<16>)(words);
    return outputs(critic(real), critic(drawn));
};
constexpr adam critics{.learning_rate = 0.01f};
constexpr momentum generators{.learning_rate = 0.05f};
constexpr alternating turns{phase<"critic/*", "words/*">(telling{}, critics, 2),
                            phase<"generator/*">(drawing{}, generators)};
constexpr alternating clipped{phase<"critic/*", "words/*">(telling{}, clip_by_global_norm{0.05f, critics}, 2),
                              phase<"generator/*">(drawing{}, clip_by_global_norm{0.1f, generators})};

struct words_of_examples {
    std::int32_t words[std::size_t{examples * width}];
    words_of_examples() {
        random_stream r(5);
        for (std::int32_t& w : words) w = static_cast<int>(r.word() % 30);
    }
};
const words_of_examples all;

template <class Trainer>
float step(Trainer& t, int i, int size = batch, int phase = -1) {
    const data::input_view in{nullptr, all.words + i % (examples / batch) * batch * width, width};
    const data::batch_view b{.size = size, .inputs = {&in, 1}};
    return phase < 0 ? t.step(b) : t.step(phase, b);
}
template <class Trainer>
std::string file_of(const Trainer& t) {
    return to_text({t.steps(), " steps, ", t.phase_steps()[0], " and ", t.phase_steps()[1], ", file ",
                   hash_of_file(t)});
}
/// The same but for states: asynchronous workers send their changes, whose sums are rounded.
template <class Trainer>
std::string parameters_of(const Trainer& t) {
    std::vector<float> x;
    for (int i = 0; i < t.parameters(); ++i)
        for (const int slot : {-1, 0, 1}) {
            if (slot >= t.slots_of(t.parameter(i))) continue;
            const std::vector<float> more = slot < 0 ? t.plain(t.parameter(i)) : t.plain_slot(t.parameter(i), slot);
            x.insert(x.end(), more.begin(), more.end());
        }
    return to_text({t.steps(), " steps, ", t.phase_steps()[0], " and ", t.phase_steps()[1], ", weights ",
                   hash_text(std::as_bytes(std::span(x)))});
}

constexpr int steps = 23;

/// A loop of one's own, by the schedule and then by its own phases; all that a file has of it.
template <class Rounds, class Strategy>
std::string trained(const Rounds& rounds, const Strategy& strategy, bool states = true) {
    alternating_trainer t{net, rounds, max_batch<batch>, strategy, {.threads = 1}};
    if (t.has_served()) return "served";
    double losses = 0;
    for (int i = 0; i < steps; ++i) losses += static_cast<double>(step(t, i, i % 5 == 4 ? 3 : batch));
    for (const int phase : {1, 1, 0, 1}) losses += static_cast<double>(step(t, 7, batch, phase));
    t.end_training();
    if (!t.session().member().chief()) return to_text({t.steps()});
    return to_text({"losses ", base::general_text(losses, 12), ", ", states ? file_of(t) : parameters_of(t)});
}

template <class Rounds, class Make>
void compare(const char* what, const std::string& expected, const Rounds& rounds, int workers, int servers, Make make,
             bool states = true) {
    server_job job(workers, servers);
    job.start_all([=](const cluster& c) { return trained(rounds, make(c), states); });
    const std::string got = job.result(0);
    BOOST_TEST(got == expected,
               what << ", " << workers << " workers, " << servers << " servers: " << got << " and not " << expected);
    for (int i = 1; i < workers; ++i) BOOST_TEST(job.result(i) == to_text({steps + 4}));
    for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
}

BOOST_AUTO_TEST_CASE(in_step_it_has_the_bits_of_one_device) {
    const std::string expected = trained(turns, canonical<4>(single<cpu_device>{}));
    BOOST_TEST_MESSAGE(expected);
    const auto in_step = [](const cluster& c) { return canonical<4>(parameter_server<sync<0>>{c}); };
    compare("sync", expected, turns, 1, 2, in_step);
    compare("sync", expected, turns, 4, 1, in_step);
    compare("stale<0>", expected, turns, 2, 3,
            [](const cluster& c) { return canonical<4>(parameter_server<stale<0>>{c}); });
}
BOOST_AUTO_TEST_CASE(each_phase_clips_by_its_own_norm) {
    const std::string expected = trained(clipped, canonical<4>(single<cpu_device>{}));
    const auto in_step = [](const cluster& c) { return canonical<4>(parameter_server<sync<0>>{c}); };
    compare("clipped", expected, clipped, 2, 1, in_step);
}
BOOST_AUTO_TEST_CASE(one_asynchronous_worker_has_the_bits_of_one_device) {
    const auto async_one = [](const cluster& c) { return parameter_server<async>{c}; };
    compare("async", trained(turns, single<cpu_device>{}, false), turns, 1, 2, async_one, false);
    // (Norms of tables' gradients have other last digits where these are fused with updates.)
    compare("async, clipped", trained(clipped, canonical<1>(single<cpu_device>{}), false), clipped, 1, 3,
            async_one, false);
}

/// Each worker goes by the schedule on its own, and the servers count each phase's updates.
BOOST_AUTO_TEST_CASE(workers_at_their_own_pace) {
    // Files in the folder tell the chief who is there: nobody waits for who has not come yet.
    const auto work = [](const temporary_folder& folder, auto make) {
        return [&folder, make](const cluster& c) {
            alternating_trainer t{net, turns, max_batch<batch>, make(c), {.threads = 1}};
            if (t.has_served()) return std::string("served");
            const auto is_there = [&](int rank) { return folder / ("worker-" + std::to_string(rank)); };
            std::ofstream(is_there(c.rank())).put('.');
            for (int rank = 0; c.rank() == 0 && rank < c.size(); ++rank)
                while (!std::filesystem::exists(is_there(rank))) ::usleep(1000);
            bool finite = true;
            for (int i = 0; i < 30; ++i) finite = finite && std::isfinite(step(t, i + c.rank()));
            t.end_training();
            return to_text({finite ? "" : "not finite, ", t.steps(), ": ", t.phase_steps()[0], " and ",
                           t.phase_steps()[1]});
        };
    };
    {
        const temporary_folder folder;
        server_job job(2, 2);
        job.start_all(work(folder, [](const cluster& c) { return parameter_server<async>{c}; }));
        BOOST_TEST(job.result(0) == "60: 40 and 20");
        BOOST_TEST(job.result(2) == "served");
    }
    for (const int workers : {2, 3}) {
        const temporary_folder folder;
        server_job job(workers, 2);
        job.start_all(work(folder, [](const cluster& c) {
            return parameter_server<stale<3>>{c, {.input = batch_input::per_worker}};
        }));
        // Whoever ends first is not waited for, so that clocks may be a few more than 30.
        const std::string got = job.result(0);
        BOOST_TEST(got.find("not finite") == std::string::npos);
        BOOST_TEST(std::stoi(got) >= 30, got);
        for (int i = workers; i < job.size(); ++i) BOOST_TEST(job.result(i) == "served");
    }
}

constexpr auto pairs = features<2> >> [](tensor x) {
    constexpr auto critic = shared<"critic">(dense<3> >> activation::tanh >> dense<1>);
    return outputs(critic(x), critic(named<"generator">(dense<2>)(x)));
};
constexpr alternating of_pairs{phase<"critic/*">(telling{}, critics), phase<"generator/*">(drawing{}, generators)};

/// Each batch `times` times for one phase, then so often for the other; all weights as text.
template <class Trainer>
std::string by_the_same_batches(Trainer t, int times) {
    static const float numbers[] = {.1f, .7f, -.4f, .9f, .3f, -.2f, .8f, .5f};
    if (t.has_served()) return "served";
    for (int i = 0; i < 12; ++i)
        for (int k = 0; k < times; ++k) t.step(i % 2, {.x = numbers, .size = 4});
    t.end_training();
    std::string values;
    for (int i = 0; i < t.parameters(); ++i)
        for (const float x : t.plain(t.parameter(i))) values += base::general_text(static_cast<double>(x), 9) + " ";
    return values;
}
/// The mean of two equal gradients is one of them: 24 steps are 12 updates.
BOOST_AUTO_TEST_CASE(each_phase_gathers_its_own_gradients) {
    const std::string expected =
        by_the_same_batches(alternating_trainer{pairs, of_pairs, max_batch<4>, {.threads = 1}}, 1);
    server_job job(1, 2);
    job.start_all([=](const cluster& c) {
        return by_the_same_batches(alternating_trainer{pairs, of_pairs, max_batch<4>,
                                                       parameter_server<async>{c, {.push_every = 2}}, {.threads = 1}},
                                   2);
    });
    BOOST_TEST(job.result(0) == expected);
}

}   // namespace
