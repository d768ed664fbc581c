// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention_block.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/ops/attention.hpp>

namespace sinter::cpu {

/// What backward knows of one panel of queries, in scratch space: everything but `columns` is transposed, [..][p.width].
struct attention_backward {
    float *q, *d, *probabilities, *gradients, *delta, *sums, *mask;
    static constexpr std::int64_t floats(const std::int64_t* e) {
        return panel_width * (e[4] + e[5] + (attention_call::drops(e) ? 3 : 2) * attention_keys + 2);
    }
    attention_backward(const attention_call& a, float* room)
        : q(room), d(q + a.width * panel_width), probabilities(d + a.value_width * panel_width),
          gradients(probabilities + attention_keys * panel_width), delta(gradients + attention_keys * panel_width),
          sums(delta + panel_width), mask(sums + panel_width) {}

    /// y and dy: the result and its gradient; l: the sums' logarithms.
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
    void block(const attention_call& a, const query_panel& p, const float* k, const float* v, std::int64_t first,
               std::int64_t n) const {
        attention_scores(a, p, q, k, first, n, probabilities, gradients);
        for (std::int64_t j = 0; j < n; ++j)
            for (int i = 0; i < p.width; i += lanes) {
                float* const at = probabilities + j * p.width + i;
                store(at, exp_flushed(load(at) - load(sums + i)));
            }
        multiply_panel(v + first * a.value_step(), a.value_step(), 1, n, d, a.value_width, gradients, p.width, false);
    }
    /// The gradients of the scores, and what dropout leaves of the probabilities.
    void finish(const attention_call& a, const query_panel& p, std::int64_t first, std::int64_t n) const {
        if (a.drops()) {
            attention_mask(a, p, first, n, mask);
            for (std::int64_t j = 0; j < n * p.width; j += lanes) store(gradients + j, load(gradients + j) * load(mask + j));
        }
        for (std::int64_t j = 0; j < n; ++j)
            for (int i = 0; i < p.width; i += lanes) {
                const std::int64_t at = j * p.width + i;
                store(gradients + at, load(probabilities + at) * (load(gradients + at) - load(delta + i)));
            }
        for (std::int64_t j = 0; a.drops() && j < n * p.width; j += lanes)
            store(probabilities + j, load(probabilities + j) * load(mask + j));
    }
};

/// Backward. p = {q, k, v, lengths, bias, y, sums, d, dk or null, dv or null, dq}; c.m = examples times heads of keys, each
/// done by one thread: the gradients of its keys and values are summed in scratch space, over its queries in their order.
template <class Body>
struct attention_gradient {
    static constexpr std::int64_t floats_of_part(const std::int64_t* e) {
        const std::int64_t columns = round_up(e[4], lanes) + round_up(e[5], lanes);
        return attention_backward::floats(e) + panel_width * e[4] + (panel_width + e[1]) * columns;
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) { return parts * floats_of_part(e); }

    static void run(const call& c) {
        const attention_call a(c);
        float* const mine = c.scratch + c.part * floats_of_part(c.e);
        for (std::int64_t i = share(c.m, c.part, c.parts), end = share(c.m, c.part + 1, c.parts); i < end; ++i)
            group(a, i / a.groups, i % a.groups, mine, c);
    }

private:
    /// A matrix [rows][columns] in panels, its last one padded to whole vectors.
    struct panels {
        float* p;
        std::int64_t rows, columns;
        std::int64_t size() const { return rows * round_up(columns, lanes); }
        template <class F>
        void each(F f) const {
            for (std::int64_t j = 0; j < columns; j += panel_width)
                f(p + j * rows, j, panel_columns(columns, j / panel_width, panel_width, lanes));
        }
        void clear() const { std::memset(p, 0, 4 * static_cast<std::size_t>(size())); }
        void gather(const query_panel& q, const float* from, std::int64_t step) const {
            const product b{nullptr, 0, 0, from, step, right::rows, 0, columns, 0, false, 0, 0};
            each([&](float* to, std::int64_t j, int w) { gather_panel(b, j, w, q.first, q.count, to); });
        }
        /// rows [first, first + n) += x[n][queries] times `right`, a panel's queries row by row.
        void add_product(const float* x, const query_panel& q, std::int64_t first, std::int64_t n, const panels& right) const {
            each([&](float* to, std::int64_t j, int w) {
                multiply_panel(x, q.width, 1, n, right.p + j * right.rows, q.count, to + first * w, w, true);
            });
        }
        void write(float* to, std::int64_t step, float scale) const {
            each([&](const float* from, std::int64_t j, int w) {
                for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t o = 0; o < w && j + o < columns; o += lanes)
                        store(to + i * step + j + o, load(from + i * w + o) * scale,
                              columns - j - o < lanes ? static_cast<int>(columns - j - o) : lanes);
            });
        }
    };

    static void group(const attention_call& a, std::int64_t example, std::int64_t g, float* room, const call& c) {
        const attention_backward b(a, room);
        float* const dq = room + attention_backward::floats(c.e);
        const panels dk{dq + panel_width * a.width, a.keys, a.width}, dv{dk.p + dk.size(), a.keys, a.value_width};
        panels q{dv.p + dv.size(), panel_width, a.width}, d{q.p + q.size(), panel_width, a.value_width};
        const float *const k = a.k + a.key_at(example, g), *const v = a.v + a.value_at(example, g);
        dk.clear();
        dv.clear();
        const std::int64_t each = a.heads / a.groups;
        for (std::int64_t head = g * each; head < (g + 1) * each; ++head)
            for (std::int64_t from = 0; from < a.queries; from += panel_width) {
                const query_panel p(a, example, head, from);
                const std::int64_t keys = a.seen(example, from, p.count);
                if (!keys) std::memset(dq, 0, 4 * static_cast<std::size_t>(a.width * p.width));
                if (keys) {
                    b.take(a, p, c.p[5], c.p[7], c.p[6]);
                    q.gather(p, a.q + a.query_at(example, head), a.query_step());
                    d.gather(p, c.p[7] + a.result_at(example, head), a.result_step());
                }
                for (std::int64_t first = 0; first < keys; first += attention_keys) {
                    const std::int64_t n = keys - first < attention_keys ? keys - first : attention_keys;
                    b.block(a, p, k, v, first, n);
                    b.finish(a, p, first, n);
                    dv.add_product(b.probabilities, p, first, n, d);
                    dk.add_product(b.gradients, p, first, n, q);
                    multiply_panel(k + first * a.key_step(), 1, a.key_step(), a.width, b.gradients, n, dq, p.width, first > 0);
                }
                for (std::int64_t i = 0; i < a.width * p.width; i += lanes) store(dq + i, load(dq + i) * a.scale);
                if (c.p[10]) transpose_back(p, dq, a.width, c.p[10] + a.query_at(example, head), a.query_step());
            }
        if (c.p[8]) dk.write(c.p[8] + a.key_at(example, g), a.key_step(), a.scale);
        if (c.p[9]) dv.write(c.p[9] + a.value_at(example, g), a.value_step(), 1.f);
    }
};

template <class Body, int... X>
struct nest<op::attention_gradient, Body, X...> { using type = attention_gradient<Body>; };

} // namespace sinter::cpu
