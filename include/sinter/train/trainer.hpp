// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/device/step_bytes.hpp>
#include <sinter/compiler/evaluate_stages.hpp>
#include <sinter/train/bind_batch.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/settings.hpp>
#include <sinter/train/uncounted_examples.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <memory>

/// The plain loop's object: one net with its loss and optimizer on one device. `step` trains on a batch, `evaluate` and
/// `predict` run the two other programs of the same expression on the same parameters.
namespace sinter::inline SINTER_TARGET {

struct trainer_options {
    int threads = 0;            ///< 0: all cores, but at most SINTER_PARTS (8): no more are of use or begun; changes no bit
    std::uint64_t seed = 1;     ///< of initial weights and of random numbers inside the net
};

template <class Net, class Loss, class Optimizer, int MaxBatch = 64, class Device = cpu_device,
          program_options Options = program_options{}>
class trainer {
    template <program_mode M>
    using request_of = request<Net, Loss, Optimizer, M, MaxBatch, Device::target, Options>;

public:
    using training = compiled<request_of<program_mode::training>>;
    using evaluation = compiled<request_of<program_mode::evaluation>>;
    using prediction = compiled<request_of<program_mode::prediction>>;

    /// Bytes that a trainer takes on its device: parameters, gradients, optimizer state, activations and the kernels' scratch
    /// space. A constant. Evaluation and prediction work in the same memory (should one of them need more for its
    /// activations or scratch space, it takes that anew when it is first asked for).
    static constexpr std::int64_t bytes() { return step_bytes<training, Device>(); }
    static constexpr int max_batch() { return MaxBatch; }
    static constexpr program_options policy = Options;   ///< that its programs are compiled with

    SINTER_COLD explicit trainer(Optimizer optimizer = {}, trainer_options o = {})
        : optimizer_(optimizer), options_(o), device_(with_threads<Device>({}, o.threads)) {
        detail::evaluate_stages<request_of<program_mode::training>>();
        begin();
    }
    /// Trainers move; spans that predict() and output() gave stay good. One that was moved from can be assigned to, or end.
    trainer(trainer&&) = default;
    trainer& operator=(trainer&&) = default;

    /// Back to the first step: fresh weights from the seed, states and optimizer memory as at the start.
    SINTER_COLD void reset() {
        step_ = 0;
        auto fill = [&](const variable_info& v) { set_plain(v, first(v).data()); };
        for (int i = 0; i < training::v.n_parameters; ++i) fill(training::v.parameters[i]);
        for (int i = 0; i < training::v.n_states; ++i) fill(training::v.states[i]);
        memory_.slots.clear();
        if constexpr (has_first_of_slot<Optimizer>() || average_slot >= 0)
            for (int i = 0; i < training::v.n_parameters; ++i)
                for (int k = 0; k < slots_of(training::v.parameters[i]); ++k) fill_slot(training::v.parameters[i], k);
    }

    /// The next batch's examples do not continue those of the last: states that each example has one of (recurrent layers'
    /// under `carried`) begin anew.
    SINTER_COLD void begin_sequences() {
        for (int i = 0; i < training::v.n_states; ++i)
            if (const variable_info& v = training::v.states[i]; v.of_examples) set_plain(v, first(v).data());
    }

    /// One training step; returns the batch's mean loss (before the update). Throws data_error where the batch does not
    /// fit the program. Allocates nothing (but, once, for examples that do not count and are not finite: uncounted_examples).
    /// The outputs, as they were before the update, stay readable by output().
    /// On the processor a loss that is not finite ends the step before anything is updated: weights, states and the optimizer's
    /// memory are as they were, it does not count among steps(), and output() is empty. A GPU learns of the loss too late for that.
    float step(const data::batch_view& b) { return step(b, unobserved{}); }
    /// The same, with `observe(launch, before)` called around each kernel.
    template <class Observer>
    float step(const data::batch_view& b, Observer observe) {
        return run_training<training>(train_, b, step_, observe);
    }
    /// The batch's mean loss in evaluation (dropout off, running statistics); outputs stay readable by output().
    float evaluate(const data::batch_view& b) {
        detail::evaluate_stages<request_of<program_mode::evaluation>>();
        return run_other(evaluation_, b, true);
    }
    /// What the last step()'s or evaluate()'s loss is a mean over: the batch's examples or, where the loss is weighted or ignores labels,
    /// the sum of what they weigh. Losses of batches, and gradients, times this add up to those of all batches together.
    double loss_weight() const { return loss_weight_; }
    /// Output `i` for each example of the batch, [batch, extents...], good until the next step, evaluate or predict. Throws
    /// option_error where there is no such output.
    span<const float> predict(const data::batch_view& b, int i = 0) {
        detail::evaluate_stages<request_of<program_mode::prediction>>();
        detail::need_output(i, prediction::v.n_outputs, "predict");
        run_other(prediction_, b, false);
        return output(i);
    }
    /// Output `i` of the last step(), evaluate() or predict(); empty if that failed. Where the device has memory of its own
    /// this copies.
    span<const float> output(int i = 0) const {
        detail::need_output(i, training::v.n_outputs, "output");
        if (!has_outputs_) return {};
        const shape& s = output_shapes_[i];
        const std::int64_t n = std::int64_t{s.batched ? last_batch_ : 1} * s.size();
        if (!Device::shares_memory) workspace_.resize(static_cast<std::size_t>(workspace_before(training::v.n_outputs)));
        const auto& memory = outputs_elsewhere_ ? *outputs_elsewhere_ : memory_;
        return {device_.host_view(memory, outputs_at_[i], workspace_.data() + workspace_before(i), n), static_cast<std::size_t>(n)};
    }

