// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/permute.hpp>
#include <sinter/ops/sum.hpp>

/// matmul(a, b): [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast; either operand
/// may be transposed in its last two axes. A matrix without a batch on the right is a layer's
/// weights: [..., K] x [K, N] -> [..., N]. A vector on the left is a row, on the right a column,
/// and the result has not that axis. ONNX: MatMul (Gemm where there is a bias).
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name gemm{"gemm"}, gemm_tn{"gemm_tn"}, weight_transpose{"weight_transpose"}, matmul{"matmul"};
}

/// Positions in call::e. What begins with zeros and goes by rows is known when the launch is
/// emitted.
namespace gemm_extent { enum : int { depth, columns, row_step, transposed, begins_with_zeros, by_rows }; }
namespace gemm_tn_extent { enum : int { rows, columns, zero_rows }; }
namespace transpose_extent { enum : int { rows, columns }; }   // of the operand
namespace matmul_extent {
enum position : int { rows, columns, depth, a_step, b_step, a_row_step, b_row_step, inner, a_group_step, b_group_step };
}

/// Positions in node::p: is gemm's w [N, K] (compiler/passes/transposed_weights.hpp), is the sum of
/// gemm_tn's d a second result (compiler/passes/column_sums.hpp), which of a matmul's operands are
/// transposed.
namespace gemm_attribute { enum : int { transposed }; }
namespace gemm_tn_attribute { enum : int { sums_d }; }
namespace matmul_attribute { enum : int { transpose_a, transpose_b }; }

