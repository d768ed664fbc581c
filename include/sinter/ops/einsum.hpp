// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/text.hpp>
#include <sinter/ops/detail/einsum_labels.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/one_hot.hpp>
#include <sinter/ops/where.hpp>

/// einsum<"bij,bjk->bik">(a, b): NumPy's einsum of one to four operands. Letters name the axes of
/// one example; a batch stays in front and is not named. A letter that stands twice in an operand
/// is its diagonal; one that is missing behind the arrow is summed over; `...` are further axes,
/// which broadcast. Operands are joined from left to right: a pair with an axis to sum over is a
/// matrix product, which reads transposes in place; axes are moved only where their order leaves no
/// other way. ONNX: Einsum.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name einsum{"einsum"}; }

namespace ops {

/// A tensor whose axes have labels.
struct labelled {
    tensor t;
    axis_labels of;

    constexpr int extent(char label) const { return t.g->n[t.id].s.d[of.find(label)]; }
    constexpr int extent(const axis_labels& several) const {
        int n = 1;
        for (int i = 0; i < several.n; ++i) n *= extent(several.c[i]);
        return n;
    }
    /// Axes in this order. All of them must be there.
    constexpr void arrange(const axis_labels& order) {
        int axes[max_rank] = {0, 1, 2, 3, 4};
        for (int i = 0; i < order.n; ++i) axes[i] = of.find(order.c[i]);
        if (!(of == order)) t = permute(t, axes);
        of = order;
    }
    constexpr void as(const shape& s) {   // weights stay packed where nothing changes
        shape now = t.shape().plain();
        now.batched = false;
        if (!(now == s)) t = reshape(t, s);
    }
    constexpr void sum_over(char label) {
        const int axis = of.find(label);
        t = sum(t, {axis});
        for (int i = axis; i + 1 < of.n; ++i) of.c[i] = of.c[i + 1];
        of.c[--of.n] = 0;
    }
    /// Labels that stand twice: the elements where both axes are at the same place.
    constexpr void take_diagonals() {
        for (int j = 1; j < of.n; ++j) {
            const int i = of.find(of.c[j]);
            if (i == j) continue;
            const shape s = t.shape();
            shape row = extents(), column = extents();
            row.rank = column.rank = s.rank;
            for (int k = 0; k < s.rank; ++k) row.d[k] = k == i ? s.d[k] : 1, column.d[k] = k == j ? s.d[k] : 1;
            const tensor number = column_numbers(t.g, extents(s.d[i]));
            const tensor same = binary<op::equal>(reshape(number, row), reshape(number, column));
            t = sum(where(same, t, constant(t.g, 0)), {j});
            for (int k = j; k + 1 < of.n; ++k) of.c[k] = of.c[k + 1];
            of.c[--of.n] = 0;
            --j;
        }
    }
};

/// Two operands as one, with the labels of `kept` (and those alone) left.
constexpr labelled join(labelled a, labelled b, const axis_labels* kept, int lists) {
    auto stays = [&](char c) {
        for (int i = 0; i < lists; ++i)
            if (kept[i].has(c)) return true;
        return false;
    };
    // an axis of an ellipsis that has extent 1 on one side only is not there on that side
    for (labelled* x : {&a, &b}) {
        const labelled& other = x == &a ? b : a;
        for (int i = x->of.n; i-- > 0;)
            if (const char c = x->of.c[i]; other.of.has(c) && x->extent(c) == 1 && other.extent(c) != 1) x->sum_over(c);
    }
    axis_labels batch, inner, rows, columns;
    for (labelled* x : {&a, &b}) {
        const labelled& other = x == &a ? b : a;
        for (int i = x->of.n; i-- > 0;)
            if (const char c = x->of.c[i]; !other.of.has(c) && !stays(c)) x->sum_over(c);
    }
    for (int i = 0; i < a.of.n; ++i)
        if (const char c = a.of.c[i]; !b.of.has(c)) rows.add(c);
        else if (stays(c)) batch.add(c);
        else inner.add(c);
    for (int i = 0; i < b.of.n; ++i)
        if (const char c = b.of.c[i]; !a.of.has(c)) columns.add(c);
    auto joined = [](const axis_labels& x, const axis_labels& y, const axis_labels& z) {
        axis_labels all = x;
        for (int i = 0; i < y.n; ++i) all.add(y.c[i]);
        for (int i = 0; i < z.n; ++i) all.add(z.c[i]);
        return all;
    };
    labelled y{{a.t.g, -1}, joined(batch, rows, columns)};
    if (!a.t.ok() || !b.t.ok()) return y;
    if (batch.n + rows.n + columns.n > max_rank) {
        y.t = fail(a.t.g, fault_kind::axis_out_of_range, op::einsum, extents(batch.n + rows.n + columns.n),
                   extents(max_rank));
        return y;
    }
    shape result = extents();
    result.rank = y.of.n;
    for (int i = 0; i < y.of.n; ++i) result.d[i] = a.of.has(y.of.c[i]) ? a.extent(y.of.c[i]) : b.extent(y.of.c[i]);
    const int matrices = a.extent(batch), m = a.extent(rows), k = a.extent(inner), n = b.extent(columns);
    if (inner.n == 0) {   // nothing to sum over: element by element
        a.arrange(joined(batch, rows, {}));
        b.arrange(joined(batch, columns, {}));
        a.as(extents(matrices, m, 1));
        b.as(extents(matrices, 1, n));
        y.t = reshape(a.t * b.t, result);
        return y;
    }
    const bool ta = a.of == joined(batch, inner, rows) && rows.n,
               tb = b.of == joined(batch, columns, inner) && columns.n;
    if (!ta) a.arrange(joined(batch, rows, inner));
    if (!tb) b.arrange(joined(batch, inner, columns));
    if (matrices == 1) {
        a.as(ta ? extents(k, m) : extents(m, k));
        b.as(tb ? extents(n, k) : extents(k, n));
    } else {
        a.as(ta ? extents(matrices, k, m) : extents(matrices, m, k));
        b.as(tb ? extents(matrices, n, k) : extents(matrices, k, n));
    }
    y.t = matmul(a.t, b.t, ta ? transposed::yes : transposed::no, tb ? transposed::yes : transposed::no);
    y.as(result);
    return y;
}

constexpr tensor einsum(const char* text, const tensor* operands, int n) {
    compiler::graph* const g = operands[0].g;
    labelled x[einsum_labels::most];
    int ranks[einsum_labels::most] = {};
    for (int k = 0; k < n; ++k) {
        if (!operands[k].ok() || not_floats(op::einsum, operands[k])) return {g, -1};
        ranks[k] = operands[k].shape().rank;
    }
    const einsum_labels labels(text, ranks, n);
    if (labels.wrong_at >= 0)
        return fail(g, fault_kind::einsum_not_understood, op::einsum, extents(labels.wrong_at), operands[0].shape());
    for (int k = 0; k < n; ++k) {
        x[k] = {operands[k], labels.in[k]};
        for (int i = 0; i < x[k].of.n; ++i)   // one letter, one extent
            for (int o = 0; o <= k; ++o) {
                const char c = x[k].of.c[i];
                if (!x[o].of.has(c)) continue;
                const int here = x[k].t.shape().d[i], there = x[o].extent(c);
                if (here != there && (c >= 'A' || (here != 1 && there != 1)))
                    return fail(g, fault_kind::inner_extents_differ, op::einsum, x[k].t.shape(), x[o].t.shape());
            }
    }
    for (int k = 0; k < n; ++k) x[k].take_diagonals();
    for (int k = 1; k < n; ++k) {
        axis_labels kept[einsum_labels::most] = {labels.out};
        int lists = 1;
        for (int later = k + 1; later < n; ++later) kept[lists++] = x[later].of;
        x[0] = join(x[0], x[k], kept, lists);
        if (!x[0].t.ok()) return x[0].t;
    }
    for (int i = x[0].of.n; i-- > 0;)
        if (!labels.out.has(x[0].of.c[i])) x[0].sum_over(x[0].of.c[i]);
    if (x[0].t.ok()) x[0].arrange(labels.out);
    return x[0].t;
}

template <compiler::text Labels, class... T>
    requires(sizeof...(T) >= 1 && sizeof...(T) <= einsum_labels::most && (std::is_same_v<T, tensor> && ...))
constexpr tensor einsum(T... operands) {
    const tensor list[] = {operands...};
    return einsum(Labels.c, list, static_cast<int>(sizeof...(T)));
}

} // namespace ops
using ops::einsum;

} // namespace sinter
