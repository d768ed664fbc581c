// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sinter::inline SINTER_TARGET::compiler {

/// Calls f with each learning rate of an optimizer as it is kept, a schedule: its own, those of what it wraps, those of
/// its groups, in this order.
template <class O, class F>
void each_schedule(O& o, F f) {
    if constexpr (requires { o.learning_rate.peak; }) f(o.learning_rate);
    if constexpr (requires { o.optimizer; }) each_schedule(o.optimizer, f);
    if constexpr (requires { o.others; o.members; }) each_schedule(o.others, f);
    if constexpr (requires { o.members; })
        std::apply([&](auto&... g) { (each_schedule(g, f), ...); }, o.members);
}
/// How many there are.
template <class O>
constexpr int count_schedules() {
    int n = 0;
    if constexpr (requires(O& o) { o.learning_rate.peak; }) ++n;
    if constexpr (requires(O& o) { o.optimizer; })
        n += count_schedules<std::remove_cvref_t<decltype(std::declval<O&>().optimizer)>>();
    if constexpr (requires(O& o) { o.others; o.members; })
        n += count_schedules<std::remove_cvref_t<decltype(std::declval<O&>().others)>>();
    if constexpr (requires(O& o) { o.members; }) {
        n += []<class... G>(const std::tuple<G...>*) { return (count_schedules<G>() + ... + 0); }(
            static_cast<std::remove_cvref_t<decltype(std::declval<O&>().members)>*>(nullptr));
    }
    return n;
}

} // namespace sinter::compiler
