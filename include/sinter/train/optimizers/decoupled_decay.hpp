// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
template <class O>
float rate_of(const O& o, std::int64_t step) {
    if constexpr (requires { o.learning_rate.at(step); }) return o.learning_rate.at(step);
    else return rate_of(o.optimizer, step);
}
} // namespace detail

/// Beside what the optimizer does, p -= rate * weight_decay * p, the rate being the optimizer's own
/// (Loshchilov and Hutter 2019, as PyTorch's AdamW and Keras' weight_decay):
/// `decoupled_decay{0.01f, nadam{}}`. Within parameter_groups, not around.
template <class Optimizer>
struct decoupled_decay {
    float weight_decay = 0.01f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("weight_decay", weight_decay, detail::allowed::not_negative); }
    using inner = Optimizer;
    static constexpr int slots = Optimizer::slots, n_scalars = Optimizer::n_scalars + 1;
    static constexpr void update(update_context& u) {
        Optimizer::update(u);
        u.set_parameter(u.new_parameter() - u.parameter() * u.scalar(Optimizer::n_scalars));
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        out[Optimizer::n_scalars] = detail::rate_of(optimizer, step) * weight_decay;
    }
};
template <class O>
decoupled_decay(float, O) -> decoupled_decay<O>;

} // namespace sinter
