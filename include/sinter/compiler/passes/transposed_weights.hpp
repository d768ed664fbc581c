// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/matmul.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// The gradient of a dense layer's input is few rows times the transpose of its weights. That
/// transpose need not lie in memory: the kernel transposes a piece of the weights at a time, in the
/// first-level cache, as it multiplies.
///
///     gemm(d, weight_transpose(W))      becomes   gemm(d, W), transposed
///
/// in place; the transpose is dead then. It stays where others read it too, and within loops, which
/// need it in each iteration; but a library that reads either way at no cost never needs it
/// (`free`).
namespace sinter::inline SINTER_TARGET::compiler {

/// Where it pays: weights of which a second-level cache holds little, or so few that a launch for
/// them, and their transpose in the first-level cache, are worth sparing; and no more rows than a
/// kernel transposes a piece for once.
constexpr bool transposes_weights(std::int64_t rows, std::int64_t weights) {
    return (weights >= 131072 || weights <= 4096) && rows <= 128;
}

constexpr void transpose_weights(const graph_view& g, view<node> n, int batch, bool free) {
    growing<int> found;
    for (int v = 0; v < n.n; ++v) {
        const node& x = n.p[v];
        if (!is(x, op_role::product) || (x.loop && !free)) continue;
        const node& t = n.p[x.in[1]];
        const std::int64_t rows = x.s.rows() * (x.s.batched ? batch : 1);
        if (is(t, op_role::weights_transpose) && (free || transposes_weights(rows, t.s.size()))) found.push(v);
    }
    if (!found.n) return;
    growing<int> readers(n.n, 0);
    for (const node& x : n)
        for (int k = 0; k < x.operands; ++k) ++readers[x.in[k]];
    for (int v : g.outputs) ++readers[v];
    for (int v : g.gradients)
        if (v >= 0) ++readers[v];
    for (int v : found.all()) {
        node& x = n[v];
        if (readers[x.in[1]] != 1 && !free) continue;
        x.in[1] = n[x.in[1]].in[0];
        x.p[gemm_attribute::transposed] = 1;
    }
}

namespace pass {
struct transposed_weights {
    static constexpr bool enabled(const target& t, const program_options& o) {
        return t.transposed_products || (t.transposed_weights && o.products == precision::float32);
    }
    static constexpr void run(const graph_view& g, const view<node>& n, const pass_settings& s) {
        transpose_weights(g, n, s.max_batch, s.target.transposed_products);
    }
};
} // namespace pass

} // namespace sinter::compiler
