// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/cumprod.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/equal.hpp>
#include <sinter/ops/sum.hpp>

/// prod(x, {axes}): the product of the elements over axes, as in sum(), the batch's too. Its
/// gradient divides by no zero, and by nothing unless the batch is among them. ONNX: ReduceProd.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name prod{"prod"}; }

/// [outer, n, inner] -> [outer, inner]; attributes as middle_sum's.
template <>
struct rule<op::prod> : root_op_rule {
    static constexpr const char* name = "prod";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::middle_extents(r, k); }
    static constexpr long flops(const node&, const node* in) { return in->s.size(); }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        const tensor x = g.x(0);
        if (x.shape().batched && !n.s.batched) return over_batch(g, x, n);
        // the product of those before, and of those behind
        const tensor before = detail::scan_like<op::cumprod>(g.g, n, x.shape(), {x}, true, false);
        const tensor behind = detail::scan_like<op::cumprod>(g.g, n, x.shape(), {x}, true, true);
        g.add(0, ops::broadcast_to(g.d, x.shape()) * (before * behind));
    }
    /// As PyTorch: the product of those that are not 0, divided by each of them if none is 0; all
    /// of it to the one that is.
    static constexpr void over_batch(gradient_of& g, tensor x, const node& n) {
        const tensor zero = ops::equal(x, 0.f), others = x + zero;
        const int count = n.p[axis_attribute::n], inner = n.p[axis_attribute::inner];
        const tensor product = make<op::prod>(g.g, n.s, {others}, {1, count, inner});
        const tensor n_zeros = make<op::middle_sum>(g.g, n.s, {zero}, {1, count, inner});
        const auto to_all = [&](float found) {
            return ops::broadcast_to(g.d * product * ops::equal(n_zeros, found), x.shape());
        };
        g.add(0, (1.f - zero) * to_all(0.f) / others + zero * to_all(1.f));
    }
};

namespace ops {

struct prod_ops {
    static constexpr op_id row = op::prod, columns = op::prod, middle = op::prod;
};
constexpr tensor prod(tensor x, std::initializer_list<int> axes, keep k = keep::no) {
    return x.ok() ? reduce<prod_ops>(x, parse_axes(x.shape(), axes), k) : x;
}

} // namespace ops
using ops::prod;

} // namespace sinter
