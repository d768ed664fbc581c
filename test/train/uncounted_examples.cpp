// SPDX-License-Identifier: BSL-1.0
// shows numbers: what does not count touches nothing: padding, ignored labels, weights of 0 may be NaN
#define BOOST_TEST_MODULE uncounted_examples
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <cmath>

// Examples that count for nothing may hold anything: training beside them is, bit for bit, training
// beside zeros, and in doubles it is training without them.
using namespace sinter;
using floats = std::vector<float>;
using ints = std::vector<std::int32_t>;

template <class Trainer>
static floats everything(const Trainer& t) {
    floats all;
    const auto add = [&](const floats& v) { all.insert(all.end(), v.begin(), v.end()); };
    for (int i = 0; i < t.parameters(); ++i) {
        add(t.plain(t.parameter(i)));
        for (int k = 0; k < t.slots_of(t.parameter(i)); ++k) add(t.plain_slot(t.parameter(i), k));
    }
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}
static bool finite(const floats& all) {
    for (const float v : all)
        if (!std::isfinite(v)) return false;
    return true;
}
static constexpr float wrong[] = {NAN, INFINITY, -INFINITY, 3e38f, -2e19f};
static constexpr int n = 4, wide = 6;
static floats some(int count, int from = 0) {
    floats x;
    for (int i = from; i < from + count; ++i) x.push_back(static_cast<float>(i * 29 % 17) / 8.5f - 1);
    return x;
}

/// Trains on batches of 4 of which example 1 does not count; `b` has everything but inputs. In one
/// run that example's input is zeros, in another some of it is not finite.
template <class Optimizer, class Net, class Loss>
static void check(Net, Loss, data::batch_view b, const char* what, Optimizer o = {}, float* bad_target = nullptr) {
    for (const float bad : wrong)
        for (const int places : {1, wide}) {
            trainer<Net, Loss, Optimizer, n> zeros(o, {.threads = 2}), spoiled(o, {.threads = 2});
            for (int step = 0; step < 3; ++step) {
                floats x = some(n * wide, 5 * step);
                std::fill_n(x.begin() + wide, wide, 0.f);
                const data::input_view in{x.data(), nullptr, wide};
                b.x = x.data(), b.inputs = {&in, 1}, b.size = n;
                const float l = zeros.step(b);
                if (places == 1) x[wide + 1] = 0.5f;   // replaced as well: the example's input is zeros
                std::fill_n(x.begin() + wide + 2, places == 1 ? 1 : 2, bad);
                const float right = bad_target ? std::exchange(*bad_target, bad) : 0;
                BOOST_TEST(spoiled.step(b) == l, what);
                BOOST_TEST((everything(spoiled) == everything(zeros)), what);
                BOOST_TEST(spoiled.evaluate(b) == zeros.evaluate(b), what);
                if (bad_target) *bad_target = right;
            }
            BOOST_TEST(finite(everything(spoiled)), what);
        }
}
static constexpr auto layers = dense<5> >> activation::tanh >> dense<3>;

