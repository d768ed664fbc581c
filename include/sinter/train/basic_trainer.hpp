// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/description.hpp>
#include <sinter/base/span.hpp>
#include <sinter/compiler/evaluate_stages.hpp>
#include <sinter/compiler/output_number.hpp>
#include <sinter/data/batch_view.hpp>
#include <sinter/data/type_text.hpp>
#include <sinter/train/checkpoint/variables.hpp>
#include <sinter/train/initialize.hpp>
#include <sinter/train/optimizers/detail/learning_rates.hpp>
#include <sinter/train/optimizers/detail/settings.hpp>
#include <sinter/train/optimizers/updated_elsewhere.hpp>
#include <sinter/train/settings.hpp>
#include <sinter/train/trainer_state.hpp>

/// What all trainers have: a model's variables, evaluation and prediction, and the count of steps.
/// trainer (train/trainer.hpp) and alternating_trainer add the step itself.
namespace sinter::inline SINTER_TARGET {

namespace detail {

/// A strategy, or what stands in for one that is none: trainers' constructors have the one compile
/// error.
template <class S>
using sound_strategy = std::conditional_t<strategy<S>, S, single<stand_in_device>>;
template <class S>
sound_strategy<S> sound(const S& s) {
    if constexpr (strategy<S>) return s;
    else return {};
}

/// How a model's programs are asked for under a strategy. Those for training are for one shard of a
/// batch, the others for the whole of it.
template <class Net, class Loss, class Optimizer, program_mode M, build_options Build, class Strategy>
using request_under = request<Net, Loss,
                              std::conditional_t<Strategy::traits.updates_here, Optimizer,
                                                 updated_elsewhere<Optimizer>>, M,
                              M == program_mode::training
                                  ? (Build.max_batch + Strategy::traits.shards - 1) / Strategy::traits.shards
                                  : Build.max_batch,
                              Strategy::device::target,
                              strategy_parts::options_under(Build.program, Strategy::traits, Build.max_batch)>;

/// A strategy's session, which knows the optimizer as well where that is none of the programs'.
template <class Strategy, class Programs, class Optimizer>
struct session_under {
    using type = typename Strategy::template session<Programs>;
};
template <class Strategy, class Programs, class Optimizer>
    requires(!Strategy::traits.updates_here)
struct session_under<Strategy, Programs, Optimizer> {
    using type = typename Strategy::template session<Programs, Optimizer>;
};

} // namespace detail

/// `Programs`: model_programs, of which the first training program's request stands for all.
template <class Programs, class Optimizer, build_options Build, class Strategy>
class basic_trainer {
    using device_type = typename detail::sound_strategy<Strategy>::device;

public:
    using programs = Programs;
    using training = typename Programs::template training<0>;
    using evaluation = typename Programs::evaluation;
    using prediction = typename Programs::prediction;
    using strategy_type = detail::sound_strategy<Strategy>;
    using session_type = typename detail::session_under<strategy_type, Programs, Optimizer>::type;

    /// Bytes that each replica takes on its device: parameters, gradients that are stored, optimizer
    /// state, activations and the kernels' scratch memory. A constant. (On a processor replicas
    /// share parameters and optimizer state, and those that one thread runs activations as well.)
    /// Evaluation and prediction work in the same memory (should one of them need more for its
    /// activations or scratch memory, it takes that anew when it is first asked for).
    static constexpr std::int64_t bytes() { return replica<Programs>::bytes(); }
    static constexpr int max_batch() { return Build.max_batch; }
    static constexpr build_options build = Build;                ///< that its programs are compiled with
    static constexpr program_options policy = Build.program;

    /// Trainers move; spans that predict() and output() gave stay good. One that was moved from can
    /// be assigned to, or end.
    basic_trainer(basic_trainer&&) = default;
    basic_trainer& operator=(basic_trainer&&) = default;

