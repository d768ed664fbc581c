// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/update_order.hpp>

/// When a worker's gradient becomes an update: parameter_server<async>, parameter_server<stale<3>>,
/// parameter_server<sync<1>>.
namespace sinter::inline SINTER_TARGET {

struct async_mode {
    static constexpr bool is_async = true, in_step = false;
    static constexpr parameter_servers::update_order order() { return parameter_servers::update_order::async(); }
};
template <int S>
struct stale_mode {
    static_assert(S >= 0, "stale<s>: the bound is 0 or more clocks");
    static constexpr bool is_async = false, in_step = S == 0;
    static constexpr parameter_servers::update_order order() { return parameter_servers::update_order::stale(S); }
};
template <int Backup>
struct sync_mode {
    static_assert(Backup >= 0, "sync<backup>: the number of backup workers is 0 or more");
    static constexpr bool is_async = false, in_step = true;
    static constexpr parameter_servers::update_order order() { return parameter_servers::update_order::sync(Backup); }
};

/// Each worker at its own pace: a gradient is an update as soon as it has come.
inline constexpr async_mode async{};
/// Bounded: a worker computes with weights that lack at most the last S updates. stale<0> is
/// sync<0>.
template <int S>
inline constexpr stale_mode<S> stale{};
/// One update a step, of the first n - Backup gradients of n workers; those that come later are
/// dropped and counted. A function, for <unistd.h> has another of that name.
template <int Backup = 0>
constexpr sync_mode<Backup> sync() {
    return {};
}

namespace strategy_parts {
/// What a parameter_server's mode is, however it was written.
template <auto Mode>
constexpr auto mode_of() {
    if constexpr (requires { Mode(); }) return Mode();
    else return Mode;
}
template <class M>
concept server_mode = requires {
    { M::order() } -> std::same_as<parameter_servers::update_order>;
    { M::is_async } -> std::convertible_to<bool>;
};
}   // namespace strategy_parts

}   // namespace sinter::inline SINTER_TARGET
