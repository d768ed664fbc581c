// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE transformer
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/transformer.hpp>

#include "support/attention.hpp"
#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr int T = 3, E = 4, hidden = 5;

/// One net's parameters, taken one after the other.
struct reader {
    const std::vector<doubles>& p;
    std::size_t at = 0;
    float dropout = 0;
    doubles dense(const doubles& x) {
        const doubles &w = p[at], &b = p[at + 1];
        at += 2;
        doubles y([&] { auto d = x.d; d.back() = w.d[1]; return d; }());
        for (int i = 0; i < y.size(); ++i) {
            const int row = i / w.d[1], j = i % w.d[1];
            y[i] = b[j];
            for (int k = 0; k < w.d[0]; ++k) y[i] += x[row * w.d[0] + k] * w[k * w.d[1] + j];
        }
        return y;
    }
    doubles norm(const doubles& x) {
        const doubles &gamma = p[at], &beta = p[at + 1];
        at += 2;
        doubles y = x;
        for (int r = 0; r < x.size(); r += E) {
            double mean = 0, var = 0;
            for (int j = 0; j < E; ++j) mean += x[r + j] / E;
            for (int j = 0; j < E; ++j) var += (x[r + j] - mean) * (x[r + j] - mean) / E;
            for (int j = 0; j < E; ++j) y[r + j] = (x[r + j] - mean) / std::sqrt(var + 1e-5) * gamma[j] + beta[j];
        }
        return y;
    }
    doubles look(const doubles& x, const doubles& memory, causal mask) {
        const doubles q = dense(x), k = dense(memory), v = dense(memory);
        const attention_case c{.heads = 2, .groups = 2, .queries = T, .keys = memory.d[1], .width = 2, .value_width = 2,
                               .mask = mask, .axis = false, .dropout = dropout};
        return dense(plain_attention(c, q, k, v).y);
    }
    doubles feed_forward(const doubles& x) {
        return plus(x, dense(map(dense(norm(x)), [](double a) { return a * 0.5 * std::erfc(-a / std::sqrt(2.)); })));
    }
    static doubles plus(const doubles& a, const doubles& b) {
        return map(a, b, [](double s, double t) { return s + t; });
    }
};

BOOST_AUTO_TEST_CASE(one_block) {
    constexpr attention_settings s{.causal = causal::yes, .dropout = 0.25f};
    check_net<programs::all, 2>(array<T, E> >> transformer_block<2, hidden, s>,
        [](const auto& p, const auto& x) {
            reader r{p, 0, 0.25f};
            const doubles n = r.norm(x[0]), y = reader::plus(x[0], r.look(n, n, causal::yes));
            return std::vector{r.feed_forward(y)};
        }, {.value = 2e-5, .gradient = 1e-4});
}
BOOST_AUTO_TEST_CASE(a_decoders_block) {
    constexpr auto decode = [](tensor x, tensor memory) {
        return transformer_block<2, hidden, attention_settings{.causal = causal::yes}>(x, memory);
    };
    check_net<programs::fused_only, 2>(inputs(array<T, E>, array<2, E>) >> decode, [](const auto& p, const auto& x) {
        reader r{p};
        doubles n = r.norm(x[0]), y = reader::plus(x[0], r.look(n, n, causal::yes));
        n = r.norm(y);
        y = reader::plus(y, r.look(n, x[1], causal::no));
        return std::vector{r.feed_forward(y)};
    }, {.value = 2e-5, .gradient = 1e-4});
}
