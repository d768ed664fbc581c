// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/internal/builtin_ops.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// Clipping by global norm (Pascanu et al. 2013): before the optimizer sees them, all gradients are
/// scaled by min(1, max_norm / (norm of all of them together + 1e-6)), as PyTorch's
/// clip_grad_norm_. `clip_by_global_norm{1.f, adam{}}` is an optimizer itself. It stands around all
/// others that change gradients (an error says so), but within accumulate.
template <class Optimizer>
struct clip_by_global_norm {
    float max_norm = 1.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("max_norm", max_norm, detail::allowed::limit); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        const tensor norm = sqrt(u.squared_gradient_norm()) + 1e-6f;
        const tensor factor = minimum(u.scalar(Optimizer::n_scalars) / norm, 1.f);
        u.scale_gradient(factor);
        Optimizer::update(u);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = max_norm;
    }
};
template <class O>
clip_by_global_norm(float, O) -> clip_by_global_norm<O>;

} // namespace sinter
