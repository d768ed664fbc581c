// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE margins
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/categorical_hinge.hpp>
#include <sinter/train/losses/cosine_distance.hpp>
#include <sinter/train/losses/hinge.hpp>
#include <sinter/train/losses/squared_hinge.hpp>
#include <sinter/train/losses/triplet.hpp>

#include "fixtures/losses.hpp"
#include "train/losses/loss_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::losses;
static const doubles y = recorded({4, 5}, golden::y), t = recorded({4, 5}, golden::t),
    signs = recorded({4, 5}, golden::signs);
static const doubles labels({4}, {golden::labels[0], golden::labels[1], golden::labels[2], golden::labels[3]});
using floats = std::vector<float>;
constexpr double inf = INFINITY;

BOOST_AUTO_TEST_CASE(hinges) {
    check_recorded_as<as_fused, hinge_loss, 5>(y, {signs}, golden::hinge, golden::hinge_dy);
    check_recorded_as<as_fused, squared_hinge_loss, 5>(y, {signs}, golden::squared_hinge, golden::squared_hinge_dy);
    one_example<hinge_loss, 4> one;
    BOOST_TEST(one.loss({1, -1, 0, inf}, {{1, -1, 1, 1}}) == 0.25f);   // a margin of just 1 is enough
    BOOST_TEST(one.gradient == (floats{0, 0, -0.25f, 0}));
}
BOOST_AUTO_TEST_CASE(categorical) {
    check_recorded_as<as_fused, categorical_hinge_loss, 5>(y, {labels}, golden::categorical_hinge,
                                                           golden::categorical_hinge_dy);
    one_example<categorical_hinge_loss, 3> one;
    BOOST_TEST(one.loss({-3, -2, 5}, {{2}}) == 0.f);   // 1 + 0 - 5
    BOOST_TEST(one.gradient == (floats{0, 0, 0}));
    BOOST_TEST(one.loss({-3, -2, -1}, {{2}}) == 2.f);   // the others count as 0 at least
    BOOST_TEST(one.gradient[2] == -1.f);
    BOOST_TEST(one.loss({-inf, 2, 1}, {{2}}) == 2.f);
    BOOST_TEST(one.gradient == (floats{0, 1, -1}));
}
BOOST_AUTO_TEST_CASE(cosines) {
    check_recorded_as<as_fused, cosine_distance_loss, 5>(y, {t}, golden::cosine, golden::cosine_dy);
    one_example<cosine_distance_loss, 3> one;
    BOOST_TEST(one.loss({2, 0, 0}, {{3, 0, 0}}) == 0.f);
    BOOST_TEST(one.loss({2, 0, 0}, {{-3, 0, 0}}) == 2.f);
    // nothing has no direction, and no gradient that is not finite
    BOOST_TEST(one.loss({0, 0, 0}, {{1, 2, 3}}) == 1.f);
    for (float g : one.gradient) BOOST_TEST(std::isfinite(g));
    // squares are of numbers up to 1
    BOOST_TEST(std::abs(one.loss({3e30f, 4e30f, 0}, {{4e25f, 3e25f, 0}}) - 0.04f) < 1e-6f);
}

/// Anchors come in; the net gives them with the two others, which are the second and third input.
constexpr auto three = inputs(features<5>, features<5>, features<5>) >> [](tensor a, tensor p, tensor n) {
    return outputs(a + parameter(a, "offset", extents(5), zeros), p * 1.f, n * 1.f);
};
BOOST_AUTO_TEST_CASE(triplets) {
    const auto p = make_run<std::remove_cvref_t<decltype(three)>, triplet_loss<1.f>, as_fused, 4>();
    BOOST_TEST(p->targets.size() == 0u);
    const doubles other = recorded({4, 5}, golden::other);
    p->run(4, {y, t, other});
    check_close({p->loss}, doubles({1}, golden::triplet), 2e-6, "loss");
    doubles sum({5});
    for (int i = 0; i < 20; ++i) sum[i % 5] += golden::triplet_dy[i];
    check_close(p->gradient(0), sum, 2e-6, "gradient");
    p->run(1, {y, y, y});   // all three the same: the distances are 0
    BOOST_TEST(p->loss == 1.f);
    for (float g : p->gradient(0)) BOOST_TEST(g == 0.f);
}
/// Distances whose squares floats do not have.
BOOST_AUTO_TEST_CASE(triplets_far_apart) {
    const auto p = make_run<std::remove_cvref_t<decltype(three)>, triplet_loss<1.f>, as_fused, 4>();
    for (const double size : {1e-3, 1., 1e4, 1e15, 1e20, 1e30, 1e37}) {
        const doubles a({1, 5}, {3 * size, 0, -size, 0, 0}), same({1, 5}, {0, 0, -size, 4 * size, 0}),
            another({1, 5}, {3 * size, 0, 2 * size, 0, 0});
        p->set(p->parameters[0], doubles({5}));
        p->run(1, {a, same, another});
        BOOST_TEST(std::abs(static_cast<double>(p->loss) - (2 * size + 1)) <= 1e-6 * (2 * size + 1), p->loss);
        check_close(p->gradient(0), doubles({5}, {0.6, 0, 1, -0.8, 0}), 1e-6, "gradient");
    }
}
