// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/div.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/sub.hpp>
#include <sinter/ops/sum.hpp>

/// group_norm(x, groups, epsilon): (x - mean) / sqrt(variance + epsilon) over all places and the channels of a group of each
/// example, [..., C] (Wu and He 2018); the variance is the biased one. As many groups as channels are instance_norm
/// (Ulyanov et al. 2016). ONNX: GroupNormalization, without its scale and bias; InstanceNormalization.
namespace sinter::ops {

constexpr tensor group_norm(tensor x, int groups, float epsilon = 1e-5f) {
    if (!x.ok()) return x;
    x = plain(x);
    const shape s = x.shape();
    const int channels = s.last();
    if (groups < 1 || channels % groups)
        return fail(x.g, fault_kind::groups_do_not_divide_channels, op::row_sum, extents(channels), extents(groups));
    const bool single = groups == channels;
    const tensor a = reshape(x, single ? extents(s.rows(), channels) : extents(s.rows(), groups, channels / groups));
    const auto over = [&](tensor t) { return single ? mean(t, {0}, keep::yes) : mean(t, {0, 2}, keep::yes); };
    const tensor d = a - over(a);
    return reshape(d / sqrt(over(d * d) + epsilon), s);
}
constexpr tensor instance_norm(tensor x, float epsilon = 1e-5f) { return x.ok() ? group_norm(x, x.shape().last(), epsilon) : x; }

} // namespace sinter::ops
