// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/optimizer_traits.hpp>
#include <sinter/train/optimizers/none.hpp>

namespace sinter::inline SINTER_TARGET {

/// What a program is compiled with whose gradients somebody else updates by (parameter servers):
/// Optimizer's groups of parameters, frozen ones among them, and neither updates nor slots.
template <class Optimizer>
struct updated_elsewhere : no_optimizer {
    static constexpr int groups = compiler::groups_of<Optimizer>();
};
/// Where parameters are chosen by their paths.
template <class Optimizer>
    requires(compiler::has_patterns<Optimizer>() && !requires { Optimizer::every_parameter_matches; })
struct updated_elsewhere<Optimizer> : no_optimizer {
    static constexpr int groups = compiler::groups_of<Optimizer>();
    static constexpr auto& patterns = compiler::patterns_of<Optimizer>();
};
/// Of a loss that alternates with others: those that it trains.
template <class Optimizer>
    requires requires { Optimizer::every_parameter_matches; }
struct updated_elsewhere<Optimizer> : no_optimizer {
    static constexpr int groups = compiler::groups_of<Optimizer>();
    static constexpr auto& patterns = compiler::patterns_of<Optimizer>();
    static constexpr bool every_parameter_matches = true;
    static constexpr bool trains(int group) { return compiler::trains_group<Optimizer>(group); }
};

} // namespace sinter
