// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention_block.hpp>
#include <sinter/kernel/cpu/math/log.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/ops/attention.hpp>

namespace sinter::cpu {

/// Forward: blocks of keys with a running maximum and sum for each query (Milakov and Gimelshein 2018; Dao et al. 2022).
/// p = {q, k, v, lengths, bias, sums or null, result}; c.m = examples times heads. Queries that see no key get zeros, and
/// an infinite sum, which makes all their probabilities zero in the gradient.
template <class Body>
struct attention {
    static constexpr std::int64_t floats_of_part(const std::int64_t* e) {
        return panel_width * (2 * attention_keys + e[4] + e[5] + 2);
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) { return parts * floats_of_part(e); }

    static void run(const call& c) {
        const attention_call a(c);
        const std::int64_t panels = (a.queries + panel_width - 1) / panel_width, all = c.m * panels,
                           end = share(all, c.part + 1, c.parts);
        float* const mine = c.scratch + c.part * floats_of_part(c.e);
        for (std::int64_t i = share(all, c.part, c.parts); i < end; ++i) {
            const std::int64_t head = i / panels;
            panel_of_queries(a, {a, head / a.heads, head % a.heads, i % panels * panel_width}, mine, c.p[6], c.p[5]);
        }
    }

private:
    static void panel_of_queries(const attention_call& a, const query_panel& p, float* room, float* y, float* sums) {
        const int w = p.width;
        float *const most = room, *const sum = most + panel_width, *const scores = sum + panel_width,
              *const spare = scores + attention_keys * panel_width, *const q = spare + attention_keys * panel_width,
              *const result = q + a.width * panel_width;
        const std::int64_t group = p.head / (a.heads / a.groups), keys = a.seen(p.example, p.first, p.count);
        const float *const k = a.k + a.key_at(p.example, group), *const v = a.v + a.value_at(p.example, group);
        transpose_scaled(p, a.q + a.query_at(p.example, p.head), a.query_step(), a.width, a.scale, q);
        for (int i = 0; i < w; i += lanes) store(most + i, splat(-0x1p120f)), store(sum + i, zero());
        for (std::int64_t first = 0; first < keys; first += attention_keys) {
            const std::int64_t n = keys - first < attention_keys ? keys - first : attention_keys;
            attention_scores(a, p, q, k, first, n, scores, spare);
            for (int i = 0; i < w; i += lanes)
                block_of_softmax(scores + i, n, w, most + i, sum + i, result + i, first ? a.value_width : 0);
            if (a.drops()) {
                attention_mask(a, p, first, n, spare);
                for (std::int64_t j = 0; j < n * w; j += lanes) store(scores + j, load(scores + j) * load(spare + j));
            }
            multiply_panel(v + first * a.value_step(), 1, a.value_step(), a.value_width, scores, n, result, w, first > 0);
        }
        for (int i = 0; i < w; i += lanes) {
            const vf s = load(sum + i);
            const vi none = s == zero();
            const vf factor = select(none, zero(), 1.f / s);
            for (std::int64_t e = 0; e < a.value_width; ++e) {
                float* const at = result + e * w + i;
                store(at, keys ? load(at) * factor : zero());
            }
            if (!sums) continue;
            float* const to = sums + (p.example * a.heads + p.head) * a.queries + p.first + i;
            const vf l = select(none, splat(__builtin_inff()), load(most + i) + log(s));
            store(to, l, p.count - i < lanes ? p.count - i : lanes);
        }
        transpose_back(p, result, a.value_width, y + a.result_at(p.example, p.head), a.result_step());
    }
    /// One vector of queries: scores become e^(score - maximum so far); what was summed before is brought to that maximum.
    static void block_of_softmax(float* scores, std::int64_t n, int w, float* most, float* sum, float* result,
                                 std::int64_t rows) {
        const vf before = load(most);
        vf m = before;
        for (std::int64_t j = 0; j < n; ++j) m = max(m, load(scores + j * w));
        vf s = zero();
        for (std::int64_t j = 0; j < n; ++j) {
            const vf e = exp_flushed(load(scores + j * w) - m);
            store(scores + j * w, e);
            s += e;
        }
        store(most, m);
        if (rows) {
            const vf shrink = exp_flushed(before - m);
            s = fma(load(sum), shrink, s);
            for (std::int64_t e = 0; e < rows; ++e) store(result + e * w, load(result + e * w) * shrink);
        }
        store(sum, s);
    }
};

template <class Body, int... X>
struct nest<op::attention, Body, X...> { using type = attention<Body>; };

} // namespace sinter::cpu
