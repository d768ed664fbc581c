// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE long_rows
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/ops.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>
#include <cmath>

// Rows of millions of columns: sums and maxima beside doubles. One float that sums all of them stops growing, or grows
// by rounded steps, long before the end.
using namespace sinter;

static constexpr int columns = (12 << 20) + 5;

template <class Net>
static double of(Net net, const std::vector<float>& x) {
    trainer t(net >> dense<1>, mse, sgd{}, max_batch<1>, trainer_options{.threads = 2});
    const float one = 1, zero = 0;
    t.set_plain(t.parameter(0), &one);
    t.set_plain(t.parameter(1), &zero);
    return static_cast<double>(t.predict({.x = x.data(), .size = 1})[0]);
}
static double apart(double got, double wanted) { return std::abs(got / wanted - 1); }

BOOST_AUTO_TEST_CASE(sums_of_millions) {
    constexpr auto row = features<columns>;
    std::vector<float> x(columns, 0.1f);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = 0.3f;
    for (const float v : x) sum += static_cast<double>(v);
    const double mean = sum / columns;
    for (const float v : x) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
    BOOST_TEST(apart(of(row >> [](tensor v) { return ops::sum(v, {-1}, keep::yes); }, x), sum) < 5e-5);
    BOOST_TEST(apart(of(row >> [](tensor v) { return ops::var(v, {-1}, 0, keep::yes); }, x), squares / columns) < 5e-5);
    const auto softmax_sum = of(row >> [](tensor v) { return ops::sum(ops::softmax(v), {-1}, keep::yes); }, x);
    BOOST_TEST(std::abs(softmax_sum - 1) < 5e-5);
}
/// So few that processors with wide vectors sum them at once, and with narrow ones must not.
BOOST_AUTO_TEST_CASE(sums_of_a_quarter_of_a_million) {
    constexpr auto row = features<1 << 18>;
    const std::vector<float> x(1 << 18, 0.1f);
    BOOST_TEST(apart(of(row >> [](tensor v) { return ops::sum(v, {-1}, keep::yes); }, x), 0.1f * (1 << 18)) < 5e-5);
}
BOOST_AUTO_TEST_CASE(each_column_counts_once) {
    constexpr auto row = features<columns>;
    std::vector<float> x(columns);
    for (const int at : {0, 1, (1 << 15) - 1, 1 << 15, 1 << 18, 12 << 20, columns - 1}) {
        x[static_cast<std::size_t>(at)] = 3;
        BOOST_TEST(of(row >> [](tensor v) { return ops::sum(v, {-1}, keep::yes); }, x) == 3, at);
        BOOST_TEST(of(row >> [](tensor v) { return ops::max(v, {-1}, keep::yes); }, x) == 3, at);
        x[static_cast<std::size_t>(at)] = 0;
    }
    const std::vector<float> below(columns, -2.f);
    BOOST_TEST(of(row >> [](tensor v) { return ops::max(v, {-1}, keep::yes); }, below) == -2);
}
