// SPDX-License-Identifier: BSL-1.0
// shows members: replicas in one process train as one device; a step that is not finite changes nothing
// processors: 2
// weighs: 3
#include <boost/test/unit_test.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "support/same_training.hpp"

// Replicas in one process train as one device does.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto net = features<6> >> named<"first">(dense<16>) >> relu >> named<"second">(dense<3>);
constexpr auto images = image<8, 8, 2> >> conv2d<4, 3> >> relu >> max_pool<2> >> flatten >> dense<5>;
const std::vector<int> uneven{12, 7, 12, 1, 2, 11};   // also fewer examples than replicas

/// Twenty steps under mirrored<N> and on one device: within 1e-5.
template <int N, class Net, class Loss, class Optimizer>
void as_single(Net n, Loss loss, Optimizer o, const char* what, double tolerance = 1e-5) {
    trainer one{n, loss, o, max_batch<12>, {.threads = 1}};
    trainer many{n, loss, o, max_batch<12>, mirrored<N>{}, {.threads = 2}};
    trainer again{n, loss, o, max_batch<12>, mirrored<N>{}, {.threads = 1}};
    const std::vector<float> start = all_weights(one);
    for (int i = 0; i < 20; ++i) {
        const random_batch<typename decltype(one)::evaluation> b(static_cast<std::uint64_t>(i),
                                                                 uneven[static_cast<std::size_t>(i) % 6]);
        const float wanted = one.step(b.view());   // a mean over the whole batch
        BOOST_TEST(many.step(b.view()) == wanted, what << ": loss of step " << i);
        BOOST_TEST(many.loss_weight() == one.loss_weight());
        BOOST_TEST(many.last_step().examples == b.view().size);
        again.step(b.view());
        const span<const float> y = one.output(), z = many.output();
        BOOST_TEST(y.size() == z.size(), what);
        for (std::size_t k = 0; k < std::min(y.size(), z.size()); ++k) BOOST_TEST((std::abs(y[k] - z[k]) < 1e-4f));
    }
    BOOST_TEST(furthest(all_variables(many), all_variables(one)) < tolerance, what << ", " << N << " replicas");
    BOOST_TEST(furthest(all_weights(one), start) > 1e-3, what << ": nothing was trained");
    BOOST_TEST(same_bits(all_variables(many), all_variables(again)), what << ": threads or runs change bits");
    const random_batch<typename decltype(one)::evaluation> b(99, 12);
    BOOST_TEST(std::abs(static_cast<double>(many.evaluate(b.view()) - one.evaluate(b.view()))) < 1e-5, what);
}
template <class Net, class Loss, class Optimizer>
void every_number(Net n, Loss loss, Optimizer o, const char* what) {
    as_single<2>(n, loss, o, what);
    as_single<3>(n, loss, o, what);
    as_single<4>(n, loss, o, what);
}

} // namespace

BOOST_TEST_DECORATOR(*boost::unit_test::tolerance(1e-5f))
BOOST_AUTO_TEST_CASE(replicas_train_as_one) {
    every_number(net, mse, adam{.learning_rate = 0.01f}, "adam");
    as_single<3>(images, softmax_cross_entropy, momentum{.learning_rate = 0.01f}, "images");
}
BOOST_TEST_DECORATOR(*boost::unit_test::tolerance(1e-5f))
BOOST_AUTO_TEST_CASE(sums_over_all_gradients) {
    as_single<3>(net, mse, clip_by_global_norm{0.1f, sgd{.learning_rate = 0.1f}}, "clipped");
}

/// Each loss's mean is over all replicas' weights; of the round's steps each counts by its examples.
BOOST_TEST_DECORATOR(*boost::unit_test::tolerance(1e-5f))
BOOST_AUTO_TEST_CASE(several_losses_in_rounds) {
    constexpr auto two = features<6> >> dense<8> >> relu >> [](tensor x) {
        return outputs(named<"first">(dense<3>)(x), named<"second">(dense<2>)(x));
    };
    constexpr auto ignoring = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(1)>;
    as_single<3>(two, per_output(weighted(mse), weigh<0.3>(ignoring)), accumulate<2>(sgd{.learning_rate = 0.1f}),
                 "accumulated");
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite_changes_nothing) {
    trainer t{images >> batch_norm, mse, adam{}, max_batch<12>, mirrored<3>{}, {.threads = 1}};
    train_on(t, 2, {12});
    const std::vector<float> before = all_variables(t);
    const random_batch<typename decltype(t)::training> whole(5, 12);
    data::batch_view b = whole.view();
    std::vector<float> x(b.inputs[0].values, b.inputs[0].values + 12 * 128);
    x[11 * 128 + 3] = NAN;   // in the last replica's part
    data::input_view in{x.data(), nullptr, 128};
    b.inputs = {&in, 1};
    BOOST_TEST(!std::isfinite(t.step(b)));
    BOOST_TEST(same_bits(all_variables(t), before));
    BOOST_TEST(t.steps() == 2);
    BOOST_TEST(t.output().empty());
    x[11 * 128 + 3] = 0;
    BOOST_TEST(std::isfinite(t.step(b)));
    BOOST_TEST(t.steps() == 3);
}

BOOST_AUTO_TEST_CASE(batches_that_do_not_fit) {
    trainer t{net, mse, adam{}, max_batch<12>, mirrored<4>{}, {.threads = 1}};
    const std::vector<float> before = all_variables(t);
    BOOST_CHECK_THROW(t.step({}), data_error);
    std::vector<float> x(13 * 6), y(13 * 3);
    BOOST_CHECK_THROW(t.step({.x = x.data(), .y = y.data(), .size = 13}), data_error);
    BOOST_CHECK_THROW(t.step({.x = x.data(), .size = 12}), data_error);
    BOOST_TEST(same_bits(all_variables(t), before));
    t.step({.x = x.data(), .y = y.data(), .size = 12});
}
