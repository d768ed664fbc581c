// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/schedules_of.hpp>
#include <sinter/train/hooks/hook_calls.hpp>
#include <sinter/train/loop.hpp>
#include <sinter/train/trainer_views.hpp>

namespace sinter::inline SINTER_TARGET {

namespace detail {
/// A base, so that it is there before loop_run, which refers to it.
template <class Trainer>
struct with_view {
    model_view<Trainer> view;
};
} // namespace detail

/// A run whose hooks know what is trained: an estimator's trainer, or another class of the same
/// calls.
template <class Trainer>
struct model_run : private detail::with_view<Trainer>, loop_run {
    Trainer& model;   ///< steps, variables and their values, the optimizer
    /// How many learning rates the optimizer has, with those of what it wraps and of its groups.
    static constexpr int learning_rates =
        compiler::count_schedules<std::remove_cvref_t<decltype(std::declval<Trainer&>().optimizer())>>();

    model_run(Trainer& t, data::pipeline& d)
        : detail::with_view<Trainer>{detail::model_view<Trainer>(t)}, loop_run(this->view, d), model(t) {}
};

namespace detail {

/// train() of a trainer, with its hooks' calls (calls_of<model_run<Trainer>>).
template <class Trainer>
std::vector<epoch_result> train(Trainer& t, data::pipeline& data, const train_options& o,
                                span<const hook_calls> hooks) {
    model_run<Trainer> run(t, data);
    return training_parts::train(run, o, hooks);
}

} // namespace detail

} // namespace sinter
