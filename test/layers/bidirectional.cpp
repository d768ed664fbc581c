// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE bidirectional
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/rnn.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

static constexpr int T = 4, F = 3, H = 2;

/// One direction of a simple recurrent layer, from its three parameters; steps from an example's
/// length on do not count.
static doubles one_way(const doubles& x, const doubles& w, const doubles& u, const doubles& b, bool back,
                       const doubles* lengths) {
    doubles y({x.d[0], T, H});
    for (int e = 0; e < x.d[0]; ++e) {
        double h[H] = {};
        for (int k = 0; k < T; ++k) {
            const int t = back ? T - 1 - k : k;
            if (lengths && t >= (*lengths)[e]) continue;
            double next[H];
            for (int j = 0; j < H; ++j) {
                double s = b[j];
                for (int i = 0; i < F; ++i) s += x[(e * T + t) * F + i] * w[i * H + j];
                for (int i = 0; i < H; ++i) s += h[i] * u[i * H + j];
                next[j] = std::tanh(s);
            }
            for (int j = 0; j < H; ++j) y[(e * T + t) * H + j] = h[j] = next[j];
        }
    }
    return y;
}
static std::vector<doubles> both_ways(const std::vector<doubles>& p, const doubles& x, const doubles* lengths) {
    const doubles forward = one_way(x, p[0], p[1], p[2], false, lengths),
        backward = one_way(x, p[3], p[4], p[5], true, lengths);
    doubles y({x.d[0], T, 2 * H});
    for (int r = 0; r < x.d[0] * T; ++r)
        for (int j = 0; j < 2 * H; ++j) y[r * 2 * H + j] = j < H ? forward[r * H + j] : backward[r * H + j - H];
    return {y};
}
/// p in the order w, b, u of their declaration.
static std::vector<doubles> in_order(const std::vector<doubles>& p) { return {p[0], p[2], p[1], p[3], p[5], p[4]}; }

BOOST_AUTO_TEST_CASE(both_directions) {
    check_net(array<T, F> >> bidirectional(rnn<H>),
              [](const auto& p, const auto& x) { return both_ways(in_order(p), x[0], nullptr); });
}
BOOST_AUTO_TEST_CASE(each_example_ends_where_it_ends) {
    constexpr auto net = inputs(array<T, F>, array<1>) >> bidirectional(rnn<H>);
    const auto p = make_run<decltype(net), weigh_outputs, as_fused, 3>();
    const net_data d = draw_for(*p);
    const doubles lengths({3, 1}, std::vector<double>{4, 1, 3});
    for (std::size_t i = 0; i < p->parameters.size(); ++i) p->set(p->parameters[i], d.parameters[i]);
    p->run(3, {d.inputs[0], lengths, d.targets[0]});
    check_close(p->output(0, 3), both_ways(in_order(d.parameters), d.inputs[0], &lengths)[0], 1e-5, "results");
}

/// The reset gate before the product, as Cho et al. wrote it; the last state alone.
static std::vector<doubles> gated(const std::vector<doubles>& p, const std::vector<doubles>& in) {
    const doubles& x = in[0];
    doubles y({x.d[0], H});
    for (int e = 0; e < x.d[0]; ++e) {
        std::vector<double> h(H, 0.);
        // kernel, bias of z, r, h; then three u
        const auto sum = [&](int t, int gate, int j, const std::vector<double>& s) {
            double v = p[static_cast<std::size_t>(2 * gate + 1)][j];
            for (int i = 0; i < F; ++i) v += x[(e * T + t) * F + i] * p[static_cast<std::size_t>(2 * gate)][i * H + j];
            for (int i = 0; i < H; ++i)
                v += s[static_cast<std::size_t>(i)] * p[static_cast<std::size_t>(6 + gate)][i * H + j];
            return v;
        };
        for (int t = 0; t < T; ++t) {
            std::vector<double> z(H), reset(H), next(H);
            for (int j = 0; j < H; ++j) {
                z[static_cast<std::size_t>(j)] = 1 / (1 + std::exp(-sum(t, 0, j, h)));
                reset[static_cast<std::size_t>(j)] = h[static_cast<std::size_t>(j)] / (1 + std::exp(-sum(t, 1, j, h)));
            }
            for (std::size_t j = 0; j < H; ++j)
                next[j] = z[j] * h[j] + (1 - z[j]) * std::tanh(sum(t, 2, static_cast<int>(j), reset));
            h = next;
        }
        for (int j = 0; j < H; ++j) y[e * H + j] = h[static_cast<std::size_t>(j)];
    }
    return {y};
}
BOOST_AUTO_TEST_CASE(gru_that_resets_before_the_product) {
    check_net<programs::fused_only>(array<T, F>
                                    >> gru<H, recurrent_options{.sequences = false}, gru_reset::before_product>, gated);
}
