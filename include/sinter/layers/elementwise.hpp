// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/expr/scalar.hpp>

namespace sinter::inline SINTER_TARGET {

/// elementwise([](scalar x) { return x / (1.f + exp(-x)); }): an op of the user's own, of one or
/// two operands, as a layer and as a function of tensors.
template <class F>
struct elementwise_op : layer_tag {
    constexpr tensor operator()(tensor x) const
        requires std::is_invocable_v<F, scalar>
    {
        return x.ok() ? F{}(scalar{x}).t : x;
    }
    constexpr tensor operator()(tensor x, tensor y) const
        requires std::is_invocable_v<F, scalar, scalar>
    {
        return x.ok() && y.ok() ? F{}(scalar{x}, scalar{y}).t : tensor{x.g, -1};
    }
};
template <class F>
constexpr elementwise_op<F> elementwise(F) {
    static_assert(std::is_empty_v<F>, "elementwise: the function must not capture anything");
    return {};
}

} // namespace sinter
