// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE kernel_times
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/profile/kernel_times.hpp>
#include <sinter/estimator/estimator.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/adam.hpp>

#include <sstream>
#include <thread>

/// The table of kernels' times: each launch has its line, its figures are numbers, and the trainer was trained.
using namespace sinter;

constexpr auto net = image<12, 12, 1> >> conv2d<4, 3> >> relu >> max_pool<2> >> flatten >> dense<5>;
using net_type = std::remove_const_t<decltype(net)>;
using trainer_type = trainer<net_type, softmax_cross_entropy_loss, adam, 8>;
constexpr int launches = trainer_type::training::v.n_launches;

static const std::vector<float> pixels(8 * 144, 0.5f);
static const std::vector<std::int32_t> classes(8, 1);
static data::batch_view batch() {
    data::batch_view b;
    b.size = 8;
    b.x = pixels.data();
    b.labels = classes.data();
    return b;
}
template <class F>
static std::vector<std::string> printed_lines(F print) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&text, &size);
    print(out);
    std::fclose(out);
    std::istringstream all(std::string(text, size));
    std::free(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
}
template <class Model>
static std::vector<std::string> lines_of(Model& m, int steps) {
    return printed_lines([&](std::FILE* out) { profile::kernel_times(m, batch, steps, out); });
}

BOOST_AUTO_TEST_CASE(every_launch_has_a_line) {
    trainer_type t({}, {.threads = 2});
    const std::vector<std::string> lines = lines_of(t, 3);
    BOOST_TEST(t.steps() == 3);
    BOOST_TEST_REQUIRE(lines.size() == static_cast<std::size_t>(launches) + 3);
    const auto kernels = profile::text_of_program<trainer_type::training>().kernels;
    double shares = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        std::istringstream line(lines[i + 1]);
        long launched = 0;
        double ms = -1, us = -1, best = -1, percent = -1, gflops = -1, gigabytes = -1, floor = -1;
        line >> launched >> ms >> us >> best >> percent >> gflops >> gigabytes >> floor;
        BOOST_TEST(!line.fail(), lines[i + 1]);
        BOOST_TEST(launched == 3);
        BOOST_TEST((ms >= 0 && us >= best && best >= 0 && percent >= 0 && gflops >= 0 && gigabytes >= 0 && floor >= 0));
        shares += percent;
        BOOST_TEST(lines[i + 1].find(": " + kernels[i].members) != std::string::npos);
        BOOST_TEST(lines[i + 1].find(kernels[i].layer) != std::string::npos);
    }
    BOOST_TEST(std::abs(shares - 100) < 0.1 * launches);
    BOOST_TEST(lines[lines.size() - 2].find("ms a step in kernels") != std::string::npos);
    BOOST_TEST(lines.back().find("peak") != std::string::npos);
}
/// A walk that the next kernel runs shares that one's line, and its work is counted there.
BOOST_AUTO_TEST_CASE(a_walk_that_leads_is_part_of_its_kernel) {
    constexpr auto pixels_net = image<12, 12, 1> >> conv2d<4, 3> >> batch_norm >> relu >> conv2d<5, 1> >> flatten
        >> dense<5>;
    using model = trainer<std::remove_const_t<decltype(pixels_net)>, softmax_cross_entropy_loss, adam, 8>;
    const profile::program_text text = profile::text_of_program<model::training>();
    const auto walk = std::find_if(text.kernels.begin(), text.kernels.end(),
                                   [](const profile::kernel_text& k) { return k.is_producer; });
    BOOST_TEST_REQUIRE((walk != text.kernels.end()));
    const double flops = static_cast<double>(walk->cost.flops.at(8) + (walk + 1)->cost.flops.at(8));
    std::vector<profile::kernel_count> counts(text.kernels.size());
    counts[static_cast<std::size_t>(walk - text.kernels.begin()) + 1] = {2, 16, 2 * flops / 50e9, flops / 50e9};
    const std::vector<std::string> lines =
        printed_lines([&](std::FILE* out) { profile::print_kernel_table(text, counts, 2, nullptr, out); });
    BOOST_TEST_REQUIRE(lines.size() == text.kernels.size() - 1 + 2);
    const std::string& line = lines[static_cast<std::size_t>(walk - text.kernels.begin()) + 1];
    BOOST_TEST(line.find(": " + walk->members + ", then " + (walk + 1)->members) != std::string::npos, line);
    BOOST_TEST(line.find(" 50.0 ") != std::string::npos, line);   // GFLOP/s
    model t({}, {.threads = 1});
    BOOST_TEST(lines_of(t, 1).size() == text.kernels.size() - 1 + 3);
}
BOOST_AUTO_TEST_CASE(an_estimator_will_do_and_one_step_too) {
    estimator<net_type, softmax_cross_entropy_loss, adam, 8> m(net, softmax_cross_entropy, {},
                                                               trainer_options{.threads = 1});
    BOOST_TEST(lines_of(m, 1).size() == static_cast<std::size_t>(launches) + 3);
    BOOST_TEST(m.inner().steps() == 1);
}
BOOST_AUTO_TEST_CASE(no_steps_are_an_error) {
    trainer_type t({}, {.threads = 1});
    for (int steps : {0, -1}) BOOST_CHECK_THROW(profile::kernel_times(t, batch, steps), option_error);
}
/// What the table is made from: before and after each launch, in order, by the thread that calls.
BOOST_AUTO_TEST_CASE(launches_are_observed_in_their_order) {
    for (int threads : {1, 2}) {
        trainer_type t({}, {.threads = threads});
        std::vector<std::pair<int, bool>> seen;
        const auto me = std::this_thread::get_id();
        t.step(batch(), [&](int launch, bool before) {
            BOOST_TEST((std::this_thread::get_id() == me));
            seen.emplace_back(launch, before);
        });
        BOOST_TEST_REQUIRE(seen.size() == 2u * launches);
        for (std::size_t i = 0; i < seen.size(); ++i)
            BOOST_TEST((seen[i].first == static_cast<int>(i / 2) && seen[i].second == (i % 2 == 0)));
    }
}
