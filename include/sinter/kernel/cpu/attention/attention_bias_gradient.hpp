// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/attention/attention_gradient.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The gradient of what was added to the scores. c.m = examples. A piece of work is a panel of
/// queries of one matrix of the bias (all queries, where they share one row); it sums over the
/// examples and heads that share it, in their order. Packed: rows of several segments.
template <class Body, bool Packed = false>
struct attention_bias_gradient {
    using attention_call = attention_call_of<Packed>;

    static constexpr std::int64_t floats_of_part(const std::int64_t* e) {
        return attention_backward::floats(e) + attention_queries * round_up(e[attention_extent::keys], lanes);
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * floats_of_part(e);
    }

    static void run(const call& c) {
        const attention_call a(c);
        const std::int64_t panels = a.bias_query ? (a.queries + attention_queries - 1) / attention_queries : 1;
        const std::int64_t heads = a.bias_head ? a.heads : 1, examples = a.bias_example ? c.m : 1,
                           all = examples * heads * panels;
        float* const mine = c.scratch + c.part * floats_of_part(c.e);
        for (std::int64_t i = share(all, c.part, c.parts), end = share(all, c.part + 1, c.parts); i < end; ++i)
            piece(a, i / (heads * panels), i / panels % heads, i % panels * attention_queries, mine, c);
    }

private:
    static void piece(const attention_call& a, std::int64_t example, std::int64_t head, std::int64_t from,
                      float* workspace, const call& c) {
        const attention_backward b(a, workspace);
        float* const sums = workspace + attention_backward::floats(c.e);
        std::memset(sums, 0, 4 * static_cast<std::size_t>(attention_queries * round_up(a.keys, lanes)));
        const std::int64_t end_example = a.bias_example ? example + 1 : c.m,
                           end_head = a.bias_head ? head + 1 : a.heads, end = a.bias_query ? from + 1 : a.queries;
        for (std::int64_t n = example; n < end_example; ++n)
            for (std::int64_t h = head; h < end_head; ++h)
                for (std::int64_t i = from; i < end; i += attention_queries)
                    panel_of_queries(a, {a, n, h, i}, b, sums, c);
        float* const to = c.p[attention_gradient_operand::dbias] + example * a.bias_example + head * a.bias_head;
        if (a.bias_query) {
            const query_panel p(a, example, head, from);
            transpose_matrix(sums, p.width, a.keys, p.count, to + p.first * a.keys, a.keys, true);
        } else {
            std::memcpy(to, sums, 4 * static_cast<std::size_t>(a.keys));
        }
    }
    static void panel_of_queries(const attention_call& a, const query_panel& p, const attention_backward& b,
                                 float* sums, const call& c) {
        const std::int64_t keys = a.seen(p.example, p.first, p.count), group = p.head / (a.heads / a.groups);
        attention_ahead none;
        if (keys)
            b.take(a, p, c.p[attention_gradient_operand::y], c.p[attention_gradient_operand::d],
                   c.p[attention_gradient_operand::kept]);
        for (std::int64_t first = 0; first < keys; first += attention_keys) {
            const std::int64_t n = keys - first < attention_keys ? keys - first : attention_keys;
            if constexpr (Packed)
                if (a.apart(p, first, n)) continue;
            b.block(a, p, a.k + a.key_at(p.example, group), a.v + a.value_at(p.example, group), first, n, none);
            b.finish(a, p, first, n, 1);
            for (int i = 0; i < p.width; i += lanes)
                for (std::int64_t j = 0, end = seen_keys(a, p, i, first, n).some; j < end; ++j) {
                    const float* const row = b.gradients + j * p.width + i;
                    float* const at = sums + (first + j) * p.width + i;
                    if (a.bias_query) store(at, load(at) + load(row));
                    else sums[first + j] += sum_lanes(load(row, p.count - i < lanes ? p.count - i : lanes));
                }
        }
    }
};

template <class Body, int Packed, int... X>
struct nest<op::attention_bias_gradient, Body, Packed, X...> {
    using type = attention_bias_gradient<Body, (Packed != 0)>;
};

} // namespace sinter::cpu
