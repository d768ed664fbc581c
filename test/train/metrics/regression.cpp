// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE regression
#include <boost/test/unit_test.hpp>
#include <sinter/train/metrics/mae.hpp>
#include <sinter/train/metrics/mse.hpp>
#include <sinter/train/metrics/perplexity.hpp>
#include <sinter/train/metrics/r2.hpp>
#include <sinter/train/metrics/rmse.hpp>
#include <sinter/train/metrics/top_k.hpp>
#include <cmath>

#include "fixtures/keras_metrics.hpp"

// Against Keras, and against the formulas in two passes.
using namespace sinter;
namespace golden = fixture::keras;

template <int N>
static std::vector<float> floats(const double (&x)[N]) {
    return {x, x + N};
}
static const auto targets = floats(golden::targets), predictions = floats(golden::predictions);

/// Adds rows [first, first + n) of three columns.
template <class Metric>
static Metric part_of(Metric m, int first, int n) {
    const int step = std::is_same_v<Metric, metrics::r2> ? 1 : 3;   // the others count numbers
    m.add(predictions.data() + 3 * first, targets.data() + 3 * first, step * n);
    return m;
}
template <class Metric>
static void check(const Metric& start, double want) {
    BOOST_TEST(std::isnan(start.value()));
    const Metric whole = part_of(start, 0, 10);
    BOOST_TEST(whole.value() == want, boost::test_tools::tolerance(1e-6));
    Metric merged = start;
    merged.merge(start);
    for (auto [first, n] : {std::pair(0, 1), {1, 6}, {7, 0}, {7, 3}}) merged.merge(part_of(start, first, n));
    BOOST_TEST(merged.value() == whole.value(), boost::test_tools::tolerance(1e-14));
    BOOST_TEST(merged.count() == whole.count());
}
BOOST_AUTO_TEST_CASE(as_keras) {
    check(metrics::mse(), golden::mse);
    check(metrics::rmse(), std::sqrt(golden::mse));
    check(metrics::mae(), golden::mae);
    check(metrics::r2(3), golden::r2);
}
// Targets far from zero, whose squares would swallow what they differ in.
BOOST_AUTO_TEST_CASE(r2_far_from_zero) {
    std::vector<float> t, p;
    double mean = 0, errors = 0, distances = 0;
    for (int i = 0; i < 1000; ++i) {
        t.push_back(1e6f + static_cast<float>(i % 7));
        p.push_back(t.back() + static_cast<float>(i % 3 - 1) * 0.5f);
        mean += i % 7 / 1000.;
    }
    for (int i = 0; i < 1000; ++i) errors += i % 3 == 1 ? 0 : 0.25, distances += (i % 7 - mean) * (i % 7 - mean);
    metrics::r2 whole, merged, rest;
    whole.add(p.data(), t.data(), 1000);
    merged.add(p.data(), t.data(), 333), rest.add(p.data() + 333, t.data() + 333, 667), merged.merge(rest);
    BOOST_TEST(whole.value() == 1 - errors / distances, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(merged.value() == whole.value(), boost::test_tools::tolerance(1e-9));
}
BOOST_AUTO_TEST_CASE(r2_of_equal_targets) {
    const float t[] = {2, 2}, p[] = {2, 3};
    metrics::r2 wrong, right;
    wrong.add(p, t, 2), right.add(t, t, 2);
    BOOST_TEST(wrong.value() == -std::numeric_limits<double>::infinity());
    BOOST_TEST(std::isnan(right.value()));
    BOOST_CHECK_THROW(wrong.merge(metrics::r2(2)), data_error);
    BOOST_CHECK_THROW(metrics::r2(0), option_error);
}
BOOST_AUTO_TEST_CASE(perplexity_is_of_all_symbols) {
    metrics::perplexity m, other;
    BOOST_TEST(std::isnan(m.value()));
    m.add(std::log(8.), 30), other.add(std::log(2.), 10), m.merge(other);   // 2^((3 * 30 + 10) / 40)
    BOOST_TEST(m.value() == std::pow(2., 2.5), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(m.loss() == 2.5 * std::log(2.), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(m.count() == 40);
}

BOOST_AUTO_TEST_CASE(top_k_as_keras) {
    const auto logits = floats(golden::logits);
    const double want[] = {golden::top_1, golden::top_2, golden::top_3, 0, 1};
    for (int k : {1, 2, 3, 5}) {
        metrics::top_k whole(k), merged(k);
        BOOST_TEST(std::isnan(whole.value()));
        whole.add(logits.data(), golden::labels, 10, 5);
        BOOST_TEST(whole.value() == want[k - 1], boost::test_tools::tolerance(1e-6));
        for (int i = 0; i < 10; ++i) {
            metrics::top_k one(k);
            one.add(logits.data() + 5 * i, golden::labels + i, 1, 5);
            merged.merge(one);
        }
        BOOST_TEST(merged.value() == whole.value());
    }
}
BOOST_AUTO_TEST_CASE(top_k_of_ties_and_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float rows[][4] = {{1, 1, 1, 1}, {3, 1, 3, 2}, {nan, 1, 2, nan}, {nan, nan, nan, nan}, {0, -0.f, 5, 0}};
    for (const auto& row : rows)
        for (int k = 1; k <= 4; ++k)
            for (std::int32_t label = 0; label < 4; ++label) {
                bool taken[4] = {}, found = false;   // k times the first of the largest that are left
                for (int i = 0; i < k; ++i) {
                    int best = -1;
                    for (int c = 0; c < 4; ++c)
                        if (!taken[c] && !std::isnan(row[c]) && (best < 0 || row[c] > row[best])) best = c;
                    if (best < 0) break;
                    taken[best] = true;
                    found = found || best == label;
                }
                metrics::top_k m(k);
                m.add(row, &label, 1, 4);
                BOOST_TEST(m.value() == (found ? 1. : 0.), "k " << k << ", label " << label);
                metrics::accuracy a;
                a.add(row, &label, 1, 4);
                if (k == 1) BOOST_TEST(a.value() == m.value());
            }
    const std::int32_t wrong = 4;
    metrics::top_k m(2);
    BOOST_CHECK_THROW(m.add(rows[0], &wrong, 1, 4), data_error);
    BOOST_CHECK_THROW(m.merge(metrics::top_k(3)), data_error);
    BOOST_CHECK_THROW(metrics::top_k(0), option_error);
}
