// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention_block.hpp>

namespace sinter::cpu {

/// What backward knows of one panel of queries, in scratch space: all of it is transposed, [..][p.width].
struct attention_backward {
    float *q, *d, *probabilities, *gradients, *delta, *sums, *mask;
    static constexpr std::int64_t floats(const std::int64_t* e) {
        return attention_queries * (e[4] + e[5] + 2) + (attention_call::drops(e) ? 3 : 2) * attention_floats;
    }
    attention_backward(const attention_call& a, float* room)
        : q(room), d(q + a.width * attention_queries), probabilities(d + a.value_width * attention_queries),
          gradients(probabilities + attention_floats), delta(gradients + attention_floats), sums(delta + attention_queries),
          mask(sums + attention_queries) {}

    /// y and dy: the result and its gradient; l: the sums' logarithms.
    template <class = void>
    void take(const attention_call& a, const query_panel& p, const float* y, const float* dy, const float* l) const {
        transpose_scaled(p, a.q + a.query_at(p.example, p.head), a.query_step(), a.width, a.scale, q);
        const std::int64_t at = a.result_at(p.example, p.head), step = a.result_step();
        transpose_scaled(p, dy + at, step, a.value_width, 1.f, d);
        l += (p.example * a.heads + p.head) * a.queries + p.first;
        for (int i = 0; i < p.width; i += lanes) store(sums + i, load(l + i, p.count - i < lanes ? p.count - i : lanes));
        for (int i = 0; i < p.width; ++i) {   // sum of y dy: what the softmax's gradient takes away from each score's
            vf s = zero();
            const std::int64_t from = at + (p.first + i) * step;
            for (std::int64_t e = 0; i < p.count && e < a.value_width; e += lanes) {
                const int n = a.value_width - e < lanes ? static_cast<int>(a.value_width - e) : lanes;
                s = fma(load(y + from + e, n), load(dy + from + e, n), s);
            }
            delta[i] = sum_lanes(s);
        }
    }
    /// Probabilities of a block of keys, and the gradient that comes to them by the values: not yet the scores'.
    template <class = void>
    void block(const attention_call& a, const query_panel& p, const float* k, const float* v, std::int64_t first,
               std::int64_t n, attention_ahead& next) const {
        attention_scores(a, p, q, k, first, n, probabilities, gradients, next);
        for (int i = 0; i < p.width; i += lanes) {
            const seen_keys seen(a, p, i, first, n);
            float* const at = probabilities + i;
            const vf s = load(sums + i);
            for (std::int64_t j = 0; j < seen.some; ++j) store(at + j * p.width, exp_flushed(load(at + j * p.width) - s));
            seen.each_hidden([&](std::int64_t j, vi hidden) SINTER_ALWAYS {
                store(at + j * p.width, select(hidden, zero(), load(at + j * p.width)));
            });
            seen.clear_behind(at, p.width, n);
        }
        attention_half(a, p, v + first * a.value_step(), a.value_step(), a.value_width, d, first, n, gradients, next);
    }
    /// The gradients of the scores, times a factor, and what dropout leaves of the probabilities.
    void finish(const attention_call& a, const query_panel& p, std::int64_t first, std::int64_t n, float scale) const {
        if (a.drops()) {
            attention_mask(a, p, first, n, mask);
            for (std::int64_t j = 0; j < n * p.width; j += lanes) store(gradients + j, load(gradients + j) * load(mask + j));
        }
        for (int i = 0; i < p.width; i += lanes) {
            const seen_keys seen(a, p, i, first, n);
            const vf less = load(delta + i);
            for (std::int64_t j = 0; j < seen.some; ++j) {
                const std::int64_t at = j * p.width + i;
                store(gradients + at, load(probabilities + at) * ((load(gradients + at) - less) * scale));
            }
            seen.clear_behind(gradients + i, p.width, n);
        }
        for (std::int64_t j = 0; a.drops() && j < n * p.width; j += lanes)
            store(probabilities + j, load(probabilities + j) * load(mask + j));
    }
};

} // namespace sinter::cpu