    // ---- what the model is made of
    static constexpr int parameters() { return training::v.n_parameters; }
    static const variable_info& parameter(int i) { return training::v.parameters[i]; }
    static constexpr int states() { return training::v.n_states; }
    static const variable_info& state(int i) { return training::v.states[i]; }
    static std::string path(const variable_info& v) { return path_of(training::scopes, v); }
    static shape output_shape(int i = 0) {
        detail::need_output(i, training::v.n_outputs, "output_shape");
        return training::v.output_shapes[i];
    }
    /// Of what output(i) shows: most nets give the same in training and elsewhere, but not those that end in candidate_scores.
    shape last_output_shape(int i = 0) const {
        detail::need_output(i, training::v.n_outputs, "last_output_shape");
        return output_shapes_[i];
    }

    /// A parameter, state or gradient in its plain form (row-major, extents as declared).
    std::vector<float> plain(const variable_info& v) const { return plain_at(v, v.at); }
    std::vector<float> plain_slot(const variable_info& v, int slot) const { return plain_at(v, slot_address(v, slot)); }
    /// The last step's gradient; only under program_options{.store_gradients = true} or where the optimizer clips.
    /// Where gradients are accumulated it is that of the loss times loss_weight().
    std::vector<float> gradient(const variable_info& v) const {
        if (v.gradient.where() == space::none && detail::update_stage<request_of<program_mode::training>>::in_place)
            throw option_error("the update uses this gradient up", path(v), "it is nowhere stored",
                               "program_options{.store_gradients = true}");
        return plain_at(v, v.gradient);
    }
    void set_plain(const variable_info& v, const float* x) { write(v, v.at, x); }
    void set_plain_slot(const variable_info& v, int slot, const float* x) { write(v, slot_address(v, slot), x); }
    /// A variable's numbers as they will lie in memory: whoever sets several makes all of them, which may fail, and then puts
    /// them there, which on the CPU cannot. `slot` as above, or -1 for the variable itself.
    struct packed_values {
        address to;
        std::vector<float> x;
    };
    packed_values packed(const variable_info& v, const float* x, int slot = -1) const {
        return {slot < 0 ? v.at : slot_address(v, slot), from_plain(v, x, Device::panel_width, Device::target.lanes)};
    }
    void put(const std::vector<packed_values>& all) {
        for (const packed_values& p : all) device_.write(memory_, p.to, p.x.data(), static_cast<std::int64_t>(p.x.size()));
    }

    std::int64_t steps() const { return step_; }
    void set_steps(std::int64_t n) { step_ = n; }

