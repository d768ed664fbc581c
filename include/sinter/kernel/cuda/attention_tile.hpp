// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <cstring>
#include <sinter/base/philox.hpp>
#include <sinter/kernel/cuda/work.hpp>
#include <sinter/kernel/scalar_arithmetic.hpp>
#include <sinter/ops/detail/attention_positions.hpp>

/// What attention's GPU kernels share: a block of threads has a tile of queries and one of keys of
/// a head. A kernel is a sequence of sweeps, in each of which every thread of the block does
/// something for itself, and then all wait for each other; the host runs a sweep's threads one
/// after the other, so that the same source is tested there.
namespace sinter::inline SINTER_TARGET::gpu {

inline constexpr int attention_tile = 64, attention_depth = 16, attention_threads = 256;

/// What such a kernel is handed, by value: the launch's addresses and extents (ops/attention.hpp).
struct block_call {
    float* p[12] = {};
    std::int64_t e[16] = {};
    std::int64_t m = 0;         ///< rows of work, as the launch counts them
    const step_state* step = nullptr;
    std::int64_t iteration = 0;
};

/// Kernels that need a block's threads together: count(call) blocks, each of which runs block(...).
template <int S>
struct block_kernel_of;

/// On the device each thread runs f for itself, on the host one after the other.
struct thread_team {
    template <class F>
    SINTER_HOST_DEVICE void each(F f) const {
#ifdef __CUDA_ARCH__
        f(static_cast<int>(threadIdx.x));
        __syncthreads();
#else
        for (int t = 0; t < attention_threads; ++t) f(t);
#endif
    }
    /// Is f true for any thread? All get the answer.
    template <class F>
    SINTER_HOST_DEVICE bool any(F f) const {
#ifdef __CUDA_ARCH__
        return __syncthreads_or(f(static_cast<int>(threadIdx.x)));
#else
        bool some = false;
        for (int t = 0; t < attention_threads; ++t) some = f(t) || some;
        return some;
#endif
    }
};

/// A block's shared memory: parts of two matrices, and what all pairs of queries and keys have. A
/// column more than are used keeps threads of neighbouring rows in different banks.
struct attention_workspace {
    float a[attention_tile][attention_depth + 1], b[attention_tile][attention_depth + 1];
    float scores[attention_tile][attention_tile + 1], gradients[attention_tile][attention_tile + 1];
    float most[attention_tile], sum[attention_tile], shrink[attention_tile];
};
static_assert(sizeof(attention_workspace) <= 48 << 10, "shared memory that a kernel has without asking for more");

struct attention_work {
    std::int64_t queries, keys, heads, groups, width, value_width, shift;
    float scale, kept;
    const block_call& c;

    SINTER_HOST_DEVICE explicit attention_work(const block_call& k)
        : queries(k.e[attention_extent::queries]), keys(k.e[attention_extent::keys]),
          heads(k.e[attention_extent::heads]), groups(k.e[attention_extent::groups]),
          width(k.e[attention_extent::width]), value_width(k.e[attention_extent::value_width]),
          shift(k.e[attention_extent::shift]), scale(float_of(k.e[attention_extent::scale])),
          kept(1.f - float_of(k.e[attention_extent::dropout])), c(k) {}
    static SINTER_HOST_DEVICE float float_of(std::int64_t low_bits) {
        const auto bits = static_cast<std::int32_t>(low_bits);
        float f;
        memcpy(&f, &bits, 4);
        return f;
    }
    static SINTER_HOST_DEVICE std::int64_t tiles(std::int64_t n) { return (n + attention_tile - 1) / attention_tile; }

