// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention/attention_block.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/attention.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Forward: blocks of keys with a running maximum and sum for each query (Milakov and Gimelshein
/// 2018; Dao et al. 2022). Forward. c.m = examples times heads. Queries that see no key, or only
/// scores of minus infinity, get zeros. Packed: rows of several segments.
template <class Body, bool Packed = false>
struct attention {
    using attention_call = attention_call_of<Packed>;

    static constexpr std::int64_t floats_of_part(const std::int64_t* e) {
        return 2 * attention_floats + attention_queries * (e[attention_extent::width] + 4) +
               attention_panels::floats(attention_queries + attention_keys, e[attention_extent::value_width]);
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * floats_of_part(e);
    }

    static void run(const call& c) {
        const attention_call a(c);
        const std::int64_t panels = (a.queries + attention_queries - 1) / attention_queries, all = c.m * panels,
                           end = share(all, c.part + 1, c.parts), last = thread_end(c, all);
        float* const mine = c.scratch + c.part * floats_of_part(c.e);
        for (std::int64_t i = share(all, c.part, c.parts); i < end; ++i) {
            const std::int64_t head = i / panels;
            attention_ahead next;
            if (i + 1 < last && (i + 1) % panels == 0)
                look_ahead(a, (head + 1) / a.heads, (head + 1) % a.heads, c.p[attention_operand::result], next);
            panel_of_queries(a, {a, head / a.heads, head % a.heads, i % panels * attention_queries}, mine,
                             c.p[attention_operand::result], c.p[attention_operand::kept], next);
        }
    }

private:
    static void look_ahead(const attention_call& a, std::int64_t example, std::int64_t head, const float* y,
                           attention_ahead& next) {
        const std::int64_t group = head / (a.heads / a.groups), queries = a.queries_at_once(), keys = a.keys_at_once();
        next.add(a.q + a.query_at(example, head), a.query_step(), queries, a.width);
        next.add(a.k + a.key_at(example, group), a.key_step(), keys, a.width);
        next.add(a.v + a.value_at(example, group), a.value_step(), keys, a.value_width);
        next.add(y + a.result_at(example, head), a.result_step(), queries, a.value_width);
    }
    static void panel_of_queries(const attention_call& a, const query_panel& p, float* workspace, float* y,
                                 float* kept_rows, attention_ahead& next) {
        const int w = p.width;
        float *const most = workspace, *const sum = most + attention_queries, *const factor = sum + attention_queries,
              *const keep = factor + attention_queries, *const scores = keep + attention_queries,
              *const spare = scores + attention_floats, *const q = spare + attention_floats;
        attention_panels values{q + a.width * attention_queries, attention_keys, a.value_width};
        const attention_result result{y + a.result_at(p.example, p.head) + p.first * a.result_step(), a.result_step(),
                                      p.count, a.value_width, values.p + values.size()};
        const std::int64_t group = p.head / (a.heads / a.groups), keys = a.seen(p.example, p.first, p.count);
        const float *const k = a.k + a.key_at(p.example, group), *const v = a.v + a.value_at(p.example, group);
        transpose_scaled(p, a.q + a.query_at(p.example, p.head), a.query_step(), a.width, a.before(), q);
        for (int i = 0; i < w; i += lanes) store(most + i, splat(-__FLT_MAX__)), store(sum + i, zero());
        std::int64_t begin = 0;   // of the first block that is not left out
        const negative_power power(a.behind() * log2_of_e);
        for (std::int64_t first = 0; first < keys; first += attention_keys) {
            const std::int64_t n = keys - first < attention_keys ? keys - first : attention_keys;
            if constexpr (Packed)
                if (a.apart(p, first, n)) {
                    if (first == begin) begin += attention_keys;
                    continue;
                }
            attention_scores(a, p, q, k, first, n, scores, spare, next);
            for (int i = 0; i < w; i += lanes)
                block_of_softmax(scores + i, seen_keys(a, p, i, first, n), n, w, power, most + i, sum + i, factor + i,
                                 keep + i);
            if (a.drops()) {
                attention_mask(a, p, first, n, spare);
                multiply_seen(a, p, first, n, spare, scores);
            }
            values.take(v + first * a.value_step(), a.value_step(), n);
            for (std::int64_t i = p.count; i > 0;) {   // the last ones first, which see the most
                const std::int64_t rows = attention_height(i);
                i -= rows;
                result.put(i, rows, scores + i, 1, w, 0, keys_of_query(a, p, i + rows - 1, first, n), values,
                           {nullptr, 0, first > begin, factor + i, keep + i}, next);
            }
        }
        if (begin >= keys) result.clear(0, p.count);
        result.finish();
        for (int i = 0; kept_rows && i < w; i += lanes) {
            float* const to = kept_rows + a.kept_at(p) + i;
            const int some = p.count - i < lanes ? p.count - i : lanes;
            store(to, load(most + i), some);
            store(to + a.queries, load(sum + i), some);
        }
    }
    /// One vector of queries: scores become powers of (score - maximum so far), subtracted before
    /// they are scaled: large scores have a product with the scale that cannot be rounded twice
    /// alike. `factor` is what makes them probabilities, `keep` what makes those of earlier blocks
    /// probabilities among more keys.
    static void block_of_softmax(float* scores, seen_keys seen, std::int64_t n, int w, const negative_power& power,
                                 float* most, float* sum, float* factor, float* keep) {
        seen.each_hidden([&](std::int64_t j, vi hidden) SINTER_ALWAYS {
            store(scores + j * w, select(hidden, splat(-__builtin_inff()), load(scores + j * w)));
        });
        const vf before = load(most);
        vf m = before, other = m;   // two chains each, for one would wait for itself
        std::int64_t j = 0;
        for (; j + 1 < seen.some; j += 2)
            m = max(m, load(scores + j * w)), other = max(other, load(scores + (j + 1) * w));
        if (j < seen.some) m = max(m, load(scores + j * w));
        m = max(m, other);
        vf s = zero(), t = zero();
        const auto next = [&](float* at, vf& to) SINTER_ALWAYS {
            const vf e = power(load(at) - m);
            store(at, e);
            to += e;
        };
        for (j = 0; j + 1 < seen.some; j += 2) next(scores + j * w, s), next(scores + (j + 1) * w, t);
        if (j < seen.some) next(scores + j * w, s);
        s += t;
        seen.clear_behind(scores, w, n);
        const vf earlier = load(sum) * power(before - m);
        s += earlier;
        const vf share = select(s == zero(), zero(), 1.f / s);
        store(most, m);
        store(sum, s);
        store(factor, share);
        store(keep, earlier * share);
    }
};

template <class Body, int Packed, int... X>
struct nest<op::attention, Body, Packed, X...> { using type = attention<Body, (Packed != 0)>; };

} // namespace sinter::cpu
