// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/less_equal.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/matmul.hpp>
#include <sinter/ops/one_hot.hpp>

/// local_response_norm(x, {size, alpha, beta, k}): x / (k + alpha / size * sum of squares of the
/// `size` channels around)^beta, where size / 2 channels lie before and (size - 1) / 2 behind
/// (Krizhevsky et al. 2012, by PyTorch's and ONNX' alpha; TensorFlow and the paper do not divide by
/// the size: give them size * alpha). ONNX: LRN.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name local_response_norm{"local_response_norm"},
    local_response_norm_gradient{"local_response_norm_gradient"};
}

/// The constants of the formula above; all but the size begin as PyTorch's.
struct response {
    int size = 5;
    float alpha = 1e-4f, beta = 0.75f, k = 1.f;
};

/// Numbers are floats' bits, scale that of alpha / size.
namespace response_attribute { enum : int { size, alpha, beta, k }; }           // in node::p
namespace response_extent { enum : int { channels, scale, beta, k }; }          // in call::e
namespace response_fixed { enum : int { before, behind, quarters_of_beta }; }   // in spec::extents
namespace response_operand { enum : int { x }; }                                // in call::p
namespace response_gradient_operand { enum : int { d, x }; }                    // in call::p

namespace detail {

constexpr response response_of(const node& n) {
    return {n.p[response_attribute::size], std::bit_cast<float>(n.p[response_attribute::alpha]),
            std::bit_cast<float>(n.p[response_attribute::beta]), std::bit_cast<float>(n.p[response_attribute::k])};
}
template <op_id K>
constexpr tensor response_node(graph* g, const shape& s, std::initializer_list<tensor> operands, const response& o) {
    return make<K>(g, s, operands,
                   {o.size, std::bit_cast<int>(o.alpha), std::bit_cast<int>(o.beta), std::bit_cast<int>(o.k)});
}
/// The window, no wider than they are, and powers that square roots do are known while compiling.
constexpr void response_extents(const kernel_request& r, kernel_extents& k) {
    const response o = response_of(r.n);
    const int channels = r.y().last();
    const auto within = [&](int n) { return n < channels ? n : channels - 1; };
    const bool by_roots = o.beta == 0.5f || o.beta == 0.75f || o.beta == 1.f;
    k.set_fixed({within(o.size / 2), within((o.size - 1) / 2), by_roots ? static_cast<int>(4 * o.beta) : 0});
    k.set({{response_extent::channels, channels},
           {response_extent::scale, std::bit_cast<std::int32_t>(o.alpha / static_cast<float>(o.size))},
           {response_extent::beta, std::bit_cast<std::int32_t>(o.beta)},
           {response_extent::k, std::bit_cast<std::int32_t>(o.k)}});
    k.by_example(r.y(), r.y().size() / channels);
}

} // namespace detail

template <>
struct rule<op::local_response_norm> : root_op_rule {
    static constexpr const char* name = "local_response_norm";
    static constexpr long flops(const node& n, const node*) {
        return n.s.size() * (n.p[response_attribute::size] + 10L);
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::response_extents(r, k); }
    static constexpr void gradient(gradient_of& g);
};
/// Operands: gradient of the result, x. The kernel sums the squares again: that costs less than to
/// keep what it makes of them.
template <>
struct rule<op::local_response_norm_gradient> : root_op_rule {
    static constexpr const char* name = "local_response_norm_gradient";
    static constexpr long flops(const node& n, const node*) {
        return n.s.size() * (2L * n.p[response_attribute::size] + 16L);
    }
    static constexpr void extents(const kernel_request& r, kernel_extents& k) { detail::response_extents(r, k); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {

constexpr tensor local_response_norm(tensor x, response o = {}) {
    if (!x.ok() || not_floats(op::local_response_norm, x)) return {x.g, -1};
    x = plain(x);
    if (o.size < 1)
        return fail(x.g, fault_kind::window_out_of_range, op::local_response_norm, extents(o.size), extents(1));
    return sinter::detail::response_node<op::local_response_norm>(x.g, x.shape(), {x}, o);
}

} // namespace ops

namespace detail {

/// Sums along the last axis of `before` elements, the element itself and `behind` ones, as a
/// product with a matrix of ones and zeros: for derivatives of derivatives alone.
constexpr tensor sums_around(tensor v, int before, int behind) {
    const int n = v.shape().last();
    const tensor row = ops::reshape(ops::column_numbers(v.g, extents(n)), extents(n, 1));
    const tensor apart = ops::column_numbers(v.g, extents(n, n)) - row;
    const tensor near =
        ops::less_equal(apart, static_cast<float>(before)) * ops::greater_equal(apart, -static_cast<float>(behind));
    return ops::matmul(v, near);
}

} // namespace detail

constexpr void rule<op::local_response_norm>::gradient(gradient_of& g) {
    const node n = g.n();
    g.add(0, detail::response_node<op::local_response_norm_gradient>(g.g, n.s, {g.d, g.x(0)}, detail::response_of(n)));
}
/// With W a window's sum, V the sum over the windows that hold an element, s = k + a W(x^2), a =
/// alpha / size, f = s^-beta and e = 2 a beta f / s the result is d f - x V(d x e).
constexpr void rule<op::local_response_norm_gradient>::gradient(gradient_of& g) {
    const response o = detail::response_of(g.n());
    const int before = o.size / 2, behind = (o.size - 1) / 2;
    const float a = o.alpha / static_cast<float>(o.size);
    const tensor d = g.x(0), x = g.x(1), h = g.d;
    const tensor s = detail::sums_around(x * x, before, behind) * a + o.k, f = ops::exp(ops::log(s) * -o.beta);
    const tensor e = f / s * (2 * a * o.beta), w = detail::sums_around(h * x, before, behind);
    if (g.wants(0)) g.add(0, h * f - x * e * w);
    if (!g.wants(1)) return;
    const tensor by_s = d * (x * w * e * (o.beta + 1) - h * f * o.beta) / s;
    g.add(1, x * detail::sums_around(by_s, behind, before) * (2 * a) - d * e * w -
                 h * detail::sums_around(d * x * e, behind, before));
}

} // namespace sinter
