// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE clip
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <cmath>

#include "fixtures/pytorch_ops.hpp"
#include "support/check_net.hpp"

// Linear regression under clipping by global norm, 50 steps, against the same in plain loops over doubles.
using namespace sinter;
using namespace sinter::compiler;

constexpr int inputs_n = 3, outputs_n = 2, batch_n = 5;
constexpr auto net = features<inputs_n> >> dense<outputs_n>;
template <class Optimizer>
using trainer_of = trainer<std::remove_const_t<decltype(net)>, mse_loss, Optimizer, 8>;

/// The parameters, a row of the kernel for each input and then the bias, and what an optimizer remembers of them.
struct reference {
    static constexpr int rows = inputs_n + 1, n = rows * outputs_n;
    double p[n] = {}, g[n] = {}, m[n] = {}, v[n] = {}, norm = 0;

    void gradient(const float* x, const float* y) {
        std::fill_n(g, n, 0.);
        for (int i = 0; i < batch_n; ++i)
            for (int o = 0; o < outputs_n; ++o) {
                const auto input = [&](int r) { return r < inputs_n ? static_cast<double>(x[i * inputs_n + r]) : 1.; };
                double error = -static_cast<double>(y[i * outputs_n + o]);
                for (int r = 0; r < rows; ++r) error += input(r) * p[r * outputs_n + o];
                for (int r = 0; r < rows; ++r) g[r * outputs_n + o] += 2 * error * input(r) / (batch_n * outputs_n);
            }
        norm = 0;
        for (double e : g) norm += e * e;
        norm = std::sqrt(norm);
    }
    void clip(double most) {
        const double factor = most / (norm + 1e-6);
        for (double& e : g) e *= factor < 1 ? factor : 1;
    }
    void sgd_step(double rate) {
        for (int i = 0; i < n; ++i) p[i] -= rate * g[i];
    }
    void adam_step(double rate, int t, double b1, double b2, double epsilon) {   // t counts from 1
        for (int i = 0; i < n; ++i) {
            m[i] = b1 * m[i] + (1 - b1) * g[i];
            v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
            p[i] -= rate * (m[i] / (1 - std::pow(b1, t))) / (std::sqrt(v[i] / (1 - std::pow(b2, t))) + epsilon);
        }
    }
};

/// Runs both; `step(reference, t)` is the reference's update, from t = 0. `most`: the greatest norm that passes.
template <class Optimizer, class Step>
static void compare(Optimizer optimizer, double most, Step step) {
    trainer_of<Optimizer> t(optimizer, {.threads = 2});
    float x[batch_n * inputs_n], y[batch_n * outputs_n];
    random_stream random(7);
    for (float& e : x) e = random.uniform(-1, 1);
    for (float& e : y) e = random.uniform(-2, 2);
    reference r;
    for (int k = 0, i = 0; k < t.parameters(); ++k)
        for (float w : t.plain(t.parameter(k))) r.p[i++] = static_cast<double>(w);

    int clipped = 0;
    for (int s = 0; s < 50; ++s) {
        t.step({.x = x, .y = y, .size = batch_n});
        r.gradient(x, y);
        double squares = 0;
        for (int k = 0; k < t.parameters(); ++k)
            for (float e : t.gradient(t.parameter(k))) squares += static_cast<double>(e) * static_cast<double>(e);
        BOOST_TEST(std::abs(std::sqrt(squares) - r.norm) <= 1e-4 * (r.norm + 1e-3), "norm at step " << s);
        clipped += r.norm > most;
        r.clip(most);
        step(r, s);
        for (int k = 0, i = 0; k < t.parameters(); ++k)
            for (float w : t.plain(t.parameter(k))) {
                BOOST_TEST(std::abs(static_cast<double>(w) - r.p[i]) <= 2e-5 * (1 + std::abs(r.p[i])),
                           "parameter " << i << " after step " << s << ": " << w << ", in doubles " << r.p[i]);
                ++i;
            }
    }
    BOOST_TEST(clipped > 0);    // both sides of the rule were at work
    BOOST_TEST(clipped < 50);
}