    /// Back to the first step: fresh weights from the seed, states and optimizer memory as at the
    /// start.
    SINTER_COLD void reset() {
        step_ = 0;
        auto fill = [&](const variable_info& v) {
            if constexpr (strategy_type::traits.remote_tables)
                if (v.remote && compiler::draws_rows(v.init.kind))
                    return session_.tables()->start_table(v, base::stream(options_.seed, base::fnv1a(path(v))));
            write(v, v.at, first(v).data());
        };
        for (int i = 0; i < training::v.n_parameters; ++i) fill(training::v.parameters[i]);
        for (int i = 0; i < training::v.n_states; ++i) fill(training::v.states[i]);
        session_.clear_slots();
        if constexpr (compiler::has_first_of_slot<Optimizer>() || copies_parameters)
            for (int i = 0; i < training::v.n_parameters; ++i)
                for (int k = 0; k < slots_of(training::v.parameters[i]); ++k) fill_slot(training::v.parameters[i], k);
        session_.publish();
        exchanging_ = false;
        set_steps(0);
    }
    /// The next batch's examples do not continue those of the last: states that each example has
    /// one of (recurrent layers' under `carried`) begin anew.
    SINTER_COLD void begin_sequences() {
        for (int i = 0; i < training::v.n_states; ++i)
            if (const variable_info& v = training::v.states[i]; v.of_examples) write(v, v.at, first(v).data());
        session_.publish();
    }

    /// The batch's mean loss in evaluation (dropout off, running statistics); outputs stay readable
    /// by output().
    float evaluate(const data::batch_view& b) {
        detail::evaluate_stages<typename strategy_parts::request_of<evaluation>::type>();
        if constexpr (keeps_averages) need_whole_weights("evaluate");
        session_.refresh();
        last_.loss_weight = __builtin_nan("");
        return session_.evaluate(b, values_of(nullptr));
    }
    /// What the last step()'s or evaluate()'s loss is a mean over: the batch's examples or, where
    /// the loss is weighted or ignores labels, the sum of what they weigh. Losses of batches, and
    /// gradients, times this add up to those of all batches together.
    double loss_weight() const {
        return last_.loss_weight == last_.loss_weight ? last_.loss_weight : session_.loss_weight();
    }
    /// Output `i` for each example of the batch, [batch, extents...], good until the next step,
    /// evaluate or predict. Throws option_error where there is no such output.
    span<const float> predict(const data::batch_view& b, int i = 0) {
        detail::evaluate_stages<typename strategy_parts::request_of<prediction>::type>();
        session_parts::need_output(i, prediction::v.n_outputs, "predict");
        if constexpr (keeps_averages) need_whole_weights("predict");
        session_.refresh();
        session_.predict(b, values_of(nullptr));
        return output(i);
    }
    /// The output of this name (expr/output.hpp); option_error where there is none.
    span<const float> predict(const data::batch_view& b, std::string_view name) {
        return predict(b, output_number(name));
    }
    /// Output `i` of the last step(), evaluate() or predict(); empty if that failed. Where the
    /// device has memory of its own this copies.
    span<const float> output(int i = 0) const {
        session_parts::need_output(i, training::v.n_outputs, "output");
        return session_.output(i);
    }
    span<const float> output(std::string_view name) const { return output(output_number(name)); }
    /// The same where the name is known when it compiles: `model.output<"score">()`. A name that the net
    /// does not have does not compile.
    template <compiler::text T>
    span<const float> output() const { return output(compiler::output_number<training, T>()); }
    /// The number of the output of this name; option_error where there is none.
    static int output_number(std::string_view name) {
        return session_parts::output_of_name(name, training::v.output_names, training::v.n_outputs, "output");
    }

    // ---- what the model is made of
    static constexpr int parameters() { return training::v.n_parameters; }
    static const variable_info& parameter(int i) { return training::v.parameters[i]; }
    static constexpr int states() { return training::v.n_states; }
    static const variable_info& state(int i) { return training::v.states[i]; }
    static std::string path(const variable_info& v) { return path_of(training::scopes, v); }
    static shape output_shape(int i = 0) {
        session_parts::need_output(i, training::v.n_outputs, "output_shape");
        return training::v.output_shapes[i];
    }
    /// Of what output(i) shows: most nets give the same in training and elsewhere, but not those
    /// that end in candidate_scores.
    shape last_output_shape(int i = 0) const {
        session_parts::need_output(i, training::v.n_outputs, "last_output_shape");
        return session_.output_shape(i);
    }

