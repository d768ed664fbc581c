// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/ops/attention.hpp>

#include "support/doubles.hpp"

/// Attention and its gradients from matrices of scores, one head and example at a time.
namespace sinter::test {
using namespace base;

/// What a case is about; `axis`: heads have an axis of their own.
struct attention_case {
    int heads = 1, groups = 1, queries = 4, keys = 4, width = 3, value_width = 3;
    causal mask = causal::no;
    float scale = 0;
    bool axis = true;
    float dropout = 0;
    bool rounded_scores = false;           ///< what is large has no more digits than floats have
    std::uint64_t seed = 1, counter = 1;   ///< a test program's seed; the step, 16 bits, and the stream

    bool sees(int query, int key) const {
        return mask == causal::no || key <= query + (mask == causal::from_end ? keys - queries : 0);
    }
    /// What dropout multiplies a probability with; `row` counts queries, those of all heads and examples before it too.
    double factor(int row, int key) const {
        const auto index = static_cast<std::uint64_t>(row) * static_cast<unsigned>(keys) + static_cast<unsigned>(key);
        const float u = uniform(philox_word(seed, index, counter));
        return dropout == 0 ? 1. : u < 1.f - dropout ? 1. / (1. - static_cast<double>(dropout)) : 0.;
    }
};

struct attention_result {
    doubles y, sums, dq, dk, dv, dbias;   ///< sums: of the exponentials, their logarithms; without any: minus infinity
};

/// q [B, T, H, D], k [B, S, G, D], v [B, S, G, E] and d [B, T, H, E], however many axes these are; bias stretches to
/// [B, H, T, S], lengths [B], segments [B, T]. Without d: no gradients.
inline attention_result plain_attention(const attention_case& c, const doubles& q, const doubles& k, const doubles& v,
                                        const doubles* bias = nullptr, const doubles* lengths = nullptr,
                                        const doubles* d = nullptr, const doubles* segments = nullptr) {
    const int batch = q.d[0], T = c.queries, S = c.keys, H = c.heads, G = c.groups, D = c.width, E = c.value_width;
    attention_result r{doubles(c.axis ? std::vector{batch, T, H, E} : std::vector{batch, T, H * E}),
                       doubles({batch, H, T}), doubles(q.d), doubles(k.d), doubles(v.d), doubles({batch, H, T, S})};
    const double scale = c.scale != 0 ? static_cast<double>(c.scale) : 1 / std::sqrt(D);
    const doubles added = bias ? stretch(*bias, {batch, H, T, S}) : doubles({batch, H, T, S});
    for (int n = 0; n < batch * H * T; ++n) {
        const int b = n / (H * T), h = n / T % H, i = n % T, g = h / (H / G);
        auto q_at = [&](int e) { return ((b * T + i) * H + h) * D + e; };
        auto y_at = [&](int e) { return ((b * T + i) * H + h) * E + e; };
        auto key_at = [&](int j, int width, int e) { return ((b * S + j) * G + g) * width + e; };
        doubles p({S}), kept({S}), dp({S}), scores({S}, -INFINITY);
        double most = -INFINITY, sum = 0, mean = 0;
        for (int j = 0; j < S; ++j) {
            if (!c.sees(i, j) || (lengths && j >= (*lengths)[b])) continue;
            if (segments && ((*segments)[b * S + i] == 0 || (*segments)[b * S + i] != (*segments)[b * S + j])) continue;
            double score = added[n * S + j];
            for (int e = 0; e < D; ++e) score += scale * q[q_at(e)] * k[key_at(j, D, e)];
            most = std::max(most,
                            scores[j] = c.rounded_scores ? static_cast<double>(static_cast<float>(score)) : score);
        }
        for (int j = 0; j < S; ++j)
            if (scores[j] > -INFINITY) sum += p[j] = std::exp(scores[j] - most);
        r.sums[n] = most + std::log(sum);
        for (int j = 0; j < S; ++j) {
            p[j] = sum > 0 ? p[j] / sum : 0;
            kept[j] = c.factor(n, j);
            for (int e = 0; e < E; ++e) {
                r.y[y_at(e)] += p[j] * kept[j] * v[key_at(j, E, e)];
                if (!d) continue;
                dp[j] += kept[j] * (*d)[y_at(e)] * v[key_at(j, E, e)];
                r.dv[key_at(j, E, e)] += p[j] * kept[j] * (*d)[y_at(e)];
            }
            mean += p[j] * dp[j];
        }
        for (int j = 0; d && j < S; ++j) {
            const double ds = p[j] * (dp[j] - mean);
            r.dbias[n * S + j] = ds;
            for (int e = 0; e < D; ++e) {
                r.dq[q_at(e)] += scale * ds * k[key_at(j, D, e)];
                r.dk[key_at(j, D, e)] += scale * ds * q[q_at(e)];
            }
        }
    }
    return r;
}

} // namespace sinter::test
