// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/hooks/hook.hpp>
#include <sinter/train/members.hpp>
#include <sinter/train/not_finite.hpp>
#include <sinter/train/options.hpp>

namespace sinter::inline SINTER_TARGET {

/// Ends training where numbers are no longer finite: a loss by an error that names the first of
/// them, or quietly if so asked; a weight at an epoch's end by an error, before anything is
/// measured or saved. train() has this hook itself.
class check_finite {
public:
    static constexpr bool measures = false;   // pass_end adds nothing to the result
    explicit check_finite(on_not_finite then = on_not_finite::fail) : then_(then) {}

    template <class Run>
    void after_step(Run& run, const data::batch_view& b) {
        if (__builtin_fabsf(run.loss) <= std::numeric_limits<float>::max()) return;
        if (then_ == on_not_finite::fail) detail::refuse_loss(run.model, b, run.loss, !run.alone && !run.apart);
        run.stop_by_loss("the loss is not finite");
        if (!run.apart) look_quietly(run);   // before others ask to save
    }
    template <class Run>
    void pass_end(Run& run) {
        if (then_ == on_not_finite::fail || !run.stopping())
            return detail::need_finite_weights(run.model, to_text({"train, after step ", run.step}).c_str());
        if (!run.lost) look_quietly(run);
    }

private:
    template <class Run>
    SINTER_COLD static void look_quietly(Run& run) {
        try {
            detail::need_finite_model(run.model, "train");
        } catch (const data_error&) {   // nobody asks what such weights are worth
            run.lost = true;
        }
    }
    on_not_finite then_;
};

} // namespace sinter