    /// A matrix of one head: its first element, and how far its rows are apart.
    struct rows {
        float* p;
        std::int64_t step, count, columns;
    };
    SINTER_HOST_DEVICE rows of_queries(float* p, std::int64_t example, std::int64_t head, std::int64_t columns) const {
        return {p + (example * queries * heads + head) * columns, heads * columns, queries, columns};
    }
    /// The first `count` keys: what lies behind is taken for zeros.
    SINTER_HOST_DEVICE rows of_keys(float* p, std::int64_t example, std::int64_t group, std::int64_t columns,
                                    std::int64_t count) const {
        return {p + (example * keys * groups + group) * columns, groups * columns, count, columns};
    }
    /// Lengths, or segments [examples][keys].
    SINTER_HOST_DEVICE const std::int32_t* integers() const {
        return reinterpret_cast<const std::int32_t*>(c.p[attention_operand::lengths]);
    }
    SINTER_HOST_DEVICE bool packed() const { return c.e[attention_extent::limit] == attention_limit::segments; }
    /// Are both of one segment, and neither padding? Without segments they always are.
    SINTER_HOST_DEVICE bool together(std::int64_t example, std::int64_t query, std::int64_t key) const {
        if (!packed()) return true;
        const std::int32_t* const segments = integers() + example * keys;
        return segments[query] && segments[query] == segments[key];
    }
    /// Keys that any query before `end` sees: the first so many.
    SINTER_HOST_DEVICE std::int64_t seen(std::int64_t example, std::int64_t end) const {
        std::int64_t most = (end < queries ? end : queries) + shift;
        if (most > keys) most = keys;
        if (c.e[attention_extent::limit] == attention_limit::lengths) {
            const std::int64_t n = integers()[example];
            if (most > n) most = n;
        }
        return most < 0 ? 0 : most;
    }
    /// Where a head's maxima are kept for the gradient; its sums are `queries` further.
    SINTER_HOST_DEVICE std::int64_t kept_at(std::int64_t example, std::int64_t head) const {
        return (example * heads + head) * 2 * queries;
    }
    /// A score made of a product; minus infinity where the query does not see the key.
    SINTER_HOST_DEVICE float score(float product, std::int64_t example, std::int64_t head, std::int64_t query,
                                   std::int64_t key, std::int64_t seen_keys) const {
        if (query >= queries || key >= seen_keys || key > query + shift || !together(example, query, key))
            return -__builtin_inff();
        const float bias = c.e[attention_extent::biased]
                               ? c.p[attention_operand::bias][example * c.e[attention_extent::bias_example] +
                                                              head * c.e[attention_extent::bias_head] +
                                                              query * c.e[attention_extent::bias_query] + key]
                               : 0.f;
        return ::fmaf(product, scale, bias);   // rounded alike in forward and backward
    }
    /// What dropout multiplies a probability with: the CPU's number, bit by bit.
    SINTER_HOST_DEVICE float mask(std::int64_t example, std::int64_t head, std::int64_t query, std::int64_t key) const {
        if (!c.e[attention_extent::dropout]) return 1.f;
        const auto index = static_cast<std::uint64_t>(((example * heads + head) * queries + query) * keys + key);
        const std::uint64_t counter = static_cast<std::uint64_t>(c.iteration) << 48 |
                                      static_cast<std::uint64_t>(c.step->number) << 16 |
                                      static_cast<std::uint64_t>(c.e[attention_extent::dropout]) >> 32;
        return uniform(philox_word(c.step->seed, index, counter)) < kept ? 1.f / kept : 0.f;
    }
};

/// Has no query of a tile a key of its segment in a tile of keys? Such pairs are left out.
SINTER_HOST_DEVICE bool tiles_apart(const thread_team& team, const attention_work& a, std::int64_t example,
                                    std::int64_t query, std::int64_t key) {
    if (!a.packed()) return false;
    return !team.any([&](int t) {
        constexpr int each = attention_tile * attention_tile / attention_threads;
        const std::int64_t i = query + t * each / attention_tile, j = key + t * each % attention_tile;
        bool some = false;
        for (int n = 0; n < each && i < a.queries && j + n < a.keys; ++n) some = some || a.together(example, i, j + n);
        return some;
    });
}

/// Rows [first, first + tile) and columns [column, column + depth) of a matrix; zeros beyond its
/// ends.
SINTER_HOST_DEVICE void load_part(int thread, float (*to)[attention_depth + 1], const attention_work::rows& from,
                                  std::int64_t first, std::int64_t column) {
    for (int i = thread; i < attention_tile * attention_depth; i += attention_threads) {
        const int r = i / attention_depth, k = i % attention_depth;
        to[r][k] =
            first + r < from.count && column + k < from.columns ? from.p[(first + r) * from.step + column + k] : 0.f;
    }
}

/// to[i][j] = sum of x[i] y[j] over their columns: x's rows are queries, y's keys. Each thread has
/// four by four.
SINTER_HOST_DEVICE void multiply_rows(const thread_team& team, attention_workspace& workspace,
                                      float (*to)[attention_tile + 1], const attention_work::rows& x,
                                      std::int64_t first_x, const attention_work::rows& y, std::int64_t first_y) {
    for (std::int64_t column = 0; column < x.columns; column += attention_depth) {
        team.each([&](int t) {
            load_part(t, workspace.a, x, first_x, column);
            load_part(t, workspace.b, y, first_y, column);
        });
        team.each([&](int t) {
            const int row = t / 16, col = t % 16;
            float sum[4][4] = {};
            for (int k = 0; k < attention_depth; ++k)
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j)
                        sum[i][j] += workspace.a[row + 16 * i][k] * workspace.b[col + 16 * j][k];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) {
                    float& s = to[row + 16 * i][col + 16 * j];
                    s = column ? s + sum[i][j] : sum[i][j];
                }
        });
    }
}

/// to[i] += factor times the sum over j of m[i][j] y[j], for all columns of y; what was there is
/// first multiplied by shrink[i], and forgotten if `fresh`. Transposed: m[j][i]. An element is
/// always the same thread's, so that it may stand in the device's memory.
template <bool Transposed>
SINTER_HOST_DEVICE void add_product(const thread_team& team, attention_workspace& workspace,
                                    const attention_work::rows& to, std::int64_t first_to,
                                    const float (*m)[attention_tile + 1], const attention_work::rows& y,
                                    std::int64_t first_y, bool fresh, float factor, const float* shrink = nullptr) {
    for (std::int64_t column = 0; column < y.columns; column += attention_depth) {
        team.each([&](int t) { load_part(t, workspace.b, y, first_y, column); });
        team.each([&](int t) {
            const int row = t / 16, col = t % 16;
            float sum[4] = {};
            for (int j = 0; j < attention_tile; ++j)
                for (int i = 0; i < 4; ++i)
                    sum[i] += (Transposed ? m[j][row + 16 * i] : m[row + 16 * i][j]) * workspace.b[j][col];
            if (column + col >= to.columns) return;
            for (int i = 0; i < 4; ++i) {
                const int r = row + 16 * i;
                if (first_to + r >= to.count) continue;
                float* const at = to.p + (first_to + r) * to.step + column + col;
                *at = (fresh ? 0.f : shrink ? *at * shrink[r] : *at) + factor * sum[i];
            }
        });
    }
}
/// Zeros in a tile of rows.
SINTER_HOST_DEVICE void clear_rows(const thread_team& team, const attention_work::rows& to, std::int64_t first) {
    team.each([&](int t) {
        for (std::int64_t i = t; i < attention_tile * to.columns; i += attention_threads)
            if (first + i / to.columns < to.count) to.p[(first + i / to.columns) * to.step + i % to.columns] = 0.f;
    });
}

} // namespace sinter::gpu
