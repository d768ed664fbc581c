// SPDX-License-Identifier: BSL-1.0
// shows numbers: what does not count touches nothing: padding, ignored labels, weights of 0 may be NaN
#define BOOST_TEST_MODULE weights
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/losses/weighted.hpp>

#include "fixtures/losses.hpp"
#include "train/losses/loss_run.hpp"

// What counts how much: weights that come with the batch, labels that are ignored, and the reductions.
using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::losses;
static const doubles y = recorded({4, 5}, golden::y), t = recorded({4, 5}, golden::t),
    w = recorded({4}, golden::weights);
static const doubles labels({4}, {golden::labels[0], golden::labels[1], golden::labels[2], golden::labels[3]});
using floats = std::vector<float>;
constexpr double inf = INFINITY;
using weighted_entropy = decltype(weighted(softmax_cross_entropy));
using weighted_mse = decltype(weighted(mse));

BOOST_AUTO_TEST_CASE(as_pytorch_and_keras) {
    check_recorded_as<as_fused, weighted_entropy, 5>(y, {labels, w}, golden::weighted, golden::weighted_dy);
    check_recorded_as<as_fused, decltype(summed(weighted(mse))), 5>(y, {t, w}, golden::weighted_sum,
                                                                    golden::weighted_sum_dy);
    check_recorded_as<as_fused, decltype(averaged_over_batch(weighted(mse))), 5>(y, {t, w}, golden::weighted_over_batch,
                                                                                 golden::weighted_over_batch_dy);
    using smoothed = softmax_cross_entropy_of<cross_entropy_options{}.smoothed(0.1)>;
    check_recorded_as<as_fused, smoothed, 5>(y, {labels}, golden::smoothed, golden::smoothed_dy);
    using ignoring = softmax_cross_entropy_of<cross_entropy_options{}.ignoring(0)>;
    check_recorded_as<as_fused, ignoring, 5>(y, {labels}, golden::ignoring_0, golden::ignoring_0_dy);
}
/// The weighted mean of the rows' mean squares; 0 where nothing counts.
static double mean_square(const doubles& a, const std::vector<doubles>& b) {
    const int width = a.d.back(), rows = a.size() / width, per_weight = rows / b[1].size();
    double sum = 0, weight = 0;
    for (int r = 0; r < rows; ++r) {
        const double v = b[1][r / per_weight];
        for (int c = 0; c < width && v != 0; ++c)
            sum += v * std::pow(a[r * width + c] - b[0][r * width + c], 2) / width;
        weight += v;
    }
    return weight == 0 ? 0 : sum / weight;
}
BOOST_AUTO_TEST_CASE(one_weight_an_example) {
    random_numbers random(3);
    const doubles a = random.fill({4, 3, 2}, -2, 2), b = random.fill({4, 3, 2}, -2, 2), v({4}, {0, 0.5, 3, 0});
    // the batch of the first example has no weight
    check_formula_as<as_unfused, weighted_mse, 3, 2>(a, {b, v}, mean_square);
    check_formula_as<as_trained, weighted_mse, 3, 2>(a, {b, v}, mean_square);
}
BOOST_AUTO_TEST_CASE(one_weight_a_row) {
    random_numbers random(4);
    const doubles a = random.fill({2, 3, 5}, -2, 2), b = random.fill({2, 3, 5}, -2, 2), v({2, 3}, {0, 0.5, 3, 0, 0, 1});
    check_formula_as<as_fused, decltype(row_weighted(mse)), 3, 5>(a, {b, v}, mean_square);
}
// What has no weight is left out, whatever it is: the padding of a batch may be anything.
BOOST_AUTO_TEST_CASE(zero_weight_hides_what_is_not_finite) {
    one_example<weighted_mse, 3> one;
    for (double bad : {inf, -inf, double(NAN)}) {
        BOOST_TEST(one.loss({bad, 1, 2}, {{1, 1, bad}, {0}}) == 0.f);
        BOOST_TEST(one.gradient == (floats{0, 0, 0}));
        BOOST_TEST(std::isnan(one.loss({bad, 1, 2}, {{1, 1, 1}, {1}})) == std::isnan(bad));
    }
    one_example<weighted_entropy, 3> entropy;
    BOOST_TEST(entropy.loss({NAN, inf, -inf}, {{2}, {0}}) == 0.f);
    BOOST_TEST(entropy.gradient == (floats{0, 0, 0}));
    const auto two = make_run<decltype(array<3> >> offset_layer<3>{}), weighted_entropy, as_trained, 2>();
    two->set(two->parameters[0], doubles({3}));
    two->run(2, {doubles({2, 3}, {NAN, inf, 1, 0, 0, -inf}), doubles({2}, {1, 0}), doubles({2}, {0, 7})});
    BOOST_TEST(two->loss == 0.69314718f);
    check_close(two->gradient(0), doubles({3}, {-0.5, 0.5, 0}), 1e-6, "gradient");
}
BOOST_AUTO_TEST_CASE(minus_infinity_is_a_probability_of_zero) {
    one_example<softmax_cross_entropy_loss, 3> one;
    BOOST_TEST(one.loss({0, -inf, 0}, {{2}}) == 0.69314718f);
    BOOST_TEST(one.gradient == (floats{0.5f, 0, -0.5f}));
    BOOST_TEST(one.loss({0, -inf, -inf}, {{0}}) == 0.f);
    BOOST_TEST(one.gradient == (floats{0, 0, 0}));
    BOOST_TEST(one.loss({0, -inf, 0}, {{1}}) == inf);
    for (const std::vector<double>& bad : {std::vector<double>{-inf, -inf, -inf}, {0, inf, 0}, {0, NAN, 0}})
        BOOST_TEST(std::isnan(one.loss(bad, {{0}})));
}
// Sequences whose ends are labelled -1: the mean is over what is left, and what the net says there does not matter.
BOOST_AUTO_TEST_CASE(ignored_places_of_a_sequence) {
    using loss = softmax_cross_entropy_of<cross_entropy_options{}.ignoring(-1)>;
    const auto p = make_run<decltype(array<3, 2> >> offset_layer<3, 2>{}), loss, as_fused, 2>();
    BOOST_TEST(p->below[1] == 2);
    p->set(p->parameters[0], doubles({3, 2}));
    p->run(2,
           {doubles({2, 3, 2}, {0, 0, 1, 0, NAN, inf, 0, 3, NAN, 0, 1, -inf}), doubles({2, 3}, {1, 0, -1, 0, -1, -1})});
    const double second = std::log(1 + std::exp(-1.)), fourth = std::log(1 + std::exp(3.));
    check_close({p->loss}, doubles({1}, (std::log(2.) + second + fourth) / 3), 1e-6, "loss");
    const double a = 1 / (1 + std::exp(1.)), b = 1 / (1 + std::exp(-3.));   // what is missing of the right answers
    check_close(p->gradient(0), doubles({3, 2}, {0.5 / 3 - b / 3, -0.5 / 3 + b / 3, -a / 3, a / 3, 0, 0}), 1e-6,
                "gradient");
    p->run(1, {doubles({1, 3, 2}, 5), doubles({1, 3}, -1)});
    BOOST_TEST(p->loss == 0.f);   // nothing counts
    for (float g : p->gradient(0)) BOOST_TEST(g == 0.f);
}
