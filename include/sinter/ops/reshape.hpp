// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// reshape(x, extents(...)): the same elements in the same order under other extents, one of which
/// may be -1: whatever is left for it. The batch axis stays. Costs nothing. ONNX: Reshape.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name reshape{"reshape"};
}

template <>
struct rule<op::reshape> : view_rule {
    static constexpr const char* name = "reshape";
    static constexpr bool steps = true;
    static constexpr void gradient(gradient_of& g) {
        const tensor d = ops::unpack(g.d);
        g.add(0, make<op::reshape>(g.g, g.x(0).shape(), {d}));
    }
};

namespace ops {

constexpr tensor reshape(tensor a, shape s) {
    if (!a.ok()) return a;
    a = unpack(a);
    if (a.shape().form == layout::steps && s.rank > 1 && s.d[0] == a.shape().d[0]) s.form = layout::steps;
    else s.form = layout::plain, a = from_steps(a);
    s.batched = a.shape().batched;
    s.type = a.shape().type;
    std::int64_t others = 1;   // of extents that no tensor has it stops somewhere beyond 2^31
    int open = -1;
    for (int i = 0; i < s.rank; ++i) {
        if (s.d[i] == -1 && open < 0) open = i;
        else if (others <= 0x7fffffff) others *= s.d[i];
    }
    if (open >= 0 && others > 0 && a.shape().size() % others == 0)
        s.d[open] = static_cast<int>(a.shape().size() / others);
    bool fits = s.size() == a.shape().size();
    for (int i = 0; i < s.rank; ++i) fits = fits && s.d[i] > 0;
    if (!fits) return fail(a.g, fault_kind::sizes_differ, op::reshape, a.shape(), s);
    if (s == a.shape()) return a;
    const compiler::node& n = a.g->n[a.id];
    if (n.k == op::reshape && a.g->n[n.in[0]].s == s) return {a.g, n.in[0]};   // and back again
    return make<op::reshape>(a.g, s, {a});
}

} // namespace ops

} // namespace sinter
