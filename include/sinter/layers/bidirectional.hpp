// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/layers/recurrent.hpp>
#include <sinter/ops/concat.hpp>

namespace sinter::inline SINTER_TARGET {

/// bidirectional(lstm<N>): the layer once forwards and once backwards over time, their results side
/// by side: [T, F] -> [T, 2 N], or [2 N] without `sequences` (Schuster and Paliwal 1997).
/// Parameters stand under forward/ and backward/. With lengths, the way back begins at each
/// example's last step. Keras' Bidirectional with merge_mode concat.
template <class L>
struct bidirectional_layer : sequence_layer<bidirectional_layer<L>> {
    static constexpr const char* name = "bidirectional";
    static constexpr recurrent_options back() {
        recurrent_options o = L::options;
        o.reverse = true;
        return o;
    }
    static constexpr tensor trace(tensor x) { return both(x, {}); }
    static constexpr tensor trace(tensor x, tensor lengths) { return both(x, lengths); }

private:
    static constexpr tensor both(tensor x, tensor lengths) {
        tensor y[2] = {};
        {
            const compiler::scoped s(x.g, "forward");
            y[0] = L::run(x, lengths, {}).y;
        }
        {
            const compiler::scoped s(x.g, "backward");
            y[1] = L::template with<back()>::run(x, lengths, {}).y;
        }
        return ops::concat(y[0], y[1]);
    }
};
namespace detail {
template <class L>
concept has_both_ways = requires { typename L::template with<L::options>; };
}
template <detail::has_both_ways L>
constexpr bidirectional_layer<L> bidirectional(L) {
    static_assert(std::is_empty_v<L>,
                  "bidirectional: the layer's members would be lost; they must become template arguments");
    static_assert(!L::options.reverse, "bidirectional: the layer must go forwards");
    return {};
}
/// What is no recurrent layer, one in named<"..."> among them, is refused in one message.
template <class L>
constexpr detail::refused_layer bidirectional(L) {
    static_assert(std::is_void_v<L>,
                  "bidirectional takes a recurrent layer itself, as lstm<32>: named<\"...\">, shared and initialized "
                  "stand around bidirectional(...)");
    return {};
}

} // namespace sinter
