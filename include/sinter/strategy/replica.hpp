// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <sinter/device/device.hpp>
#include <sinter/device/step_bytes.hpp>
#include <sinter/strategy/largest_program.hpp>
#include <sinter/strategy/memory_loan.hpp>
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/model_programs.hpp>
#include <sinter/strategy/step_values.hpp>
#include <sinter/strategy/uncounted_examples.hpp>
#include <array>
#include <memory>
#include <vector>

namespace sinter::inline SINTER_TARGET {

/// One copy of a model on one device: memory, the programs that run in it, and what the last run
/// left. Strategies are made of replicas; a trainer sees one through its strategy's session.
///
/// It does not know what the numbers mean: initial values, the optimizer's scalars and the step's
/// number are the trainer's. Programs never run at once, so evaluation and prediction work in the
/// training programs' memory (should one need more for its activations or scratch memory, it takes
/// that when it is first run). A step allocates nothing (but, once, for examples that do not count
/// and are not finite: uncounted_examples). `Programs`: model_programs.
template <class Programs>
class replica {
public:
    using programs = Programs;
    using device = typename Programs::device;
    using memory = typename device::memory;
    template <int I>
    using training = typename Programs::template training<I>;
    using evaluation = typename Programs::evaluation;
    using prediction = typename Programs::prediction;

private:
    using all = std::make_integer_sequence<int, Programs::n_training>;
    using sizes = strategy_parts::largest_program<Programs>;

public:
    /// Bytes of the device's memory that it takes: parameters, gradients, the optimizer's slots,
    /// states, activations, tables and scratch memory. A constant.
    static constexpr std::int64_t bytes() { return sizes::bytes(all{}); }

    /// Takes the memory, all zeros; `slots`: the optimizer's, too. Throws what making the device and its arenas throws.
    SINTER_COLD explicit replica(typename device::options o, bool slots = true) : device_(o) {
        begin(all{}, nullptr, slots);
    }
    /// Shares another's parameters, and its slots but where steps are accumulated, which each does
    /// in slots of its own.
    SINTER_COLD replica(typename device::options o, const replica& owner) requires device::shares_memory : device_(o) {
        begin(all{}, &owner, true);
    }
    /// Replicas move; what output() gave stays good.
    replica(replica&&) = default;
    replica& operator=(replica&&) = default;

    /// One step of training program I on a batch; `observe(launch, before)` is called around each
    /// launch. Throws data_error where the batch does not fit the program, and what the device
    /// throws.
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        use_gradients<I>();
        return run<training<I>>(b, v, {}, observe);
    }
    /// The first half of a step: loss, gradients and states, up to the first launch that needs all
    /// of them. Gradients that are stored (strategy_traits::gradients) lie at
    /// variable_info::gradient then, for read() and write(). Where they are fused, some parameters
    /// have been updated already, too.
    template <int I = 0, class Observer = runtime::unobserved>
    step_result gradients(const batch_view& b, const step_values& v, Observer observe = {}) {
        use_gradients<I>();
        return run<training<I>>(b, v, {0, training<I>::v.segments.first_update}, observe);
    }
    /// The second half, which follows the first: updates by the gradients that are there now. `v`
    /// as before.
    template <int I = 0, class Observer = runtime::unobserved>
    void update(const step_values& v, Observer observe = {}) {
        using P = training<I>;
        const runtime::step_arguments now{
            nullptr, v.scalars, v.seed, v.step, last_batch_, false, {P::v.segments.first_update}, v.shard};
        device_.template run<P>(runner_of<P>(), now, observe);
    }
    /// Whether steps are accumulated, in the last slot.
    static constexpr bool accumulates() { return sizes::accumulates(all{}); }

    /// Gradients, as they are read and written, are program I's from now on; steps see to it. Each
    /// training program has memory of its own for them: sums take what lies between for zeros.
    template <int I>
    void use_gradients() {
        if constexpr (Programs::n_training > 1) {
            std::swap(memory_.gradients, gradients_[static_cast<std::size_t>(gradients_in_use_)]);
            std::swap(memory_.gradients, gradients_[std::size_t{I}]);
            gradients_in_use_ = I;
        }
    }

