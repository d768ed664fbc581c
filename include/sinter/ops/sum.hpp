// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/strides.hpp>
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/over_batch.hpp>
#include <sinter/ops/reshape.hpp>

/// sum(x, {axes}): axes count without the batch, from 0 or from the end by -1, -2, ...;
/// `batch_axis` is the batch. Reduced axes vanish, or stay as 1 under `keep::yes`. mean() likewise.
/// ONNX: ReduceSum, ReduceMean.
namespace sinter::inline SINTER_TARGET {

inline constexpr int batch_axis = -1000;
enum class keep { no, yes };

namespace op {
inline constexpr op_name row_sum{"row_sum"}, col_sum{"col_sum"}, middle_sum{"middle_sum"};
}

template <>
struct rule<op::row_sum> : root_op_rule {
    static constexpr op_role role = op_role::row_sum;
    static constexpr op_kind kind = op_kind::row_reduce;
    static constexpr const char* name = "row_sum";
    static constexpr bool steps = true;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::broadcast_to(g.d, g.x(0).shape())); }
};
template <>
struct rule<op::col_sum> : root_op_rule {
    static constexpr op_role role = op_role::column_sum;
    static constexpr op_kind kind = op_kind::col_reduce;
    static constexpr const char* name = "col_sum";
    static constexpr bool steps = true;
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::broadcast_to(g.d, g.x(0).shape())); }
};
/// In call::e of reductions over axes in the middle.
namespace middle_extent { enum : int { n, inner, over_batch }; }

namespace detail {
/// Over the batch, the kernel's rows are what one block is made of: all slices of all examples.
constexpr void middle_extents(const kernel_request& r, kernel_extents& k) {
    const bool over_batch = r.x(0).batched && !r.y().batched;
    k.set({{middle_extent::n, r.n.p[axis_attribute::n]}, {middle_extent::inner, r.n.p[axis_attribute::inner]},
           {middle_extent::over_batch, over_batch}});
    k.by_example(over_batch ? r.x(0) : r.y(), r.n.p[over_batch ? axis_attribute::n : axis_attribute::outer]);
}
} // namespace detail

/// [outer, n, inner] -> [outer, inner]. The operand is [.., n.., ..] with the
/// summed axes kept as 1 in the result; outer = 1 where the batch is summed, too.
template <>
struct rule<op::middle_sum> : root_op_rule {
    static constexpr const char* name = "middle_sum";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::middle_extents(r, k); }
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) { g.add(0, ops::broadcast_to(g.d, g.x(0).shape())); }
};