    /// A parameter, state or gradient in its plain form (row-major, extents as declared).
    std::vector<float> plain(const variable_info& v) const { return plain_at(v, v.at); }
    std::vector<float> plain_slot(const variable_info& v, int slot) const { return plain_at(v, slot_address(v, slot)); }
    /// The last step's gradient; only under program_options{.store_gradients = true} or where the
    /// optimizer clips. Where gradients are accumulated it is that of the loss times loss_weight().
    /// Of the whole batch under mirrored, canonical and multi_worker; with parameter servers of
    /// this worker's part. option_error under sharded_update, whose members have it in parts.
    std::vector<float> gradient(const variable_info& v) const {
        if (v.gradient.where() == compiler::space::none && detail::update_stage<typename training::request>::in_place)
            throw option_error("the update uses this gradient up", path(v), "it is nowhere stored",
                               "program_options{.store_gradients = true}");
        if ((v.gradient.where() == compiler::space::none && v.bucket >= 0) || v.remote)
            throw option_error("this gradient is a list of rows", path(v), "gradient_policy::reduced",
                               "gradient_policy::stored");
        return plain_at(v, v.gradient);
    }
    /// Overwrites a parameter or a state. The optimizer's memory of it stays, but for what copies
    /// the parameter (the averages of moving_average): that begins anew with these values.
    void set_plain(const variable_info& v, const float* x) {
        const packed_values p = packed(v, x);
        session_.write(p.to, p.x.data(), v.floats);
        if constexpr (copies_parameters) begin_copies(p, [](auto) { return false; });
        session_.publish();
    }
    void set_plain_slot(const variable_info& v, int slot, const float* x) {
        write(v, slot_address(v, slot), x);
        session_.publish();
    }
    /// What a parameter, or slot `slot` of it, begins with in its plain form; -1: the parameter itself.
    std::vector<float> first_values(const variable_info& v, int slot = -1) const {
        if (slot < 0 || slot == average_slot) return first(v);
        std::vector<float> x(static_cast<std::size_t>(v.s.size()));
        if constexpr (compiler::has_first_of_slot<Optimizer>())
            x.assign(x.size(), compiler::first_of_slot(optimizer_, v.group, slot));
        return x;
    }
    /// A variable's numbers as put() takes them. `slot` as above, or -1 for the variable itself.
    packed_values packed(const variable_info& v, const float* x, int slot = -1) const {
        return {slot < 0 ? v.at : slot_address(v, slot),
                runtime::from_plain(v, x, device_type::panel_width, device_type::target.lanes),
                slot < 0 && is_parameter(v) ? &v : nullptr};
    }
    /// Whatever writes a parameter comes here, so that slots which copy it begin anew. `whole`:
    /// these are all parameters and slots, and the trainer has no half averages any more.
    void put(const std::vector<packed_values>& all, bool whole = false) {
        for (const packed_values& p : all) session_.write(p.to, p.x.data(), static_cast<std::int64_t>(p.x.size()));
        if constexpr (copies_parameters)
            for (const packed_values& p : all)
                begin_copies(p, [&](compiler::address slot) {
                    bool given = whole;
                    for (const packed_values& q : all) given = given || q.to == slot;
                    return given;
                });
        session_.publish();
        if (whole) exchanging_ = false;
    }