    // ---- a step in stretches, for strategies that do something between them
    /// The next step's batch: where each port lies, as bind_ports leaves it.
    template <int I = 0>
    void begin_step(const float* const* ports, int batch) {
        using P = training<I>;
        use_gradients<I>();
        if (ports_.empty()) ports_.resize(static_cast<std::size_t>(sizes::ports(all{})));
        std::copy_n(ports, P::v.n_inputs + P::v.n_targets, ports_.data());
        uncounted_.template hide<P>(ports_.data(), batch);
        has_outputs_ = continues_ = false;
        last_batch_ = batch;
        within_step_ = true;
    }
    bool within_step() const { return within_step_; }   ///< no evaluation or prediction has run since
    /// States, and what is updated before the loss is known, as they were before the step.
    template <int I = 0>
    void put_back_step() {
        if constexpr (requires { runner_of<training<I>>().put_back_early(); })
            if (continues_) runner_of<training<I>>().put_back_early();
    }
    /// Runs these launches. False where the loss, which is known behind them, is not finite: memory
    /// is then as before the step. `alone`: by the calling thread.
    template <int I = 0, class Observer = runtime::unobserved>
    bool stretch(const step_values& v, runtime::launch_range launches, bool alone, Observer observe = {}) {
        using P = training<I>;
        const runtime::step_arguments now{
            continues_ ? nullptr : ports_.data(), v.scalars, v.seed, v.step, last_batch_, true, launches, v.shard};
        continues_ = true;
        if constexpr (requires { device_.template run_alone<P>(runner_of<P>(), now, observe); }) {
            return alone ? device_.template run_alone<P>(runner_of<P>(), now, observe)
                         : device_.template run<P>(runner_of<P>(), now, observe);
        } else {
            device_.template run<P>(runner_of<P>(), now, observe);
            return true;
        }
    }
    /// As stretch(), but it may return before that is done; what is marked can be waited for.
    template <int I = 0>
    void marked_stretch(const step_values& v, runtime::launch_range launches, const runtime::launch_marks& marks)
        requires marks_launches<device>
    {
        using P = training<I>;
        const runtime::step_arguments now{
            continues_ ? nullptr : ports_.data(), v.scalars, v.seed, v.step, last_batch_, true, launches, v.shard};
        continues_ = true;
        device_.template run_marked<P>(runner_of<P>(), now, marks);
    }
    /// What the next calls of these ask for waits for the mark, and for nothing behind it.
    template <int I = 0>
    void follow(int mark)
        requires marks_launches<device>
    {
        device_.template follow<training<I>>(runner_of<training<I>>(), mark);
    }
    void read_aside(compiler::address from, float* to, std::int64_t floats) const
        requires marks_launches<device>
    {
        device_.read_aside(memory_, from, to, floats);
    }
    void add_aside(const replica& other, compiler::address a, std::int64_t floats)
        requires marks_launches<device> && adds_from_peers<device>
    {
        device_.add_aside(memory_, a, other.device_, other.memory_, floats);
    }
    void wait_aside() const
        requires marks_launches<device>
    {
        device_.wait_aside();
    }
    /// As finish_step(), once the loss's mark is followed.
    template <int I = 0>
    float finish_aside()
        requires marks_launches<device>
    {
        using P = training<I>;
        note_outputs<P>(memory_, last_batch_);
        float loss = 0, weight = static_cast<float>(last_batch_);
        if constexpr (P::v.loss_weight.where() != compiler::space::none) read_aside(P::v.loss_weight, &weight, 1);
        loss_weight_ = static_cast<double>(weight);
        read_aside(P::v.loss, &loss, 1);
        return loss;
    }
    /// The loss, which has been computed; outputs can be read from now on.
    template <int I = 0>
    float finish_step() {
        note_outputs<training<I>>(memory_, last_batch_);
        note_loss_weight<training<I>>(memory_, last_batch_);
        if (keeps_outputs_) keep_outputs();
        return read_loss<training<I>>(memory_);
    }
    /// Where the floats at an address lie, if the device's memory is the host's.
    float* host(compiler::address a) const requires device::shares_memory { return device::host(memory_, a); }
    /// Where they lie in a device's memory of its own: for who reads that (communicator::reads_device_memory).
    float* in_device(compiler::address a) const requires adds_from_peers<device> {
        return device_.in_device(memory_, a);
    }
    /// Lists of rows that updates read in place of the program's own, in the host's memory: how
    /// long they get, and what is in them.
    template <int I = 0>
    void reserve_list(int number, int rows, int width) {
        if constexpr (!device::shares_memory)
            device_.template reserve_list<training<I>>(runner_of<training<I>>(), number, rows, width);
    }
    template <int I = 0>
    void place_lists(const row_list* lists) {
        if constexpr (device::shares_memory) runner_of<training<I>>().place_lists(lists);
        else device_.template place_lists<training<I>>(runner_of<training<I>>(), lists);
    }
    template <int I = 0>
    typename device::template runner<training<I>>& runner() { return runner_of<training<I>>(); }