/// y[m, N] = a[m, K] w[K, N], w in the kernels' own layout; all axes of a but the last are rows.
template <>
struct rule<op::gemm> : root_op_rule {
    static constexpr op_role role = op_role::product;
    static constexpr const char* name = "gemm";
    static constexpr bool product = true;
    static constexpr bool steps = true;
    static constexpr long flops(const node& n, const node* in) { return 2L * n.s.size() * in[0].s.last(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{gemm_extent::depth, r.x(0).last()}, {gemm_extent::columns, r.y().last()},
               {gemm_extent::row_step, r.x(0).last()},
               {gemm_extent::transposed, r.n.p[gemm_attribute::transposed]}});
        k.by_example(r.y(), r.y().rows());
        if (r.one_example && k.rows == 1) k.set_fixed({r.x(0).last(), r.y().last()});
    }
    static constexpr void gradient(gradient_of& g);
};
/// w[K, N] = sum over rows of a[m, K] d[m, N].
template <>
struct rule<op::gemm_tn> : root_op_rule {
    static constexpr op_role role = op_role::weights_gradient;
    static constexpr const char* name = "gemm_tn";
    static constexpr bool product = true;
    static constexpr bool steps = true;
    static constexpr bool sums_rows = true;
    static constexpr long flops(const node&, const node* in) { return 2L * in[0].s.size() * in[1].s.last(); }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set_fixed({r.n.p[gemm_tn_attribute::sums_d]});
        k.set({{gemm_tn_extent::rows, r.y().d[0]}, {gemm_tn_extent::columns, r.y().d[1]}});
        k.by_example(r.x(0), r.x(0).rows());
        k.second_result = r.n.p[gemm_tn_attribute::sums_d] != 0;
    }
    static constexpr void gradient(gradient_of& g);
};
template <>
struct rule<op::weight_transpose> : root_op_rule {
    static constexpr op_role role = op_role::weights_transpose;
    static constexpr const char* name = "weight_transpose";
    static constexpr bool epilogue = false;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{transpose_extent::rows, r.y().d[1]}, {transpose_extent::columns, r.y().d[0]}});
    }
    static constexpr void gradient(gradient_of& g) { g.add(0, transposed(ops::pack(g.d))); }
    /// Packed weights [K, N] as packed [N, K].
    static constexpr tensor transposed(tensor w) {
        shape t = w.shape();
        t.d[0] = w.shape().d[1];
        t.d[1] = w.shape().d[0];
        return make<op::weight_transpose>(w.g, t, {w});
    }
};
/// Batched product of plain operands.
template <>
struct rule<op::matmul> : root_op_rule {
    static constexpr const char* name = "matmul";
    static constexpr bool product = true;
    static constexpr long flops(const node& n, const node* in) {
        const shape& a = in[0].s;
        return 2L * n.s.size() * (n.p[matmul_attribute::transpose_a] ? a.d[a.rank - 2] : a.last());
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const shape &a = r.x(0), &b = r.x(1), &y = r.y();
        const bool ta = r.n.p[matmul_attribute::transpose_a], tb = r.n.p[matmul_attribute::transpose_b];
        const std::int64_t rows = y.d[y.rank - 2], depth = ta ? a.d[a.rank - 2] : a.last();
        k.set_fixed({ta, tb});
        k.set({{matmul_extent::rows, rows}, {matmul_extent::columns, y.last()}, {matmul_extent::depth, depth},
               {matmul_extent::a_step, rows * depth}, {matmul_extent::b_step, depth * y.last()},
               {matmul_extent::a_row_step, a.last()}, {matmul_extent::b_row_step, b.last()},
               {matmul_extent::inner, 1}});
        k.by_example(y, y.size() / (y.last() * rows));
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

/// Whether an operand is taken with its last two axes exchanged.
enum class transposed { no, yes };

/// Both operands with the same leading axes.
constexpr tensor batched_matmul(tensor a, tensor b, bool ta, bool tb) {
    const shape x = a.shape(), y = b.shape();
    shape s = x;
    s.d[s.rank - 2] = ta ? x.last() : x.d[x.rank - 2];
    s.d[s.rank - 1] = tb ? y.d[y.rank - 2] : y.last();
    return make<op::matmul>(a.g, s, {a, b}, {ta, tb});
}
constexpr tensor swap_last_two(tensor a) {
    int order[max_rank] = {0, 1, 2, 3, 4};
    const int r = a.shape().rank;
    order[r - 1] = r - 2;
    order[r - 2] = r - 1;
    return permute(unpack(a), order);
}

constexpr tensor matmul(tensor a, tensor b, transposed ta = transposed::no, transposed tb = transposed::no);

/// Vectors as matrices of one row, or of one column, and their axis taken from the result again.
constexpr tensor matmul_of_vectors(tensor a, tensor b, transposed ta, transposed tb) {
    const shape x = a.shape(), y = b.shape();
    const bool row = x.rank == 1, column = y.rank == 1;
    if (x.rank < 1 || y.rank < 1 || (row && ta == transposed::yes) || (column && tb == transposed::yes))
        return fail(a.g, fault_kind::inner_extents_differ, op::matmul, x, y);
    // Both with a batch: the vector's matrix gets leading axes of 1, so that it stretches over the
    // other's.
    const int rank = x.batched && y.batched ? x.rank > y.rank ? x.rank : y.rank : 2;
    if (row) a = reshape(a, with_leading_ones(extents(1, x.d[0]), rank));
    if (column) b = reshape(b, with_leading_ones(extents(y.d[0], 1), rank));
    const tensor z = matmul(a, b, ta, tb);
    if (!z.ok()) return z;
    shape s = z.shape();
    if (column) s.d[--s.rank] = 0;
    if (row) {
        if (!column) s.d[s.rank - 2] = s.d[s.rank - 1];
        s.d[--s.rank] = 0;
    }
    return reshape(z, s);
}

constexpr tensor matmul(tensor a, tensor b, transposed ta, transposed tb) {
    if (!a.ok() || !b.ok()) return {a.g ? a.g : b.g, -1};
    compiler::graph* g = a.g;
    const bool at = ta == transposed::yes, bt = tb == transposed::yes;
    if (not_floats(op::matmul, a) || not_floats(op::matmul, b)) return {g, -1};
    a = unpack(a);
    const shape x = a.shape(), y = b.shape();
    const bool weighs = x.rank == 1 && y.rank == 2 && !y.batched && !at;   // a row an example, times weights: as it is
    if (!weighs && (x.rank < 2 || y.rank < 2)) return matmul_of_vectors(a, b, ta, tb);
    const int inner_a = at ? x.d[x.rank - 2] : x.last(), inner_b = bt ? y.last() : y.d[y.rank - 2];
    if (inner_a != inner_b) return fail(g, fault_kind::inner_extents_differ, op::matmul, x, y);
    if (!y.batched && y.rank == 2 && !at) {
        if (bt) b = swap_last_two(b);
        b = pack(b);
        return make<op::gemm>(g, with_last(x, b.shape().d[1]), {a, b});
    }
    a = plain(a);
    b = plain(b);
    // leading axes: broadcast both operands to common ones
    shape la = x, lb = unpack(b).shape(), lead;
    if (la.rank < 2 || lb.rank < 2) return fail(g, fault_kind::inner_extents_differ, op::matmul, x, y);
    const int ma = la.d[la.rank - 2], na = la.last(), mb = lb.d[lb.rank - 2], nb = lb.last();
    la.d[la.rank - 2] = la.d[la.rank - 1] = lb.d[lb.rank - 2] = lb.d[lb.rank - 1] = 1;
    if (!compiler::broadcast_shape(la, lb, lead)) return fail_to_broadcast(g, op::matmul, la, lb, x, y);
    shape sa = lead, sb = lead;
    sa.d[lead.rank - 2] = ma;
    sa.d[lead.rank - 1] = na;
    sb.d[lead.rank - 2] = mb;
    sb.d[lead.rank - 1] = nb;
    b = unpack(b);
    if (!(a.shape() == sa)) a = make<op::expand>(g, sa, {a});
    if (!(b.shape() == sb)) b = make<op::expand>(g, sb, {b});
    return batched_matmul(a, b, at, bt);
}

} // namespace ops
using ops::matmul;
using ops::transposed;

constexpr void rule<op::matmul>::gradient(gradient_of& g) {
    const bool ta = g.n().p[matmul_attribute::transpose_a], tb = g.n().p[matmul_attribute::transpose_b];
    const tensor a = g.x(0), b = g.x(1), d = g.d;
    if (g.wants(0)) g.add(0, ta ? ops::batched_matmul(b, d, tb, true) : ops::batched_matmul(d, b, false, !tb));
    if (g.wants(1)) g.add(1, tb ? ops::batched_matmul(d, a, true, ta) : ops::batched_matmul(a, d, !ta, false));
}

constexpr void
rule<op::gemm>::gradient(gradient_of& g) {   // the input's first: the weights may be updated in place after
    const tensor w = g.x(1);
    if (g.wants(0))
        g.add(0, make<op::gemm>(g.g, g.x(0).shape(), {ops::unpack(g.d), rule<op::weight_transpose>::transposed(w)}));
    if (g.wants(1)) g.add(1, make<op::gemm_tn>(g.g, w.shape(), {g.x(0), ops::unpack(g.d)}));
}
constexpr void rule<op::gemm_tn>::gradient(gradient_of& g) {
    const tensor a = g.x(0), d = g.x(1), e = ops::pack(g.d);
    if (g.wants(0)) g.add(0, make<op::gemm>(g.g, a.shape(), {d, rule<op::weight_transpose>::transposed(e)}));
    if (g.wants(1)) g.add(1, make<op::gemm>(g.g, d.shape(), {a, e}));
}

} // namespace sinter
