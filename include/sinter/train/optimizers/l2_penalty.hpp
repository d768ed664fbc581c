// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// The gradient of strength / 2 * sum p^2 is added to what the optimizer sees: strength * p
/// (PyTorch's weight_decay; Keras' regularizers.L2(strength / 2)). Most optimizers have it as their
/// own weight_decay.
template <class Optimizer>
struct l2_penalty {
    float strength = 0.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("strength", strength, detail::allowed::not_negative); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        u.set_gradient(u.gradient() + u.parameter() * u.scalar(Optimizer::n_scalars));
        Optimizer::update(u);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = strength;
    }
};
template <class O>
l2_penalty(float, O) -> l2_penalty<O>;

} // namespace sinter