    /// The batch's mean loss by the evaluation program. Throws as step().
    float evaluate(const batch_view& b, const step_values& v) { return run_other(evaluation_, b, v, true); }
    /// Runs the prediction program, for which the batch needs no targets. Throws as step().
    void predict(const batch_view& b, const step_values& v) { run_other(prediction_, b, v, false); }

    /// Has program Q of evaluation or prediction parameters of its own? It has where tables are
    /// elsewhere and it reads one whole (a sampled softmax's scores of all classes). Each run
    /// copies those that are here; the tables that it has whole are written to whole_table().
    template <class Q>
    static constexpr bool has_own_parameters() {
        if constexpr (training<0>::request::options.remote_tables > 0)
            for (int i = 0; i < Q::v.n_parameters; ++i)
                if (Q::v.parameters[i].remote != training<0>::v.parameters[i].remote) return true;
        return false;
    }
    /// Where such a program's whole table lies, parameter `i`: [rows, width]; or writes that.
    template <class Q>
    float* whole_table(int i) requires device::shares_memory { return own_of<Q>().at(Q::v.parameters[i].at); }
    template <class Q>
    void write_whole_table(int i, const float* from) {
        device_.write(own_of<Q>(), Q::v.parameters[i].at, from, Q::v.parameters[i].floats);
    }

    /// What the last loss is a mean over: examples or, where the loss is weighted or ignores
    /// labels, what they weigh.
    double loss_weight() const { return loss_weight_; }
    /// Output `i` of the last run, [batch, extents...], good until the next; empty if that failed.
    /// Where the device has memory of its own this copies.
    span<const float> output(int i) const {
        if (!has_outputs_) return {};
        const shape& s = output_shapes_[i];
        const std::int64_t n = std::int64_t{s.batched ? last_batch_ : 1} * s.size();
        if (!device::shares_memory) host_.resize(static_cast<std::size_t>(floats_before(training<0>::v.n_outputs)));
        if (outputs_kept_) return {host_.data() + floats_before(i), static_cast<std::size_t>(n)};
        const memory& m = outputs_elsewhere_ ? *outputs_elsewhere_ : memory_;
        return {device_.host_view(m, outputs_at_[i], host_.data() + floats_before(i), n), static_cast<std::size_t>(n)};
    }
    /// From now on this works in `owner`'s activations and scratch memory or, if that is null, in
    /// its own again: of replicas whose steps follow each other. What output() shows stays, then,
    /// for a step's end keeps it elsewhere.
    SINTER_COLD void work_in_memory_of(replica* owner)
        requires device::shares_memory
    {
        work_in_memory_of(all{}, owner);
    }
    const shape& output_shape(int i) const { return output_shapes_[i]; }   ///< of what output(i) shows
    void forget_outputs() { has_outputs_ = false; }

    /// Floats as they lie in the device's memory, at a parameter's, gradient's, state's or slot's
    /// address.
    void read(compiler::address from, float* to, std::int64_t floats) const { device_.read(memory_, from, to, floats); }
    void write(compiler::address to, const float* from, std::int64_t floats) {
        device_.write(memory_, to, from, floats);
    }
    /// Another replica's floats at this address: added to those here, or in their place.
    void add_from(const replica& other, compiler::address a, std::int64_t floats)
        requires adds_from_peers<device>
    {
        device_.add_from(memory_, a, other.device_, other.memory_, floats);
    }
    void copy_from(const replica& other, compiler::address a, std::int64_t floats)
        requires adds_from_peers<device>
    {
        device_.copy_from(memory_, a, other.device_, other.memory_, floats);
    }
    void clear_slots() { memory_.slots.clear(); }   ///< the optimizer's memory is all zeros again
    void clear_slots(std::int64_t first, std::int64_t n)   ///< these floats of it
        requires device::shares_memory
    {
        memory_.slots.clear(first, n);
    }
    int threads() const { return device_.threads(); }

private:
    template <class P>
    struct training_runner {
        typename device::template runner<P> run;
    };
    template <class I>
    struct runners_of;
    template <int... I>
    struct runners_of<std::integer_sequence<int, I...>> : training_runner<training<I>>... {};
    template <class P>
    struct other_program {   // evaluation and prediction, made when first asked for
        typename device::template runner<P> run;
        memory own;   ///< lent for the time of a run, but for what the replica's is too small for
        bool bound = false;
    };
    device device_;
    memory memory_;
    std::array<decltype(memory::gradients), std::size_t{Programs::n_training}> gradients_;   ///< not in use now
    int gradients_in_use_ = 0;
    runners_of<all> runners_;
    std::unique_ptr<other_program<evaluation>> evaluation_;
    std::unique_ptr<other_program<prediction>> prediction_;
    bool has_outputs_ = false;
    bool within_step_ = false;
    bool continues_ = false;             ///< a stretch of this step has run
    std::vector<const float*> ports_;    ///< of a step in stretches
    const memory* outputs_elsewhere_ = nullptr;   ///< where the last run left them; null: in memory_
    const compiler::address* outputs_at_ = nullptr;
    const shape* output_shapes_ = nullptr;
    /// The host's copy of all outputs, where the device has memory of its own.
    mutable std::vector<float> host_;
    bool keeps_outputs_ = false, outputs_kept_ = false;   ///< there, on the processor, too: others work in its memory
    int last_batch_ = 0;
    double loss_weight_ = 0;
    strategy_parts::uncounted_examples uncounted_;

