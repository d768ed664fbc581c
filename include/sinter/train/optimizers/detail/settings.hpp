// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

/// Which settings of optimizers cannot train. An optimizer tells them, but for its learning rate,
/// by `each_setting(f)`: f(name, value, what is allowed).
namespace sinter::inline SINTER_TARGET::detail {

enum class allowed : std::uint8_t { not_negative, up_to_one, below_one, limit };
/// What is called with each setting: a function, which may be given something of its caller's.
class setting_call {
public:
    using function = void (*)(void*, const char* name, float value, allowed);
    constexpr setting_call(void (*f)(const char*, float, allowed)) : plain_(f) {}
    constexpr setting_call(function f, void* with) : call_(f), with_(with) {}
    void operator()(const char* name, float value, allowed a) const {
        return call_ ? call_(with_, name, value, a) : plain_(name, value, a);
    }

private:
    void (*plain_)(const char*, float, allowed) = nullptr;
    function call_ = nullptr;
    void* with_ = nullptr;
};

/// What adam and its kind have.
template <class O>
void each_adam_setting(const O& o, setting_call f) {
    f("beta1", o.beta1, allowed::below_one);
    f("beta2", o.beta2, allowed::below_one);
    f("epsilon", o.epsilon, allowed::not_negative);
    f("weight_decay", o.weight_decay, allowed::not_negative);
}
/// What the four rmsprops have.
template <class O>
void each_rmsprop_setting(const O& o, setting_call f) {
    f("rho", o.rho, allowed::up_to_one);
    f("epsilon", o.epsilon, allowed::not_negative);
    f("epsilon_inside", o.epsilon_inside, allowed::not_negative);
    if constexpr (requires { o.momentum_rate; }) f("momentum_rate", o.momentum_rate, allowed::not_negative);
    f("weight_decay", o.weight_decay, allowed::not_negative);
}

/// An epsilon as updates divide by it: never 0. Columns that pad packed weights have moments of 0,
/// and 0 / 0 there would make norms of the whole tensor NaN. Besides, weights whose gradient is 0
/// then stay.
constexpr float divided_by(float epsilon) { return epsilon > 1e-30f ? epsilon : 1e-30f; }

/// option_error unless the value is as allowed. Of a limit 0 lets nothing through, and infinity is
/// none at all; all others are finite.
SINTER_COLD inline void need_setting(const char* name, float value, allowed a) {
    static constexpr const char* words[] = {"0 or more, and finite", "0 to 1", "0 or more, below 1",
                                            "0 or more, finite or infinity, no NaN"};
    const bool fits = a == allowed::limit       ? value >= 0
                      : a == allowed::below_one ? value >= 0 && value < 1
                      : a == allowed::up_to_one ? value >= 0 && value <= 1
                                                : value >= 0 && value <= std::numeric_limits<float>::max();
    if (!fits)
        throw option_error("impossible setting of the optimizer", name,
                           base::number_text(value), words[static_cast<int>(a)]);
}
/// The same of all settings, those of wrapped optimizers and of groups among them. What a user's own
/// optimizer does not tell is not looked at.
template <class O>
SINTER_COLD void need_settings(const O& o) {
    if constexpr (requires { o.each_setting(need_setting); }) o.each_setting(need_setting);
    if constexpr (requires { o.optimizer; }) need_settings(o.optimizer);
    if constexpr (requires { o.others; o.members; }) {
        need_settings(o.others);
        std::apply([](const auto&... g) { (need_settings(g), ...); }, o.members);
    }
}

} // namespace sinter::detail
