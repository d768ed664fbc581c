// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/size_along.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
/// x over its length along the last axis; lengths below 1e-6 count as that. First over its largest
/// number where that is above 1, so that squares stay finite.
constexpr tensor direction(tensor x) {
    const tensor u = x / ops::maximum(ops::size_along(x, {-1}), 1.f);
    return u / ops::sqrt(ops::maximum(sum(u * u, {-1}, keep::yes), 1e-12f));
}
} // namespace detail

/// 1 - the cosine of the angle between prediction and target along the last axis, in [0, 2]; one
/// value for each row (PyTorch's CosineEmbeddingLoss of pairs that belong together; Keras'
/// CosineSimilarity is this less 1).
struct cosine_distance_loss {
    static constexpr target_kind target = target_kind::same_as_output;
    constexpr tensor operator()(tensor prediction, tensor expected) const {
        if (!detail::same_extents(prediction, expected, op::row_sum)) return {prediction.g, -1};
        if (prediction.shape().rank == 0)
            return fail(prediction.g, fault_kind::axis_out_of_range, op::row_sum, prediction.shape(), extents(1));
        return 1.f - sum(detail::direction(prediction) * detail::direction(expected), {-1});
    }
};
inline constexpr cosine_distance_loss cosine_distance{};

} // namespace sinter
