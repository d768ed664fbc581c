// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET::detail {

/// What an optimizer keeps in its slots, by the name of one that keeps it (`memory`): two of one
/// name take each other's files. An optimizer around another keeps what that keeps. nullptr where
/// nothing says so: it is not compared.
template <class Optimizer>
struct memory_of {
    static constexpr const char* name = nullptr;
};
template <class Optimizer>
    requires requires { Optimizer::memory; }
struct memory_of<Optimizer> {
    static constexpr const char* name = Optimizer::memory;
};
template <class Optimizer>
    requires(!requires { Optimizer::memory; } && requires { typename Optimizer::inner; })
struct memory_of<Optimizer> : memory_of<typename Optimizer::inner> {};

} // namespace sinter::detail
