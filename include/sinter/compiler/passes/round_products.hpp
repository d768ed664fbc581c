// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/internal/bfloat16_products.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/ops/round_to_bfloat16.hpp>
#include <sinter/compiler/passes/copy_names.hpp>
#include <sinter/compiler/passes/grouping.hpp>
#include <sinter/compiler/passes/pass.hpp>

/// The policy program_options::products: what products multiply is rounded to bfloat16, forward and
/// in both gradients, and added up in float32. Everything else stays as it is: weights and
/// gradients as they are stored (so the weights are the master weights of mixed precision),
/// optimizers, norms, softmax, losses. As bfloat16 has float32's exponents, losses need no scaling.
///
///     gemm(x, W)      becomes   gemm(round(x), round(W))
///     gemm_tn(x, d)             gemm_tn(round(x), round(d))
///
/// or, where the target multiplies pairs of bfloat16, for layers that are not small:
///
///     gemm(x, W)      becomes   bfloat16_gemm(x, bfloat16_weights(W))
///     gemm_tn(x, d)             bfloat16_gemm_tn(x, d)
namespace sinter::inline SINTER_TARGET::compiler {

/// From so many rows and columns of weights on: below, making pairs would take as long as
/// multiplying them.
inline constexpr int least_paired_extent = 64;

class product_rounding {
    // Templates before those who call them: clang 14 must have seen their bodies when it evaluates
    // the callers.
    template <op_id K>
    static constexpr void become(node& n) {
        n.k = K;
        n.about = &info_of<K>;
    }
    /// A node of v alone, to be computed where v is.
    template <op_id K>
    constexpr node made_of(int v) const {
        const node& x = to_.n[v];
        node n = node_of<K>();
        n.operands = 1;
        n.in[0] = v;
        n.s = x.s;
        n.scope = x.scope;
        n.epoch = x.epoch;
        n.loop = x.loop;
        return n;
    }

public:
    /// `to` is an empty graph; the nodes of `from` go there, and what rounds their operands.
    constexpr product_rounding(const graph_view& from, graph& to, bool pairs)
        : from_(from), to_(to), pairs_(pairs), place_(from.n.n, -1) {}

    constexpr void run(growing<int>& gradients) {
        for (int v = 0; v < from_.n.n; ++v) {
            node n = from_.n[v];
            for (int k = 0; k < n.operands; ++k) n.in[k] = place_[n.in[k]];
            if (pairs_ && is(n, op_role::product) && !n.p[gemm_attribute::transposed] && is_large(to_.n[n.in[1]].s)) {
                n.in[1] = paired(n.in[1]);
                become<op::bfloat16_gemm>(n);
            } else if (pairs_ && is(n, op_role::weights_gradient) && is_large(n.s)) {
                become<op::bfloat16_gemm_tn>(n);
            } else if (n.about->product) {
                for (int k = 0; k < 2; ++k) n.in[k] = rounded(n.in[k]);
            }
            place_[v] = append(n);
        }
        for (int v : from_.gradients) gradients.push(at(v));
        for (int i = 1; i < from_.scopes.n; ++i) to_.scopes.restore(from_.scopes[i]);
        copy_names(from_, to_, [&](int v) { return at(v); });
    }

private:
    const graph_view& from_;
    graph& to_;
    bool pairs_;
    growing<int> place_;              ///< of each node in `to`
    growing<int> rounded_, paired_;   ///< of each node in `to`: the same rounded, or as pairs, or -1

    static constexpr bool is_large(const shape& weights) {
        return weights.d[0] >= least_paired_extent && weights.d[1] >= least_paired_extent;
    }

    constexpr int at(int v) const { return v < 0 ? -1 : place_[v]; }
    constexpr int append(const node& n) {
        to_.restore(n);
        rounded_.push(-1);
        paired_.push(-1);
        return to_.n.n - 1;
    }
    /// The node of v rounded. What only moves numbers does so with rounded ones: then weights are
    /// rounded once for both directions, and the kernel that computes a value rounds it as well,
    /// though it is read under another shape.
    constexpr int rounded(int v) {
        if (rounded_[v] >= 0) return rounded_[v];
        const node x = to_.n[v];
        int found = v;
        if (is(x, op_role::weights_transpose) || is(x, op_role::convolution_weights_transpose) ||
            (x.k == op::reshape && to_.n[x.in[0]].loop == x.loop)) {
            node moves = x;
            moves.in[0] = rounded(x.in[0]);
            found = moves.in[0] == x.in[0] ? v : append(moves);
        } else if (!is(x, op_role::rounding)) {
            found = append(made_of<op::round_to_bfloat16>(v));
        }
        return rounded_[v] = found;
    }
    constexpr int paired(int weights) {
        if (paired_[weights] >= 0) return paired_[weights];
        node n = made_of<op::bfloat16_weights>(weights);
        n.s.d[0] = (n.s.d[0] + 1) / 2;
        const int found = append(n);
        return paired_[weights] = found;
    }
};

namespace pass {
struct round_products {
    static constexpr bool enabled(const target&, const program_options& o) { return o.products == precision::bfloat16; }
    static constexpr void run(const graph_view& from, graph& to, growing<int>& gradients, const pass_settings& s) {
        product_rounding(from, to, s.target.bfloat16_pairs).run(gradients);
    }
};
} // namespace pass

} // namespace sinter::compiler