    template <class P>
    typename device::template runner<P>& runner_of() {
        return static_cast<training_runner<P>&>(runners_).run;
    }
    template <class P, class Observer>
    step_result run(const batch_view& b, const step_values& v, runtime::launch_range launches, Observer& observe) {
        const float* ports[sizes::template ports_of<P>()];
        bind_batch<P>(b, ports, true);
        uncounted_.template hide<P>(ports, b.size);
        has_outputs_ = false;
        const runtime::step_arguments now{ports, v.scalars, v.seed, v.step, b.size, true, launches, v.shard};
        auto& runner = runner_of<P>();
        if constexpr (std::is_same_v<decltype(device_.template run<P>(runner, now, observe)), bool>) {
            if (!device_.template run<P>(runner, now, observe)) return {read_loss<P>(memory_), false};
        } else {
            device_.template run<P>(runner, now, observe);
        }
        note_outputs<P>(memory_, b.size);
        note_loss_weight<P>(memory_, b.size);
        return {read_loss<P>(memory_), true};
    }
    template <int... I>
    SINTER_COLD void begin(std::integer_sequence<int, I...> n, const replica* owner, bool slots) {
        static_assert((runs_program<device, training<I>> && ...),
                      "the device lacks a part of what a device has: device/device.hpp");
        constexpr auto& p = training<0>::v;
        [[maybe_unused]] const auto here = runtime::enter(device_);
        using place = decltype(memory_.parameters);
        if constexpr (requires { place::shared_with(memory_.parameters); }) {
            if (owner) {
                memory_.parameters = place::shared_with(owner->memory_.parameters);
                memory_.slots =
                    accumulates() ? place(p.floats(compiler::space::slot)) : place::shared_with(owner->memory_.slots);
            }
        }
        if (!owner) memory_.parameters = place(p.floats(compiler::space::parameter));
        memory_.states = place(p.floats(compiler::space::state));
        if (!owner && slots) memory_.slots = place(p.floats(compiler::space::slot));
        memory_.activations = place(sizes::floats(compiler::space::activation, n));
        memory_.scratch = place(sizes::scratch(n));
        output_shapes_ = p.output_shapes;
        const auto bind = [&]<int K>(std::integral_constant<int, K>) {
            use_gradients<K>();
            memory_.gradients = place(training<K>::v.floats(compiler::space::gradient));
            runner_of<training<K>>().bind(memory_);
        };
        (bind(std::integral_constant<int, I>{}), ...);
        use_gradients<0>();
    }
    template <class P>
    float read_loss(const memory& m) const {
        float l = 0;
        device_.read(m, P::v.loss, &l, 1);
        return l;
    }
    template <class P>
    void note_loss_weight(const memory& m, int batch) {
        float w = static_cast<float>(batch);
        if constexpr (P::v.loss_weight.where() != compiler::space::none) device_.read(m, P::v.loss_weight, &w, 1);
        loss_weight_ = static_cast<double>(w);
    }
    /// Floats of the first so many outputs of the last run, whose batch may exceed training's.
    std::int64_t floats_before(int outputs) const {
        std::int64_t n = 0;
        for (int i = 0; i < outputs; ++i)
            n += std::int64_t{output_shapes_[i].batched ? last_batch_ : 1} * output_shapes_[i].size();
        return n;
    }
    template <int... I>
    SINTER_COLD void work_in_memory_of(std::integer_sequence<int, I...> n, replica* owner) {
        using place = decltype(memory_.activations);
        keeps_outputs_ = owner != nullptr;
        if (owner) owner->keeps_outputs_ = true;
        memory_.activations = owner ? place::shared_with(owner->memory_.activations)
                                    : place(sizes::floats(compiler::space::activation, n));
        memory_.scratch = owner ? place::shared_with(owner->memory_.scratch) : place(sizes::scratch(n));
        forget_outputs();
        const auto bind = [&]<int K>(std::integral_constant<int, K>) {
            use_gradients<K>();
            runner_of<training<K>>().bind(memory_);
        };
        (bind(std::integral_constant<int, I>{}), ...);
        use_gradients<0>();
    }
    void keep_outputs() {
        const int n = training<0>::v.n_outputs;
        host_.resize(static_cast<std::size_t>(floats_before(n)));
        for (int i = 0; i < n; ++i) {
            const span<const float> x = output(i);
            std::copy(x.begin(), x.end(), host_.begin() + static_cast<std::ptrdiff_t>(floats_before(i)));
        }
        outputs_kept_ = true;
    }
    template <class P>
    void note_outputs(const memory& m, int batch) {
        has_outputs_ = true;
        outputs_kept_ = false;
        outputs_elsewhere_ = &m == &memory_ ? nullptr : &m;
        outputs_at_ = P::v.outputs;
        output_shapes_ = P::v.output_shapes;
        last_batch_ = batch;
    }