    /// How many slots the optimizer keeps for a parameter: none for a frozen one.
    static constexpr int slots_of(const variable_info& v) { return v.group == frozen_group ? 0 : training::v.slots; }
    static constexpr bool keeps_averages = average_slot_of<Optimizer>() >= 0;
    /// Puts the optimizer's averages of the weights (moving_average) where the weights are, and these where the averages were:
    /// evaluate(), predict() and plain() then see averages, and training must not go on before the same call has put all
    /// back. averaged_weights does both.
    void exchange_with_averages() {
        static_assert(keeps_averages, "the optimizer keeps no averages: see moving_average");
        has_outputs_ = false;
        std::int64_t most = 0;
        for (int i = 0; i < training::v.n_parameters; ++i) most = std::max(most, training::v.parameters[i].floats);
        exchanged_.resize(static_cast<std::size_t>(2 * most));   // before anything is changed, and kept: putting back cannot fail
        float* const own = exchanged_.data();
        float* const average = own + most;
        for (int i = 0; i < training::v.n_parameters; ++i) {
            const variable_info& v = training::v.parameters[i];
            if (!slots_of(v)) continue;
            device_.read(memory_, v.at, own, v.floats);
            device_.read(memory_, slot_address(v, average_slot), average, v.floats);
            device_.write(memory_, v.at, average, v.floats);
            device_.write(memory_, slot_address(v, average_slot), own, v.floats);
        }
    }
    Optimizer& optimizer() { return optimizer_; }
    const trainer_options& options() const { return options_; }
    int threads() const { return device_.threads(); }

protected:   // for alternating_trainer, which has more programs for the same memory
    /// One step of P, before which the optimizer has done `updates` of them.
    template <class P, class Observer>
    float run_training(typename Device::template runner<P>& r, const data::batch_view& b, std::int64_t updates,
                       Observer observe) {
        const float* ports[ports_of<P>()];
        bind_batch<P>(b, ports, true);
        uncounted_.template hide<P>(ports, b.size);
        has_outputs_ = false;
        float scalars[Optimizer::n_scalars + 1] = {};
        optimizer_.scalars(updates, scalars);
        const step_arguments now{ports, scalars, options_.seed, step_, b.size, true};
        if constexpr (std::is_same_v<decltype(device_.template run<P>(r, now, observe)), bool>) {
            if (!device_.template run<P>(r, now, observe)) return read_loss<P>(memory_);
        } else {
            device_.template run<P>(r, now, observe);
        }
        ++step_;
        note_outputs<P>(memory_, b.size);
        note_loss_weight<P>(memory_, b.size);
        return read_loss<P>(memory_);
    }
    typename Device::memory memory_;
    typename Device::template runner<training> train_;
    std::int64_t step_ = 0;

private:
    template <class P>
    struct other_program {   // evaluation and prediction, made when first asked for
        typename Device::template runner<P> run;
        typename Device::memory memory;   ///< lent for the time of a call, but for what the trainer's is too small for
        bool bound = false;
    };
    Optimizer optimizer_;
    trainer_options options_;
    Device device_;
    std::unique_ptr<other_program<evaluation>> evaluation_;
    std::unique_ptr<other_program<prediction>> prediction_;
    bool has_outputs_ = false;
    const typename Device::memory* outputs_elsewhere_ = nullptr;   ///< where the last run left them; null: in memory_
    const address* outputs_at_ = nullptr;
    const shape* output_shapes_ = nullptr;
    std::vector<float> exchanged_;   ///< weights and averages on their ways
    mutable std::vector<float> workspace_;   ///< the host's copy of all outputs, where the device has memory of its own
    int last_batch_ = 0;
    double loss_weight_ = 0;
    detail::uncounted_examples uncounted_;

    static constexpr int average_slot = average_slot_of<Optimizer>();

    SINTER_COLD void begin() {
        constexpr auto& p = training::v;
        auto floats = [](std::int64_t n) { return decltype(memory_.parameters)(n); };
        memory_.parameters = floats(p.floats(space::parameter));
        memory_.gradients = floats(p.floats(space::gradient));
        memory_.states = floats(p.floats(space::state));
        memory_.slots = floats(p.floats(space::slot));
        memory_.activations = floats(p.floats(space::activation));
        memory_.scratch = floats(Device::template runner<training>::scratch_floats());
        output_shapes_ = p.output_shapes;
        train_.bind(memory_);
        reset();
    }
    std::vector<float> first(const variable_info& v) const {
        return initial_values<init_kinds_of<training>()>(v, path(v), options_.seed);
    }
    SINTER_COLD void fill_slot(const variable_info& v, int k) {
        const std::vector<float> x = k == average_slot
            ? plain(v) : std::vector<float>(static_cast<std::size_t>(v.s.size()), first_of_slot(optimizer_, v.group, k));
        set_plain_slot(v, k, x.data());
    }
    template <class P>
    static constexpr int ports_of() {
        return P::v.n_inputs + P::v.n_targets + 1;
    }
    address slot_address(const variable_info& v, int slot) const {
        return {space::slot, slot * training::v.z.trained + v.at.offset()};
    }
    SINTER_COLD std::vector<float> plain_at(const variable_info& v, address from) const {
        std::vector<float> packed(static_cast<std::size_t>(v.floats));
        if (from.where() == space::none) return std::vector<float>(static_cast<std::size_t>(v.s.size()));
        device_.read(memory_, from, packed.data(), v.floats);
        return to_plain(v, packed.data(), Device::panel_width, Device::target.lanes);
    }
    SINTER_COLD void write(const variable_info& v, address to, const float* x) {
        const std::vector<float> packed = from_plain(v, x, Device::panel_width, Device::target.lanes);
        device_.write(memory_, to, packed.data(), v.floats);
    }
    template <class P>
    float read_loss(const typename Device::memory& m) const {
        float l = 0;
        device_.read(m, P::v.loss, &l, 1);
        return l;
    }
    template <class P>
    void note_loss_weight(const typename Device::memory& m, int batch) {
        float w = static_cast<float>(batch);
        if constexpr (P::v.loss_weight.where() != space::none) device_.read(m, P::v.loss_weight, &w, 1);
        loss_weight_ = static_cast<double>(w);
    }