    /// What the strategy said of the last step, over all members: loss, examples, and whether one
    /// of them has asked to stop or to save.
    const step_result& last_step() const { return last_; }
    /// What goes with the next step to all members, and comes back to each of them in last_step().
    void ask_members(bool to_stop, bool to_save) { ask_stop_ = to_stop, ask_save_ = to_save; }
    std::int64_t steps() const { return step_; }
    void set_steps(std::int64_t n) {
        step_ = n;
        session_.set_steps(n);
    }
    /// Training begins, to go on to `max_steps` (0: without a limit): where others count steps, too, the trainer's are
    /// theirs from now on. `keeps_runs`: the chief saves whole runs, and what it has loaded of them, or nothing, is
    /// where training begins.
    void begin_training(std::int64_t max_steps = 0, bool keeps_runs = false) {
        if constexpr (!session_type::alone) set_steps(session_.begin_training(step_, max_steps, keeps_runs));
    }
    /// In a process that keeps weights for those that train (parameter_server): does so until they are done, or, where
    /// `asked_to_end` says so meanwhile, until they have stopped. False elsewhere.
    bool has_served(bool (*asked_to_end)() = nullptr) {
        if constexpr (!strategy_type::traits.updates_here) {
            if (!session_.serves()) return false;
            session_.serve(optimizer_, asked_to_end);
            return true;
        } else {
            return false;
        }
    }
    /// Behind the last step of a loop of one's own, before save(): training is over for this member, and the chief
    /// waits for those that are at their own pace. `early`: none is to go on. train() does it itself.
    void end_training(bool early = false) { set_steps(session_.end_training(step_, early)); }

    /// How many slots the optimizer keeps for a parameter, here or elsewhere: none for a frozen
    /// one.
    static constexpr int slots() {
        return strategy_type::traits.updates_here ? training::v.slots : Optimizer::slots;
    }
    static constexpr int slots_of(const variable_info& v) {
        return v.group == compiler::frozen_group ? 0 : slots();
    }
    static constexpr bool keeps_averages = compiler::average_slot_of<Optimizer>() >= 0;
    /// Puts the optimizer's averages of the weights (moving_average) where the weights are, and
    /// these where the averages were: evaluate(), predict() and plain() then see averages, and
    /// training must not go on before the same call has put all back. averaged_weights does both.
    /// Behind a call that has thrown need_whole_weights() throws until a whole file is loaded or
    /// reset() was called, for weights may be averages in part.
    void exchange_with_averages() {
        static_assert(keeps_averages, "the optimizer keeps no averages: see moving_average");
        session_.forget_outputs();
        exchanging_ = true;
        if (session_.exchange_with_slot(average_slot)) return void(exchanging_ = false);
        exchanging_ = false;
        std::int64_t most = 0;
        for (int i = 0; i < training::v.n_parameters; ++i) most = std::max(most, training::v.parameters[i].floats);
        exchanged_.resize(
            static_cast<std::size_t>(2 * most));   // before anything is changed, and kept: putting back cannot fail
        float* const own = exchanged_.data();
        float* const average = own + most;
        exchanging_ = true;
        for (int i = 0; i < training::v.n_parameters; ++i) {
            const variable_info& v = training::v.parameters[i];
            if (!slots_of(v)) continue;
            session_.read(v.at, own, v.floats);
            session_.read(slot_address(v, average_slot), average, v.floats);
            session_.write(v.at, average, v.floats);
            session_.write(slot_address(v, average_slot), own, v.floats);
        }
        session_.publish();
        exchanging_ = false;
    }
    /// Whether an exchange with averages was broken off, so that weights and slots are mixed.
    bool weights_are_mixed() const { return exchanging_; }
    /// error where they are. `where`: what was to be done with them: steps, evaluation, predictions,
    /// files.
    void need_whole_weights(const char* where) const {
        if (exchanging_) training_parts::refuse_mixed(where);
    }
    /// Its learning rates are looked at before each step, other settings when a trainer is made and
    /// where train() begins.
    Optimizer& optimizer() { return optimizer_; }
    const trainer_options& options() const { return options_; }
    /// What members of a job must share of it besides the optimizer's settings: nothing that changes no bit.
    SINTER_COLD void describe(description& d) const {
        d("loss", data::type_text<typename training::request::loss>())("optimizer", data::type_text<Optimizer>());
        d("max_batch", Build.max_batch);
        if constexpr (detail::graph_value<typename training::request>::c.streams > 0) d("seed", options_.seed);
    }
    int threads() const { return session_.threads(); }
    session_type& session() { return session_; }   ///< the strategy's: replicas, members
    const session_type& session() const { return session_; }

protected:
    SINTER_COLD basic_trainer(const Optimizer& optimizer, const Strategy& s, trainer_options o)
        : optimizer_((detail::evaluate_stages<typename strategy_parts::request_of<training>::type>(),
                      optimizer)),   // before all else that needs the program
          options_(o), session_(detail::sound(s), o.threads) {
        static_assert(strategy<Strategy>, "this is no strategy: sinter/strategy/strategy.hpp says what one has");
        static_assert(strategy_session<session_type, Programs>,
                      "the strategy's session lacks a part: sinter/strategy/strategy.hpp");
        detail::need_settings(optimizer_);
        reset();
    }
    /// One step of training program I, before which the optimizer has done `updates` of them.
    template <int I, class Observer>
    float run_training(const data::batch_view& b, std::int64_t updates, Observer observe) {
        if constexpr (Programs::n_training > 1) detail::need_learning_rates_of_phase<I>(optimizer_, updates);
        else detail::need_learning_rates(optimizer_, updates);
        if constexpr (keeps_averages) need_whole_weights("step");
        float scalars[Optimizer::n_scalars + 1] = {};
        optimizer_.scalars(updates, scalars);
        step_values v = values_of(scalars);
        v.stop = ask_stop_;
        v.save = ask_save_;
        if constexpr (!strategy_type::traits.updates_here) session_.follow(optimizer_);
        last_ = session_.template step<I>(b, v, observe);
        if (last_.examples < 0) last_.examples = b.size;
        if (last_.global_step >= 0) step_ = last_.global_step;
        else if (last_.applied) ++step_;
        return last_.loss;
    }
    std::int64_t step_ = 0;

private:
    Optimizer optimizer_;
    trainer_options options_;
    session_type session_;
    step_result last_{};
    bool ask_stop_ = false, ask_save_ = false;
    std::vector<float> exchanged_;   ///< weights and averages on their ways
    bool exchanging_ = false;        ///< they are, or the exchange was broken off

