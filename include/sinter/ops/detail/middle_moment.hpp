// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/neg.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// What normalisations sum over axes in the middle: distances, x - m, their squares, (x - m)^2, or
/// products with them, (x - m) d; m is one for all that are summed. One kernel, so that no array is
/// made of them.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name middle_moment{"middle_moment"}; }

namespace moment_attribute {
enum : int { outer, n, inner, distances };
}   // namespace moment_attribute
namespace moment_extent { enum : int { n, inner, kind }; }                  // in call::e; kind: a detail::moment
namespace moment_operand { enum : int { x, m, d }; }                        // in call::p

namespace detail {
enum class moment : std::uint8_t { distance = 1, square, product };
constexpr moment moment_of(const node& n) {
    return n.p[moment_attribute::distances] ? moment::distance : n.operands == 2 ? moment::square : moment::product;
}
} // namespace detail

/// x [outer, n, inner], m [outer, 1, inner] and, where there is one, d as x, to [outer, 1, inner].
template <>
struct rule<op::middle_moment> : root_op_rule {
    static constexpr const char* name = "middle_moment";
    static constexpr void extents(const kernel_request& r, kernel_extents& k) {
        k.set({{moment_extent::n, r.n.p[moment_attribute::n]}, {moment_extent::inner, r.n.p[moment_attribute::inner]},
               {moment_extent::kind, static_cast<int>(detail::moment_of(r.n))}});
        k.by_example(r.y(), r.n.p[moment_attribute::outer]);
    }
    static constexpr long flops(const node&, const node* in) { return 3L * in->s.size(); }
    static constexpr void gradient(gradient_of& g) {
        const node n = g.n();
        const tensor apart = g.x(0) - g.x(1), all = ops::broadcast_to(g.d, g.x(0).shape());
        const detail::moment kind = detail::moment_of(n);
        if (kind == detail::moment::distance) {
            g.add(0, all);
            return g.add(1, g.d * -static_cast<float>(n.p[moment_attribute::n]));
        }
        const bool squares = kind == detail::moment::square;
        const tensor by = squares ? apart * 2.f : g.x(2);   // what each distance counts
        if (g.wants(0)) g.add(0, by * all);
        if (g.wants(1)) g.add(1, -make<op::middle_sum>(g.g, n.s, {by}, n.p) * g.d);
        if (!squares && g.wants(2)) g.add(2, apart * all);
    }
};

namespace detail {
/// Of [places, C] by something near the mean [1, C]: the mean over all places, [1, C].
constexpr tensor mean_distance(tensor x, tensor m) {
    const int places = x.shape().d[0];
    return make<op::middle_moment>(x.g, m.shape(), {x, m}, {1, places, x.shape().d[1], 1}) *
           (1.f / static_cast<float>(places));
}
constexpr tensor mean_square(tensor x, tensor m) {
    const int places = x.shape().d[0];
    return make<op::middle_moment>(x.g, m.shape(), {x, m}, {1, places, x.shape().d[1]}) *
           (1.f / static_cast<float>(places));
}
constexpr tensor mean_product(tensor x, tensor m, tensor d) {
    const int places = x.shape().d[0];
    return make<op::middle_moment>(x.g, m.shape(), {x, m, d}, {1, places, x.shape().d[1]}) *
           (1.f / static_cast<float>(places));
}
} // namespace detail

} // namespace sinter
