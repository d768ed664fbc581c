// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE per_output
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/mae.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <cmath>

// A loss for each output against the same written as a function of two bundles, and against central
// differences in doubles.
using namespace sinter;

static constexpr int n = 5;
constexpr auto net = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<3>(x), dense<1>(x)); };
constexpr auto ready = per_output(weigh<0.3>(mse), softmax_cross_entropy, weigh<-0.5>(mae));
constexpr target_list in_order{target_spec(target_kind::same_as_output).of_output(0),
                               target_spec(target_kind::class_index).of_output(1),
                               target_spec(target_kind::same_as_output).of_output(2)};
constexpr auto by_hand = expects<in_order>([](bundle y, bundle t) {
    return 0.3f * mse(y[0], t[0]) + softmax_cross_entropy(y[1], t[1]) - 0.5f * mae(y[2], t[2]);
});

static const std::vector<float> x{1, 2, -1, 0.5f, 0, 1, -2, 1, 0.25f, 1, 1, 1, -1, 0.5f, 2};
static const std::vector<float> first{1, -1, 0, 2, 0.5f, 3, -2, 1, 0, 0}, third{9, -8, 7, 6, -9};
static const std::vector<std::int32_t> second{0, 2, 1, 1, 0};
static const std::vector<float> weigh_each{1, 0, 2, 0.5f, 1};
static data::dataset examples(bool weighted) {
    data::dataset s(extents(3), x);
    s.targets(extents(2), first).labels(second, 3).targets(extents(1), third);
    if (weighted) s.weights(weigh_each);
    return s;
}
template <class Loss>
static auto trained(Loss /*loss*/, data::dataset s, int steps) {
    constexpr program_options stored{.store_gradients = true};
    using of_loss = trainer<std::remove_cvref_t<decltype(net)>, Loss, adam, build_options{n, stored}>;
    auto t = std::make_unique<of_loss>(adam{.learning_rate = 0.02f}, trainer_options{.threads = 1});
    auto d = data::source(s) | data::batch(n);
    const data::batch_view b = *d.next();
    std::vector<float> seen;
    for (int i = 0; i < steps; ++i) seen.push_back(t->step(b));
    return std::pair{std::move(t), seen};
}
template <class A, class B>
static void check_same(const A& a, const B& b) {
    for (std::size_t i = 0; i < a.second.size(); ++i)
        BOOST_TEST(a.second[i] == b.second[i], boost::test_tools::tolerance(2e-6f));
    for (int i = 0; i < a.first->parameters(); ++i) {
        const std::vector<float> p = a.first->plain(a.first->parameter(i)), q = b.first->plain(b.first->parameter(i));
        for (std::size_t k = 0; k < p.size(); ++k) BOOST_TEST(std::fabs(p[k] - q[k]) < 2e-6f);
    }
}
BOOST_AUTO_TEST_CASE(as_written_by_hand) {
    check_same(trained(ready, examples(false), 20), trained(by_hand, examples(false), 20));
    check_same(trained(weighted(ready), examples(true), 20), trained(weighted(by_hand), examples(true), 20));
    BOOST_TEST((decltype(ready)::targets == in_order));
}

/// The net and its loss in doubles: `w` holds the plain parameters, kernels [3, columns] and
/// biases, in the net's order. `weighted`: the first loss alone is, and so is its mean.
static double reference(const std::vector<std::vector<double>>& w, bool weighted) {
    auto at = [&](int i, int k) { return w[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]; };
    double sum[3] = {}, weight = 0;
    const int columns[3] = {2, 3, 1};
    for (int e = 0; e < n; ++e) {
        double y[3][3] = {};
        for (int o = 0; o < 3; ++o)
            for (int c = 0; c < columns[o]; ++c) {
                y[o][c] = at(2 * o + 1, c);
                for (int k = 0; k < 3; ++k)
                    y[o][c] += static_cast<double>(x[3 * e + k]) * at(2 * o, k * columns[o] + c);
            }
        double squares = 0, total = 0;
        for (int c = 0; c < 2; ++c) squares += std::pow(y[0][c] - static_cast<double>(first[2 * e + c]), 2) / 2;
        for (int c = 0; c < 3; ++c) total += std::exp(y[1][c]);
        const double wt = weighted ? static_cast<double>(weigh_each[e]) : 1;
        sum[0] += wt * squares, weight += wt;
        sum[1] += std::log(total) - y[1][second[e]];
        sum[2] += std::fabs(y[2][0] - static_cast<double>(third[e]));
    }
    return 0.3 * sum[0] / weight + sum[1] / n - 0.5 * sum[2] / n;
}
template <class T>
static void check_gradients(const T& t, const std::vector<std::vector<double>>& at, float loss, bool weighted) {
    BOOST_TEST(static_cast<double>(loss) == reference(at, weighted), boost::test_tools::tolerance(1e-5));
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> g = t.gradient(t.parameter(i));
        for (std::size_t k = 0; k < g.size(); ++k) {
            auto low = at, high = at;
            low[static_cast<std::size_t>(i)][k] -= 1e-5, high[static_cast<std::size_t>(i)][k] += 1e-5;
            const double want = (reference(high, weighted) - reference(low, weighted)) / 2e-5;
            BOOST_TEST(std::fabs(static_cast<double>(g[k]) - want) < 2e-6);
        }
    }
}
template <class Loss>
static void check_against_differences(Loss loss, bool weighted) {
    const auto fresh = trained(loss, examples(weighted), 0), once = trained(loss, examples(weighted), 1);
    std::vector<std::vector<double>> w;
    for (int i = 0; i < fresh.first->parameters(); ++i) {
        const std::vector<float> p = fresh.first->plain(fresh.first->parameter(i));
        w.emplace_back(p.begin(), p.end());
    }
    check_gradients(*once.first, w, once.second[0], weighted);
    BOOST_TEST(once.first->loss_weight() == n);
}
BOOST_AUTO_TEST_CASE(central_differences) {
    check_against_differences(ready, false);
    check_against_differences(per_output(weigh<0.3>(weighted(mse)), softmax_cross_entropy, weigh<-0.5>(mae)), true);
}