    static constexpr int average_slot = compiler::average_slot_of<Optimizer>();
    static constexpr bool copies_parameters = compiler::copies_parameters<Optimizer>();

    static bool is_parameter(const variable_info& v) {
        return &v >= training::v.parameters && &v < training::v.parameters + training::v.n_parameters;
    }
    /// Slots that copy a parameter which was written; given(slot): that was written itself.
    template <class Given>
    SINTER_COLD void begin_copies(const packed_values& p, Given given) {
        if (!p.of || p.of->remote) return;   // whoever keeps a table does it
        for (int k = 0; k < slots_of(*p.of); ++k)
            if (compiler::copies_parameter<Optimizer>(p.of->group, k))
                if (const compiler::address to = slot_address(*p.of, k); !given(to))
                    session_.write(to, p.x.data(), p.of->floats);
    }

    step_values values_of(const float* scalars) const { return {scalars, options_.seed, step_}; }
    std::vector<float> first(const variable_info& v) const {
        return detail::initial_values<detail::init_kinds_of<training>()>(v, path(v), options_.seed);
    }
    SINTER_COLD void fill_slot(const variable_info& v, int k) {
        if (v.remote) return;   // whoever keeps the table makes its slots
        const auto begin = [&] { return compiler::first_of_slot(optimizer_, v.group, k); };
        const std::vector<float> x = compiler::copies_parameter<Optimizer>(v.group, k)
                                         ? plain(v)
                                         : std::vector<float>(static_cast<std::size_t>(v.s.size()), begin());
        write(v, slot_address(v, k), x.data());
    }
    compiler::address slot_address(const variable_info& v, int slot) const {
        return {compiler::space::slot, slot * training::v.z.trained + v.at.offset()};
    }
    SINTER_COLD std::vector<float> plain_at(const variable_info& v, compiler::address from) const {
        std::vector<float> packed(static_cast<std::size_t>(v.floats));
        if (from.where() == compiler::space::none) return std::vector<float>(static_cast<std::size_t>(v.s.size()));
        session_.read(from, packed.data(), v.floats);
        return runtime::to_plain(v, packed.data(), device_type::panel_width, device_type::target.lanes);
    }
    SINTER_COLD void write(const variable_info& v, compiler::address to, const float* x) {
        const std::vector<float> packed =
            runtime::from_plain(v, x, device_type::panel_width, device_type::target.lanes);
        session_.write(to, packed.data(), v.floats);
    }
};

} // namespace sinter
