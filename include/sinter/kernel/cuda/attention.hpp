// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cuda/attention_tile.hpp>
#include <sinter/ops/attention.hpp>

/// Attention on GPUs, in full float32: the scores of a tile of queries and keys stay in shared
/// memory, and the result, which few threads read, in the device's. Nothing is summed by two
/// blocks, so results are the same each time.
namespace sinter::inline SINTER_TARGET::gpu {

/// A block takes a tile of queries of one head. m = examples times heads.
template <>
struct block_kernel_of<static_cast<int>(op::attention.id)> {
    static constexpr int operands = 7;
    static std::int64_t count(const block_call& c) {
        return c.m * attention_work::tiles(c.e[attention_extent::queries]);
    }

    static SINTER_HOST_DEVICE void block(std::int64_t number, const block_call& c, attention_workspace& workspace) {
        const thread_team team;
        const attention_work a(c);
        const std::int64_t tiles = a.tiles(a.queries), first = number % tiles * attention_tile,
                           head = number / tiles % a.heads, example = number / tiles / a.heads,
                           group = head / (a.heads / a.groups), seen = a.seen(example, first + attention_tile);
        const auto q = a.of_queries(c.p[attention_operand::q], example, head, a.width),
                   y = a.of_queries(c.p[attention_operand::result], example, head, a.value_width);
        const auto k = a.of_keys(c.p[attention_operand::k], example, group, a.width, seen),
                   v = a.of_keys(c.p[attention_operand::v], example, group, a.value_width, seen);
        team.each([&](int t) {
            if (t < attention_tile) workspace.most[t] = -__FLT_MAX__, workspace.sum[t] = 0.f;
        });
        bool fresh = true;
        for (std::int64_t key = 0; key < seen; key += attention_tile) {
            if (tiles_apart(team, a, example, first, key)) continue;
            multiply_rows(team, workspace, workspace.scores, q, first, k, key);
            team.each([&](int t) {
                for (int i = t; i < attention_tile * attention_tile; i += attention_threads) {
                    float& s = workspace.scores[i / attention_tile][i % attention_tile];
                    s = a.score(s, example, head, first + i / attention_tile, key + i % attention_tile, seen);
                }
            });
            team.each([&](int t) {
                if (t >= attention_tile) return;
                const float before = workspace.most[t];
                float most = before;
                for (int j = 0; j < attention_tile; ++j) most = larger(workspace.scores[t][j], most);
                workspace.most[t] = most;
                workspace.shrink[t] = expf(before - most);
            });
            team.each([&](int t) {
                for (int i = t; i < attention_tile * attention_tile; i += attention_threads) {
                    float& s = workspace.scores[i / attention_tile][i % attention_tile];
                    s = expf(s - workspace.most[i / attention_tile]);
                }
            });
            team.each([&](int t) {
                if (t >= attention_tile) return;
                float sum = 0.f;
                for (int j = 0; j < attention_tile; ++j) sum += workspace.scores[t][j];
                workspace.sum[t] = workspace.sum[t] * workspace.shrink[t] + sum;
            });
            if (c.e[attention_extent::dropout])
                team.each([&](int t) {
                    for (int i = t; i < attention_tile * attention_tile; i += attention_threads)
                        workspace.scores[i / attention_tile][i % attention_tile] *=
                            a.mask(example, head, first + i / attention_tile, key + i % attention_tile);
                });
            add_product<false>(team, workspace, y, first, workspace.scores, v, key, fresh, 1.f, workspace.shrink);
            fresh = false;
        }
        team.each([&](int t) {
            for (std::int64_t i = t; i < attention_tile * a.value_width; i += attention_threads) {
                const std::int64_t r = i / a.value_width, query = first + r;
                if (query >= a.queries) continue;
                float* const at = y.p + query * y.step + i % a.value_width;
                *at = workspace.sum[r] == 0.f ? 0.f : *at / workspace.sum[r];
            }
            if (t < attention_tile && first + t < a.queries && c.p[attention_operand::kept]) {
                float* const kept = c.p[attention_operand::kept] + a.kept_at(example, head) + first + t;
                kept[0] = workspace.most[t];
                kept[a.queries] = workspace.sum[t];
            }
        });
    }
};

} // namespace sinter::gpu
