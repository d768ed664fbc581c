// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <concepts>
#include <sinter/train/optimizers/alternating.hpp>
#include <sinter/train/trainer.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET {

namespace detail {
template <class Net, class Alternating, build_options Build, class Strategy, int I>
using phase_request = request_under<Net, typename Alternating::template loss<I>, phase_optimizer<Alternating, I>,
                                    program_mode::training, Build, Strategy>;
template <class Net, class Alternating, build_options Build, class Strategy, int... I>
auto phase_programs(std::integer_sequence<int, I...>) -> model_programs<
    typename Strategy::device,
    compiled<request_under<Net, typename Alternating::template loss<0>, phase_optimizer<Alternating, 0>,
                           program_mode::evaluation, Build, Strategy>>,
    compiled<request_under<Net, typename Alternating::template loss<0>, phase_optimizer<Alternating, 0>,
                           program_mode::prediction, Build, Strategy>>,
    compiled<phase_request<Net, Alternating, Build, Strategy, I>>...>;
template <class Net, class Alternating, build_options Build, class Strategy>
using alternating_base = basic_trainer<decltype(phase_programs<Net, Alternating, Build, sound_strategy<Strategy>>(
                                           std::make_integer_sequence<int, Alternating::phases>{})),
                                       phase_optimizer<Alternating, 0>, Build, Strategy>;
} // namespace detail

/// A trainer whose losses take turns: one training program for each phase of `alternating`, all on
/// the same parameters, states, slots and memory.
///
///     alternating_trainer gan{
///         net, alternating{phase<"critic/*">(telling{}, adam{}), phase<"artist/*">(drawing{}, adam{})}};
///     gan.step(0, batch);
///     gan.step(1, batch);
///
/// evaluate() gives the first phase's loss. save() and load() keep what each phase's optimizer
/// knows and how many steps it has done, so that a resumed run ends as an undisturbed one, bit for
/// bit. An estimator trains by the phases' numbers of steps: `estimator gan{net,
/// alternating{...}}`.
template <class Net, class Alternating, build_options Build = build_options{}, class Strategy = default_strategy>
class alternating_trainer
    : public detail::alternating_base<Net, Alternating, Build, Strategy> {
    using base = detail::alternating_base<Net, Alternating, Build, Strategy>;
    using all = std::make_integer_sequence<int, Alternating::phases>;

public:
    static constexpr int phases = Alternating::phases;
    template <int I>
    using training_of = typename base::programs::template training<I>;

    SINTER_COLD explicit alternating_trainer(const Alternating& a, trainer_options o = {})
        : alternating_trainer(a, Strategy{}, o) {}
    template <std::same_as<Strategy> S>   // or clang takes {.threads = 1} for a strategy
    SINTER_COLD alternating_trainer(const Alternating& a, const S& s, trainer_options o = {})
        : base({a.optimizers}, s, o), rounds_(a) {
        check(all{});
    }
    /// Settings: train/settings.hpp.
    template <class A = trainer_options, class B = trainer_options, class C = trainer_options,
              class D = trainer_options, class... More>
    SINTER_COLD alternating_trainer(Net, const Alternating& rounds, A a = {}, B b = {}, C c = {}, D d = {},
                                    More... more)
        : alternating_trainer(rounds, detail::strategy_in<Strategy>(a, b, c, d, more...),
                              detail::options_in(a, b, c, d, more...)) {
        detail::check_settings<Build, Strategy, A, B, C, D, More...>();
    }

    void reset() {
        set_phase_steps({});
        base::reset();
    }

    /// One step of a phase, from 0; returns its loss before the update. Throws option_error where
    /// there is no such phase, and what trainer::step throws.
    float step(int phase, const data::batch_view& b) {
        if (phase < 0 || phase >= phases)
            throw option_error("number of the phase", "step", std::to_string(phase),
                               "0 to " + std::to_string(phases - 1));
        return step_of(phase, b, all{});
    }
    /// One step of the phase whose turn it is, by the number of steps done in all.
    float step(const data::batch_view& b) {
        if (!this->session().begun()) this->begin_training();   // others count steps: it begins with theirs
        return step(next_phase(), b);
    }
    int next_phase() { return rounds_.phase_of(this->session().next_step(base::step_)); }   // others make steps, too

    SINTER_COLD void describe(description& d) const {
        base::describe(d);
        for (int i = 0; i < phases; ++i) d(to_text({"steps of phase ", i}), rounds_.steps[i]);
    }

    /// Steps that each phase has done.
    std::array<std::int64_t, static_cast<std::size_t>(phases)> phase_steps() const {
        auto n = done_;
        this->session().read_phase_steps(n);
        return n;
    }
    void set_phase_steps(const std::array<std::int64_t, static_cast<std::size_t>(phases)>& n) {
        done_ = n;
        this->session().set_phase_steps(n);
    }

private:
    Alternating rounds_;
    std::array<std::int64_t, static_cast<std::size_t>(phases)> done_{};

    template <int I>
    static constexpr bool sound =
        detail::checked_stage<typename strategy_parts::request_of<training_of<I>>::type>::err.what == fault_kind::none;
    /// All phases' programs must find the parameters and states at the same places.
    template <class P>
    static constexpr bool lies_alike() {
        using first = typename base::training;
        if (P::v.n_parameters != first::v.n_parameters || P::v.n_states != first::v.n_states) return false;
        for (int i = 0; i < P::v.n_parameters; ++i)
            if (!(P::v.parameters[i].at == first::v.parameters[i].at)) return false;
        for (int i = 0; i < P::v.n_states; ++i)
            if (!(P::v.states[i].at == first::v.states[i].at)) return false;
        return true;
    }
    template <int... I>
    void check(std::integer_sequence<int, I...>) const {
        static_assert(((!sound<I> || lies_alike<training_of<I>>()) && ...),
                      "the losses of phases must not own parameters or states: these belong into the net");
        for (const int k : rounds_.steps)
            if (k < 1) throw option_error("steps of a phase at a time", "alternating", std::to_string(k), "1 or more");
    }
    template <int... I>
    float step_of(int phase, const data::batch_view& b, std::integer_sequence<int, I...>) {
        float loss = 0;
        std::int64_t& done = done_[static_cast<std::size_t>(phase)];
        const std::int64_t before = base::step_;
        ((I == phase ? void(loss = base::template run_training<I>(b, done, runtime::unobserved{})) : void()), ...);
        done += base::step_ - before;   // none where the loss is not finite
        return loss;
    }
};
template <class Net, class... Phases, class A = trainer_options, class B = trainer_options, class C = trainer_options,
          class D = trainer_options, class... More>
alternating_trainer(Net, alternating<Phases...>, A = {}, B = {}, C = {}, D = {}, More...)
    -> alternating_trainer<Net, alternating<Phases...>, detail::settings<build_options{}, A, B, C, D, More...>::build,
                           typename detail::settings<build_options{}, A, B, C, D, More...>::strategy>;

namespace detail {
template <class Net, class Loss, class... Phases, build_options Build, class Strategy>
struct trainer_for<Net, Loss, alternating<Phases...>, Build, Strategy> {
    using type = alternating_trainer<Net, alternating<Phases...>, Build, Strategy>;
};
} // namespace detail

} // namespace sinter
