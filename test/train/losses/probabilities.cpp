// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE probabilities
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/dense_softmax_cross_entropy.hpp>
#include <sinter/train/losses/kl_divergence.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>

#include "fixtures/losses.hpp"
#include "support/check_op.hpp"
#include "train/losses/loss_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::losses;
static const doubles y = recorded({4, 5}, golden::y), probable = recorded({4, 5}, golden::probable);
using floats = std::vector<float>;
constexpr double inf = INFINITY;

BOOST_AUTO_TEST_CASE(sigmoid) {
    check_recorded_as<as_fused, sigmoid_cross_entropy_loss, 5>(y, {probable}, golden::sigmoid, golden::sigmoid_dy);
    one_example<sigmoid_cross_entropy_loss, 4> one;
    // what is right for certain costs nothing
    BOOST_TEST(one.loss({inf, -inf, 0, 1e4}, {{1, 0, 1, 1}}) == 0.25f * 0.69314718f);
    BOOST_TEST(one.gradient == (floats{0, 0, -0.125f, 0}));
    BOOST_TEST(one.loss({1e4, 0, 0, 0}, {{0, 0.5, 0, 1}}) == 0.25f * (1e4f + 3 * 0.69314718f),
               boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(one.gradient == (floats{0.25f, 0, 0.125f, -0.125f}));
    // not just 0
    BOOST_TEST(one.loss({20, 20, 20, 20}, {{1, 1, 1, 1}}) == 2.0611537e-9f, boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(one.loss({inf, 0, 0, 0}, {{0, 0, 0, 0}}) == inf);
    BOOST_TEST(std::isnan(one.loss({NAN, 0, 0, 0}, {{0, 0, 0, 0}})));
}
BOOST_AUTO_TEST_CASE(dense_targets) {
    check_recorded_as<as_fused, dense_softmax_cross_entropy_loss<>, 5>(y, {probable}, golden::dense, golden::dense_dy);
    check_recorded_as<as_fused, dense_softmax_cross_entropy_loss<0.25f>, 5>(y, {probable}, golden::dense_smoothed,
                                                                            golden::dense_smoothed_dy);
    one_example<dense_softmax_cross_entropy_loss<>, 3> one;
    BOOST_TEST(one.loss({0, -inf, 0}, {{0.5, 0, 0.5}}) == 0.69314718f);
    BOOST_TEST(one.gradient == (floats{0, 0, 0}));
    BOOST_TEST(one.loss({0, -inf, 0}, {{0.5, 0.5, 0}}) == inf);
    BOOST_TEST(one.loss({1e4, 0, -1e4}, {{0, 1, 0}}) == 1e4f);
    BOOST_TEST(one.gradient == (floats{1, -1, 0}));
    BOOST_TEST(one.loss({2, 2, 2}, {{2, 0, 0}}) == 2.1972246f);   // targets of sum 2 cost double
}
BOOST_AUTO_TEST_CASE(divergence) {
    check_recorded_as<as_fused, kl_divergence_loss<>, 5>(y, {probable}, golden::kl, golden::kl_dy);
    using of_log = kl_divergence_loss<score_kind::log_probabilities>;
    check_recorded_as<as_fused, of_log, 5>(y, {probable}, golden::kl_of_log, golden::kl_of_log_dy);
    const doubles quarter = map(recorded({4, 5}, golden::rates), [](double r) { return r / 4; });
    using of_probabilities = kl_divergence_loss<score_kind::probabilities>;
    check_recorded_as<as_fused, of_probabilities, 5>(quarter, {probable}, golden::kl_of_probabilities,
                                                     golden::kl_of_probabilities_dy);
    one_example<kl_divergence_loss<>, 3> one;
    BOOST_TEST(one.loss({0, -inf, 0}, {{0.5, 0, 0.5}}) == 0.f);   // the same distribution
    BOOST_TEST(one.gradient == (floats{0, 0, 0}));
    BOOST_TEST(one.loss({0, -inf, 0}, {{0.5, 0.5, 0}}) == inf);
}
/// Targets that a net has computed get a gradient, too: a finite one where they are 0.
struct to_targets {
    static constexpr shape operands[] = {extents(1, 3), extents(1, 3)};
    static constexpr tensor apply(tensor z, tensor t) { return kl_divergence(z, t); }
};
BOOST_AUTO_TEST_CASE(gradients_to_targets) {
    const op_result r = run_op<to_targets>({doubles({1, 3}, {0, 1, 2}), doubles({1, 3}, {0.25, 0, 0.75})});
    const double all = std::log(1 + std::exp(1.) + std::exp(2.));
    check_close(r.gradients[1], doubles({3}, {std::log(0.25) + 1 + all, 0, std::log(0.75) + 1 - 2 + all}), 1e-6, "");
}
// Several rows an example, in the two other ways to compile them.
BOOST_AUTO_TEST_CASE(rows_of_an_example) {
    random_numbers random(13);
    const doubles a = random.fill({3, 2, 7}, -3, 3), b = random.fill({3, 2, 7}, 0, 1);
    const auto formula = [](const doubles& z, const std::vector<doubles>& t) {
        double sum = 0;
        for (int r = 0; r < z.size() / 7; ++r) {
            double all = 0;
            for (int c = 0; c < 7; ++c) all += std::exp(z[7 * r + c]);
            for (int c = 0; c < 7; ++c) sum -= t[0][7 * r + c] * std::log(std::exp(z[7 * r + c]) / all);
        }
        return sum / (z.size() / 7);
    };
    check_formula_as<as_unfused, dense_softmax_cross_entropy_loss<>, 2, 7>(a, {b}, formula);
    check_formula_as<as_trained, dense_softmax_cross_entropy_loss<>, 2, 7>(a, {b}, formula);
}
