// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE two_halves
#include <boost/test/unit_test.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/dropout.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/none.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include <cmath>

#include "support/check_halves.hpp"

/// Steps in two halves, gradients and then updates, end with the bits of fused steps, under each policy.
using namespace sinter;
using namespace sinter::test;

constexpr auto mlp = features<12> >> dense<16> >> relu >> dropout<0.25> >> dense<9> >> relu >> dense<3>;
constexpr auto lenet = image<14, 14, 1> >> conv2d<4, 5> >> relu >> max_pool<2> >> conv2d<6, 3> >> relu >> max_pool<2>
    >> flatten >> dense<10>;
constexpr auto normalised = image<6, 6, 2> >> conv2d<4, 3> >> batch_norm >> relu >> conv2d<4, 3> >> batch_norm >> relu
    >> flatten >> dense<3>;
// a bucket begins with batch_norm's scale: its gradient, final before the first layer's, is read once more behind that
constexpr auto normalised_columns = features<6> >> dense<40> >> batch_norm >> relu >> dense<3>;
// two batch_norms meet in a sum: their betas' gradients are one
constexpr auto residual = image<6, 6, 2> >> conv2d<4, 3> >> [](tensor x) {
    for (int i = 0; i < 2; ++i) x = ops::relu((conv2d<4, 3> >> batch_norm)(x) + (conv2d<4, 1> >> batch_norm)(x));
    return x;
} >> flatten >> dense<3>;
constexpr auto recurrent = inputs(array<4, 3>) >> lstm<5> >> dense<3>;

BOOST_AUTO_TEST_CASE(dense_layers) {
    every_policy(mlp, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, "mlp, sgd");
    every_policy(mlp, softmax_cross_entropy, adam{}, "mlp, adam");
}
BOOST_AUTO_TEST_CASE(convolutions) { every_policy(lenet, softmax_cross_entropy, adam{}, "lenet"); }
BOOST_AUTO_TEST_CASE(states) {
    every_policy(normalised, softmax_cross_entropy, momentum{.learning_rate = 0.05f}, "batch_norm");
    every_policy(normalised_columns, mse, momentum{.learning_rate = 0.05f}, "batch_norm of columns");
}
template <program_options O>
static std::pair<int, int> copies() {   // of gradients: how many, and the first one's distance from the end of backward
    using P = halved_program<std::remove_const_t<decltype(residual)>,
                             std::remove_cvref_t<decltype(softmax_cross_entropy)>, adam, 5, O>;
    int n = 0, first = 0;
    for (int i = 0; i < P::v.segments.first_update; ++i)
        if (P::graph.n[P::v.launches[i].root].k == op::broadcast && !n++) first = P::v.segments.first_update - i;
    return {n, first};
}
BOOST_AUTO_TEST_CASE(copies_are_made_at_once) {
    every_policy(residual, softmax_cross_entropy, adam{}, "residual");
    const auto [stored, last] = copies<program_options{.gradients = gradient_policy::stored}>();
    const auto [reduced, early] = copies<program_options{.gradients = gradient_policy::reduced}>();
    BOOST_TEST(stored == reduced);
    BOOST_TEST(last <= stored);
    BOOST_TEST(early > stored + 4);
}
BOOST_AUTO_TEST_CASE(loops) { every_policy(recurrent, softmax_cross_entropy, adam{}, "lstm"); }
BOOST_AUTO_TEST_CASE(clipping) {
    every_policy(mlp, softmax_cross_entropy, clip_by_global_norm{0.5f, adam{}}, "clipped");
}
BOOST_AUTO_TEST_CASE(sums_over_tensors) {
    every_policy(mlp, softmax_cross_entropy, lamb{.learning_rate = 0.02f}, "lamb");
}
BOOST_AUTO_TEST_CASE(accumulation) {
    every_policy(mlp, softmax_cross_entropy, accumulate<3>(adam{}), "accumulated");
    every_policy(normalised, softmax_cross_entropy, accumulate<2>(sgd{.learning_rate = 0.1f}),
                 "accumulated, batch_norm");
}
BOOST_AUTO_TEST_CASE(averages) {
    every_policy(mlp, softmax_cross_entropy, moving_average{0.9f, adam{}}, "moving average");
}

BOOST_AUTO_TEST_CASE(both_spellings_are_one_policy) {
    static_assert(program_options{}.policy() == gradient_policy::fused);
    static_assert(program_options{.store_gradients = true}.policy() == gradient_policy::stored);
    static_assert(program_options{.store_gradients = true, .gradients = gradient_policy::reduced}.policy() ==
                  gradient_policy::reduced);
}
/// A first half whose loss is not finite leaves everything as it was, in one run or in several.
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_changes_nothing) {
    using trainer_type = trainer<std::remove_const_t<decltype(normalised)>,
                                 std::remove_cvref_t<decltype(softmax_cross_entropy)>, adam, 5>;
    using P = halved_program<std::remove_const_t<decltype(normalised)>,
                             std::remove_cvref_t<decltype(softmax_cross_entropy)>, adam, 5,
                             program_options{.gradients = gradient_policy::stored}>;
    trainer_type t({}, {.threads = 1});
    half_steps<P, adam> halves(t, {}, 1);
    const random_batch<P> good(1);
    const random_batch<P> bad(2);
    const_cast<float&>(bad.view().inputs[0].values[3]) = NAN;
    t.step(good.view());
    BOOST_TEST(halves.gradients(good.view()));
    halves.update();
    BOOST_TEST(!halves.gradients(bad.view()));
    BOOST_TEST(halves.equals(t));
    BOOST_TEST(halves.run({0, 2}));
    BOOST_TEST(!halves.run({2, P::v.segments.first_update}));
    BOOST_TEST(halves.equals(t));
}
