// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/bounds.hpp>
#include <sinter/compiler/program.hpp>

/// g++ gives back what constant evaluation has used up only when it is done with a function that
/// stands alone: evaluated all at once, a program keeps the garbage of all its stages to the end,
/// most of what compiling it takes. So each stage has a function, which does nothing but ask for
/// it, and the compiler makes these one after the other.
namespace sinter::inline SINTER_TARGET::detail {

template <class T>
constexpr bool is_there(const T&) { return true; }   // who binds a reference to a constant needs its value

template <class R>
void traced_first() { static_assert(is_there(traced_stage<R>::v)); }
template <class R>
void checked_then() { static_assert(is_there(checked_stage<R>::err)); }
/// Of a sound model: what others come to is not asked for.
template <class R, class Stage>
void evaluated() {
    if constexpr (checked_stage<R>::err.what == fault_kind::none) static_assert(is_there(Stage::v));
}

/// Named in a function before all others that need program R. It must be `auto`: so it is read at
/// once, and the functions named here come to be made before those that are named behind it.
template <class R>
auto evaluate_stages() {
    traced_first<R>();
    checked_then<R>();
    evaluated<R, graph_value<R>>();
    evaluated<R, grouped_stage<R>>();
    evaluated<R, fused_stage<R>>();
    evaluated<R, planned_stage<R, false>>();
    evaluated<R, plan_stage<R>>();
    evaluated<R, emit_stage<R>>();
    evaluated<R, compiled<R>>();
    evaluated<R, check_bounds<compiled<R>>>();
    return true;
}

} // namespace sinter::detail
