// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention/attention_block.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/attention.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// What backward knows of one panel of queries, in scratch space: all of it is transposed,
/// [..][p.width].
struct attention_backward {
    float *q, *d, *probabilities, *gradients, *delta, *most, *share, *mask;
    static constexpr std::int64_t floats(const std::int64_t* e) {
        return attention_queries * (e[attention_extent::width] + e[attention_extent::value_width] + 3) +
               (attention_call::drops(e) ? 3 : 2) * attention_floats;
    }
    attention_backward(const attention_call& a, float* workspace)
        : q(workspace), d(q + a.width * attention_queries), probabilities(d + a.value_width * attention_queries),
          gradients(probabilities + attention_floats), delta(gradients + attention_floats),
          most(delta + attention_queries), share(most + attention_queries), mask(share + attention_queries) {}

    /// y and dy: the result, unless all keys are one block, and its gradient; kept: the maxima and
    /// sums of forward.
    template <class = void>
    void take(const attention_call& a, const query_panel& p, const float* y, const float* dy, const float* kept) const {
        transpose_scaled(p, a.q + a.query_at(p.example, p.head), a.query_step(), a.width, a.before(), q);
        const std::int64_t at = a.result_at(p.example, p.head), step = a.result_step();
        transpose_scaled(p, dy + at, step, a.value_width, 1.f, d);
        kept += a.kept_at(p);
        for (int i = 0; i < p.width; i += lanes) {
            const int some = p.count - i < lanes ? p.count - i : lanes;
            const vf sum = load(kept + a.queries + i, some);
            store(most + i, load(kept + i, some));
            store(share + i, select(sum == zero(), zero(), 1.f / sum));
        }
        if (a.one_block()) return;
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
    /// Probabilities of a block of keys, and the gradient that comes to them by the values: not yet
    /// the scores'.
    template <class Call>
    void block(const Call& a, const query_panel& p, const float* k, const float* v, std::int64_t first,
               std::int64_t n, attention_ahead& next) const {
        attention_scores(a, p, q, k, first, n, probabilities, gradients, next);
        const negative_power power(a.behind() * log2_of_e);
        for (int i = 0; i < p.width; i += lanes) {
            const seen_keys seen(a, p, i, first, n);
            float* const at = probabilities + i;
            const vf m = load(most + i), s = load(share + i);
            for (std::int64_t j = 0; j < seen.some; ++j) store(at + j * p.width, power(load(at + j * p.width) - m) * s);
            seen.each_hidden([&](std::int64_t j, vi hidden) SINTER_ALWAYS {
                store(at + j * p.width, select(hidden, zero(), load(at + j * p.width)));
            });
            seen.clear_behind(at, p.width, n);
        }
        attention_half(a, p, v + first * a.value_step(), a.value_step(), a.value_width, d, first, n, gradients, next);
    }
    /// The sum of y dy is that of probabilities times their gradients, too, over all keys.
    SINTER_INLINE vf less_of_block(const query_panel& p, int i, std::int64_t keys) const {
        vf s = zero(), t = zero();
        const float *x = probabilities + i, *y = gradients + i;
        std::int64_t j = 0;
        for (; j + 1 < keys; j += 2, x += 2 * p.width, y += 2 * p.width) {
            s = fma(load(x), load(y), s), t = fma(load(x + p.width), load(y + p.width), t);
        }
        if (j < keys) s = fma(load(x), load(y), s);
        return s + t;
    }
    /// The gradients of the scores, times a factor, and what dropout leaves of the probabilities.
    void finish(const attention_call& a, const query_panel& p, std::int64_t first, std::int64_t n, float scale) const {
        if (a.drops()) {
            attention_mask(a, p, first, n, mask);
            multiply_seen(a, p, first, n, mask, gradients);
        }
        for (int i = 0; i < p.width; i += lanes) {
            const seen_keys seen(a, p, i, first, n);
            const vf less = a.one_block() ? less_of_block(p, i, seen.some) : load(delta + i);
            for (std::int64_t j = 0; j < seen.some; ++j) {
                const std::int64_t at = j * p.width + i;
                store(gradients + at, load(probabilities + at) * ((load(gradients + at) - less) * scale));
            }
            seen.clear_behind(gradients + i, p.width, n);
        }
        if (a.drops()) multiply_seen(a, p, first, n, mask, probabilities);
    }
};

/// Backward. c.m = examples times heads of keys, each done by one thread: the gradients of its keys
/// and values are summed in scratch space, over its queries in their order. Packed: rows of several segments.
template <class Body, bool Packed = false>
struct attention_gradient {
    using attention_call = attention_call_of<Packed>;

    static constexpr std::int64_t floats_of_part(const std::int64_t* e) {
        return attention_backward::floats(e) +
               attention_panels::floats(2 * attention_queries + attention_keys + e[attention_extent::keys],
                                        e[attention_extent::width]) +
               attention_panels::floats(attention_queries + e[attention_extent::keys],
                                        e[attention_extent::value_width]);
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * floats_of_part(e);
    }

