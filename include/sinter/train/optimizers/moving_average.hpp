// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/compiler/emit/optimizer_code.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>

namespace sinter::inline SINTER_TARGET {

/// Beside the weights keeps their exponential moving average, in a slot: a = decay * a + (1 -
/// decay) * p after each update; the first one copies (as PyTorch's AveragedModel and Keras'
/// use_ema; TensorFlow's ExponentialMovingAverage starts from the first weights).
/// `moving_average{0.999f, adam{}}` trains as adam{} does; averaged_weights (train/trainer.hpp)
/// puts the averages in the weights' place for evaluation, and checkpoints hold them as they do all
/// slots.
///
/// Whatever writes a parameter begins its average anew (doc/training.md).
///
/// Rows of a table that do not occur in a batch stay as they are, and so do their averages.
template <class Optimizer>
struct moving_average {
    float decay = 0.999f;
    Optimizer optimizer{};

    void each_setting(detail::setting_call f) const { f("decay", decay, detail::allowed::up_to_one); }
    using inner = Optimizer;
    static constexpr int average_slot = Optimizer::slots, slots = average_slot + 1,
                         n_scalars = Optimizer::n_scalars + 2;
    static constexpr void update(update_context& u) {
        Optimizer::update(u);
        const tensor a = u.slot(average_slot), p = u.new_parameter();
        u.set_slot(average_slot, a * u.scalar(Optimizer::n_scalars) + p * u.scalar(Optimizer::n_scalars + 1));
    }
    void scalars(std::int64_t step, float* out) const {
        optimizer.scalars(step, out);
        const float kept = step ? decay : 0.f;
        out[Optimizer::n_scalars] = kept;
        out[Optimizer::n_scalars + 1] = 1.f - kept;
    }
};
template <class O>
moving_average(float, O) -> moving_average<O>;

} // namespace sinter
