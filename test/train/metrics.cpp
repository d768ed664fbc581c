// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE metrics
#include <boost/test/unit_test.hpp>
#include <sinter/train/metrics.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace sinter;

BOOST_AUTO_TEST_CASE(mean_weighs_batches_by_their_size) {
    metrics::mean m, a, b;
    BOOST_TEST(std::isnan(m.value()));
    m.add(1.0, 64), m.add(4.0, 32);
    BOOST_TEST(m.value() == 2.0);
    a.add(1.0, 64), b.add(4.0, 32), a.merge(b);
    BOOST_TEST(a.value() == m.value());
    BOOST_TEST(a.weight() == 96);
    BOOST_TEST(a.count() == 96);
}

BOOST_AUTO_TEST_CASE(accuracy_counts_the_first_largest) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const float logits[] = {0, 2, 1,  3, 3, 0,  -5, -4, -3,  nan, -1, -2,  -inf, -inf, -inf};
    const std::int32_t labels[] = {1, 1, 2, 1, 0};
    metrics::accuracy a, whole;
    BOOST_TEST(std::isnan(a.value()));
    a.add(logits, labels, 5, 3);
    BOOST_TEST(a.right() == 4);   // the tie of row 1 goes to class 0
    BOOST_TEST(a.value() == 0.8);
    for (int i = 0; i < 5; ++i) {
        metrics::accuracy one;
        one.add(logits + 3 * i, labels + i, 1, 3);
        whole.merge(one);
    }
    BOOST_TEST(whole.value() == a.value());
    const std::int32_t bad[] = {0, 3};
    BOOST_CHECK_THROW(a.add(logits, bad, 2, 3), data_error);
    BOOST_TEST(a.count() == 5);
}

// accuracy asks of one label only; the confusion matrix looks for the largest. They must agree.
BOOST_AUTO_TEST_CASE(the_class_that_a_row_predicts_is_the_one_predicted) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const float rows[][4] = {{1, 2, 3, 4}, {4, 3, 2, 1}, {1, 4, 4, 2}, {2, 2, 2, 2}, {nan, 1, 2, nan}, {5, nan, nan, 5},
                             {-inf, -inf, 0, inf}, {-0.f, 0, -0.f, 0}, {nan, nan, -inf, nan}};
    for (const auto& row : rows)
        for (std::int32_t label = 0; label < 4; ++label)
            BOOST_TEST(metrics::predicts(row, 4, label) == (metrics::predicted_class(row, 4) == label));
    float wide[53];   // longer than what is looked at in one go, with the largest in each place, alone and twice
    for (int best = 0; best < 53; ++best)
        for (int second : {best, 0, 31, 32, 51, 52}) {
            for (int c = 0; c < 53; ++c) wide[c] = static_cast<float>(c * 7 % 13);
            wide[best] = wide[second] = 20;
            for (std::int32_t label = 0; label < 53; ++label)
                BOOST_TEST(metrics::predicts(wide, 53, label) == (label == std::min(best, second)));
        }
    const float nothing[] = {nan, nan, nan};
    for (std::int32_t label = 0; label < 3; ++label) BOOST_TEST(!metrics::predicts(nothing, 3, label));
    BOOST_TEST(metrics::predicts(rows[0], 1, 0));   // one class is always right
}

BOOST_AUTO_TEST_CASE(confusion_matrix_has_truth_in_rows) {
    metrics::confusion_matrix m(3), other(3);
    const float logits[] = {1, 0, 0,  0, 1, 0,  0, 1, 0,  0, 0, 1};
    const std::int32_t labels[] = {0, 0, 1, 2};
    m.add(logits, labels, 4);
    BOOST_TEST(m.count(0, 0) == 1);
    BOOST_TEST(m.count(0, 1) == 1);
    BOOST_TEST(m.count(1, 0) == 0);
    BOOST_TEST(m.accuracy() == 0.75);
    BOOST_TEST(m.recall(0) == 0.5);
    BOOST_TEST(m.precision(1) == 0.5);
    BOOST_TEST(m.precision(2) == 1.0);
    other.add(2, 0);
    m.merge(other);
    BOOST_TEST(m.count(2, 0) == 1);
    BOOST_TEST(m.examples(2) == 2);
    BOOST_CHECK_THROW(m.merge(metrics::confusion_matrix(4)), data_error);
    BOOST_CHECK_THROW(m.add(3, 0), data_error);
    BOOST_CHECK_THROW(m.add(0, -1), data_error);
}
