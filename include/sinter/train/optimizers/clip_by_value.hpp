// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/maximum.hpp>
#include <sinter/ops/minimum.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// Brings each element of each gradient into [-most, most] before the optimizer sees it (PyTorch's
/// clip_grad_value_, Keras' clipvalue). `clip_by_value{0.5f, sgd{}}` is an optimizer itself.
template <class Optimizer>
struct clip_by_value {
    float most = 1.f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("most", most, detail::allowed::limit); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        const tensor limit = u.scalar(Optimizer::n_scalars);
        u.set_gradient(minimum(maximum(u.gradient(), -limit), limit));
        Optimizer::update(u);
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = most;
    }
};
template <class O>
clip_by_value(float, O) -> clip_by_value<O>;

} // namespace sinter
