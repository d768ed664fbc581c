// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/attention_tile.hpp>
#include <sinter/ops/attention.hpp>

/// Attention's gradients on GPUs. A tile's scores are computed again, once by the block that sums
/// for its queries and once by that which sums for its keys: no two blocks add to one place.
namespace sinter::inline SINTER_TARGET::gpu {

/// The addresses are those of attention_gradient_operand.
struct attention_backward {
    const thread_team& team;
    attention_workspace& workspace;
    const attention_work& a;
    std::int64_t example, head;

    SINTER_HOST_DEVICE attention_work::rows q() const {
        return a.of_queries(a.c.p[attention_gradient_operand::q], example, head, a.width);
    }
    SINTER_HOST_DEVICE attention_work::rows d() const {
        return a.of_queries(a.c.p[attention_gradient_operand::d], example, head, a.value_width);
    }
    SINTER_HOST_DEVICE attention_work::rows k(std::int64_t seen) const {
        return a.of_keys(a.c.p[attention_gradient_operand::k], example, group(), a.width, seen);
    }
    SINTER_HOST_DEVICE std::int64_t group() const { return head / (a.heads / a.groups); }

    /// Of a tile of queries: what the softmax's gradient takes away from each score's (the sum of y
    /// d), the maximum, and 1 / the sum in `shrink`.
    SINTER_HOST_DEVICE void take_queries(std::int64_t first) const {
        const auto y = a.of_queries(a.c.p[attention_gradient_operand::y], example, head, a.value_width), dy = d();
        team.each([&](int t) {
            float sum = 0.f;
            const std::int64_t query = first + t / 4;
            for (std::int64_t e = t % 4; query < a.queries && e < a.value_width; e += 4)
                sum += y.p[query * y.step + e] * dy.p[query * dy.step + e];
            workspace.a[t / 4][t % 4] = sum;
        });
        team.each([&](int t) {
            if (t >= attention_tile) return;
            workspace.sum[t] = (workspace.a[t][0] + workspace.a[t][1]) + (workspace.a[t][2] + workspace.a[t][3]);
            const float* const kept = a.c.p[attention_gradient_operand::kept] + a.kept_at(example, head) + first + t;
            const bool some = first + t < a.queries && kept[a.queries] != 0.f;
            workspace.most[t] = some ? kept[0] : 0.f;
            workspace.shrink[t] = some ? 1.f / kept[a.queries] : 0.f;
        });
    }
    /// The workspace's scores become the probabilities that dropout leaves, its gradients those of
    /// the scores.
    SINTER_HOST_DEVICE void pairs(std::int64_t query, std::int64_t key, std::int64_t seen) const {
        multiply_rows(team, workspace, workspace.scores, q(), query, k(seen), key);
        multiply_rows(team, workspace, workspace.gradients, d(), query,
                      a.of_keys(a.c.p[attention_gradient_operand::v], example, group(), a.value_width, seen), key);
        team.each([&](int t) {
            for (int i = t; i < attention_tile * attention_tile; i += attention_threads) {
                const int r = i / attention_tile, j = i % attention_tile;
                float &s = workspace.scores[r][j], &g = workspace.gradients[r][j];
                const float p = expf(a.score(s, example, head, query + r, key + j, seen) - workspace.most[r]) *
                                workspace.shrink[r],
                            m = a.mask(example, head, query + r, key + j);
                g = p * (g * m - workspace.sum[r]);
                s = p * m;
            }
        });
    }
};

/// The first blocks take a tile of queries of one head, those behind them a tile of keys. Behind
/// the operands: m = examples times heads of keys.
template <>
struct block_kernel_of<static_cast<int>(op::attention_gradient.id)> {
    static constexpr int operands = 11;
    static SINTER_HOST_DEVICE std::int64_t query_tiles(const block_call& c) {
        return c.m / c.e[attention_extent::groups] * c.e[attention_extent::heads] *
               attention_work::tiles(c.e[attention_extent::queries]);
    }
    static std::int64_t count(const block_call& c) {
        return query_tiles(c) + c.m * attention_work::tiles(c.e[attention_extent::keys]);
    }

