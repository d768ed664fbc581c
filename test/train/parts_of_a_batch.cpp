// SPDX-License-Identifier: BSL-1.0
// shows numbers: a step over parts equals the step over the whole, with weights, ignored labels, short parts
#define BOOST_TEST_MODULE parts_of_a_batch
#include <boost/test/unit_test.hpp>

#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/full_batch.hpp>
#include <sinter/train/losses/ctc.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/metrics/mse.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/l2_penalty.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>

/// A step over parts equals the step over the whole, whatever counts in each of the parts.
using namespace sinter;

namespace {

constexpr auto net = features<3> >> dense<4> >> activation::tanh >> dense<2>;
constexpr auto ignoring = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;

/// A loss that makes its weights itself.
struct own_weights {
    constexpr weighted_values operator()(tensor y, tensor t) const { return {(y - t) * (y - t), t * t + 0.1f}; }
};

struct examples {
    float x[24], y[16], weights[8] = {1, 0, 0, 5, 100, 0.5f, 3, 2};
    std::int32_t labels[8] = {0, -1, -1, 1, 0, 1, 1, 0};
    examples() {
        random_stream r(5);
        for (float& e : x) e = r.uniform(-2, 2);
        for (float& e : y) e = r.uniform(-2, 2);
    }
    template <bool Labels, bool Weights>
    data::batch_view part(int first, int n) const {
        data::batch_view b{.x = x + 3 * first, .size = n};
        if (Labels) b.labels = labels + first;
        else b.y = y + 2 * first;
        if (Weights) b.weights = weights + first;
        return b;
    }
};
template <class Trainer>
std::vector<float> parameters_of(const Trainer& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i)
        for (float e : t.plain(t.parameter(i))) all.push_back(e);
    return all;
}
/// Three parts of different sizes against one batch of eight, in ten updates.
template <bool Labels, bool Weights, program_options O = program_options{}, class Loss, class Optimizer>
void compare(Loss, const Optimizer& o) {
    using net_type = std::remove_const_t<decltype(net)>;
    trainer<net_type, Loss, Optimizer, build_options{8, O}> whole(o, {.threads = 1});
    trainer<net_type, Loss, accumulated<3, Optimizer>, build_options{8, O}> parts(accumulate<3>(o), {.threads = 1});
    const examples all;
    const std::vector<float> start = parameters_of(whole);
    for (int update = 0; update < 10; ++update) {
        const double loss = static_cast<double>(whole.step(all.part<Labels, Weights>(0, 8)));
        double sum = 0, weight = 0;
        for (const auto& [first, n] : {std::pair{0, 3}, {3, 1}, {4, 4}}) {
            sum += static_cast<double>(parts.step(all.part<Labels, Weights>(first, n))) * parts.loss_weight();
            weight += parts.loss_weight();
        }
        if (reduction_of<Loss>() == reduction::mean)
            BOOST_TEST(std::abs(sum / weight - loss) <= 1e-4 * (1 + std::abs(loss)));
        const std::vector<float> a = parameters_of(whole), b = parameters_of(parts);
        for (std::size_t i = 0; i < a.size(); ++i)
            BOOST_REQUIRE_MESSAGE(std::abs(a[i] - b[i]) <= 5e-5f * (1 + std::abs(a[i])),
                                  "parameter " << i << ", update " << update << ": " << b[i] << ", whole " << a[i]);
    }
    BOOST_TEST(parameters_of(whole) != start);
    if constexpr (decltype(whole)::keeps_averages) {
        const averaged_weights of_whole(whole);
        const averaged_weights of_parts(parts);
        const std::vector<float> a = parameters_of(whole), b = parameters_of(parts);
        for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 5e-5f * (1 + std::abs(a[i])));
    }
}

constexpr auto constant_net = features<1> >> [](tensor x) { return x + parameter(x, "c", extents(1), zeros); };
data::dataset weighted_targets(std::vector<float> y, std::vector<float> w) {
    data::dataset set(extents(1), std::vector<float>(y.size()));
    set.targets(extents(1), std::move(y)).weights(std::move(w));
    return set;
}
/// The constant of least weighted squared error, by L-BFGS.
float best_constant(data::pipeline& data) {
    full_batch model{constant_net, weighted(mse)};
    model.train(data);
    return model.inner().plain(model.inner().parameter(0))[0];
}

} // namespace

