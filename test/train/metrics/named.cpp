// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE named_metrics
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/together.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/metrics.hpp>
#include <cmath>

// Metrics by name in evaluate and train against sums written here over what predict gives.
using namespace sinter;

static constexpr int n = 23;   // not a multiple of the batch
static std::vector<float> inputs() {
    std::vector<float> x;
    for (int i = 0; i < 3 * n; ++i) x.push_back(static_cast<float>(i * 37 % 29) / 14.5f - 1);
    return x;
}
static std::vector<std::int32_t> labels(int classes) {
    std::vector<std::int32_t> y;
    for (int i = 0; i < n; ++i) y.push_back(i * i % 7 % classes);
    return y;
}

BOOST_AUTO_TEST_CASE(of_two_classes) {
    estimator m{features<3> >> dense<2>, weighted(softmax_cross_entropy), sgd{}, {.threads = 1, .seed = 3}};
    std::vector<float> w;
    for (int i = 0; i < n; ++i) w.push_back(i % 5 ? 2.f : 0.f);
    data::example_set s(extents(3), inputs());
    s.labels(labels(2), 2).weights(w);
    auto d = data::source(s) | data::batch(8);
    const std::vector<float> z = m.predict(d);
    const std::vector<std::int32_t> y = labels(2);
    int tp = 0, fp = 0, fn = 0, low = 0, positive = 0;
    for (int i = 0; i < n; ++i) {
        if (w[i] == 0) continue;
        const bool yes = z[2 * i + 1] > z[2 * i];
        tp += yes && y[i], fp += yes && !y[i], fn += !yes && y[i];
        const double p = 1 / (1 + std::exp(static_cast<double>(z[2 * i] - z[2 * i + 1])));
        positive += y[i], low += y[i] && p > 0.3;
    }
    const evaluation_result r = m.evaluate(d, metrics::accuracy{}, metrics::f1{}, metrics::precision{},
                                           metrics::named("found at 0.3", metrics::recall(0.3f)));
    BOOST_TEST_REQUIRE(r.metrics.size() == 4u);
    BOOST_TEST_REQUIRE(tp + fp + fn > 0);
    BOOST_TEST(r.value("f1") == 2. * tp / (2 * tp + fp + fn));
    BOOST_TEST(r.value("precision") == static_cast<double>(tp) / (tp + fp));
    BOOST_TEST(r.value("found at 0.3") == static_cast<double>(low) / positive);
    BOOST_TEST(r.value("loss") == r.loss);
    BOOST_TEST(r.value("accuracy") == r.metrics[0].value);
    BOOST_TEST(m.evaluate(d).loss == r.loss);
    check_error<option_error>([&] { r.value("f2"); }, "there is no metric of this name", "value", "f2", "found at 0.3");
    check_error<option_error>([&] { m.evaluate(d, metrics::mse{}); },
                              "does not fit", "mse", "class numbers", "float targets");
    check_error<option_error>([&] { m.evaluate(d, metrics::named("a", metrics::f1{}, 1)); },
                              "no such output", "a", "1", "0 to 0");
}
BOOST_AUTO_TEST_CASE(of_several_classes_and_ignored_places) {
    constexpr auto loss = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(2)>;
    estimator m{features<3> >> dense<3>, loss, sgd{}, {.threads = 1}};
    data::example_set s(extents(3), inputs());
    s.labels(labels(3), 3);
    auto d = data::source(s) | data::batch(8);
    const std::vector<float> z = m.predict(d);
    const std::vector<std::int32_t> y = labels(3);
    int two = 0, all = 0;
    for (int i = 0; i < n; ++i) {
        if (y[i] == 2) continue;
        int before = 0;
        for (int c = 0; c < 3; ++c) before += z[3 * i + c] > z[3 * i + y[i]];
        two += before < 2, ++all;
    }
    BOOST_TEST(m.evaluate(d, metrics::top_k{2}).value("top_k") == static_cast<double>(two) / all);
    check_error<option_error>([&] { m.evaluate(d, metrics::f1{}); }, "does not fit", "f1", "3 classes", "two classes");
}
/// A net of two outputs: what belongs to the second is found there.
struct both {
    static constexpr target_list targets{target_spec(target_kind::same_as_output).of_output(1),
                                         target_spec(target_kind::class_index).of_output(0)};
    constexpr tensor operator()(bundle y, bundle t) const {
        return mse(y[1], t[0]) + softmax_cross_entropy(y[0], t[1]);
    }
};
BOOST_AUTO_TEST_CASE(of_numbers_and_of_other_outputs) {
    constexpr auto two = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<2>(x)); };
    estimator m{two, both{}, sgd{}, {.threads = 1}};
    std::vector<float> t;
    for (int i = 0; i < 2 * n; ++i) t.push_back(static_cast<float>(i % 9) - 4);
    data::example_set s(extents(3), inputs());
    s.targets(extents(2), t).labels(labels(2), 2);
    auto d = data::source(s) | data::batch(8);
    const std::vector<float> y = m.predict(d, 1), z = m.predict(d, 0);
    double absolute = 0, ss[2] = {}, mean[2] = {}, tot[2] = {};
    for (int i = 0; i < 2 * n; ++i) absolute += std::fabs(static_cast<double>(y[i]) - static_cast<double>(t[i]));
    for (int i = 0; i < 2 * n; ++i) mean[i % 2] += static_cast<double>(t[i]) / n;
    for (int i = 0; i < 2 * n; ++i) {
        ss[i % 2] += std::pow(static_cast<double>(y[i]) - static_cast<double>(t[i]), 2);
        tot[i % 2] += std::pow(static_cast<double>(t[i]) - mean[i % 2], 2);
    }
    int right = 0;
    for (int i = 0; i < n; ++i) right += (z[2 * i + 1] > z[2 * i]) == (labels(2)[i] == 1);
    using metrics::named;
    const evaluation_result r = m.evaluate(d, named("mae", metrics::mae{}, 1), named("r2", metrics::r2(2), 1),
                                           metrics::accuracy{});
    BOOST_TEST(r.value("mae") == absolute / (2 * n), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(r.value("r2") == 1 - (ss[0] / tot[0] + ss[1] / tot[1]) / 2, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(r.metrics[2].value == static_cast<double>(right) / n);
    BOOST_TEST(r.metrics[0].falls);
    check_error<option_error>([&] { m.evaluate(d, named("r2", metrics::r2(1), 1)); },
                              "does not fit", "r2", "1 columns", "2");
}
BOOST_AUTO_TEST_CASE(in_training_and_by_hooks) {
    estimator m{features<3> >> dense<2>, softmax_cross_entropy, adam{.learning_rate = 0.05f}, {.threads = 1}};
    data::example_set s(extents(3), inputs());
    s.labels(labels(2), 2);
    auto d = data::source(s) | data::batch(8), v = data::source(s) | data::batch(5);
    keep_best best(m, {.monitor = "val_f1"});
    std::FILE* const shown = std::tmpfile();
    const auto h = m.train(d, {.epochs = 12, .validation = &v, .progress = shown,
                                .after_epoch = together(best), .metrics = {metrics::f1{0.4f}}});
    std::rewind(shown);
    char text[4000] = {};
    BOOST_TEST(std::fread(text, 1, sizeof text - 1, shown) > 0u);
    std::fclose(shown);
    BOOST_TEST(std::string(text).find("  val_f1 ") != std::string::npos);
    BOOST_TEST(m.evaluate(v, metrics::f1{0.4f}).value("f1") == h.back().value("val_f1"));
    BOOST_TEST(h.back().value("val_loss") == h.back().validation_loss);
    double most = -1;
    int at = 0;
    for (const epoch_result& r : h)
        if (r.value("val_f1") > most) most = r.value("val_f1"), at = r.epoch;
    BOOST_TEST(best.best() == most);
    BOOST_TEST(best.best_epoch() == at);
    check_error<option_error>([&] { m.train(d, {.progress = nullptr, .metrics = {metrics::f1{}}}); },
                              "metrics without data", "train", "f1", "validation");
}
BOOST_AUTO_TEST_CASE(hooks_know_which_way_is_better) {
    auto stops = [](bool falls, const char* name, std::initializer_list<double> values) {
        early_stop stop({.patience = 1, .monitor = name});
        int epoch = 0;
        for (const double v : values)
            if (!stop({.epoch = ++epoch, .validation_loss = v, .metrics = {{"val_m", v, falls}}})) return epoch;
        return 0;
    };
    BOOST_TEST(stops(false, "val_m", {1, 2, 3, 2.5}) == 4);
    BOOST_TEST(stops(true, "val_m", {3, 2, 1, 1.5}) == 4);
    BOOST_TEST(stops(false, "val_loss", {3, 2, 1, 1.5}) == 4);
    check_error<option_error>([&] { stops(false, "val_x", {1}); }, "no metric of this name", "value", "val_x", "val_m");
    check_error<data_error>([&] { stops(false, "val_m", {NAN}); },
                            "not measured", "early_stop, epoch 1", "val_m is NaN", "");
}