namespace ops {

struct axis_set {
    bool reduced[max_rank] = {}, batch = false, valid = true;
};
constexpr axis_set parse_axes(const shape& s, std::initializer_list<int> axes) {
    axis_set r;
    for (int a : axes) {
        if (a == batch_axis) {
            r.batch = s.batched;
            r.valid = r.valid && s.batched;
            continue;
        }
        if (a < 0) a += s.rank;
        if (a < 0 || a >= s.rank) r.valid = false;
        else r.reduced[a] = true;
    }
    return r;
}

/// The ops that a reduction is made of: along rows, over all rows and the batch, along axes in the
/// middle.
struct sum_ops {
    static constexpr op_id row = op::row_sum, columns = op::col_sum, middle = op::middle_sum;
};

/// One reduction over the neighbouring axes [first, end), which stay as 1; the batch too where
/// `batch`.
template <class R>
constexpr tensor reduce_run(tensor x, int first, int end, bool batch) {
    const shape s = x.shape();
    shape kept = s;
    int outer = 1, n = 1, inner = 1;
    for (int i = 0; i < s.rank; ++i) {
        (i < first ? outer : i < end ? n : inner) *= s.d[i];
        if (i >= first && i < end) kept.d[i] = 1;
    }
    if (batch && R::columns == R::middle) {
        kept.batched = false;
        return compiler::make<R::middle>(x.g, kept, {x}, {1, n, inner});
    }
    if (batch) {   // rows of all examples, columns the inner elements
        shape flat = extents(n, inner);
        flat.batched = true;
        kept.batched = false;
        return reshape(compiler::make<R::columns>(x.g, extents(inner), {reshape(x, flat)}), kept);
    }
    if (inner == 1 && R::row != R::middle) {
        shape flat = outer == 1 ? extents(n) : extents(outer, n);
        flat.batched = s.batched;
        if (s.last() == n) flat = s;   // already so: stay in the shape that neighbours have
        return reshape(compiler::make<R::row>(x.g, row_shape(flat), {reshape(x, flat)}), kept);
    }
    return compiler::make<R::middle>(x.g, kept, {x}, {outer, n, inner});
}

/// [T][batch][n] can be reduced as it lies along n, or over everything else.
constexpr bool reduces_steps(const shape& s, const axis_set& a) {
    if (s.rank != 2) return false;
    return a.batch ? a.reduced[0] && !a.reduced[1] : a.reduced[1] && !a.reduced[0];
}

template <class R>
constexpr tensor reduce(tensor x, axis_set a, keep k) {
    if (!x.ok()) return x;
    x = unpack(x);
    const bool as_it_lies = reduces_steps(x.shape(), a) && !(a.batch && R::columns == R::middle);
    if (x.shape().form == layout::steps && !as_it_lies) x = from_steps(x);
    compiler::graph* g = x.g;
    const shape s = x.shape();
    if (not_floats(info_of<R::row>.self, x)) return {g, -1};
    if (!a.valid) return fail(g, fault_kind::axis_out_of_range, info_of<R::row>.self, s, s);
    bool batch_done = !a.batch;
    for (int end = s.rank; end > 0;) {
        if (!a.reduced[end - 1]) {
            --end;
            continue;
        }
        int first = end - 1;
        while (first > 0 && a.reduced[first - 1]) --first;
        // the batch joins the run at the front only if something inside stays; else rows first,
        // then the batch
        const bool joins = first == 0 && a.batch && end < s.rank;
        x = reduce_run<R>(x, first, end, joins);
        batch_done = batch_done || joins;
        end = first;
    }
    if (!batch_done) x = reduce_run<R>(x, 0, 0, true);
    if (k == keep::yes) return x;
    shape out = x.shape();
    out.rank = 0;
    for (int i = 0; i < s.rank; ++i)
        if (!a.reduced[i]) out.d[out.rank++] = s.d[i];
    for (int i = out.rank; i < max_rank; ++i) out.d[i] = 0;
    return reshape(x, out);
}

constexpr tensor sum(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? reduce<sum_ops>(x, parse_axes(x.shape(), axes), k) : x;
}
constexpr tensor mean(tensor x, const axis_set& a, keep k) {
    int n = 1;
    for (int i = 0; i < x.shape().rank; ++i) n *= a.reduced[i] ? x.shape().d[i] : 1;
    tensor y = reduce<sum_ops>(x, a, k);
    if (n > 1) y = y * (1.f / static_cast<float>(n));
    return a.batch ? over_batch(y) : y;
}
constexpr tensor mean(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? mean(x, parse_axes(x.shape(), axes), k) : x;
}

} // namespace ops
using ops::mean;
using ops::sum;

constexpr tensor reduce_to(tensor d, const shape& s) {
    if (!d.ok() || d.shape() == s) return d;
    const shape from = d.shape();
    ops::axis_set a;
    a.batch = from.batched && !s.batched;
    for (int i = 1; i <= from.rank; ++i)
        a.reduced[from.rank - i] = from.d[from.rank - i] != 1 && (i > s.rank || s.d[s.rank - i] == 1);
    d = ops::reshape(ops::reduce<ops::sum_ops>(d, a, keep::yes), s);
    if (s.form == layout::weights) return ops::pack(ops::plain(d));
    return s.form == layout::steps ? ops::to_steps(d) : ops::plain(d);
}

constexpr void gradient_of::add(int i, tensor v) {
    if (!wants(i)) return;
    v = reduce_to(v, x(i).shape());
    left[i] = left[i].g ? left[i] + v : v;
}

} // namespace sinter