BOOST_AUTO_TEST_CASE(parts_of_any_size) { compare<false, false>(mse, sgd{.learning_rate = 0.1f}); }
BOOST_AUTO_TEST_CASE(ignored_labels) { compare<true, false>(ignoring, sgd{.learning_rate = 0.1f}); }
BOOST_AUTO_TEST_CASE(groups_and_averages) {
    constexpr sgd of_biases{.learning_rate = 0.2f};
    constexpr adam others{.learning_rate = 0.05f, .epsilon = 1e-3f};
    constexpr moving_average o{0.9f, parameter_groups{others, group_of<"*/bias">(of_biases)}};
    compare<false, false>(mse, o);
    compare<true, true>(weighted(ignoring), o);
}
BOOST_AUTO_TEST_CASE(weights_of_examples) {
    compare<false, true>(weighted(mse), sgd{.learning_rate = 0.1f});
    compare<true, true>(weighted(ignoring), sgd{.learning_rate = 0.1f});
    compare<false, false>(own_weights{}, sgd{.learning_rate = 0.05f});
}
BOOST_AUTO_TEST_CASE(other_reductions) {
    compare<false, false>(summed(mse), sgd{.learning_rate = 0.01f});
    compare<false, true>(summed(weighted(mse)), sgd{.learning_rate = 1e-4f});
    compare<false, true>(averaged_over_batch(weighted(mse)), sgd{.learning_rate = 1e-3f});
}
/// Norms and penalties are of the whole gradient, and count once.
BOOST_AUTO_TEST_CASE(around_other_optimizers) {
    compare<true, false>(ignoring, clip_by_global_norm{0.1f, l2_penalty{0.1f, sgd{.learning_rate = 0.1f}}});
    compare<true, false, program_options{.store_gradients = true}>(ignoring,
                                                                   adam{.learning_rate = 0.01f, .epsilon = 1e-3f});
    compare<true, false, program_options{.fuse = false}>(ignoring, adam{.learning_rate = 0.01f, .epsilon = 1e-3f});
}
/// Sequences of different lengths, under CTC with frames that do not count and labels that cannot be said.
BOOST_AUTO_TEST_CASE(sequences_and_their_lengths) {
    constexpr auto speech = inputs(array<6, 3>, indices<1>) >> [](tensor x, tensor n) {
        return dense<4>(lstm<5>(x, n));
    };
    using net_type = std::remove_const_t<decltype(speech)>;
    using loss = ctc_loss_of<2, ctc_options{.frames = 6, .leaves_out_impossible = true}>;
    trainer<net_type, loss, sgd, 5> whole(sgd{.learning_rate = 0.1f}, {.threads = 1});
    trainer<net_type, loss, accumulated<3, sgd>, 5> parts(accumulate<3>(sgd{.learning_rate = 0.1f}), {.threads = 1});
    std::vector<float> x;
    random_stream r(9);
    for (int i = 0; i < 5 * 18; ++i) x.push_back(r.uniform(-2, 2));
    // the third cannot be said
    const std::int32_t lengths[] = {6, 2, 1, 4, 3}, said[] = {1, 2, 3, -1, 1, 1, 2, 2, -1, -1};
    const auto step = [&](auto& t, int first, int n) {
        const data::input_view in[] = {{x.data() + 18 * first, nullptr, 18}, {nullptr, lengths + first, 1}};
        const data::input_view targets[] = {{nullptr, said + 2 * first, 2}, {nullptr, lengths + first, 1}};
        return static_cast<double>(t.step({.size = n, .inputs = in, .targets = targets})) * t.loss_weight();
    };
    const std::vector<float> start = parameters_of(whole);
    for (int update = 0; update < 10; ++update) {
        const double all = step(whole, 0, 5), sum = step(parts, 0, 1) + step(parts, 1, 3) + step(parts, 4, 1);
        BOOST_TEST(sum == all, boost::test_tools::tolerance(1e-4));
        const std::vector<float> a = parameters_of(whole), b = parameters_of(parts);
        for (std::size_t i = 0; i < a.size(); ++i) BOOST_REQUIRE(std::abs(a[i] - b[i]) <= 5e-5f * (1 + std::abs(a[i])));
    }
    BOOST_TEST(parameters_of(whole) != start);
}
BOOST_AUTO_TEST_CASE(a_round_in_which_nothing_counts) {
    trainer<std::remove_const_t<decltype(net)>, std::remove_const_t<decltype(ignoring)>, accumulated<2, sgd>, 8> t(
        accumulate<2>(sgd{.learning_rate = 0.1f}), {.threads = 1});
    examples all;
    for (auto& l : all.labels) l = -1;
    const std::vector<float> before = parameters_of(t);
    for (int i = 0; i < 4; ++i) t.step(all.part<true, false>(0, 4));
    BOOST_TEST(parameters_of(t) == before);
}
/// One parameter c, squared errors, targets 0 0 1 1 of weights 1 1 100 100: the weighted mean is
/// 200 / 202, however the data are cut.
BOOST_AUTO_TEST_CASE(full_batches_of_any_size) {
    const data::dataset set = weighted_targets({0, 0, 1, 1}, {1, 1, 100, 100});
    for (const int size : {4, 3, 2, 1}) {
        auto data = data::source(set) | data::batch(size);
        BOOST_TEST(std::abs(best_constant(data) - 200.f / 202) < 1e-4f, "batches of " << size);
    }
}
/// Loss and validation loss of an epoch do not depend on how the data are cut.
BOOST_AUTO_TEST_CASE(means_of_a_pass) {
    const examples all;
    data::dataset set(extents(3), std::vector<float>(all.x, all.x + 24));
    set.targets(extents(2), std::vector<float>(all.y, all.y + 16));
    double whole = 0;
    for (const int size : {8, 3, 1}) {
        estimator model{net, own_weights{}, sgd{.learning_rate = 0.f}};
        auto data = data::source(set) | data::batch(size);
        const auto r = model.train(data, {.progress = nullptr});
        const double seen = model.evaluate(data).loss;
        if (size == 8) whole = seen;
        BOOST_TEST(std::abs(seen - whole) < 1e-5 * whole);
        BOOST_TEST(std::abs(r[0].loss - whole) < 1e-5 * whole);
    }
}
/// Squared distances 0 9 1 1 of weights -1 1 1 1, of which the first two cancel: 5.5, and 2.5 is the best constant.
BOOST_AUTO_TEST_CASE(weights_that_cancel) {
    const data::dataset set = weighted_targets({0, 3, 1, 1}, {-1, 1, 1, 1});
    for (const int size : {4, 3, 2, 1}) {
        auto data = data::source(set) | data::batch(size);
        BOOST_TEST(std::abs(best_constant(data) - 2.5f) < 1e-4f, "batches of " << size);
        estimator zero{constant_net, weighted(mse), sgd{.learning_rate = 0.f}};
        BOOST_TEST(std::abs(zero.train(data, {.progress = nullptr})[0].loss - 5.5) < 1e-6, "batches of " << size);
        BOOST_TEST(std::abs(zero.evaluate(data).loss - 5.5) < 1e-6, "batches of " << size);
    }
}
/// What all replicas weigh together, be it negative.
BOOST_AUTO_TEST_CASE(weights_of_replicas) {
    trainer two{net, weighted(mse), sgd{}, max_batch<8>, mirrored<2>{}, {.threads = 1}};
    examples all;
    for (float& w : all.weights) w = -w;
    two.step(all.part<false, true>(0, 4));
    BOOST_TEST(two.loss_weight() == -6);
}
/// An output's accuracy and metrics count what its own loss counts, whatever another's weighs.
BOOST_AUTO_TEST_CASE(what_an_outputs_loss_counts) {
    constexpr auto two = features<2> >> [](tensor x) { return outputs(x * 1.f, x * 2.f); };
    const std::vector<float> x{1, 0, 1, 0, 0, 1, 0, 1}, y{2, 0, 0, 0, 0, 0, 0, 4}, w{0, 0, 1, 1};
    const std::vector<std::int32_t> classes{1, 1, 1, 1};   // of which the last two are right
    data::dataset set(extents(2), x);
    set.labels(classes, 2).targets(extents(2), y).weights(w);
    const auto measure = [&](auto loss) {
        estimator model{two >> [](tensor a, tensor b) {
            const tensor c = parameter(a, "c", extents(2), zeros);
            return outputs(a + c, b + c);
        }, loss, sgd{.learning_rate = 0.f}};
        auto data = data::source(set) | data::batch(3);
        const double seen = model.train(data, {.progress = nullptr})[0].training_accuracy;
        const auto r = model.evaluate(data, {metrics::named("second", metrics::mse{}, 1)});
        BOOST_TEST(r.accuracy == seen);
        return std::pair{r.accuracy, r.metrics[0].value};
    };
    BOOST_TEST((measure(per_output(softmax_cross_entropy, weighted(mse))) == std::pair{0.5, 2.}));
    BOOST_TEST((measure(per_output(weighted(softmax_cross_entropy), mse)) == std::pair{1., 1.5}));
    BOOST_TEST((measure(weighted(per_output(softmax_cross_entropy, mse))) == std::pair{1., 2.}));
}
