// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE loss_targets
#include <boost/test/unit_test.hpp>
#include <cmath>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/losses/weighted.hpp>

// How a loss's targets reach it from a batch: several of them, weights, labels to be ignored; and what is refused.
using namespace sinter;

/// A net of two outputs, classes and a number: labels for the one, a float for the other, and how
/// much each example counts.
constexpr auto two_heads = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<1>(x)); };
constexpr auto both = [](bundle y, bundle t) {
    return softmax_cross_entropy(y[0], t[0]) + mse(y[1], t[1]) + 0.f * ops::sum(ops::to_float(t[2]), {-1});
};
constexpr target_list both_targets{target_spec(target_kind::class_index),
                                   target_spec(target_kind::same_as_output).of_output(1),
                                   index_target<2>(10)};
constexpr auto both_loss = weighted(expects<both_targets>(both));
using two_trainer = trainer<std::remove_cvref_t<decltype(two_heads)>, std::remove_cvref_t<decltype(both_loss)>, sgd, 4>;

static data::dataset examples(bool with_weights) {
    data::dataset s(extents(3), {1, 2, 3, -1, 0, 1, 2, 2, 2, 0.5f, 0, 1});
    s.labels({0, 1, 1, 0}, 2).targets(extents(1), {1, 2, 3, 4}).labels(extents(2), {0, 1, 2, 3, 4, 5, 6, 9});
    if (with_weights) s.weights({1, 0, 2, 0.5f});
    return s;
}
static float plain_loss(two_trainer& t, const data::batch_view& b, int i) {   // of one example
    const float x[3] = {b.x[3 * i], b.x[3 * i + 1], b.x[3 * i + 2]};
    t.predict({.x = x, .size = 1});
    const auto z = t.output(0), y = t.output(1);
    const float d = y[0] - b.y[i], wrong = z[1 - b.labels[i]] - z[b.labels[i]];
    return std::log(1 + std::exp(wrong)) + d * d;
}
BOOST_AUTO_TEST_CASE(several_targets_and_weights_through_a_pipeline) {
    two_trainer t(sgd{}, {.threads = 1});
    auto p = data::source(examples(true)) | data::shuffle(4, 1) | data::batch(4);
    const data::batch_view* b = p.next();
    BOOST_REQUIRE(b);
    BOOST_REQUIRE(b->targets.size() == 3u);
    BOOST_TEST(b->targets[0].indices == b->labels);
    BOOST_TEST(b->targets[1].values == b->y);
    BOOST_TEST(b->weight_width == 1);
    float sum = 0, weight = 0;
    for (int i = 0; i < 4; ++i) {
        BOOST_TEST((b->weights[i] == 0) == (b->y[i] == 2));   // columns stay together
        sum += b->weights[i] * plain_loss(t, *b, i);
        weight += b->weights[i];
    }
    BOOST_TEST(t.evaluate(*b) == sum / weight, boost::test_tools::tolerance(1e-5f));
    BOOST_TEST(t.step(*b) == sum / weight, boost::test_tools::tolerance(1e-5f));
    data::batch_buffer moved(p.columns(), 4), other;   // views go along with their buffer
    other = std::move(moved);
    BOOST_TEST(other.view().targets[2].indices != nullptr);
    BOOST_TEST(other.view().targets[2].width == 2);
}
BOOST_AUTO_TEST_CASE(what_a_batch_lacks) {
    two_trainer t(sgd{}, {.threads = 1});
    auto none = data::source(examples(false)) | data::batch(4);
    check_error<data_error>([&] { t.step(*none.next()); }, "no weights", "batch", "", "the loss is a weighted one");
    const float x[6] = {}, w[2] = {1, 1};
    const std::int32_t labels[2] = {1, 0}, near[4] = {0, 0, 0, 9}, far[4] = {0, 0, 0, 10};
    const data::batch_view short_of{.x = x, .labels = labels, .y = x, .size = 2, .weights = w};
    check_error<data_error>([&] { t.step(short_of); }, "too few labels", "batch", "1", "one more");
    data::input_view columns[3] = {{.indices = labels, .width = 1}, {.values = x, .width = 1},
                                   {.indices = far, .width = 2}};
    data::batch_view b = short_of;
    b.targets = columns;
    check_error<data_error>([&] { t.step(b); }, "label out of range", "element 3", "10", "0 to 9");
    columns[2].indices = near;
    BOOST_TEST(std::isfinite(t.evaluate(b)));
    b.weight_width = 2;
    check_error<data_error>([&] { t.step(b); }, "wrong number of weights", "batch", "2 an example", "1");
    BOOST_TEST(t.steps() == 0);
    data::dataset twice = examples(true);
    BOOST_CHECK_THROW(twice.weights({1, 1, 1, 1}), data_error);
}

