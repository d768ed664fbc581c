// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/strides.hpp>
#include <sinter/ops/reshape.hpp>

/// permute(x, {axes}): result axis i is x's axis axes[i]; the batch axis stays first. transpose(x)
/// swaps the last two. ONNX: Transpose.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name permute{"permute"}; }

template <>
struct rule<op::permute> : root_op_rule {
    static constexpr const char* name = "permute";
    static constexpr bool epilogue = false, moves = true;
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        const step_list own = natural_steps(r.x(0));
        step_list t;
        for (int i = 0; i < r.y().rank; ++i) t.step[i] = own.step[r.n.p[i]];
        set_steps(k, r.y(), t);
        k.e[strided::example] = r.x(0).batched ? r.x(0).size() : 0;
        k.by_example(r.x(0), 1);
    }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor permute(tensor x, const int (&axes)[max_rank]) {
    if (!x.ok()) return x;
    x = unpack(x);
    const shape s = x.shape();
    shape out = s;
    bool seen[max_rank] = {}, identity = true;
    for (int i = 0; i < s.rank; ++i) {
        const int a = axes[i];
        if (a < 0 || a >= s.rank || seen[a]) return fail(x.g, fault_kind::axis_out_of_range, op::permute, s, s);
        seen[a] = true;
        identity = identity && a == i;
        out.d[i] = s.d[a];
    }
    return identity ? x : make<op::permute>(x.g, out, {x}, {axes[0], axes[1], axes[2], axes[3], axes[4]});
}
constexpr tensor permute(tensor x, std::initializer_list<int> axes) {
    if (!x.ok()) return x;
    int order[max_rank] = {0, 1, 2, 3, 4}, i = 0;
    if (static_cast<int>(axes.size()) != x.shape().rank)
        return fail(x.g, fault_kind::axis_out_of_range, op::permute, x.shape(), x.shape());
    for (int a : axes) order[i++] = a;
    return permute(x, order);
}
constexpr tensor transpose(tensor x) {
    if (!x.ok()) return x;
    const int r = x.shape().rank;
    if (r < 2) return fail(x.g, fault_kind::axis_out_of_range, op::permute, x.shape(), x.shape());
    int order[max_rank] = {0, 1, 2, 3, 4};
    order[r - 1] = r - 2;
    order[r - 2] = r - 1;
    return permute(x, order);
}

} // namespace ops
using ops::permute;
using ops::transpose;

constexpr void rule<op::permute>::gradient(gradient_of& g) {
    int inverse[max_rank] = {0, 1, 2, 3, 4};
    for (int i = 0; i < g.n().s.rank; ++i) inverse[g.n().p[i]] = i;
    g.add(0, ops::permute(g.d, inverse));
}

} // namespace sinter
