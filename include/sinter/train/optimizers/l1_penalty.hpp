// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sign.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// The gradient of strength * sum |p| is added to what the optimizer sees: strength * sign(p), 0 at
/// 0. It does not make exact zeros: proximal_adagrad and ftrl do.
template <class Optimizer>
struct l1_penalty {
    float strength = 0.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("strength", strength, detail::allowed::not_negative); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        u.set_gradient(u.gradient() + ops::sign(u.parameter()) * u.scalar(Optimizer::n_scalars));
        Optimizer::update(u);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = strength;
    }
};
template <class O>
l1_penalty(float, O) -> l1_penalty<O>;

} // namespace sinter
