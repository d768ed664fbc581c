// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/cumprod.hpp>
#include <sinter/ops/sum.hpp>

/// prod(x, {axes}): the product of the elements over axes, as in sum(), but not the batch. Its gradient divides by nothing, so
/// zeros do not matter. ONNX: ReduceProd.
namespace sinter {

namespace op { inline constexpr op_name prod{"prod"}; }

/// [outer, n, inner] -> [outer, inner]; p as middle_sum's.
template <>
struct rule<op::prod> : heavy_rule {
    static constexpr const char* name = "prod";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::middle_extents(r, k); }
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) {   // the product of those before, and of those behind
        const node n = g.n();
        const tensor x = g.x(0);
        const tensor before = make<op::cumprod>(g.g, x.shape(), {x}, {n.p[0], n.p[1], n.p[2], 1, 0});
        const tensor behind = make<op::cumprod>(g.g, x.shape(), {x}, {n.p[0], n.p[1], n.p[2], 1, 1});
        g.add(0, ops::broadcast_to(g.d, x.shape()) * (before * behind));
    }
};

namespace ops {

struct prod_ops {   // never over the batch
    static constexpr op_id row = op::prod, columns = op::col_sum, middle = op::prod;
};
constexpr tensor prod(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    if (!x.ok()) return x;
    const axis_set a = parse_axes(x.shape(), axes);
    if (a.batch) return fail(x.g, fault_kind::batch_axis_refused, op::prod, x.shape(), x.shape());
    return reduce<prod_ops>(x, a, k);
}

} // namespace ops
using ops::prod;

} // namespace sinter
