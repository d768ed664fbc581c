// SPDX-License-Identifier: BSL-1.0
// optimise: native
// once: without the precompiled header, which knows nothing of SINTER_PROFILE, it takes long to compile
#define BOOST_TEST_MODULE step_profile
#include <boost/test/unit_test.hpp>

#define SINTER_PROFILE
#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/profile/kernel_times.hpp>
#include <sinter/profile/step_profile.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include <sstream>

/// What a program prints that is compiled with SINTER_PROFILE: a table for each of a trainer's
/// programs that ran, whose counts are those of the runs, and whose work is what can be worked out
/// by hand.
using namespace sinter;

constexpr auto net = features<15> >> dense<16> >> relu;
using trainer_type = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 8>;
using P = trainer_type::training;

static const std::vector<float> numbers(8 * 15, 0.5f);
static const std::vector<std::int32_t> classes(8, 1);
static data::batch_view batch(int size) {
    data::batch_view b;
    b.size = size;
    b.x = numbers.data();
    b.labels = classes.data();
    return b;
}
/// The messages that `work` leads to.
template <class F>
static std::vector<std::string> lines_of(F work) {
    std::vector<std::string> lines;
    const message_function before =
        on_message([&lines](message_level, std::string_view text, std::string_view) { lines.emplace_back(text); });
    work();
    on_message(before);
    return lines;
}
/// The lines of the table that follows `title`.
static std::vector<std::string> table_of(const std::vector<std::string>& lines, const char* title) {
    const auto at = std::find(lines.begin(), lines.end(), title);
    BOOST_TEST_REQUIRE((lines.end() - at >= 3));
    std::istringstream head(at[1]);
    for (const char* column :
         {"launches", "ms", "us", "each", "us", "best", "%", "GFLOP/s", "GB/s", "floor", "layer", "and", "kernel"}) {
        std::string word;
        head >> word;
        BOOST_TEST(word == column);
    }
    const auto end = std::find_if(at, lines.end(), [](const std::string& s) { return s.find("ms a step") != s.npos; });
    BOOST_TEST_REQUIRE((end != lines.end()));
    return {at + 2, end};
}

BOOST_AUTO_TEST_CASE(each_program_that_ran_prints_its_table) {
    for (int threads : {1, 2}) {
        const auto lines = lines_of([&] {
            trainer_type t({}, {.threads = threads});
            for (int size : {8, 8, 5}) t.step(batch(size));
            t.evaluate(batch(3));
        });
        const auto training = table_of(lines, "training");
        BOOST_TEST(table_of(lines, "evaluation").size() ==
                   static_cast<std::size_t>(trainer_type::evaluation::v.n_launches));
        BOOST_TEST((std::find(lines.begin(), lines.end(), "prediction") == lines.end()));   // it never ran
        BOOST_TEST_REQUIRE(training.size() == static_cast<std::size_t>(P::v.n_launches));
        double shares = 0;
        for (const std::string& text : training) {
            std::istringstream line(text);
            long launches = 0;
            double ms = -1, us = -1, best = -1, share = -1, gflops = -1, gigabytes = -1, floor = -1;
            line >> launches >> ms >> us >> best >> share >> gflops >> gigabytes >> floor;
            BOOST_TEST(!line.fail(), text);
            BOOST_TEST(launches == 3);
            BOOST_TEST((ms >= 0 && us >= best && best >= 0 && gflops >= 0 && gigabytes >= 0 && floor >= 0), text);
            shares += share;
        }
        BOOST_TEST(std::abs(shares - 100) < 0.1 * P::v.n_launches);
    }
}
BOOST_AUTO_TEST_CASE(who_never_ran_prints_nothing) {
    BOOST_TEST(lines_of([] { trainer_type t({}, {.threads = 1}); }).empty());
}
/// The dense layer of 15 inputs and 16 outputs, on batches of 8 and 5.
BOOST_AUTO_TEST_CASE(work_is_what_it_is_by_hand) {
    const auto kernels = profile::text_of_program<P>().kernels;
    const auto k = std::find_if(kernels.begin(), kernels.end(),
                                [](const auto& x) { return x.members == "gemm + add + relu"; });
    BOOST_TEST_REQUIRE((k != kernels.end()));
    trainer_type t({}, {.threads = 1});
    lines_of([&] {
        profile::step_profile counted;
        for (int size : {8, 5}) t.step(batch(size), counted.observe<P>(1, size));
        const profile::kernel_count n = counted.counts()[static_cast<std::size_t>(k->launch)];
        BOOST_TEST(n.launches == 2);
        BOOST_TEST(n.examples == 13);
        BOOST_TEST(n.least > 0);
        BOOST_TEST(2 * n.least <= n.seconds);
        const profile::kernel_work w(k->cost, n);
        BOOST_TEST(w.flops == 13. * (2 * 15 * 16 + 16 + 16));
        BOOST_TEST(w.bytes == 13. * (15 + 16) * 4 + 2. * (15 * 16 + 16) * 4);
        profile::machine_limits limits(1);
        BOOST_TEST(limits.flops() > 1e8);
        for (double set : {1., 2e4, 2e6}) BOOST_TEST(limits.copied_bytes(set) > 1e7);
        BOOST_TEST(limits.copied_bytes(2e4) == limits.copied_bytes(3e4));   // measured once
        BOOST_TEST(w.floor(limits, 2) ==
                   std::max(w.flops / limits.flops(), w.bytes / limits.copied_bytes(w.bytes / 2)));
    });
}
