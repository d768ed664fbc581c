// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <concepts>
#include <sinter/train/basic_trainer.hpp>

/// The plain loop's object: one net with its loss and optimizer under a strategy. `step` trains on
/// a batch, `evaluate` and `predict` run the two other programs of the same expression on the same
/// parameters (train/basic_trainer.hpp).
namespace sinter::inline SINTER_TARGET {

namespace detail {
template <class Net, class Loss, class Optimizer, build_options Build, class Strategy>
using programs_under = model_programs<
    typename Strategy::device,
    compiled<request_under<Net, Loss, Optimizer, program_mode::evaluation, Build, Strategy>>,
    compiled<request_under<Net, Loss, Optimizer, program_mode::prediction, Build, Strategy>>,
    compiled<request_under<Net, Loss, Optimizer, program_mode::training, Build, Strategy>>>;
template <class Net, class Loss, class Optimizer, build_options Build, class Strategy>
using trainer_base =
    basic_trainer<programs_under<Net, Loss, Optimizer, Build, sound_strategy<Strategy>>, Optimizer, Build, Strategy>;
} // namespace detail

/// trainer t{net, loss, adam{}, max_batch<256>, {.threads = 2}}; settings as behind an estimator's
/// optimizer (train/settings.hpp). Spelled: trainer<Net, Loss, Optimizer, 256>, and a strategy's
/// type behind it.
template <class Net, class Loss, class Optimizer, build_options Build = build_options{},
          class Strategy = default_strategy>
class trainer : public detail::trainer_base<Net, Loss, Optimizer, Build, Strategy> {
    using base = detail::trainer_base<Net, Loss, Optimizer, Build, Strategy>;

public:
    SINTER_COLD explicit trainer(Optimizer optimizer = {}, trainer_options o = {})
        : trainer(optimizer, Strategy{}, o) {}
    template <std::same_as<Strategy> S>   // or clang takes {.threads = 1} for a strategy
    SINTER_COLD trainer(Optimizer optimizer, const S& s, trainer_options o = {}) : base(optimizer, s, o) {}
    template <class A = trainer_options, class B = trainer_options, class C = trainer_options,
              class D = trainer_options, class... More>
    SINTER_COLD trainer(Net, Loss, Optimizer optimizer, A a = {}, B b = {}, C c = {}, D d = {}, More... more)
        : trainer(optimizer, detail::strategy_in<Strategy>(a, b, c, d, more...),
                  detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }

    /// One training step; returns the batch's mean loss (before the update). Throws data_error
    /// where the batch does not fit the program. Allocates nothing (but, once, for examples that do
    /// not count and are not finite: uncounted_examples). The outputs, as they were before the
    /// update, stay readable by output(). On the processor a loss that is not finite ends the step
    /// before anything is updated: weights, states and the optimizer's memory are as they were, it
    /// does not count among steps(), and output() is empty. A GPU learns of the loss too late for
    /// that.
    float step(const data::batch_view& b) { return step(b, runtime::unobserved{}); }
    /// The same, with `observe(launch, before)` called around each kernel.
    template <class Observer>
    float step(const data::batch_view& b, Observer observe) {
        return base::template run_training<0>(b, base::step_, observe);
    }
};
template <class Net, class Loss, class Optimizer, class A = trainer_options, class B = trainer_options,
          class C = trainer_options, class D = trainer_options, class... More>
trainer(Net, Loss, Optimizer, A = {}, B = {}, C = {}, D = {}, More...)
    -> trainer<Net, Loss, Optimizer, detail::settings<build_options{}, A, B, C, D, More...>::build,
               typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;

namespace detail {
/// What an estimator trains with.
template <class Net, class Loss, class Optimizer, build_options Build, class Strategy>
struct trainer_for {
    using type = trainer<Net, Loss, Optimizer, Build, Strategy>;
};
} // namespace detail

/// For as long as this lives, a trainer's weights are the averages that its optimizer keeps: for
/// evaluation and prediction.
template <class Trainer>
class averaged_weights {
public:
    explicit averaged_weights(Trainer& t) : t_(t) { t_.exchange_with_averages(); }
    averaged_weights(const averaged_weights&) = delete;
    averaged_weights& operator=(const averaged_weights&) = delete;
    ~averaged_weights() {
        try {
            t_.exchange_with_averages();
        } catch (...) {   // members that cannot do it together, or no memory for it: the next step says so
        }
    }

private:
    Trainer& t_;
};

} // namespace sinter
