// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE norm
#include <boost/test/unit_test.hpp>

#include <sinter/layers/activation.hpp>
#include <sinter/layers/dense.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/expr/input.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

namespace golden = fixture::pytorch;

template <std::size_t N>
doubles list(const double (&x)[N], std::vector<int> d) {
    return doubles(std::move(d), std::vector<double>(x, x + N));
}

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta; mean and variance over groups of elements that `group` names.
template <class Group>
doubles normalised(const doubles& x, const doubles& gamma, const doubles& beta, double epsilon, int groups,
                   Group group) {
    const int c = x.d.back();
    std::vector<double> n(static_cast<std::size_t>(groups)), mean(n), var(n);
    auto at = [&](int i) { return static_cast<std::size_t>(group(i)); };
    for (int i = 0; i < x.size(); ++i) ++n[at(i)], mean[at(i)] += x[i];
    for (std::size_t k = 0; k < n.size(); ++k) mean[k] /= n[k];
    for (int i = 0; i < x.size(); ++i) var[at(i)] += std::pow(x[i] - mean[at(i)], 2) / n[at(i)];
    doubles y(x.d);
    for (int i = 0; i < x.size(); ++i)
        y[i] = (x[i] - mean[at(i)]) / std::sqrt(var[at(i)] + epsilon) * gamma[i % c] + beta[i % c];
    return y;
}
/// In front, something with a parameter, so that the gradient passes through the layer.
template <int... D>
struct scaled_input {
    constexpr tensor operator()(tensor x) const { return x * parameter(x, "scale", extents(D...), ones); }
};
doubles times(const doubles& x, const doubles& p) {
    return map(x, p, [](double a, double b) { return a * b; });
}

BOOST_AUTO_TEST_CASE(batch_norm_of_images) {
    check_net(image<3, 2, 17> >> scaled_input<3, 2, 17>{} >> batch_norm, [](const auto& p, const auto& x) {
        return std::vector{normalised(times(x[0], p[0]), p[1], p[2], 1e-3, 17, [](int i) { return i % 17; })};
    }, {.value = 2e-5, .gradient = 1e-4});
}
BOOST_AUTO_TEST_CASE(batch_norm_of_five_axes) {
    check_net(array<2, 1, 2, 3, 4> >> scaled_input<2, 1, 2, 3, 4>{} >> batch_norm, [](const auto& p, const auto& x) {
        return std::vector{normalised(times(x[0], p[0]), p[1], p[2], 1e-3, 4, [](int i) { return i % 4; })};
    }, {.value = 2e-5, .gradient = 1e-4});
}
/// Relu behind it is found again from what the layer was given. (Numbers far from zero: batch_norm_moments.cpp.)
BOOST_AUTO_TEST_CASE(batch_norm_of_a_product) {
    check_net(features<5> >> dense<17> >> batch_norm >> relu, [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 17});
        for (int i = 0; i < y.size(); ++i) {
            y[i] = p[1][i % 17];
            for (int k = 0; k < 5; ++k) y[i] += x[0][i / 17 * 5 + k] * p[0][k * 17 + i % 17];
        }
        const doubles n = normalised(y, p[2], p[3], 1e-3, 17, [](int i) { return i % 17; });
        return std::vector{map(n, n, [](double a, double) { return a > 0 ? a : 0; })};
    }, {.value = 1e-4, .gradient = 1e-3});
}
BOOST_AUTO_TEST_CASE(layer_norm_of_rows) {
    check_net(array<3, 17> >> scaled_input<3, 17>{} >> layer_norm, [](const auto& p, const auto& x) {
        return std::vector{normalised(times(x[0], p[0]), p[1], p[2], 1e-5, 3 * x[0].d[0],
                                      [](int i) { return i / 17; })};
    }, {.value = 2e-5, .gradient = 1e-4});
}

BOOST_AUTO_TEST_CASE(batch_norm_as_pytorch) {
    constexpr auto net = features<3> >> batch_norm_with<0.9, 1e-5>;   // PyTorch's momentum is what we leave: 1 - 0.9
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 6>();
    p->set(p->parameters[0], list(golden::batch_norm_gamma, {3}));
    p->set(p->parameters[1], list(golden::batch_norm_beta, {3}));
    p->scalars[0] = 0;
    // ours is a mean
    auto scaled = [](const double (&dy)[18]) { return map(list(dy, {6, 3}), [](double v) { return 6 * v; }); };
    p->run(6, {list(golden::batch_norm_step1_x, {6, 3}), scaled(golden::batch_norm_step1_dy)});
    check_close(p->output(0, 6), list(golden::batch_norm_step1_y, {18}), 2e-6, "y");
    check_close(p->gradient(0), list(golden::batch_norm_step1_dgamma, {3}), 2e-6, "gamma");
    check_close(p->gradient(1), list(golden::batch_norm_step1_dbeta, {3}), 2e-6, "beta");
    p->run(6, {list(golden::batch_norm_step2_x, {6, 3}), scaled(golden::batch_norm_step2_dy)});
    check_close(p->output(0, 6), list(golden::batch_norm_step2_y, {18}), 2e-6, "y");
    check_close(p->value(p->states[0]), list(golden::batch_norm_running_mean, {3}), 2e-6, "running mean");
    check_close(p->value(p->states[1]), list(golden::batch_norm_running_variance_biased, {3}), 2e-6,
                "running variance");

    const auto e = make_run<decltype(net), weigh_outputs, as_fused, 6, program_mode::prediction>();
    for (std::size_t i = 0; i < 2; ++i) {
        const auto v = p->value(p->states[i]), w = p->value(p->parameters[i]);
        e->set(e->states[i], doubles({3}, std::vector<double>(v.begin(), v.end())));
        e->set(e->parameters[i], doubles({3}, std::vector<double>(w.begin(), w.end())));
    }
    e->run(4, {list(golden::batch_norm_eval_x, {4, 3})});
    check_close(e->output(0, 4), list(golden::batch_norm_eval_y_biased, {12}), 2e-6, "evaluation");
}

BOOST_AUTO_TEST_CASE(layer_norm_as_pytorch) {
    const auto p = make_run<decltype(features<6> >> scaled_input<6>{} >> layer_norm), weigh_outputs, as_fused, 4>();
    p->set(p->parameters[1], list(golden::layer_norm_gamma, {6}));
    p->set(p->parameters[2], list(golden::layer_norm_beta, {6}));
    p->run(4, {list(golden::layer_norm_x, {4, 6}),
               map(list(golden::layer_norm_dy, {4, 6}), [](double v) { return 4 * v; })});
    check_close(p->output(0, 4), list(golden::layer_norm_y, {24}), 2e-6, "y");
    check_close(p->gradient(1), list(golden::layer_norm_dgamma, {6}), 2e-6, "gamma");
    check_close(p->gradient(2), list(golden::layer_norm_dbeta, {6}), 2e-6, "beta");
}
