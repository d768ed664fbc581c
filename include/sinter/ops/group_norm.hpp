// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/broadcast.hpp>
#include <sinter/ops/detail/middle_moment.hpp>
#include <sinter/ops/mul.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/slice.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// group_norm(x, groups, epsilon): (x - mean) / sqrt(variance + epsilon) over all places and the
/// channels of a group of each example, [..., C] (Wu and He 2018); the variance is the biased one.
/// As many groups as channels are instance_norm (Ulyanov et al. 2016). ONNX: GroupNormalization,
/// without its scale and bias; InstanceNormalization.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name group_normalized{"group_normalized"}; }

namespace group_norm_attribute { enum : int { groups }; }   // in node::p

namespace detail {
/// The mean over a group's channels of what each of them has, [1, C]. Places are summed before,
/// channel by channel: so all that is large is walked by whole rows, however few channels a group
/// has.
constexpr tensor over_groups(tensor each, int groups) {
    const int channels = each.shape().last();
    if (groups == channels) return each;
    const tensor apart = ops::reshape(each, extents(groups, channels / groups));
    return ops::reshape(ops::broadcast_to(ops::mean(apart, {1}, keep::yes), apart.shape()), extents(1, channels));
}
/// Over all places, too, [places, C] -> [1, C].
constexpr tensor mean_of_groups(tensor x, int groups) { return over_groups(ops::mean(x, {0}, keep::yes), groups); }
/// The first number of each group, for all its channels, [places, C] -> [1, C]. Distances from it
/// lose no digits to a large mean, and are 0 where all numbers are equal. No gradient flows through
/// it.
constexpr tensor first_of_groups(tensor x, int groups) {
    const int channels = x.shape().last(), each = channels / groups;
    const tensor apart = ops::reshape(x, extents(x.shape().d[0], groups, each));
    const tensor first = ops::slice(apart, {ops::part{0, 1}, ops::part{}, ops::part{0, 1}});
    return ops::reshape(ops::broadcast_to(first, with_last(first.shape(), each)), extents(1, channels));
}
} // namespace detail

/// A value under the normalisation's gradient in closed form, as layer_norm has it: mean and
/// variance depend on x just so that the gradient's sum, and its sum with x - mean, vanish.
/// Operands: the value, x [places, C], mean, 1 / deviation.
template <>
struct rule<op::group_normalized> : view_rule {
    static constexpr const char* name = "group_normalized";
    static constexpr void gradient(gradient_of& g) {
        if (!g.wants(1)) return;
        const int groups = g.n().p[group_norm_attribute::groups];
        const tensor d = g.d, r = g.x(3), apart = g.x(1) - g.x(2);
        const tensor along = detail::over_groups(detail::mean_product(g.x(1), g.x(2), d), groups);
        g.add(1, (d - detail::mean_of_groups(d, groups)) * r - apart * (along * (r * r * r)));
    }
};

namespace ops {

constexpr tensor group_norm(tensor x, int groups, float epsilon = 1e-5f) {
    if (!x.ok()) return x;
    x = plain(x);
    const shape s = x.shape();
    const int channels = s.last();
    if (groups < 1 || channels % groups)
        return fail(x.g, fault_kind::groups_do_not_divide_channels, op::row_sum, extents(channels), extents(groups));
    const tensor a = reshape(x, extents(s.rows(), channels)), first = sinter::detail::first_of_groups(a, groups);
    const tensor mean = first + sinter::detail::over_groups(sinter::detail::mean_distance(a, first), groups),
                 apart = a - mean;
    const tensor r = rsqrt(sinter::detail::over_groups(sinter::detail::mean_square(a, mean), groups) + epsilon),
                 y = apart * r;
    return y.ok() ? reshape(make<op::group_normalized>(x.g, y.shape(), {y, a, mean, r}, {groups}), s) : y;
}
constexpr tensor instance_norm(tensor x, float epsilon = 1e-5f) {
    return x.ok() ? group_norm(x, x.shape().last(), epsilon) : x;
}

} // namespace ops
} // namespace sinter
