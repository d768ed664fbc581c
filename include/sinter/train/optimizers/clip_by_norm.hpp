// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// Scales each tensor's gradient by min(1, max_norm / (its norm + 1e-6)) before the optimizer sees
/// it (Keras' clipnorm, but for the 1e-6, which is that of clip_by_global_norm). `clip_by_norm{1.f,
/// adam{}}` is an optimizer itself.
template <class Optimizer>
struct clip_by_norm {
    float max_norm = 1.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("max_norm", max_norm, detail::allowed::limit); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        const tensor norm = sqrt(u.sum_of_squares(u.gradient())) + 1e-6f;
        u.scale_gradient(minimum(u.scalar(Optimizer::n_scalars) / norm, 1.f));
        Optimizer::update(u);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = max_norm;
    }
};
template <class O>
clip_by_norm(float, O) -> clip_by_norm<O>;

} // namespace sinter
