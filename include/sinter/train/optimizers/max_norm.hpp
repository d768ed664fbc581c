// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/minimum.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// After each update, scales each tensor whose norm is above `most` down to it: p *= min(1, most /
/// (|p| + 1e-7)) (Srebro et al. 2005, for a whole tensor; Keras' MaxNorm(axis=None). Keras'
/// default, axis=0, is the norm of each column.) Best within parameter_groups, for kernels alone.
template <class Optimizer>
struct max_norm {
    float most = 1.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("most", most, detail::allowed::limit); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        Optimizer::update(u);
        const tensor p = u.new_parameter(), norm = sqrt(u.sum_of_squares(p)) + 1e-7f;
        u.set_parameter(p * minimum(u.scalar(Optimizer::n_scalars) / norm, 1.f));
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = most;
    }
};
template <class O>
max_norm(float, O) -> max_norm<O>;

} // namespace sinter
