// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE schedule
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sinter/train/schedules/schedule.hpp>
#include <initializer_list>

using namespace sinter;

static bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b) + 1e-12; }

BOOST_AUTO_TEST_CASE(a_number_is_a_rate_that_never_changes) {
    constexpr schedule s = 0.25f;
    for (std::int64_t step : {0L, 1L, 1'000'000'000'000L}) BOOST_TEST(s.at(step) == 0.25f);
}
BOOST_AUTO_TEST_CASE(warm_up_rises_evenly_and_starts_above_zero) {
    constexpr schedule s = warm_up(4, 0.8f);
    const double expected[] = {0.2, 0.4, 0.6, 0.8, 0.8, 0.8};
    for (int step = 0; step < 6; ++step)
        BOOST_TEST(near(s.at(step), expected[step]), "step " << step << ": " << s.at(step));
}
BOOST_AUTO_TEST_CASE(cosine_falls_from_peak_to_end_and_stays_there) {
    constexpr schedule s = cosine(1.f, 6, 0.5f);
    // 0.5 + 0.5 (1 + cos(k 30 degrees)) / 2, from the cosines of the dodecagon
    const double root3 = std::sqrt(3.);
    const double cosines[] = {1, root3 / 2, 0.5, 0, -0.5, -root3 / 2, -1};
    for (int step = 0; step <= 6; ++step)
        BOOST_TEST(near(s.at(step), 0.5 + 0.25 * (1 + cosines[step])), "step " << step);
    for (std::int64_t step : {7L, 100L, 1'000'000'000'000L}) BOOST_TEST(near(s.at(step), 0.5));
    BOOST_TEST(near(cosine(1.f, 10).at(10), 0));
}
BOOST_AUTO_TEST_CASE(warm_up_counts_among_the_steps_of_what_follows) {
    constexpr schedule s = warm_up(10, cosine(2.f, 30, 0.f));
    BOOST_TEST(near(s.at(0), 0.2));
    BOOST_TEST(near(s.at(9), 2));
    BOOST_TEST(near(s.at(10), 2));
    BOOST_TEST(near(s.at(20), 1));   // half of the 20 steps that are left
    BOOST_TEST(near(s.at(30), 0));
    for (int step = 10; step < 30; ++step) BOOST_TEST(s.at(step + 1) < s.at(step));
}
BOOST_AUTO_TEST_CASE(a_function_of_the_users_own) {
    constexpr schedule s([](std::int64_t step) { return step < 3 ? 1.f : 0.1f; });
    BOOST_TEST(s.at(2) == 1.f);
    BOOST_TEST(s.at(3) == 0.1f);
}
BOOST_AUTO_TEST_CASE(no_warm_up_and_nothing_behind_it) {   // nothing is divided by zero
    BOOST_TEST(near(warm_up(0, 0.5f).at(0), 0.5));
    BOOST_TEST(near(warm_up(5, cosine(1.f, 5, 0.25f)).at(4), 1));
    BOOST_TEST(near(warm_up(5, cosine(1.f, 5, 0.25f)).at(5), 0.25));
}
