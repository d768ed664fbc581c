// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/loop_run.hpp>
#include <sinter/train/not_finite.hpp>
#include <sinter/train/options.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// Ends training where numbers are no longer finite: a loss by an error that names the first of
/// them, or quietly if so asked; a weight at an epoch's end by an error, before anything is
/// measured or saved. train() has this hook itself.
class check_finite {
public:
    static constexpr bool measures = false;   // pass_end adds nothing to the result
    explicit check_finite(on_not_finite then = on_not_finite::fail) : then_(then) {}

    SINTER_SELDOM void after_step(loop_run& run, const batch_view& b);
    SINTER_SELDOM SINTER_COLD void pass_end(loop_run& run);

private:
    SINTER_SELDOM SINTER_COLD static void look_quietly(loop_run& run);
    on_not_finite then_;
};

} // namespace sinter

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY {

SINTER_SELDOM_BODY void check_finite::after_step(loop_run& run, const batch_view& b) {
    if (__builtin_fabsf(run.loss) <= std::numeric_limits<float>::max()) return;
    if (then_ == on_not_finite::fail) training_parts::refuse_loss(run.trained, b, run.loss, !run.alone && !run.apart);
    run.stop_by_loss("the loss is not finite");
    if (!run.apart) look_quietly(run);   // before others ask to save
}
SINTER_SELDOM_BODY void check_finite::pass_end(loop_run& run) {
    if (then_ == on_not_finite::fail || !run.stopping())
        return training_parts::need_finite_weights(run.trained.state(),
                                                   to_text({"train, after step ", run.step}).c_str());
    if (!run.lost) look_quietly(run);
}
SINTER_SELDOM_BODY void check_finite::look_quietly(loop_run& run) {
    try {
        training_parts::need_finite_model(run.trained.state(), "train");
    } catch (const data_error&) {   // nobody asks what such weights are worth
        run.lost = true;
    }
}

} // namespace sinter
#endif
