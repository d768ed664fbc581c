// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/concat.hpp>

/// Sums of parts with zeros around them, as gradients of slices are: those that lie side by side
/// are put together, not added up.
namespace sinter::inline SINTER_TARGET::detail {

/// The places [first, end) along one axis, all of the others.
struct part_along {
    int axis = -1, first = 0, end = 0;   ///< no axis: it is another box
};
constexpr part_along part_inserted(const graph& g, tensor v) {
    const node n = v.at();
    if (n.k != op::insert || n.f != 0 || n.s.type != dtype::f32) return {};
    const shape part = g.n.p[n.in[0]].s;
    const step_list natural = natural_steps(n.s);
    part_along p;
    for (int i = 0; i < n.s.rank; ++i) {
        if (part.d[i] > 1 && n.p[slice_attribute::steps + i] != natural.step[i]) return {};
        if (part.d[i] == n.s.d[i]) continue;
        if (p.axis >= 0) return {};
        p = {i, static_cast<int>(n.p[slice_attribute::offset] / natural.step[i]), 0};
        p.end = p.first + part.d[i];
    }
    return p;
}

inline constexpr int most_parts = 16;   ///< of a sum that are looked at

/// Both as one part, or no tensor where they do not lie side by side.
constexpr tensor joined_parts(tensor a, tensor b) {
    graph& g = *a.g;
    const part_along p = part_inserted(g, a), q = p.axis < 0 ? part_along{} : part_inserted(g, b);
    if (p.axis < 0 || q.axis != p.axis || (p.end != q.first && q.end != p.first)) return {&g, -1};
    const bool in_order = p.end == q.first;
    tensor parts[2 * concat_at_once];
    int n = 0;
    for (const int whole : {in_order ? a.id : b.id, in_order ? b.id : a.id}) {
        const node put = g.n.p[g.n.p[whole].in[0]];   // together before
        if (put.k == op::concat && put.p[concat_attribute::axis] == p.axis)
            for (int k = 0; k < put.operands; ++k) parts[n++] = {&g, put.in[k]};
        else parts[n++] = {&g, g.n.p[whole].in[0]};
    }
    const shape s = a.shape();
    const tensor joined = ops::concat(view<const tensor>{parts, n}, p.axis);
    const int first = in_order ? p.first : q.first, end = in_order ? q.end : p.end;
    if (end - first == s.d[p.axis]) return joined;
    ops::box both(s);
    both.first[p.axis] = first;
    both.n[p.axis] = end - first;
    return ops::boxed<op::insert>(joined, s, s, both);
}

/// a + b. In a, a sum so far, any part may be b's neighbour.
constexpr tensor sum_of_parts(tensor a, tensor b) {
    graph& g = *a.g;
    if (part_inserted(g, b).axis < 0) return a + b;
    if (const tensor both = joined_parts(a, b); both.id >= 0) return both;
    tensor rest[most_parts];
    int n = 0;
    for (tensor sum = a; sum.at().k == op::add && n < most_parts; sum = {&g, sum.at().in[0]}) {
        const tensor last{&g, sum.at().in[1]}, first{&g, sum.at().in[0]};
        for (const bool of_last : {true, false}) {
            const tensor both = joined_parts(of_last ? last : first, b);
            if (both.id < 0) continue;
            tensor y = of_last ? first : last;
            while (n > 0) y = y + rest[--n];
            return sum_of_parts(y, both);
        }
        rest[n++] = last;
    }
    return a + b;
}

} // namespace sinter::detail
