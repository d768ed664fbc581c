// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE named_metrics
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "support/captured.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/metrics.hpp>
#include <algorithm>
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
    data::dataset s(extents(3), inputs());
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
    data::dataset s(extents(3), inputs());
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
    data::dataset s(extents(3), inputs());
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
/// What is more than a number, and what is made of logits, against sums over what predict gives.
BOOST_AUTO_TEST_CASE(matrices_areas_and_perplexity) {
    constexpr auto loss = softmax_cross_entropy_with<cross_entropy_options{}.ignoring(2)>;
    estimator m{features<3> >> dense<3>, loss, sgd{}, {.threads = 1}};
    data::dataset s(extents(3), inputs());
    s.labels(labels(3), 3);
    auto d = data::source(s) | data::batch(8), v = data::source(s) | data::batch(5);
    const std::vector<float> z = m.predict(d);
    const std::vector<std::int32_t> y = labels(3);
    int table[3][3] = {}, right = 0, all = 0;
    double cross_entropy = 0;
    for (int i = 0; i < n; ++i) {
        if (y[i] == 2) continue;
        const float* const row = &z[3 * i];
        const int best = static_cast<int>(std::max_element(row, row + 3) - row);
        ++table[y[i]][best], ++all, right += best == y[i];
        double sum = 0;
        for (int c = 0; c < 3; ++c) sum += std::exp(static_cast<double>(row[c]));
        cross_entropy -= std::log(std::exp(static_cast<double>(row[y[i]])) / sum);
    }
    using metrics::confusion_matrix, metrics::perplexity;
    const evaluation_result r = m.evaluate(d, confusion_matrix{3}, perplexity{},
                                           metrics::named("again", confusion_matrix{3}));
    BOOST_TEST(r.value("confusion_matrix") == static_cast<double>(right) / all);
    for (int t = 0; t < 3; ++t)
        for (int p = 0; p < 3; ++p) BOOST_TEST(r.as<confusion_matrix>("again").count(t, p) == table[t][p]);
    BOOST_TEST(r.value("perplexity") == std::exp(cross_entropy / all), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(r.value("perplexity") == std::exp(r.loss), boost::test_tools::tolerance(1e-6));
    BOOST_TEST(r.metrics[1].falls);
    BOOST_TEST(r.as<perplexity>("perplexity").count() == all);
    const auto h = m.train(d, {.epochs = 2, .validation = &v, .progress = nullptr, .metrics = {confusion_matrix{3}}});
    const auto& last = h[1].as<confusion_matrix>("val_confusion_matrix");
    const auto after = m.evaluate(v, confusion_matrix{3}).as<confusion_matrix>("confusion_matrix");
    for (int t = 0; t < 3; ++t)
        for (int p = 0; p < 3; ++p) BOOST_TEST(last.count(t, p) == after.count(t, p));
    check_error<option_error>([&] { m.evaluate(d, confusion_matrix{4}); },
                              "does not fit", "confusion_matrix", "4 classes", "3");
    check_error<option_error>([&] { r.as<perplexity>("again"); }, "of another class", "again", "another", "class");
    check_error<option_error>([&] { r.as<perplexity>("x"); }, "no metric of this name", "value", "x", "perplexity");
}
/// The chance that a positive example scores higher than a negative one, over all pairs, ties by bucket.
static double pairs(const std::vector<double>& p, const std::vector<int>& y, int buckets) {
    double won = 0, all = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t k = 0; k < p.size(); ++k) {
            if (!y[i] || y[k]) continue;
            const double a = std::ceil(p[i] * buckets), b = std::ceil(p[k] * buckets);
            won += a > b ? 1 : a == b ? 0.5 : 0, all += 1;
        }
    return won / all;
}
BOOST_AUTO_TEST_CASE(areas_of_probabilities_and_of_logits) {
    const std::vector<std::int32_t> y = labels(2);
    data::dataset s(extents(3), inputs());
    s.labels(y, 2);
    auto d = data::source(s) | data::batch(8);
    estimator m{features<3> >> dense<2>, softmax_cross_entropy, sgd{}, {.threads = 1, .seed = 3}};
    const std::vector<float> z = m.predict(d);
    std::vector<double> p;
    for (int i = 0; i < n; ++i) p.push_back(1 / (1 + std::exp(static_cast<double>(z[2 * i] - z[2 * i + 1]))));
    const double roc = pairs(p, std::vector<int>(y.begin(), y.end()), 199);
    const evaluation_result r = m.evaluate(d, metrics::auc{}, metrics::auc_pr{},
                                           metrics::named("of logits", metrics::auc({.from_logits = true})));
    BOOST_TEST(r.value("auc") == roc, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(r.value("of logits") == roc, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(r.value("auc_pr") == r.as<metrics::auc>("auc").pr());
    BOOST_TEST(r.value("auc_pr") != roc);

    std::vector<float> t;
    for (int i = 0; i < n; ++i) t.push_back(static_cast<float>(y[i]));
    data::dataset of_floats(extents(3), inputs());
    of_floats.targets(extents(1), t);
    auto f = data::source(of_floats) | data::batch(8);
    estimator one{features<3> >> dense<1>, sigmoid_cross_entropy, sgd{}, {.threads = 1, .seed = 3}};
    const std::vector<float> w = one.predict(f);
    p.clear();
    for (int i = 0; i < n; ++i) p.push_back(1 / (1 + std::exp(-static_cast<double>(w[i]))));
    BOOST_TEST(one.evaluate(f, metrics::auc({.from_logits = true})).value("auc") ==
               pairs(p, std::vector<int>(y.begin(), y.end()), 199), boost::test_tools::tolerance(1e-12));
    check_error<data_error>([&] { one.evaluate(f, metrics::auc{}); },
                            "score is no probability", "auc, example", "", "from_logits");

    check_error<data_error>([&] { one.evaluate(f, metrics::f1{}); }, "score is no probability", "example", "",
                            "f1{0.f}");
    int right = 0;
    for (std::size_t i = 0; i < y.size(); ++i) right += (w[i] > 0) == (y[i] == 1);
    BOOST_TEST(one.evaluate(f, metrics::binary_accuracy{0.f}).value("binary_accuracy") == right / double{n});
    check_error<option_error>([&] { one.evaluate(f, metrics::accuracy{}); }, "does not fit", "accuracy",
                              "float targets", "binary_accuracy");
}
BOOST_AUTO_TEST_CASE(in_training_and_by_hooks) {
    estimator m{features<3> >> dense<2>, softmax_cross_entropy, adam{.learning_rate = 0.05f}, {.threads = 1}};
    data::dataset s(extents(3), inputs());
    s.labels(labels(2), 2);
    auto d = data::source(s) | data::batch(8), v = data::source(s) | data::batch(5);
    keep_best best({.monitor = "val_f1"});
    const test::captured shown;
    const auto h = m.train(
        d, {.epochs = 12, .validation = &v, .progress = shown.file, .metrics = {metrics::f1{0.4f}}}, best);
    BOOST_TEST(shown.text().find("  val_f1 ") != std::string::npos);
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
/// A metric of the test's that sees whole batches: the weighted share of examples whose two outputs agree.
struct agreement {
    static constexpr const char* name = "agreement";
    double agreed = 0, weight = 0;
    void add(const metrics::evaluated_batch& b) {
        BOOST_TEST_REQUIRE(b.outputs.size() == 2u);
        for (int i = 0; i < b.batch.size; ++i) {
            const double w = b.batch.targets[0].values[2 * i];   // any number of the batch's
            agreed += w *
                ((b.outputs[0][2 * i] > b.outputs[0][2 * i + 1]) == (b.outputs[1][2 * i] > b.outputs[1][2 * i + 1]));
            weight += w;
        }
    }
    double value() const { return agreed / weight; }
};
BOOST_AUTO_TEST_CASE(of_whole_batches) {
    static_assert(metrics::metric<agreement> && metrics::metric<metrics::f1> && !metrics::metric<int>);
    constexpr auto two = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<2>(x)); };
    estimator m{two, both{}, sgd{}, {.threads = 1}};
    std::vector<float> t;
    for (int i = 0; i < 2 * n; ++i) t.push_back(static_cast<float>(1 + i % 9));
    data::dataset s(extents(3), inputs());
    s.targets(extents(2), t).labels(labels(2), 2);
    auto d = data::source(s) | data::batch(8);
    const std::vector<float> z = m.predict(d, 0), y = m.predict(d, 1);
    double agreed = 0, weight = 0;
    for (int i = 0; i < n; ++i) {
        const double w = t[2 * i];
        agreed += w * ((z[2 * i] > z[2 * i + 1]) == (y[2 * i] > y[2 * i + 1])), weight += w;
    }
    for (int pass = 0; pass < 2; ++pass)
        BOOST_TEST(m.evaluate(d, agreement{}, metrics::accuracy{}).value("agreement") == agreed / weight);
}
BOOST_AUTO_TEST_CASE(hooks_know_which_way_is_better) {
    auto of = [](epoch_result r) {
        training_run run;
        run.result = std::move(r);
        return run;
    };
    auto stops = [&](bool falls, const char* name, std::initializer_list<double> values) {
        early_stop stop({.patience = 1, .monitor = name});
        int epoch = 0;
        for (const double v : values)
            if (training_run run = of({.epoch = ++epoch, .validation_loss = v, .metrics = {{"val_m", v, falls}}});
                stop.epoch_end(run), run.stopping())
                return epoch;
        return 0;
    };
    BOOST_TEST(stops(false, "val_m", {1, 2, 3, 2.5}) == 4);
    BOOST_TEST(stops(true, "val_m", {3, 2, 1, 1.5}) == 4);
    BOOST_TEST(stops(false, "val_loss", {3, 2, 1, 1.5}) == 4);
    check_error<option_error>([&] { stops(false, "val_x", {1}); }, "no metric of this name", "value", "val_x",
                            "val_m, loss, accuracy, val_loss, val_accuracy");
    // An f1 divides by nothing until something is decided positive: such an epoch is no better, and ends nothing.
    BOOST_TEST(stops(false, "val_m", {NAN, 1, NAN}) == 3);
    BOOST_TEST(stops(true, "val_m", {NAN, 1, 0.5, NAN}) == 4);
    BOOST_TEST(stops(false, "val_m", {NAN, NAN, 1}) == 2);
    check_error<data_error>([&] { stops(false, "val_loss", {NAN}); },
                            "not measured", "early_stop, epoch 1", "val_loss is NaN", "validation data");
}
