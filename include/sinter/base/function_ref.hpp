// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <type_traits>

namespace sinter::base {

/// A function that the caller has, for the time of a call: std::function_ref of C++26. Unlike callback it owns nothing,
/// so it is two pointers, and making one compiles no more than the call itself. What takes it can be compiled once,
/// where a template would be for each lambda.
template <class>
class function_ref;
template <class R, class... A>
class function_ref<R(A...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, A...>)
    function_ref(F&& f)
        : callee_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(f)))),
          call_([](void* callee, A... a) -> R {
              auto& called = *static_cast<std::remove_reference_t<F>*>(callee);
              if constexpr (std::is_void_v<R>) static_cast<void>(called(static_cast<A>(a)...));
              else return called(static_cast<A>(a)...);
          }) {}

    R operator()(A... a) const { return call_(callee_, static_cast<A>(a)...); }

private:
    void* callee_;
    R (*call_)(void*, A...);
};

} // namespace sinter::base