constexpr auto tagger = features<3> >> dense<6> >> reshape<3, 2>;
constexpr auto tags = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;

/// -log of the softmax's probability of class `right`, of two scores.
static double cross_entropy(const float* z, int right) {
    return std::log1p(std::exp(static_cast<double>(z[1 - right]) - static_cast<double>(z[right])));
}

BOOST_AUTO_TEST_CASE(ignored_labels) {
    const std::vector<std::int32_t> set_labels{1, 0, -1, -1, 1, -1};
    const data::dataset set = data::dataset(extents(3), {1, 2, 3, -1, 0, 1}).labels(extents(3), set_labels);
    auto p = data::source(set) | data::batch(2);
    estimator model{tagger, tags, sgd{}, max_batch<2>, {.threads = 1}};
    int right = 0;
    const data::batch_view* b = p.next();
    const auto z = model.predict(*b);
    const std::vector<float> z_copy(z.begin(), z.end());
    for (int i = 0; i < 6; ++i) right += b->labels[i] >= 0 && (z[2 * i + 1] > z[2 * i]) == (b->labels[i] == 1);
    p.rewind();
    const auto r = model.evaluate(p);
    BOOST_TEST(r.accuracy == right / 3.);   // of the three that count
    double sum = 0;
    for (std::size_t i : {0u, 1u, 4u}) sum += cross_entropy(z_copy.data() + 2 * i, set_labels[i]);
    auto one_by_one = data::source(set) | data::batch(1);   // a label counts as much, however many its batch has
    BOOST_TEST(r.loss == sum / 3, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(model.evaluate(one_by_one).loss == sum / 3, boost::test_tools::tolerance(1e-6));
    const float x[3] = {};
    const std::int32_t wrong[3] = {0, -2, 1};
    const data::batch_view bad{.x = x, .labels = wrong, .size = 1};
    check_error<data_error>([&] { model.inner().step(bad); }, "label out of range", "element 1", "-2", "0 to 1, or -1");
}
BOOST_AUTO_TEST_CASE(a_pass_is_averaged_over_weights_however_it_is_cut) {
    constexpr auto net = features<1> >> dense<2>;
    estimator model{net, weighted(softmax_cross_entropy), sgd{.learning_rate = 0.f}, max_batch<4>, {.threads = 1}};
    const std::vector<std::int32_t> labels{0, 1, 1, 1, 0};
    const std::vector<float> weights{0.5f, 4, 0, 0, 2};
    const auto set = data::dataset(extents(1), {1, -1, 2, -2, 3}).labels(labels, 2).weights(weights);
    double sum = 0, weight = 0;
    auto whole = data::source(set) | data::batch(1);
    for (const data::batch_view& b : whole) {
        const double w = static_cast<double>(b.weights[0]);
        sum += w * cross_entropy(model.predict(b).data(), b.labels[0]);
        weight += w;
    }
    for (int size : {1, 2, 4}) {   // of two: one batch has no weight at all
        auto p = data::source(set) | data::batch(size);
        const auto r = model.evaluate(p);
        BOOST_TEST(r.loss == sum / weight, boost::test_tools::tolerance(1e-6));
        BOOST_TEST(r.examples == 5);
        BOOST_TEST(model.train(p, {.progress = nullptr})[0].loss == sum / weight, boost::test_tools::tolerance(1e-6));
    }
    auto nothing = data::source(data::dataset(extents(1), {1, 2}).labels({0, 1}, 2).weights({0, 0})) | data::batch(2);
    BOOST_TEST(model.evaluate(nothing).loss == 0);
}
BOOST_AUTO_TEST_CASE(examples_of_no_weight_are_not_counted) {
    constexpr auto net = features<1> >> dense<2>;
    estimator model{net, weighted(softmax_cross_entropy), sgd{}, max_batch<4>, {.threads = 1}};
    data::dataset set(extents(1), {1, -1, 2, -2});
    set.labels({0, 1, 1, 1}).weights({0, 1, 0, 1});
    auto p = data::source(set) | data::batch(4);
    const auto z = model.predict(*p.next());
    const double want = ((z[3] > z[2]) + (z[7] > z[6])) / 2.;
    p.rewind();
    BOOST_TEST(model.evaluate(p).accuracy == want);
    constexpr auto plain = features<1> >> dense<2>;
    estimator other{plain, softmax_cross_entropy, sgd{}, max_batch<4>, {.threads = 1}};
    p.rewind();
    check_error<data_error>([&] { other.evaluate(p); }, "the batch has weights and the loss takes none", "batch",
                            "weights", "weighted(loss)");
    p.rewind();
    BOOST_TEST(other.predict(*p.next()).size() == 8u);   // prediction does not care
}
