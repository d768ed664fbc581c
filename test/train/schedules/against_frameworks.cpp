// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE schedules_against_frameworks
#include <boost/test/unit_test.hpp>
#include <sinter/train/schedules/cosine_restarts.hpp>
#include <sinter/train/schedules/exponential.hpp>
#include <sinter/train/schedules/one_cycle.hpp>
#include <sinter/train/schedules/piecewise.hpp>
#include <sinter/train/schedules/polynomial.hpp>
#include <cmath>

#include "fixtures/schedules.hpp"

using namespace sinter;
namespace golden = fixture::schedules;

static void check(const schedule& s, const double (&want)[60]) {
    for (int step = 0; step < 60; ++step) {
        const double got = static_cast<double>(s.at(step));
        BOOST_TEST(std::abs(got - want[step]) <= 1e-6 * std::abs(want[step]) + 3e-8,
                   "step " << step << ": " << got << ", needed " << want[step]);
    }
}
BOOST_AUTO_TEST_CASE(constant_pieces) {
    constexpr schedule s = piecewise(0.5f, {{10, 0.05f}, {25, 0.005f}, {26, 0.0005f}});
    check(s, golden::piecewise);
}
BOOST_AUTO_TEST_CASE(exponential_decay) {
    check(exponential(0.5f, 8, 0.7f), golden::exponential);
    check(exponential(0.5f, 8, 0.7f, true), golden::exponential_staircase);
}
BOOST_AUTO_TEST_CASE(inverse_time_decay) {
    check(inverse_time(0.5f, 8, 0.7f), golden::inverse_time);
    check(inverse_time(0.5f, 8, 0.7f, true), golden::inverse_time_staircase);
}
BOOST_AUTO_TEST_CASE(polynomial_decay) {
    check(polynomial(0.5f, 40, 0.05f, 2.5f), golden::polynomial);
    check(polynomial(0.5f, 40), golden::linear);
}
BOOST_AUTO_TEST_CASE(one_cosine_and_many) {
    check(cosine(0.5f, 59, 0.05f), golden::cosine);
    check(cosine_restarts(0.5f, 8, 2.f, 0.8f), golden::cosine_restarts);
    check(cosine_restarts(0.5f, 13, 1.f, 1.f, 0.05f), golden::cosine_equal_restarts);
}
BOOST_AUTO_TEST_CASE(one_rise_and_fall) {
    check(one_cycle(0.5f, 60), golden::one_cycle);
    BOOST_TEST(one_cycle(0.5f, 60).at(1'000'000) == 0.5f / 25 / 1e4f);
}
BOOST_AUTO_TEST_CASE(warm_up_before_any) {
    const auto near = boost::test_tools::tolerance(1e-6f);
    const schedule plain = exponential(0.5f, 8, 0.7f), late = warm_up(5, plain);
    for (int i = 0; i < 5; ++i) BOOST_TEST(late.at(i) == 0.1f * static_cast<float>(i + 1), near);
    for (int i = 0; i < 30; ++i) BOOST_TEST(late.at(5 + i) == plain.at(i), near);
    const schedule pieces = warm_up(4, piecewise(0.8f, {{6, 0.4f}}));   // pieces stay where they are
    const float want[] = {0.2f, 0.4f, 0.6f, 0.8f, 0.8f, 0.8f, 0.4f};
    for (int i = 0; i < 7; ++i) BOOST_TEST(pieces.at(i) == want[i], near);
    const schedule own = warm_up(2, schedule([](std::int64_t step) { return static_cast<float>(step); }));
    const float rates[] = {1, 2, 2, 3, 4};
    for (int i = 0; i < 5; ++i) BOOST_TEST(own.at(i) == rates[i], near);
}
BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
    BOOST_CHECK_THROW(exponential(1.f, 0, 0.5f), option_error);
    BOOST_CHECK_THROW(inverse_time(1.f, 0, 0.5f), option_error);
    BOOST_CHECK_THROW(cosine_restarts(1.f, 0), option_error);
    BOOST_CHECK_THROW(cosine_restarts(1.f, 10, 0.5f), option_error);
    BOOST_CHECK_THROW(piecewise(1.f, {{5, 0.5f}, {5, 0.25f}}), option_error);
    BOOST_CHECK_THROW(piecewise(1.f, {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}}),
                      option_error);
}
BOOST_AUTO_TEST_CASE(less_than_a_step_is_refused_by_all) {
    for (const std::int64_t steps : {0L, -3L}) {
        BOOST_CHECK_THROW(cosine(1.f, steps), option_error);
        BOOST_CHECK_THROW(polynomial(1.f, steps), option_error);
        BOOST_CHECK_THROW(one_cycle(1.f, steps), option_error);
        BOOST_CHECK_THROW(exponential(1.f, steps, 0.5f), option_error);
        BOOST_CHECK_THROW(inverse_time(1.f, steps, 0.5f), option_error);
        BOOST_CHECK_THROW(cosine_restarts(1.f, steps), option_error);
    }
    BOOST_CHECK_THROW(warm_up(-1, cosine(1.f, 10)), option_error);
    BOOST_CHECK_THROW(warm_up(5, warm_up(5, 1.f)), option_error);
    BOOST_CHECK_THROW(piecewise(1.f, {{-1, 0.5f}}), option_error);
}
BOOST_AUTO_TEST_CASE(numbers_that_make_no_rate_are_refused) {
    const float nan = NAN;
    for (const float x : {-1.f, nan}) {
        BOOST_CHECK_THROW(polynomial(1.f, 5, 0.f, x), option_error);
        BOOST_CHECK_THROW(polynomial(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(cosine(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(cosine_restarts(1.f, 5, 1.f, 1.f, x), option_error);
        BOOST_CHECK_THROW(piecewise(1.f, {{5, x}}), option_error);
        BOOST_CHECK_THROW(exponential(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(inverse_time(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(one_cycle(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(one_cycle(1.f, 5, 0.3f, x), option_error);
        BOOST_CHECK_THROW(one_cycle(1.f, 5, 0.3f, 25.f, x), option_error);
        BOOST_CHECK_THROW(cosine_restarts(1.f, 5, x), option_error);
        BOOST_CHECK_THROW(cosine_restarts(1.f, 5, 1.f, x), option_error);
    }
}
// A program that is tried for a few steps keeps its warm-up: that still rises to the peak.
BOOST_AUTO_TEST_CASE(warm_up_that_is_as_long_as_the_schedule_or_longer) {
    const auto near = boost::test_tools::tolerance(1e-6f);
    for (const std::int64_t steps : {10L, 5L, 1L})
        for (const schedule& s : {cosine(.1f, steps, .01f), polynomial(.1f, steps, .01f), one_cycle(.1f, steps)}) {
            const schedule late = warm_up(10, s);
            for (int i = 0; i < 10; ++i) BOOST_TEST(late.at(i) == .01f * static_cast<float>(i + 1), near);
            for (const int i : {10, 11, 1000}) BOOST_TEST(late.at(i) == s.end, near);
        }
    const schedule one_left = warm_up(9, one_cycle(.1f, 10));
    BOOST_TEST(one_left.at(8) == .1f, near);
    BOOST_TEST(one_left.at(9) == .1f, near);
    BOOST_TEST(one_cycle(.1f, 1).at(0) == .1f);
    BOOST_TEST(one_cycle(.1f, 1).at(1) == .1f / 25 / 1e4f, near);
}
