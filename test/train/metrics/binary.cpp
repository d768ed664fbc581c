// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE binary
#include <boost/test/unit_test.hpp>
#include <sinter/train/metrics/auc.hpp>
#include <sinter/train/metrics/binary_accuracy.hpp>
#include <sinter/train/metrics/f1.hpp>
#include <sinter/train/metrics/precision.hpp>
#include <sinter/train/metrics/recall.hpp>
#include <cmath>
#include <limits>

#include "fixtures/keras_metrics.hpp"

// Yes-or-no metrics against Keras, and against formulas that are computed otherwise: by pairs of examples.
using namespace sinter;
namespace golden = fixture::keras;
constexpr int n = 60;

struct data {
    std::vector<float> scores, truths;
    std::vector<std::int32_t> labels;
    data() {
        for (int i = 0; i < n; ++i) {
            scores.push_back(static_cast<float>(golden::scores[i]));
            truths.push_back(static_cast<float>(golden::truths[i]));
            labels.push_back(static_cast<std::int32_t>(golden::truths[i]));
        }
    }
};

/// The metric over everything at once, and over parts that are merged, one of them empty.
template <class Metric>
static void check(const Metric& start, double (Metric::*value)() const, double want) {
    const data d;
    Metric whole = start, merged = start;
    BOOST_TEST(std::isnan((whole.*value)()));
    whole.add(d.scores.data(), d.labels.data(), n);
    BOOST_TEST((whole.*value)() == want, boost::test_tools::tolerance(2e-6));
    constexpr int cuts[] = {0, 1, 8, 8, 31, n};
    for (int c = 0; c < 5; ++c) {
        Metric part = start;
        const auto first = static_cast<std::size_t>(cuts[c]);
        if (c % 2) part.add(d.scores.data() + first, d.labels.data() + first, cuts[c + 1] - cuts[c]);
        else part.add(d.scores.data() + first, d.truths.data() + first, cuts[c + 1] - cuts[c]);
        merged.merge(part);
    }
    BOOST_TEST((merged.*value)() == (whole.*value)());
    BOOST_TEST(merged.count() == n);
}

BOOST_AUTO_TEST_CASE(as_keras) {
    check(metrics::precision(), &metrics::precision::value, golden::precision);
    check(metrics::precision(0.3f), &metrics::precision::value, golden::precision_at_0_3);
    check(metrics::recall(), &metrics::recall::value, golden::recall);
    check(metrics::f1(), &metrics::f1::value, golden::f1);
    const data d;
    int right = 0;
    for (int i = 0; i < n; ++i) right += (golden::scores[i] > 0.5) == (golden::truths[i] == 1);
    check(metrics::binary_accuracy(), &metrics::binary_accuracy::value, right / double{n});
    check(metrics::auc(), &metrics::auc::roc, golden::roc_auc);
    check(metrics::auc(), &metrics::auc::pr, golden::pr_auc);
    check(metrics::auc(11), &metrics::auc::roc, golden::roc_auc_11);
    check(metrics::auc(11), &metrics::auc::pr, golden::pr_auc_11);
}

BOOST_AUTO_TEST_CASE(counts_and_what_divides_by_nothing) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float logits[] = {2, -1, 0, inf, -inf, nan};
    const std::int32_t labels[] = {1, 1, 0, 0, 0, 1};
    metrics::f1 m(0.f);
    m.add(logits, labels, 6);
    BOOST_TEST(m.true_positives() == 1);
    BOOST_TEST(m.false_positives() == 1);   // the infinite one
    BOOST_TEST(m.true_negatives() == 2);    // 0 is not above 0
    BOOST_TEST(m.false_negatives() == 2);   // NaN is above nothing
    BOOST_TEST(m.value() == 2. / 5);
    metrics::precision p(5.f);
    p.add(logits, labels, 3);
    BOOST_TEST(std::isnan(p.value()));
    metrics::recall r(0.5f);
    r.add(logits + 2, labels + 2, 3);
    BOOST_TEST(std::isnan(r.value()));
    metrics::recall of_probabilities;   // without a threshold
    BOOST_CHECK_THROW(of_probabilities.add(logits, labels, 6), data_error);
    BOOST_TEST(of_probabilities.count() == 0);
    const float probabilities[] = {1, 0, nan};
    of_probabilities.add(probabilities, labels, 3);
    BOOST_TEST(of_probabilities.value() == 0.5);
}