    /// Programs never run at once, so one's activations may lie where another's lay.
    template <class P>
    static constexpr bool fits =
        P::v.floats(compiler::space::activation) <= training<0>::v.floats(compiler::space::activation);
    template <class P>
    static constexpr bool fits_scratch =
        device::template runner<P>::scratch_floats() <= device::template runner<training<0>>::scratch_floats();
    /// Another program has the replica's memory for the time of its run, however that ends.
    template <class P>
    using loan = strategy_parts::memory_loan<!has_own_parameters<P>(), fits<P>, fits_scratch<P>, memory>;
    template <class P>
    SINTER_COLD std::unique_ptr<other_program<P>> make_other() const {
        auto made = std::make_unique<other_program<P>>();
        if (has_own_parameters<P>())
            made->own.parameters = decltype(memory_.parameters)(P::v.floats(compiler::space::parameter));
        if (!fits<P>) made->own.activations = decltype(memory_.activations)(P::v.floats(compiler::space::activation));
        if (!fits_scratch<P>)
            made->own.scratch = decltype(memory_.scratch)(device::template runner<P>::scratch_floats());
        return made;
    }
    template <class P>
    auto& other_of() {
        if constexpr (std::is_same_v<P, evaluation>) return evaluation_;
        else return prediction_;
    }
    template <class P>
    SINTER_COLD memory& own_of() {
        [[maybe_unused]] const auto here = runtime::enter(device_);
        auto& o = other_of<P>();
        if (!o) o = make_other<P>();
        return o->own;
    }
    /// Those that training has here, too.
    template <class P>
    void copy_parameters(memory& to) {
        std::vector<float> x;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info &mine = P::v.parameters[i], &v = training<0>::v.parameters[i];
            if (v.remote && !mine.remote) continue;
            const std::int64_t n = v.remote ? compact_floats<P>(i) : v.floats;
            x.resize(static_cast<std::size_t>(n));
            device_.read(memory_, v.at, x.data(), n);
            device_.write(to, mine.at, x.data(), n);
        }
    }
    /// Of the compact copy of a table that is elsewhere.
    template <class P>
    static constexpr std::int64_t compact_floats(int i) {
        const shape& s = P::graph.n[P::graph.parameters[i].id].s;
        return std::int64_t{s.d[0]} * s.last();
    }
    /// Returns the loss, where there are targets.
    template <class P>
    float run_other(std::unique_ptr<other_program<P>>& o, const batch_view& b, const step_values& v,
                    bool with_targets) {
        const float* ports[sizes::template ports_of<P>()] = {};   // prediction has no targets
        bind_batch<P>(b, ports, with_targets);
        if (with_targets) uncounted_.template hide<P>(ports, b.size);
        has_outputs_ = within_step_ = false;
        [[maybe_unused]] const auto here = runtime::enter(device_);
        if (!o) o = make_other<P>();
        if constexpr (has_own_parameters<P>()) copy_parameters<P>(o->own);
        float loss = 0;
        {
            const loan<P> lent(memory_, o->own);
            if (!o->bound) o->run.bind(o->own);   // which is where it is now each time
            o->bound = true;
            device_.template run<P>(o->run, {ports, nullptr, v.seed, v.step, b.size, false, {}, v.shard});
            if (with_targets) loss = read_loss<P>(o->own);
            if (with_targets) note_loss_weight<P>(o->own, b.size);
        }
        note_outputs<P>(fits<P> ? memory_ : o->own, b.size);
        return loss;
    }
};

} // namespace sinter
