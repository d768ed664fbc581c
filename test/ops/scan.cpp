// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE scan
#include <boost/test/unit_test.hpp>

#include <sinter/ops/matmul.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/ops/tanh.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

/// h = tanh(x_t W + h U + b), every h put out: against the same loop in double, gradients by central differences.
template <bool Reverse, bool Recompute>
struct recurrent_net {
    static constexpr int T = 4, F = 3, H = 5;
    static constexpr bundle trace(graph& g) {
        const tensor x = make<op::input>(&g, batch_of(T, F), {}, {0});
        g.inputs.push(x.id);
        const tensor w = weights(x, "w", extents(F, H), ones), u = weights(x, "u", extents(H, H), ones);
        const tensor b = parameter(x, "b", extents(H), ones), first = parameter(x, "first", extents(H), ones);
        shape h0 = extents(H);
        h0.batched = true;
        const scan_step r = scan(
            [=](bundle h, bundle x_t) {
                const tensor next = tanh(matmul(x_t[0], w) + matmul(h[0], u) + b);
                return scan_step{next, next};
            },
            ops::broadcast_to(first, h0), x, {.reverse = Reverse, .recompute = Recompute});
        return outputs(r.outputs[0], r.carry[0]);
    }
    static std::vector<doubles> reference(const std::vector<doubles>& p, const std::vector<doubles>& in) {
        const doubles &w = p[0], &u = p[1], &b = p[2], &first = p[3], &x = in[0];
        const int B = x.d[0];
        doubles all({B, T, H}), last({B, H});
        for (int e = 0; e < B; ++e) {
            std::vector<double> h(first.v);
            for (int k = 0; k < T; ++k) {
                const int t = Reverse ? T - 1 - k : k;
                std::vector<double> next(H);
                for (int j = 0; j < H; ++j) {
                    double s = b[j];
                    for (int i = 0; i < F; ++i) s += x[(e * T + t) * F + i] * w[i * H + j];
                    for (int i = 0; i < H; ++i) s += h[static_cast<std::size_t>(i)] * u[i * H + j];
                    next[static_cast<std::size_t>(j)] = std::tanh(s);
                    all[(e * T + t) * H + j] = next[static_cast<std::size_t>(j)];
                }
                h = next;
            }
            for (int j = 0; j < H; ++j) last[e * H + j] = h[static_cast<std::size_t>(j)];
        }
        return {all, last};
    }
};

BOOST_AUTO_TEST_CASE(forwards) { check_net(recurrent_net<false, false>{}, recurrent_net<false, false>::reference); }
BOOST_AUTO_TEST_CASE(backwards_computing_the_turns_again) {
    check_net<programs::fused_only>(recurrent_net<true, true>{}, recurrent_net<true, true>::reference);
}
