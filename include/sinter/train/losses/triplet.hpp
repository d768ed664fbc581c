// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/graph/number.hpp>
#include <sinter/ops/detail/size_along.hpp>
#include <sinter/ops/div.hpp>
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/train/losses/detail/parts.hpp>

namespace sinter::inline SINTER_TARGET {

/// Of a net with three outputs of equal extents, an anchor, something of its kind and something of
/// another kind: max(0, |a - p| - |a - n| + Margin) with Euclidean distances along the last axis
/// (Schroff et al. 2015, who square them; PyTorch's TripletMarginLoss, which adds 1e-6 to each
/// difference: here the squared distance is at least 1e-12). It takes no targets: which examples
/// belong together is said by the batch's three inputs. One value for each row.
template <number Margin>
struct triplet_loss {
    static constexpr target_list targets{};
    constexpr tensor operator()(bundle outputs, bundle) const {
        if (outputs.n != 3)
            return fail(outputs.g, fault_kind::wrong_number_of_inputs, op::input, extents(outputs.n), extents(3));
        const tensor anchor = outputs[0], same = outputs[1], other = outputs[2];
        for (const tensor& t : {same, other})
            if (!detail::same_extents(anchor, t, op::sub)) return {outputs.g, -1};
        if (anchor.shape().rank == 0)
            return fail(outputs.g, fault_kind::axis_out_of_range, op::row_sum, anchor.shape(), extents(1));
        return ops::relu(distance(anchor, same) - distance(anchor, other) + Margin.value);
    }

private:
    static constexpr tensor distance(tensor a, tensor b) {
        const tensor d = a - b, size = ops::maximum(ops::size_along(d, {-1}), 1.f), u = d / size;   // finite squares
        return ops::scaled_back(ops::sqrt(ops::maximum(sum(u * u, {-1}), 1e-12f)), size);
    }
};
inline constexpr triplet_loss<1.f> triplet{};
template <number Margin>
inline constexpr triplet_loss<Margin> triplet_with{};

} // namespace sinter
