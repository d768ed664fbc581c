// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/kernel/cuda/body_call.hpp>
#include <sinter/kernel/operands.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/emit/spec.hpp>

/// A launch with its run-time numbers filled in, and the extents of the walk that follows from them.
namespace sinter::inline SINTER_TARGET::gpu {

struct work {
    float* const* p = nullptr;          ///< operands and results: the root's own first, then the body's
    const std::int64_t* e = nullptr;    ///< the launch's extents
    const float* k = nullptr;           ///< its constants
    const spec* s = nullptr;
    const step_state* step = nullptr;   ///< in the device's memory
    float* scratch = nullptr;
    std::int64_t iteration = 0;              ///< of the loop that the launch is in
    std::int64_t m = 0;                 ///< rows, elements, images or matrices, as the launch counts them
};

struct walk_extents {
    std::int64_t rows, columns;
};

/// Rows and columns of what a kernel of kind K computes, where its source does not say so itself.
template <op_id K>
constexpr walk_extents walk_of(const work& w) {
    const std::int64_t* e = w.e;
    const int* x = w.s->extents;
    switch (K) {
        case walk::flat: return {w.m, 1};
        case op::gemm: return {w.m, e[gemm_extent::columns]};
        case op::gemm_tn: return {e[gemm_tn_extent::rows], e[gemm_tn_extent::columns]};
        case op::matmul: return {w.m * e[matmul_extent::rows], e[matmul_extent::columns]};
        case op::conv: return {w.m * x[conv_fixed::OH] * x[conv_fixed::OW], x[conv_fixed::CO]};
        case op::conv_input_gradient: return {w.m * x[conv_fixed::H] * x[conv_fixed::W], x[conv_fixed::CI]};
        case op::conv_weight_gradient:
            return {std::int64_t{x[conv_fixed::kh]} * x[conv_fixed::kw] * x[conv_fixed::CI], x[conv_fixed::CO]};
        case op::conv_transpose:
            return {std::int64_t{x[transposed_weights_fixed::CO]} * x[transposed_weights_fixed::kh] *
                        x[transposed_weights_fixed::kw],
                    x[transposed_weights_fixed::CI]};
        case op::convolution_weight_gradient: {
            const convolution_extents c(e);
            return {c.depth(), c.outputs};
        }
        case op::max_pool:
        case op::max_pool_winners:
        case op::avg_pool: return {w.m * x[pool_fixed::OH] * x[pool_fixed::OW], x[pool_fixed::C]};
        case op::max_pool_gradient:
        case op::avg_pool_gradient: return {w.m * x[pool_fixed::H] * x[pool_fixed::W], x[pool_fixed::C]};
        case op::middle_sum:
        case op::middle_max:
            return {(e[middle_extent::over_batch] ? 1 : w.m) * e[middle_extent::inner] / e[extent::columns],
                    e[extent::columns]};
        case op::scatter_rows: return {e[scatter_rows_extent::rows], e[scatter_rows_extent::width]};
        case op::to_steps:
        case op::from_steps: return {w.m, e[steps_extent::width]};
        case op::gather_rows: return {w.m, e[gather_rows_extent::width]};
        case op::weight_transpose: return {e[transpose_extent::columns], e[transpose_extent::rows]};
        case op::pack_weights:
        case op::unpack_weights: return {e[weights_extent::rows], e[weights_extent::columns]};
        default: return {w.m, e[extent::columns]};
    }
}

/// How many shares the rows are dealt out to: enough threads to fill a large device, but no more partial sums than a
/// second kernel adds up quickly. A function of the extents alone, so that sums have one order everywhere.
constexpr std::int64_t parts_of(walk_extents w, bool by_warps, bool has_sums) {
    const std::int64_t most_threads = has_sums ? 1 << 17 : 1 << 18, wide = by_warps ? 32 : w.columns;
    const std::int64_t most = has_sums ? std::min<std::int64_t>(512, most_threads / wide) : most_threads / wide;
    return std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(w.rows, 1));
}

} // namespace sinter::gpu