BOOST_AUTO_TEST_CASE(sgd_clipped) {
    compare(clip_by_global_norm{0.5f, sgd{.learning_rate = 0.2f}}, 0.5, [](reference& r, int) { r.sgd_step(0.2f); });
}
BOOST_AUTO_TEST_CASE(adam_clipped_under_a_schedule) {
    const schedule rate = warm_up(5, cosine(0.1f, 40, 0.01f));
    compare(clip_by_global_norm{0.5f, adam{.learning_rate = rate}}, 0.5,
            [&](reference& r, int s) { r.adam_step(static_cast<double>(rate.at(s)), s + 1, 0.9f, 0.999f, 1e-7f); });
}
/// Two parameters whose gradients are the targets.
struct two_parameters {
    static constexpr bundle trace(graph& g) {
        bundle all;
        all.g = &g;
        all.t[all.n++] = parameter({&g, 0}, "first", extents(5), zeros);
        all.t[all.n++] = parameter({&g, 0}, "second", extents(2, 3), zeros);
        return all;
    }
};
BOOST_AUTO_TEST_CASE(as_pytorch) {
    using namespace sinter::test;
    namespace golden = fixture::pytorch;
    const doubles first({5}, std::vector<double>(golden::clip_first, golden::clip_first + 5));
    const doubles second({2, 3}, std::vector<double>(golden::clip_second, golden::clip_second + 6));
    double squares = 0;
    for (const doubles* g : {&first, &second})
        for (double e : g->v) squares += e * e;
    BOOST_TEST(std::sqrt(squares) == golden::clip_norm, boost::test_tools::tolerance(1e-12));

    const auto check = [&](double most, const double (&want_first)[5], const double (&want_second)[6]) {
        const clip_by_global_norm optimizer{static_cast<float>(most), sgd{.learning_rate = 1.f}};
        const auto p = make_run<two_parameters, weigh_outputs, program_options{}, 1, program_mode::training,
                                std::remove_const_t<decltype(optimizer)>>();
        optimizer.scalars(0, p->scalars);
        p->run(1, {first, second});
        const auto gone = [&](int i) {   // from zero, a step of rate 1 goes down by the clipped gradient
            std::vector<float> x = p->value(p->parameters[static_cast<std::size_t>(i)]);
            for (float& e : x) e = -e;
            return x;
        };
        check_close(gone(0), doubles({5}, std::vector<double>(want_first, want_first + 5)), 1e-6, "first");
        check_close(gone(1), doubles({2, 3}, std::vector<double>(want_second, want_second + 6)), 1e-6, "second");
    };
    check(golden::clip_small_limit, golden::clip_small_first, golden::clip_small_second);
    check(golden::clip_large_limit, golden::clip_large_first, golden::clip_large_second);
}
BOOST_AUTO_TEST_CASE(a_norm_that_is_never_reached_changes_nothing) {
    trainer_of<sgd> plain(sgd{.learning_rate = 0.1f}, {.threads = 1});
    trainer_of<clip_by_global_norm<sgd>> clipped({1e6f, sgd{.learning_rate = 0.1f}}, {.threads = 1});
    float x[batch_n * inputs_n] = {1, 2, 3, -1, 0, 2}, y[batch_n * outputs_n] = {1, -1, 2};
    // Close, not equal: one updates within the gradient's kernel and one in a sweep, whose
    // roundings are the compiler's.
    for (int s = 0; s < 20; ++s) {
        const float a = plain.step({.x = x, .y = y, .size = batch_n}),
            b = clipped.step({.x = x, .y = y, .size = batch_n});
        BOOST_TEST(std::abs(a - b) <= 1e-6f * (1 + a), "losses " << a << " and " << b << " at step " << s);
    }
    for (int k = 0; k < plain.parameters(); ++k) {
        const auto a = plain.plain(plain.parameter(k)), b = clipped.plain(clipped.parameter(k));
        for (std::size_t i = 0; i < a.size(); ++i)
            BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-6f * (1 + std::abs(a[i])), "parameter " << k << ", element " << i);
    }
}