BOOST_AUTO_TEST_CASE(weights_of_zero) {
    floats w{1, 0, 0.5f, 2}, y = some(3 * n);
    const ints labels{0, 1, 2, 1};
    const data::batch_view of_numbers{.y = y.data(), .y_width = 3, .weights = w.data(), .weight_width = 1};
    const data::batch_view of_classes{.labels = labels.data(), .label_width = 1, .weights = w.data(),
                                      .weight_width = 1};
    constexpr auto net = features<wide> >> layers;
    check<sgd>(net, weighted(mse), of_numbers, "mse", sgd{.learning_rate = 0.1f}, &y[4]);
    check<adam>(net, weighted(softmax_cross_entropy), of_classes, "cross entropy");
    check<adam>(net, summed(weighted(mse)), of_numbers, "a sum", {}, &y[4]);
    check<adam>(net, averaged_over_batch(weighted(mse)), of_numbers, "over the batch");
    check<accumulated<2, adam>>(net, weighted(mse), of_numbers, "accumulated");
    check<adam>(features<wide> >> dense<5> >> batch_norm >> relu >> dense<3>, weighted(mse), of_numbers, "batch_norm");
    check<adam>(image<3, 2, 1> >> conv2d<4, 2> >> relu >> flatten >> dense<3>, weighted(mse), of_numbers, "conv2d");
    check<adam>(array<3, 2> >> lstm<4> >> flatten >> dense<3>, weighted(mse), of_numbers, "lstm");
}
BOOST_AUTO_TEST_CASE(a_weight_for_each_row) {
    const floats w{1, 0.5f, 2, 0, 0, 0, 0, 1, 1, 1, 1, 1}, y = some(2 * 3 * n);
    const data::batch_view b{.y = y.data(), .y_width = 6, .weights = w.data(), .weight_width = 3};
    check<adam>(array<3, 2> >> dense<5> >> relu >> dense<2>, row_weighted(mse), b, "rows");
}
BOOST_AUTO_TEST_CASE(ignored_labels) {
    const ints labels{0, -1, 2, 1}, places{0, -1, 2, -1, -1, -1, 1, 1, 0, 2, 2, -1};
    constexpr auto loss = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;
    check<adam>(features<wide> >> layers, loss, {.labels = labels.data(), .label_width = 1}, "one");
    check<adam>(array<3, 2> >> layers, loss, {.labels = places.data(), .label_width = 3}, "a sequence");
}
/// Of several outputs: an example that one loss ignores still counts in the other.
BOOST_AUTO_TEST_CASE(several_outputs) {
    constexpr auto net = features<wide> >> [](tensor x) { return outputs(dense<3>(x), dense<3>(x)); };
    constexpr auto ignoring = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(-1)>;
    const ints first{0, -1, 2, 1}, second{1, -1, 2, 0};
    const floats w{1, 0, 0.5f, 2}, y = some(3 * n);
    const data::input_view two[] = {{nullptr, first.data(), 1}, {nullptr, second.data(), 1}};
    check<adam>(net, per_output(ignoring, ignoring), {.targets = two}, "both ignore it");
    const data::input_view floats_too[] = {{nullptr, first.data(), 1}, {y.data(), nullptr, 3}};
    check<adam>(net, per_output(ignoring, weighted(mse)),
                {.weights = w.data(), .weight_width = 1, .targets = floats_too}, "ignored and weighted");
    const ints all_classes{0, 1, 2, 1};
    const data::input_view mixed[] = {{nullptr, all_classes.data(), 1}, {y.data(), nullptr, 3}};
    check<adam>(net, weighted(per_output(softmax_cross_entropy, mse)),
                {.weights = w.data(), .weight_width = 1, .targets = mixed}, "all of it weighted");
    trainer<decltype(net), decltype(per_output(ignoring, mse)), adam, n> t;
    floats x = some(n * wide);
    x[wide] = NAN;
    const data::input_view in{x.data(), nullptr, wide};
    BOOST_TEST(std::isnan(t.step({.x = x.data(), .size = n, .inputs = {&in, 1}, .targets = floats_too})));
}
/// One step of least squares without a hidden layer: weights as from the examples that count, in doubles.
BOOST_AUTO_TEST_CASE(as_without_them) {
    trainer<decltype(features<2> >> dense<1>), decltype(weighted(mse)), sgd, n> t(sgd{.learning_rate = 0.5f});
    const float start[2] = {0.25f, -1};
    for (int i = 0; i < t.parameters(); ++i)
        if (t.parameter(i).s.size() == 2) t.set_plain(t.parameter(i), start);
    const floats x{1, 2, NAN, 3, -1, 0.5f, INFINITY, 0}, y{1, NAN, 2, -INFINITY}, w{1, 0, 3, 0};
    t.step({.x = x.data(), .y = y.data(), .size = n, .y_width = 1, .weights = w.data(), .weight_width = 1});
    double g[2] = {};
    for (const int i : {0, 2}) {
        const double d = 0.25 * static_cast<double>(x[2 * i]) - static_cast<double>(x[2 * i + 1]) -
            static_cast<double>(y[i]);
        for (int k = 0; k < 2; ++k) g[k] += 2 * static_cast<double>(w[i]) / 4 * d * static_cast<double>(x[2 * i + k]);
    }
    for (int i = 0; i < t.parameters(); ++i)
        if (t.parameter(i).s.size() == 2)
            for (int k = 0; k < 2; ++k)
                BOOST_TEST(t.plain(t.parameter(i))[k] == static_cast<double>(start[k]) - 0.5 * g[k],
                           boost::test_tools::tolerance(1e-6));
}
/// What does count is still named, and the example that does not is not blamed.
BOOST_AUTO_TEST_CASE(the_example_that_counts_is_named) {
    estimator m{features<2> >> dense<1>, weighted(mse), sgd{}};
    data::dataset s(extents(2), floats{1, 2, NAN, 3, 1, INFINITY, 4, 4});
    s.targets(extents(1), floats{1, NAN, 2, 3}).weights(floats{1, 0, 1, 1});
    auto d = data::source(s) | data::batch(4);
    check_error<data_error>([&] { m.train(d, {.progress = nullptr}); }, "not finite",
                            "input 0, example 2 of the batch, number 1", "inf");
}