    static SINTER_HOST_DEVICE void block(std::int64_t number, const block_call& c, attention_workspace& workspace) {
        const attention_work a(c);
        if (number < query_tiles(c)) of_queries(a, workspace, number);
        else of_keys(a, workspace, number - query_tiles(c));
    }

private:
    static SINTER_HOST_DEVICE void of_queries(const attention_work& a, attention_workspace& workspace,
                                              std::int64_t number) {
        if (!a.c.p[attention_gradient_operand::dq]) return;
        const thread_team team;
        const std::int64_t tiles = a.tiles(a.queries), query = number % tiles * attention_tile;
        const attention_backward b{team, workspace, a, number / tiles / a.heads, number / tiles % a.heads};
        const std::int64_t seen = a.seen(b.example, query + attention_tile);
        const auto dq = a.of_queries(a.c.p[attention_gradient_operand::dq], b.example, b.head, a.width);
        clear_rows(team, dq, query);
        b.take_queries(query);
        for (std::int64_t key = 0; key < seen; key += attention_tile) {
            if (tiles_apart(team, a, b.example, query, key)) continue;
            b.pairs(query, key, seen);
            add_product<false>(team, workspace, dq, query, workspace.gradients, b.k(seen), key, false, a.scale);
        }
    }
    static SINTER_HOST_DEVICE void of_keys(const attention_work& a, attention_workspace& workspace,
                                           std::int64_t number) {
        const thread_team team;
        const std::int64_t tiles = a.tiles(a.keys), key = number % tiles * attention_tile,
                           group = number / tiles % a.groups, example = number / tiles / a.groups,
                           each = a.heads / a.groups;
        const auto dk = a.of_keys(a.c.p[attention_gradient_operand::dk], example, group, a.width, a.keys),
                   dv = a.of_keys(a.c.p[attention_gradient_operand::dv], example, group, a.value_width, a.keys);
        if (a.c.p[attention_gradient_operand::dk]) clear_rows(team, dk, key);
        if (a.c.p[attention_gradient_operand::dv]) clear_rows(team, dv, key);
        for (std::int64_t head = group * each; head < (group + 1) * each; ++head)
            for (std::int64_t query = 0; query < a.queries; query += attention_tile) {
                const std::int64_t seen = a.seen(example, query + attention_tile);
                if (seen <= key || tiles_apart(team, a, example, query, key)) continue;
                const attention_backward b{team, workspace, a, example, head};
                b.take_queries(query);
                b.pairs(query, key, seen);
                if (a.c.p[attention_gradient_operand::dk])
                    add_product<true>(team, workspace, dk, key, workspace.gradients, b.q(), query, false, a.scale);
                if (a.c.p[attention_gradient_operand::dv])
                    add_product<true>(team, workspace, dv, key, workspace.scores, b.d(), query, false, 1.f);
            }
    }
};

/// A block takes a tile of the bias's own elements, over all examples, heads and queries that share
/// them. m = examples.
template <>
struct block_kernel_of<static_cast<int>(op::attention_bias_gradient.id)> {
    static constexpr int operands = 9;
    static std::int64_t count(const block_call& c) {
        return (c.e[attention_extent::bias_example] ? c.m : 1) *
               (c.e[attention_extent::bias_head] ? c.e[attention_extent::heads] : 1) *
               (c.e[attention_extent::bias_query] ? attention_work::tiles(c.e[attention_extent::queries]) : 1) *
               attention_work::tiles(c.e[attention_extent::keys]);
    }
    static SINTER_HOST_DEVICE void block(std::int64_t number, const block_call& c, attention_workspace& workspace) {
        const thread_team team;
        const attention_work a(c);
        const std::int64_t key = number % a.tiles(a.keys) * attention_tile, others = number / a.tiles(a.keys),
                           tiles = c.e[attention_extent::bias_query] ? a.tiles(a.queries) : 1,
                           heads = c.e[attention_extent::bias_head] ? a.heads : 1,
                           own_query = others % tiles * attention_tile, own_head = others / tiles % heads,
                           own = others / tiles / heads;
        float* const to = c.p[attention_gradient_operand::dbias] + own * c.e[attention_extent::bias_example] +
                          own_head * c.e[attention_extent::bias_head];
        const attention_work::rows all{to, c.e[attention_extent::bias_query],
                                       c.e[attention_extent::bias_query] ? a.queries : 1, a.keys};
        team.each([&](int t) { each_element(t, all, own_query, key, [](float& at, int, int) { at = 0.f; }); });
        for (std::int64_t example = own; example < (c.e[attention_extent::bias_example] ? own + 1 : c.m); ++example)
            for (std::int64_t head = own_head; head < (c.e[attention_extent::bias_head] ? own_head + 1 : a.heads);
                 ++head)
                for (std::int64_t query = own_query;
                     query < (c.e[attention_extent::bias_query] ? own_query + 1 : a.queries); query += attention_tile) {
                    const std::int64_t seen = a.seen(example, query + attention_tile);
                    if (seen <= key || tiles_apart(team, a, example, query, key)) continue;
                    const attention_backward b{team, workspace, a, example, head};
                    b.take_queries(query);
                    b.pairs(query, key, seen);
                    team.each([&](int t) {
                        each_element(t, all, own_query, key, [&](float& at, int r, int j) {
                            if (c.e[attention_extent::bias_query]) at += workspace.gradients[r][j];
                            for (int i = 0; !c.e[attention_extent::bias_query] && i < attention_tile; ++i)
                                at += workspace.gradients[i][j];
                        });
                    });
                }
    }

private:
    template <class F>
    static SINTER_HOST_DEVICE void each_element(int thread, const attention_work::rows& all, std::int64_t row,
                                                std::int64_t column, F f) {
        for (int i = thread; i < attention_tile * attention_tile; i += attention_threads) {
            const int r = i / attention_tile, j = i % attention_tile;
            if (row + r < all.count && column + j < all.columns) f(all.p[(row + r) * all.step + column + j], r, j);
        }
    }
};

} // namespace sinter::gpu