    static void run(const call& c) {
        const attention_call a(c);
        float* const mine = c.scratch + c.part * floats_of_part(c.e);
        const std::int64_t begin = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts),
                           last = thread_end(c, c.m);
        for (std::int64_t i = begin; i < end; ++i) {
            attention_ahead next;
            if (i + 1 < last) look_ahead(a, (i + 1) / a.groups, (i + 1) % a.groups, c, next);
            group(a, i / a.groups, i % a.groups, mine, c, next);
        }
    }

private:
    static float* at(float* p, std::int64_t i) { return p ? p + i : nullptr; }
    static void look_ahead(const attention_call& a, std::int64_t example, std::int64_t g, const call& c,
                           attention_ahead& next) {
        const std::int64_t head = a.heads / a.groups * g, query = a.query_at(example, head),
                           result = a.result_at(example, head), key = a.key_at(example, g),
                           value = a.value_at(example, g);
        const std::int64_t queries = a.queries_at_once(), keys = a.keys_at_once();
        next.add(a.q + query, a.query_step(), queries, a.width);
        next.add(c.p[attention_gradient_operand::d] + result, a.result_step(), queries, a.value_width);
        if (!a.one_block())
            next.add(c.p[attention_gradient_operand::y] + result, a.result_step(), queries, a.value_width);
        next.add(a.k + key, a.key_step(), keys, a.width);
        next.add(a.v + value, a.value_step(), keys, a.value_width);
        next.add(at(c.p[attention_gradient_operand::dv], value), a.value_step(), keys, a.value_width);
        next.add(at(c.p[attention_gradient_operand::dk], key), a.key_step(), keys, a.width);
        next.add(at(c.p[attention_gradient_operand::dq], query), a.query_step(), queries, a.width);
    }
    static void group(const attention_call& a, std::int64_t example, std::int64_t g, float* workspace, const call& c,
                      attention_ahead& ahead) {
        const attention_backward b(a, workspace);
        attention_panels q{workspace + attention_backward::floats(c.e), attention_queries, a.width},
            d{q.p + q.size(), attention_queries, a.value_width}, keys{d.p + d.size(), attention_keys, a.width};
        float* const spare = keys.p + keys.size();   // for what cannot be summed where it shall lie
        const attention_result dk{at(c.p[attention_gradient_operand::dk], a.key_at(example, g)), a.key_step(), a.keys,
                                  a.width, spare + attention_panels::floats(attention_queries, a.width)},
            dv{at(c.p[attention_gradient_operand::dv], a.value_at(example, g)), a.value_step(), a.keys, a.value_width,
               dk.workspace + attention_panels::floats(a.keys, a.width)};
        const float *const k = a.k + a.key_at(example, g), *const v = a.v + a.value_at(example, g);
        const std::int64_t each = a.heads / a.groups;
        for (std::int64_t head = g * each; head < (g + 1) * each; ++head)
            for (std::int64_t from = 0; from < a.queries; from += attention_queries) {
                const query_panel p(a, example, head, from);
                const std::int64_t query = a.query_at(example, head) + from * a.query_step(),
                                   seen = a.seen(example, from, p.count);
                const attention_result dq{at(c.p[attention_gradient_operand::dq], query), a.query_step(), p.count,
                                          a.width, spare};
                const bool more = head > g * each || from > 0;   // keys and values have gradients already
                attention_ahead none,
                    &next = head + 1 == (g + 1) * each && from + attention_queries >= a.queries ? ahead : none;
                if (seen) {
                    b.take(a, p, c.p[attention_gradient_operand::y], c.p[attention_gradient_operand::d],
                           c.p[attention_gradient_operand::kept]);
                    q.take(a.q + query, a.query_step(), p.count);
                    d.take(c.p[attention_gradient_operand::d] + a.result_at(example, head) + from * a.result_step(),
                           a.result_step(), p.count);
                }
                std::int64_t begin = 0;   // of the first block that is not left out
                for (std::int64_t first = 0; first < seen; first += attention_keys) {
                    const std::int64_t n = seen - first < attention_keys ? seen - first : attention_keys;
                    if constexpr (Packed)
                        if (a.apart(p, first, n)) {
                            if (first == begin) begin += attention_keys;
                            if (dk.to && !more) dk.clear(first, first + n);
                            if (dv.to && !more) dv.clear(first, first + n);
                            continue;
                        }
                    b.block(a, p, k, v, first, n, next);
                    b.finish(a, p, first, n, a.scale);
                    if (c.p[attention_gradient_operand::dq]) keys.take(k + first * a.key_step(), a.key_step(), n);
                    const attention_target y{nullptr, 0, more};
                    const auto rows_of = [&](const attention_result& to, const float* x, attention_panels& right) {
                        for (std::int64_t j = 0, rows; to.to && j < n; j += rows) {
                            rows = attention_height(n - j);
                            const std::int64_t sees =
                                seen_keys::within(first + j - a.shift - from, p.count);   // the first such query
                            to.put(first + j, rows, x + j * p.width, p.width, 1, sees, p.count, right, y, next);
                        }
                    };
                    rows_of(dv, b.probabilities, d);
                    rows_of(dk, b.gradients, q);
                    const bool wants_dq = c.p[attention_gradient_operand::dq];
                    for (std::int64_t i = p.count; wants_dq && i > 0;) {   // the last ones first, which see the most
                        const std::int64_t rows = attention_height(i);
                        i -= rows;
                        dq.put(i, rows, b.gradients + i, 1, p.width, 0, keys_of_query(a, p, i + rows - 1, first, n),
                               keys, {nullptr, 0, first > begin}, next);
                    }
                }
                if (c.p[attention_gradient_operand::dk] && !more) dk.clear(seen, a.keys);
                if (c.p[attention_gradient_operand::dv] && !more) dv.clear(seen, a.keys);
                if (c.p[attention_gradient_operand::dq] && begin >= seen) dq.clear(0, p.count);
                if (c.p[attention_gradient_operand::dq]) dq.finish();
            }
        if (c.p[attention_gradient_operand::dk]) dk.finish();
        if (c.p[attention_gradient_operand::dv]) dv.finish();
    }
};

template <class Body, int Packed, int... X>
struct nest<op::attention_gradient, Body, Packed, X...> { using type = attention_gradient<Body, (Packed != 0)>; };

} // namespace sinter::cpu
