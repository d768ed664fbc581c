// SPDX-License-Identifier: BSL-1.0
// shows data: times of stages and the line that names the bottleneck; `describe`: stages, kinds, threads, memory
#define BOOST_TEST_MODULE measured
#include <boost/test/unit_test.hpp>
#include "data/stages/reading.hpp"
#include <sinter/data/stages/describe.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/measured.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <chrono>

using namespace sinter;

namespace {

void work_for(double microseconds) {   // keeps a core busy, as a stage that computes does
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double, std::micro>(microseconds);
    while (std::chrono::steady_clock::now() < until) {}
}
constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {1}}}};
constexpr data::model_ports ports{{inputs, 1}, {}};

} // namespace

BOOST_AUTO_TEST_CASE(measuring_changes_nothing) {
    data::stage_times times;
    std::vector<std::int64_t> numbers, odd;
    for (std::int64_t i = 0; i < 90; ++i) {
        numbers.push_back(i);
        if (i % 2) odd.push_back(i);
    }
    reading::check(data::range(90) | data::measured("all", times), 1, numbers, 90);
    const auto stream = data::range(90) | data::filter([](std::int64_t i) { return i % 2 != 0; });
    reading::check(stream | data::measured("odd", times), 1, odd, data::unknown_size);
    description with, without;
    stream.describe(without);
    (stream | data::measured("odd", times)).describe(with);
    BOOST_TEST(with.text() == without.text());   // so a checkpoint of either goes on with the other
}

BOOST_AUTO_TEST_CASE(each_stage_has_its_own_time) {
    data::stage_times times;
    auto b = data::range(3200) | data::measured("read", times) | data::map([](std::int64_t i) {
        work_for(20);
        return static_cast<float>(i);
    }) | data::measured("decode", times) | data::filter([](float x) {
        work_for(5);
        return x >= 0;
    }) | data::measured("filter", times) | data::batch(32);
    data::pipeline& p = data::pipeline_for<ports>(b);
    while (p.next()) {}
    const std::vector<data::stage_time> all = times.all();
    BOOST_TEST_REQUIRE(all.size() == 3u);
    BOOST_TEST(all[0].name == "read");
    BOOST_TEST(all[1].name == "decode");
    BOOST_TEST(all[2].name == "filter");
    for (const data::stage_time& s : all) BOOST_TEST(s.elements == 3200);
    BOOST_TEST(all[1].seconds >= 20e-6);   // on a busy machine more; that is never less
    BOOST_TEST(all[0].seconds < all[1].seconds);
    BOOST_TEST(all[0].seconds + all[1].seconds + all[2].seconds >= 25e-6);

    const std::string waits = times.bottleneck({.threads = 2, .waited = 3}, 4);
    BOOST_TEST(waits.starts_with("the trainer waited for data in 75 % of the time, with 2 threads at work; of an"));
    BOOST_TEST(waits.find("\"decode\" takes ") != waits.npos, waits);
    BOOST_TEST(times.bottleneck({.threads = 1, .waited = 0.01}, 4) ==
               "the trainer is what takes time: it waited for data in 0 % of it");
    BOOST_TEST(data::stage_times{}.bottleneck({.threads = 1, .waited = 4}, 4) ==
               "the trainer waited for data in 100 % of the time, with 1 thread at work");
}

BOOST_AUTO_TEST_CASE(stages_as_text) {
    const auto indexed = data::range(60) | data::shuffle({.seed = 3});
    BOOST_TEST(data::describe(indexed).starts_with("1 computed: elements 60, function "));
    BOOST_TEST(data::describe(indexed).ends_with(", first 0, step 1\n2 shuffle: seed 3\n"
                                                 "60 elements in a pass, found by number\n"));
    const auto stream = indexed | data::filter([](std::int64_t i) { return i > 3; });
    const std::string text = data::describe(stream);
    BOOST_TEST(text.find("\n3 filter: function ") != text.npos, text);
    BOOST_TEST(text.ends_with("\na pass of unknown length, one element after the other; a place in it takes 8 bytes\n"),
               text);
    auto b = data::from(data::endless, [](std::int64_t i) { return static_cast<float>(i); }) | data::batch(8)
           | data::prefetch(3) | data::parallel(2);
    BOOST_TEST(data::describe(b).ends_with("\n2 batch: size 8, drop_remainder no\n"
                                           "a pass that never ends, found by number\n"), data::describe(b));
    data::pipeline_for<ports>(b).next();
    BOOST_TEST(data::describe(b).ends_with("made by 2 threads, up to 3 batches ahead of the caller: at most 4 in "
                                           "memory\n"), data::describe(b));
}
