// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/optimizers/parameter_groups.hpp>

/// Several losses of one net that take turns, each with an optimizer for parameters of its own.
namespace sinter::inline SINTER_TARGET {

/// One of them: so many steps at a time, in which `Loss` trains the parameters whose whole path
/// matches one of the patterns.
template <class Loss, class Optimizer, compiler::text... Patterns>
struct training_phase {
    static_assert(sizeof...(Patterns) > 0, "a phase needs a pattern of the parameters that it trains");
    using loss = Loss;
    using group = parameter_group<Optimizer, Patterns...>;
    Optimizer optimizer{};
    int steps = 1;
};
/// `phase<"critic/*">(critic_loss, adam{}, 5)`.
template <compiler::text... Patterns, class Loss, class Optimizer>
constexpr training_phase<Loss, Optimizer, Patterns...> phase(Loss, Optimizer o, int steps = 1) {
    return {o, steps};
}

/// alternating{phase<"critic/*">(critic_loss{}, adam{}, 5), phase<"generator/*">(generator_loss{},
/// adam{})}: five steps of the first, one of the second, and so on. In a step the other phases'
/// parameters stand still: no gradient by them is computed, though one flows through what they
/// compute. Each parameter belongs to the first phase that it matches; one that belongs to none is
/// an error, unless it is not trainable. Each phase counts its own steps, for schedules and Adam's
/// corrections. States are assigned in every step. Phases clip by themselves (clip_by_global_norm
/// within one is the norm of its gradients); accumulate, moving_average and parameter_groups have
/// no place within one. train/alternating_trainer.hpp trains by it.
template <class... Phases>
struct alternating {
    static_assert(sizeof...(Phases) > 1, "what alternates is two phases or more");
    static constexpr int phases = sizeof...(Phases);
    template <std::size_t I>
    using loss = typename std::tuple_element_t<I, std::tuple<Phases...>>::loss;
    using groups = parameter_groups<no_optimizer, typename Phases::group...>;

    groups optimizers{};
    int steps[std::size_t{phases}];   ///< of each in a round

    constexpr alternating(Phases... p)
        : optimizers(no_optimizer{}, typename Phases::group{p.optimizer}...), steps{p.steps...} {}

    /// The phase of the step number `step`, counted over all of them.
    constexpr int phase_of(std::int64_t step) const {
        std::int64_t round = 0;
        for (const int n : steps) round += n;
        step %= round;
        int k = 0;
        while (step >= steps[k]) step -= steps[k++];
        return k;
    }
};

/// What phase I's program takes for its optimizer: all groups lie in memory as for the others, one
/// of them is trained.
template <class Alternating, int I>
struct phase_optimizer {
    using inner = typename Alternating::groups;
    inner optimizer{};

    static constexpr bool every_parameter_matches = true;
    static constexpr auto& patterns = inner::patterns;
    static constexpr int slots = inner::slots, n_scalars = inner::n_scalars;
    static constexpr bool trains(int group) { return group == I + 1; }
    static constexpr void update(update_context& u) { inner::update(u); }
    void scalars(std::int64_t step, float* out) const { optimizer.scalars(step, out); }
};

} // namespace sinter
