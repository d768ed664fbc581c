// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/compose.hpp>
#include <sinter/ops/concat.hpp>
#include <sinter/ops/reshape.hpp>

namespace sinter::inline SINTER_TARGET {

/// All axes of an example in one, last axis fastest: [H, W, C] -> [H W C].
struct flatten_layer : plain_layer<flatten_layer> {
    static constexpr tensor trace(tensor x) { return ops::reshape(x, extents(x.shape().size())); }
};
/// reshape<D...>: the same elements under other extents (without the batch); one may be -1,
/// whatever is left for it.
template <int... D>
struct reshape_layer : layer<reshape_layer<D...>> {
    static_assert(sizeof...(D) <= max_rank, "reshape: five axes at the most");
    static constexpr const char* name = "reshape";
    static constexpr tensor trace(tensor x) { return ops::reshape(x, extents(D...)); }
};
inline constexpr flatten_layer flatten{};
template <int... D>
inline constexpr reshape_layer<D...> reshape{};

} // namespace sinter
