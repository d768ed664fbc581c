// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// What layer_norm is made of: a row's normalisation with its gradient in closed form (Ba et al.
/// 2016). Mean and variance depend on x just so that the gradient's sum, and its sum with x - mean,
/// vanish; reverse mode op by op would subtract one after the other.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name layer_normalized{"layer_normalized"}; }

namespace detail {
constexpr tensor mean_of_row(tensor x) { return ops::mean(x, {-1}, keep::yes); }
}

/// A value under that gradient. Operands: the value, x, gamma, beta, mean, 1 / deviation.
template <>
struct rule<op::layer_normalized> : view_rule {
    static constexpr const char* name = "layer_normalized";
    static constexpr bool steps = true;
    static constexpr void gradient(gradient_of& g) {
        const tensor d = g.d, x = g.x(1), gamma = g.x(2), mean = g.x(4), r = g.x(5), apart = x - mean;
        g.add(2, d * apart * r);
        g.add(3, d);
        if (!g.wants(1)) return;
        const tensor e = d * gamma;
        g.add(1, (e - detail::mean_of_row(e)) * r - apart * (detail::mean_of_row(e * apart) * (r * r * r)));
    }
};

namespace detail {

/// gamma (x - mean) / sqrt(variance + epsilon) + beta; gamma and beta are [C], mean and variance
/// those of x's last axis, C. A mean that is a rounded sum would leave a row of one large number a
/// variance. So it is corrected by the mean distance from it, which the walk that sums squares sums
/// as well: then it is the nearest float to the mean, and of a constant row exactly that constant.
constexpr tensor layer_normalize(tensor x, tensor gamma, tensor beta, float epsilon) {
    const tensor near = mean_of_row(x), from = x - near, rest = mean_of_row(from), mean = near + rest;
    const tensor beside = minimum(rest * rest, 0x1.fffffep127f);   // infinity less infinity would be NaN
    const tensor variance = maximum(mean_of_row(from * from) - beside, 0.f), r = ops::rsqrt(variance + epsilon);
    const tensor y = (x - mean) * r * gamma + beta;
    return y.ok() ? make<op::layer_normalized>(x.g, y.shape(), {y, x, gamma, beta, mean, r}) : y;
}

} // namespace detail

} // namespace sinter
