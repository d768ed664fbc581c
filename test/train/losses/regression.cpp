// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE regression
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/huber.hpp>
#include <sinter/train/losses/log_cosh.hpp>
#include <sinter/train/losses/mae.hpp>
#include <sinter/train/losses/poisson.hpp>

#include "fixtures/losses.hpp"
#include "train/losses/loss_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::losses;
static const doubles y = recorded({4, 5}, golden::y), t = recorded({4, 5}, golden::t),
    counts = recorded({4, 5}, golden::counts);
constexpr double inf = INFINITY;

/// The mean of f(y, t) over all elements.
template <class F>
static auto mean_of(F f) {
    return [f](const doubles& a, const std::vector<doubles>& b) {
        double sum = 0;
        for (int i = 0; i < a.size(); ++i) sum += f(a[i], b[0][i]);
        return sum / a.size();
    };
}
using floats = std::vector<float>;

BOOST_AUTO_TEST_CASE(mean_absolute_error) {
    check_recorded_as<as_fused, mae_loss, 5>(y, {t}, golden::mae, golden::mae_dy);
    one_example<mae_loss, 4> one;
    BOOST_TEST(one.loss({1, 2, -3, 1e30}, {{1, 5, -4, 0}}) == 2.5e29f);
    BOOST_TEST(one.gradient == (floats{0, -0.25f, 0.25f, 0.25f}));   // none where nothing is wrong
    BOOST_TEST(one.loss({0, 0, 0, inf}, {{0, 0, 0, 0}}) == inf);
}
BOOST_AUTO_TEST_CASE(hubers) {
    check_recorded_as<as_fused, huber_loss<1.f>, 5>(y, {t}, golden::huber, golden::huber_dy);
    check_recorded_as<as_fused, huber_loss<0.5f>, 5>(y, {t}, golden::huber_half, golden::huber_half_dy);
    one_example<huber_loss<0.5f>, 4> one;
    BOOST_TEST(one.loss({0.5, -0.5, 0, 1e30}, {{0, 0, 0, 0}}) == 1.25e29f);
    BOOST_TEST(one.gradient == (floats{0.125f, -0.125f, 0, 0.125f}));   // both pieces meet smoothly at delta
    BOOST_TEST(one.loss({inf, 0, 0, 0}, {{0, 0, 0, 0}}) == inf);
    BOOST_TEST(one.gradient == (floats{0.125f, 0, 0, 0}));
}
BOOST_AUTO_TEST_CASE(log_of_cosh) {
    check_recorded_as<as_fused, log_cosh_loss, 5>(y, {t}, golden::log_cosh, golden::log_cosh_dy);
    one_example<log_cosh_loss, 4> one;
    BOOST_TEST(one.loss({0, 1e4, -1e4, 0}, {{0, 0, 0, 0}}) == 0.25f * (2e4f - 2 * 0.69314718f));   // e^1e4 is not taken
    BOOST_TEST(one.gradient == (floats{0, 0.25f, -0.25f, 0}));
    const double places[] = {1e-4, -1e-3, 0.999, 1.001};   // small ones would be lost in |d| - log 2
    double want = 0;
    std::vector<float> at;
    for (double x : places)
        want += std::log1p(2 * std::sinh(x / 2) * std::sinh(x / 2)) / 4, at.push_back(static_cast<float>(x));
    BOOST_TEST(std::abs(static_cast<double>(one.loss({at[0], at[1], at[2], at[3]}, {{0, 0, 0, 0}})) - want) < 2e-7);
    for (std::size_t i = 0; i < 4; ++i)
        BOOST_TEST(std::abs(static_cast<double>(one.gradient[i]) * 4 / std::tanh(places[i]) - 1) < 1e-6);
}
BOOST_AUTO_TEST_CASE(poissons) {
    check_recorded_as<as_fused, poisson_loss, 5>(y, {counts}, golden::poisson, golden::poisson_dy);
    check_recorded_as<as_fused, poisson_of_rate_loss, 5>(recorded({4, 5}, golden::rates), {counts},
                                                         golden::poisson_of_rate, golden::poisson_of_rate_dy);
    one_example<poisson_loss, 2> one;
    BOOST_TEST(one.loss({-inf, 0}, {{0, 1}}) == 0.5f);   // a rate of 0 for what never happened
    BOOST_TEST(one.gradient == (floats{0, 0}));
    BOOST_TEST(one.loss({-inf, 0}, {{1, 1}}) == inf);
}
// Several rows an example; the mean is over all of them.
BOOST_AUTO_TEST_CASE(rows_of_an_example) {
    random_numbers random(11);
    const doubles a = random.fill({3, 2, 7}, -3, 3), b = random.fill({3, 2, 7}, -3, 3);
    const auto huber_of = mean_of([](double p, double q) {
        const double d = std::abs(p - q);
        return d < 1 ? d * d / 2 : d - 0.5;
    });
    check_formula_as<as_unfused, huber_loss<1.f>, 2, 7>(a, {b}, huber_of);
    check_formula_as<as_trained, huber_loss<1.f>, 2, 7>(a, {b}, huber_of);
}
