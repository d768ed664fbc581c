// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/loss_targets.hpp>
#include <sinter/train/optimizers/detail/missing.hpp>
#include <sinter/train/settings.hpp>

namespace sinter::inline SINTER_TARGET {

template <class... Phases>
struct alternating;   // train/optimizers/alternating.hpp
template <class O>
concept alternates = requires { typename O::template loss<0>; };

namespace detail {

/// Whether what stands behind the net stands for loss and optimizer both, because a setting
/// follows, or nothing: alternating phases do. Anything else that stands so lacks the one or the
/// other.
template <class First, class Next>
concept stands_alone = alternates<First> || setting<Next>;

/// What it stands for.
template <class First>
struct loss_and_optimizer {   // a loss
    using loss = First;
    using optimizer = optimizer_missing<First>;
};
template <class First>
    requires requires { First::slots; }
struct loss_and_optimizer<First> {   // an optimizer: its one error is loss_missing
    using loss = no_loss;
    using optimizer = First;
};
template <class... Phases>
struct loss_and_optimizer<alternating<Phases...>> {
    using loss = typename alternating<Phases...>::template loss<0>;
    using optimizer = alternating<Phases...>;
};
template <class Optimizer, class First>
Optimizer optimizer_in(const First& first) {
    if constexpr (std::is_same_v<Optimizer, First>) return first;
    else return {};
}

} // namespace detail

} // namespace sinter
