// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <type_traits>

namespace sinter::base {

/// A function that a user may give, or none: what is needed of std::function, whose header alone
/// costs every program 0.1 s of build time. Copies share the callee.
template <class>
class callback;
template <class R, class... A>
class callback<R(A...)> {
public:
    callback() = default;
    template <class F>
        requires(!std::is_same_v<F, callback> && std::is_invocable_r_v<R, F&, A...>)
    callback(F f)
        : callee_(std::make_shared<F>(static_cast<F&&>(f))),
          call_([](void* callee, A... a) -> R { return (*static_cast<F*>(callee))(static_cast<A>(a)...); }) {}

    explicit operator bool() const { return call_ != nullptr; }
    R operator()(A... a) const { return call_(callee_.get(), static_cast<A>(a)...); }

private:
    std::shared_ptr<void> callee_;
    R (*call_)(void*, A...) = nullptr;
};

} // namespace sinter::base
