// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>
#include <sinter/ops/detail/strides.hpp>

/// slice(x, axis, first, n, step): elements first, first + step, ..., n of them, along an axis
/// (without the batch; -1 is the last). slice(x, {part{begin, end, step}, ...}): NumPy's x[:,
/// begin:end:step, ...], a part for each leading axis. One copy, whatever the number of axes. ONNX:
/// Slice.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name slice{"slice"}, insert{"insert"};
}

/// In node::p: where it begins, and the step of each axis of the smaller one, within one example of
/// the larger one.
namespace slice_attribute { enum : int { offset, steps }; }

namespace detail {
constexpr void slice_extents(const kernel_request& r, kernel_extents& k, const shape& small, const shape& large) {
    step_list t;
    for (int i = 0; i < small.rank; ++i) t.step[i] = r.n.p[slice_attribute::steps + i];
    set_steps(k, small, t);
    k.e[strided::example] = large.size();
    k.e[strided::offset] = r.n.p[slice_attribute::offset];
    k.by_example(small, 1);
}
} // namespace detail

/// The result's elements from even steps within the operand.
template <>
struct rule<op::slice> : root_op_rule {
    static constexpr op_role role = op_role::slice;
    static constexpr const char* name = "slice";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::slice_extents(r, k, r.y(), r.x(0));
    }
    static constexpr void gradient(gradient_of& g);
};
/// The other way round: the operand at the places that a slice of the result would read, f
/// elsewhere.
template <>
struct rule<op::insert> : root_op_rule {
    static constexpr const char* name = "insert";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        detail::slice_extents(r, k, r.x(0), r.y());
        k.e[strided::fill] = std::bit_cast<std::int32_t>(r.n.f);
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

/// Where not said: from the first element to the last, or with a negative step from the last to the
/// first.
struct part {
    static constexpr int open = -2147483647 - 1;
    int begin = open, end = open, step = 1;
};

/// A box of even steps: first element and step along each axis of x, n elements.
struct box {
    int first[max_rank] = {}, step[max_rank] = {1, 1, 1, 1, 1}, n[max_rank] = {};
    constexpr explicit box(const shape& s) {
        for (int i = 0; i < s.rank; ++i) n[i] = s.d[i];
    }
};
/// `small` lies as box b in `large`, of which one of the two is the operand; no axis of it is
/// looked at again.
template <op_id K>
constexpr tensor boxed(tensor x, const shape& result, const shape& large, const box& b, float fill = 0) {
    const step_list t = natural_steps(large);
    int p[compiler::max_attributes] = {};
    for (int i = 0; i < large.rank; ++i) {
        p[slice_attribute::offset] += static_cast<int>(b.first[i] * t.step[i]);
        p[slice_attribute::steps + i] = b.n[i] == 1 ? 0 : static_cast<int>(b.step[i] * t.step[i]);
    }
    return make<K>(x.g, result, {x}, p, fill);
}
constexpr bool lies_within(const box& b, const shape& s) {
    for (int i = 0; i < s.rank; ++i) {
        const std::int64_t last = b.first[i] + static_cast<std::int64_t>(b.n[i] - 1) * b.step[i];
        if (b.n[i] < 1 || b.step[i] == 0 || b.first[i] < 0 || b.first[i] >= s.d[i] || last < 0 || last >= s.d[i])
            return false;
    }
    return true;
}
constexpr tensor slice(tensor x, const box& b) {
    const shape s = x.shape();
    if (!lies_within(b, s)) return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, s);
    shape out = s;
    bool all = true;
    for (int i = 0; i < s.rank; ++i) {
        out.d[i] = b.n[i];
        all = all && b.n[i] == s.d[i] && (b.step[i] == 1 || b.n[i] == 1);
    }
    return all ? x : boxed<op::slice>(x, out, s, b);
}

constexpr tensor slice(tensor x, int axis, int first, int n, int step = 1) {
    if (!x.ok()) return x;
    x = unpack(x);
    axis = axis_of(x.shape(), axis);
    if (axis < 0) return fail(x.g, fault_kind::axis_out_of_range, op::slice, x.shape(), x.shape());
    box b(x.shape());
    b.first[axis] = first;
    b.n[axis] = n;
    b.step[axis] = step;
    return slice(x, b);
}
constexpr tensor slice(tensor x, std::initializer_list<part> parts) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    box b(s);
    int i = 0;
    for (part r : parts) {
        if (i == s.rank || r.step == 0) return fail(x.g, fault_kind::axis_out_of_range, op::slice, s, s);
        const int n = s.d[i];   // as Python: what lies outside is cut off
        auto within = [&](int v, int lowest, int highest) {
            if (v < 0) v += n;
            return v < lowest ? lowest : v > highest ? highest : v;
        };
        const bool up = r.step > 0;
        const int begin = r.begin == part::open ? (up ? 0 : n - 1)
                          : up                  ? within(r.begin, 0, n)
                                                : within(r.begin, -1, n - 1);
        const int end = r.end == part::open ? (up ? n : -1) : up ? within(r.end, 0, n) : within(r.end, -1, n - 1);
        b.first[i] = begin;
        b.step[i] = r.step;
        const std::int64_t step = r.step, all = up ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
        b.n[i++] = static_cast<int>(all);
    }
    return slice(x, b);
}

} // namespace ops
using ops::slice;
using ops::part;

constexpr void rule<op::insert>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::slice>(g.g, g.x(0).shape(), {g.d}, n.p));
}
constexpr void rule<op::slice>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, make<op::insert>(g.g, g.x(0).shape(), {g.d}, n.p));
}

} // namespace sinter