/// An ensemble's mean of ten probabilities, by ten products, may lie above 1 by rounding alone. Logits do not.
BOOST_AUTO_TEST_CASE(probabilities_that_were_rounded) {
    float one = 0;
    for (int k = 0; k < 10; ++k) one += 0.1f * 1.f;
    BOOST_TEST(one > 1.f);
    const float scores[] = {one, -1e-7f, 1.000009f, -0.000009f}, more[] = {1.0001f, -0.0001f};
    const std::int32_t labels[] = {1, 0, 1, 1};
    metrics::f1 f;
    f.add(scores, labels, 4);
    BOOST_TEST(f.value() == 0.8);
    for (const int thresholds : {2, 200, 100'000}) {   // in the outermost buckets
        metrics::auc rounded(thresholds), whole(thresholds);
        const float meant[] = {1, 0, 1, 0};
        rounded.add(scores, labels, 4);
        whole.add(meant, labels, 4);
        BOOST_TEST(rounded.count() == 4);
        BOOST_TEST(rounded.roc() == whole.roc());
        BOOST_TEST(rounded.pr() == whole.pr());
    }
    for (const float& s : more) {
        metrics::auc a;
        BOOST_CHECK_THROW(f.add(&s, labels, 1), data_error);
        BOOST_CHECK_THROW(a.add(&s, labels, 1), data_error);
    }
    const float of_mse[] = {1.03f, -0.02f, 0.4f, 0.6f};   // what a threshold asks for is never refused
    metrics::f1 at_half(0.5f);
    at_half.add(of_mse, labels, 4);
    BOOST_TEST(at_half.value() == 0.8);
    try {
        f.add(of_mse, labels, 4);
        BOOST_ERROR("not refused");
    } catch (const data_error& e) {
        for (const char* way : {"f1{0.f} for logits", "f1{0.5f} for scores around 0 and 1"})
            BOOST_TEST(std::string(e.what()).find(way) != std::string::npos);
    }
}
// Every pair of a positive and a negative example, where scores in one bucket are equal.
BOOST_AUTO_TEST_CASE(roc_is_the_chance_to_rank_a_pair_rightly) {
    const data d;
    for (int thresholds : {2, 3, 11, 129, 100000}) {
        metrics::auc m(thresholds);
        m.add(d.scores.data(), d.labels.data(), n);
        double right = 0, pairs = 0;
        auto bucket = [&](int i) { return std::ceil(golden::scores[i] * (thresholds - 1)); };
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                if (d.labels[static_cast<std::size_t>(i)] == 1 && d.labels[static_cast<std::size_t>(k)] == 0)
                    ++pairs, right += bucket(i) > bucket(k) ? 1 : bucket(i) == bucket(k) ? 0.5 : 0;
        BOOST_TEST(m.roc() == right / pairs, boost::test_tools::tolerance(1e-12));
    }
}
// Small steps along the line between two thresholds' counts, in which precision is what it is at each.
BOOST_AUTO_TEST_CASE(pr_is_the_integral_of_precision_over_recall) {
    const float scores[] = {0.95f, 0.95f, 0.95f, 0.65f, 0.65f, 0.35f, 0.35f, 0.35f, 0.05f};
    const std::int32_t labels[] = {1, 1, 0, 1, 0, 0, 0, 1, 1};
    metrics::auc m(11);
    m.add(scores, labels, 9);
    double area = 0, tp = 0, all = 0;
    for (auto [more_tp, more] : {std::pair(2., 3.), {1., 2.}, {1., 3.}, {1., 1.}}) {
        constexpr int steps = 100000;
        for (int s = 0; s < steps; ++s) {
            const double share = (s + 0.5) / steps;
            area += (tp + share * more_tp) / (all + share * more) * more_tp / steps / 5;
        }
        tp += more_tp, all += more;
    }
    BOOST_TEST(m.pr() == area, boost::test_tools::tolerance(1e-8));
}
BOOST_AUTO_TEST_CASE(perfect_and_useless_scores) {
    const float scores[] = {0, 0.2f, 0.8f, 1, 0.5f, 0.5f};
    const std::int32_t rising[] = {0, 0, 1, 1}, falling[] = {1, 1, 0, 0}, both[] = {0, 1};
    metrics::auc best, worst, blind, one_kind;
    best.add(scores, rising, 4), worst.add(scores, falling, 4), blind.add(scores + 4, both, 2),
        one_kind.add(scores, rising, 2);
    BOOST_TEST(best.roc() == 1.);
    BOOST_TEST(best.pr() == 1.);
    BOOST_TEST(worst.roc() == 0.);
    BOOST_TEST(blind.roc() == 0.5);
    BOOST_TEST(blind.pr() == 0.5);
    BOOST_TEST(std::isnan(one_kind.roc()));
    BOOST_TEST(std::isnan(one_kind.pr()));
}
BOOST_AUTO_TEST_CASE(refused) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float scores[] = {0.5f, 1.25f, nan, -0.25f}, truths[] = {0.5f, nan};
    const std::int32_t labels[] = {1, 0}, wrong[] = {1, 2};
    metrics::auc a;
    for (const float* s : {scores + 1, scores + 2, scores + 3}) BOOST_CHECK_THROW(a.add(s, labels, 1), data_error);
    BOOST_CHECK_THROW(a.add(scores, truths, 1), data_error);
    BOOST_CHECK_THROW(a.add(scores, truths + 1, 1), data_error);
    const float fine[] = {0.5f, 0.5f};
    BOOST_CHECK_THROW(a.add(fine, wrong, 2), data_error);
    BOOST_TEST(a.count() == 0);
    metrics::precision p;
    BOOST_CHECK_THROW(p.add(fine, wrong, 2), data_error);
    BOOST_CHECK_THROW(p.add(fine, truths, 1), data_error);
    BOOST_TEST(p.count() == 0);
    BOOST_CHECK_THROW(p.merge(metrics::precision(0.25f)), data_error);
    BOOST_CHECK_THROW(a.merge(metrics::auc(100)), data_error);
    BOOST_CHECK_THROW(metrics::auc(1), option_error);
}
