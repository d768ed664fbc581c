// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/train/optimizers/alternating.hpp>
#include <sinter/train/trainer.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET {

/// A trainer whose losses take turns: one training program for each phase of `alternating`, all on the same parameters,
/// states, slots and memory.
///
///     alternating_trainer gan{net, alternating{phase<"critic/*">(telling{}, adam{}), phase<"artist/*">(drawing{}, adam{})}};
///     gan.step(0, batch);
///     gan.step(1, batch);
///
/// evaluate() gives the first phase's loss. save() and load() keep what each phase's optimizer knows and how many steps
/// it has done, so that a resumed run ends as an undisturbed one, bit for bit. An estimator trains by the phases'
/// numbers of steps: `estimator gan{net, alternating{...}}`.
template <class Net, class Alternating, int MaxBatch = 64, class Device = cpu_device, program_options Options = program_options{}>
class alternating_trainer
    : public trainer<Net, typename Alternating::template loss<0>, phase_optimizer<Alternating, 0>, MaxBatch, Device, Options> {
    using base = trainer<Net, typename Alternating::template loss<0>, phase_optimizer<Alternating, 0>, MaxBatch, Device, Options>;
    template <int I>
    using request_of = request<Net, typename Alternating::template loss<I>, phase_optimizer<Alternating, I>,
                               program_mode::training, MaxBatch, Device::target, Options>;
    using all = std::make_integer_sequence<int, Alternating::phases>;

public:
    static constexpr int phases = Alternating::phases;
    template <int I>
    using training_of = compiled<request_of<I>>;

    explicit alternating_trainer(const Alternating& a, trainer_options o = {}) : base({a.optimizers}, o), rounds_(a) {
        begin(all{});
    }
    alternating_trainer(Net, const Alternating& a, trainer_options o = {}) : alternating_trainer(a, o) {}
    alternating_trainer(Net, const Alternating& a, batch_limit<MaxBatch>, trainer_options o = {}) : alternating_trainer(a, o) {}

    static constexpr std::int64_t bytes() { return bytes_of(all{}); }

    void reset() {
        base::reset();
        done_ = {};
    }

    /// One step of a phase, from 0; returns its loss before the update. Throws option_error where there is no such phase,
    /// and what trainer::step throws.
    float step(int phase, const data::batch_view& b) {
        if (phase < 0 || phase >= phases)
            throw option_error("number of the phase", "step", std::to_string(phase),
                               "0 to " + std::to_string(phases - 1));
        return step_of(phase, b, all{});
    }
    /// One step of the phase whose turn it is, by the number of steps done in all.
    float step(const data::batch_view& b) { return step(next_phase(), b); }
    int next_phase() const { return rounds_.phase_of(base::step_); }

    /// Steps that each phase has done.
    const std::array<std::int64_t, static_cast<std::size_t>(phases)>& phase_steps() const { return done_; }
    void set_phase_steps(const std::array<std::int64_t, static_cast<std::size_t>(phases)>& n) { done_ = n; }

private:
    template <class I>
    struct runners_of;
    template <int... I>
    struct runners_of<std::integer_sequence<int, I...>> {
        using type = std::tuple<typename Device::template runner<training_of<I>>...>;
    };
    Alternating rounds_;
    typename runners_of<all>::type runners_;
    std::array<std::int64_t, static_cast<std::size_t>(phases)> done_{};

    template <int I>
    static constexpr bool sound = detail::checked_stage<request_of<I>>::err.what == fault_kind::none;
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
    static constexpr std::int64_t most(std::initializer_list<std::int64_t> x) {
        std::int64_t n = 0;
        for (const std::int64_t v : x) n = v > n ? v : n;
        return n;
    }
    template <int... I>
    static constexpr std::int64_t floats(space s, std::integer_sequence<int, I...>) {
        return most({training_of<I>::v.floats(s)...});
    }
    template <int... I>
    static constexpr std::int64_t scratch(std::integer_sequence<int, I...>) {
        return most({Device::template runner<training_of<I>>::scratch_floats()...});
    }
    template <int... I>
    static constexpr std::int64_t bytes_of(std::integer_sequence<int, I...> n) {
        std::int64_t more = scratch(n) - Device::template runner<typename base::training>::scratch_floats();
        for (const space s : {space::activation, space::gradient}) more += floats(s, n) - base::training::v.floats(s);
        return base::bytes() + 4 * more;
    }
    template <int... I>
    void begin(std::integer_sequence<int, I...> n) {
        static_assert(((!sound<I> || lies_alike<training_of<I>>()) && ...),
                      "the losses of phases must not own parameters or states: these belong into the net");
        for (const int k : rounds_.steps)
            if (k < 1) throw option_error("steps of a phase at a time", "alternating", std::to_string(k), "1 or more");
        using floats_of = decltype(base::memory_.parameters);
        base::memory_.activations = floats_of(floats(space::activation, n));
        base::memory_.gradients = floats_of(floats(space::gradient, n));
        base::memory_.scratch = floats_of(scratch(n));
        base::train_.bind(base::memory_);
        (std::get<static_cast<std::size_t>(I)>(runners_).bind(base::memory_), ...);
    }
    template <int... I>
    float step_of(int phase, const data::batch_view& b, std::integer_sequence<int, I...>) {
        float loss = 0;
        std::int64_t& done = done_[static_cast<std::size_t>(phase)];
        ((I == phase ? void(loss = base::template run_training<training_of<I>>(
                                std::get<static_cast<std::size_t>(I)>(runners_), b, done, unobserved{}))
                     : void()),
         ...);
        ++done;
        return loss;
    }
};
template <class Net, class... Phases>
alternating_trainer(Net, alternating<Phases...>, trainer_options = {}) -> alternating_trainer<Net, alternating<Phases...>>;
template <class Net, class... Phases, int N>
alternating_trainer(Net, alternating<Phases...>, batch_limit<N>, trainer_options = {})
    -> alternating_trainer<Net, alternating<Phases...>, N>;

namespace detail {
template <class Net, class Loss, class... Phases, int MaxBatch, class Device, program_options Options>
struct trainer_for<Net, Loss, alternating<Phases...>, MaxBatch, Device, Options> {
    using type = alternating_trainer<Net, alternating<Phases...>, MaxBatch, Device, Options>;
};
} // namespace detail

} // namespace sinter
