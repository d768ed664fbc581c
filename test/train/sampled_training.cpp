// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE sampled_training
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/nce.hpp>
#include <sinter/train/losses/sampled_softmax.hpp>

// Nets of many classes that are trained on a few of them in each step, and evaluated on all.
using namespace sinter;
constexpr int V = 60, K = 20, n = 240;

constexpr auto net = indices<1> >> embedding<V, 16> >> flatten >> candidate_scores<V>;

/// Class 7 i modulo V follows number i, and small numbers are frequent.
static data::dataset pairs() {
    std::vector<std::int32_t> x, y;
    for (int i = 0; i < n; ++i) {
        x.push_back(i < V ? i : i * i % V / 2);
        y.push_back(7 * x.back() % V);
    }
    return data::dataset().input(extents(1), x).labels(y, V);
}
template <class Model>
static double true_loss(Model& model, data::pipeline& p) {
    double sum = 0;
    p.rewind();
    for (const data::batch_view& b : p) {
        const auto z = model.predict(b);
        BOOST_REQUIRE_EQUAL(z.size(), static_cast<std::size_t>(b.size * V));
        for (int i = 0; i < b.size; ++i) {
            double all = 0;
            for (int c = 0; c < V; ++c) all += std::exp(static_cast<double>(z[static_cast<std::size_t>(i * V + c)]));
            sum += std::log(all) - static_cast<double>(z[static_cast<std::size_t>(i * V + b.labels[i])]);
        }
    }
    p.rewind();
    return sum / n;
}
template <class Loss>
static void check(Loss loss, int epochs) {
    estimator model{net, loss, adam{.learning_rate = 0.03f}, max_batch<n>, {.threads = 1}};
    auto p = pairs() | data::batch(n);
    const auto before = model.evaluate(p);
    p.rewind();
    BOOST_TEST(before.loss == true_loss(model, p), boost::test_tools::tolerance(1e-5));
    BOOST_TEST(before.accuracy < 0.3);
    const auto history = model.train(p, {.epochs = epochs, .progress = nullptr});
    BOOST_TEST(std::isnan(history[0].training_accuracy));   // training does not score all classes
    const auto after = model.evaluate(p);
    BOOST_TEST(after.accuracy > 0.95);
    p.rewind();
    BOOST_TEST(after.loss == true_loss(model, p), boost::test_tools::tolerance(1e-4));
}
BOOST_AUTO_TEST_CASE(by_sampled_softmax) { check(sampled_softmax<V, K>, 120); }
BOOST_AUTO_TEST_CASE(by_nce) { check(nce<V, K, true, sampling::unique>, 500); }