    /// Floats of room for the first so many outputs.
    std::int64_t workspace_before(int outputs) const {
        std::int64_t n = 0;
        for (int i = 0; i < outputs; ++i) n += std::int64_t{MaxBatch} * output_shapes_[i].size();
        return n;
    }
    template <class P>
    void note_outputs(const typename Device::memory& m, int batch) {
        has_outputs_ = true;
        outputs_elsewhere_ = &m == &memory_ ? nullptr : &m;
        outputs_at_ = P::v.outputs;
        output_shapes_ = P::v.output_shapes;
        last_batch_ = batch;
    }

    /// Programs never run at once, so one's activations may lie where another's lay.
    template <class P>
    static constexpr bool fits = P::v.floats(space::activation) <= training::v.floats(space::activation);
    template <class P>
    static constexpr bool fits_scratch =
        Device::template runner<P>::scratch_floats() <= Device::template runner<training>::scratch_floats();
    /// Another program has the trainer's memory for the time of its run, however that ends.
    template <class P>
    class loan {
    public:
        loan(typename Device::memory& from, typename Device::memory& to) : from_(from), to_(to) { exchange(); }
        loan(const loan&) = delete;
        loan& operator=(const loan&) = delete;
        ~loan() { exchange(); }

    private:
        typename Device::memory &from_, &to_;
        void exchange() {
            std::swap(from_.parameters, to_.parameters);
            std::swap(from_.states, to_.states);
            if (fits<P>) std::swap(from_.activations, to_.activations);
            if (fits_scratch<P>) std::swap(from_.scratch, to_.scratch);
        }
    };
    template <class P>
    SINTER_COLD std::unique_ptr<other_program<P>> make_other() const {
        auto made = std::make_unique<other_program<P>>();
        if (!fits<P>) made->memory.activations = decltype(memory_.activations)(P::v.floats(space::activation));
        if (!fits_scratch<P>) made->memory.scratch = decltype(memory_.scratch)(Device::template runner<P>::scratch_floats());
        return made;
    }
    /// Returns the loss, where there are targets.
    template <class P>
    float run_other(std::unique_ptr<other_program<P>>& o, const data::batch_view& b, bool with_targets) {
        const float* ports[ports_of<P>()] = {};   // prediction has no targets
        bind_batch<P>(b, ports, with_targets);
        if (with_targets) uncounted_.template hide<P>(ports, b.size);
        has_outputs_ = false;
        [[maybe_unused]] const auto here = enter(device_);
        if (!o) o = make_other<P>();
        float loss = 0;
        {
            const loan<P> lent(memory_, o->memory);
            if (!o->bound) o->run.bind(o->memory);   // which is where it is now each time
            o->bound = true;
            device_.template run<P>(o->run, {ports, nullptr, options_.seed, step_, b.size});
            if (with_targets) loss = read_loss<P>(o->memory);
            if (with_targets) note_loss_weight<P>(o->memory, b.size);
        }
        note_outputs<P>(fits<P> ? memory_ : o->memory, b.size);
        return loss;
    }
};

namespace detail {
/// What an estimator trains with.
template <class Net, class Loss, class Optimizer, int MaxBatch, class Device, program_options Options>
struct trainer_for {
    using type = trainer<Net, Loss, Optimizer, MaxBatch, Device, Options>;
};
} // namespace detail

/// For as long as this lives, a trainer's weights are the averages that its optimizer keeps: for evaluation and prediction.
template <class Trainer>
class averaged_weights {
public:
    explicit averaged_weights(Trainer& t) : t_(t) { t_.exchange_with_averages(); }
    averaged_weights(const averaged_weights&) = delete;
    averaged_weights& operator=(const averaged_weights&) = delete;
    ~averaged_weights() { t_.exchange_with_averages(); }

private:
    Trainer& t_;
};

} // namespace sinter
