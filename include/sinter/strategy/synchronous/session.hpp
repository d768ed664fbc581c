// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu/threads.hpp>
#include <sinter/strategy/strategy.hpp>
#include <sinter/strategy/synchronous/batch_part.hpp>
#include <sinter/strategy/synchronous/list_exchange.hpp>
#include <sinter/strategy/synchronous/options.hpp>
#include <sinter/strategy/synchronous/shard_sums.hpp>
#include <sinter/strategy/synchronous/tree_sum.hpp>
#include <sinter/strategy/updated_parameters.hpp>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// One session for all synchronous strategies: mirrored, central_storage, canonical, multi_worker.
/// A batch is cut by example into shards. Each shard has a replica in this process or another, which
/// makes its gradients; they are added up, and everybody updates by the sum.
namespace sinter::inline SINTER_TARGET {

/// Replicas of one process share parameters and slots where the device's memory is the host's. Sums
/// over this process's shards have the order of a binary tree (tree_sum.hpp), whatever the number of
/// threads; those over members that of the communicator, or of the tree, where that is asked for.
///
/// A step allocates nothing (but, once, what a replica's may and what parts() and output() return).
/// Whatever is thrown comes before any parameter is changed; states are then as they were.
///
/// `Sharded`: each member updates a part of the weights, and keeps what the optimizer remembers of
/// that part alone (sharded_update.hpp). Reading slots is then a call that all members make; so it is
/// of the slot in which steps are accumulated.
template <class Programs, bool Sharded = false>
class synchronous_session {
    using device = typename Programs::device;
    using unit = replica<Programs>;
    template <int I>
    using training = typename Programs::template training<I>;

public:
    /// `devices(i)`: the options of shard i's device. `threads`: of the host's, for all shards
    /// together; 0: one for each usable core.
    template <class Devices>
    SINTER_COLD synchronous_session(synchronous_setup s, Devices devices, int threads)
        : members_(std::move(s.members)), shards_(s.shards), input_(s.input), states_(s.states),
          in_tree_order_(s.in_tree_order), evaluates_(s.evaluates), has_evaluator_(s.has_evaluator),
          threads_(threads ? threads : base::usable_cores()), sums_(s.shards, most_sums(all{})) {
        check_programs();
        const int workers = std::min(s.workers ? s.workers : threads_, shards_);
        alone_ = threads_ <= workers;
        crew_ = std::make_unique<runtime::team>(workers);
        units_.reserve(static_cast<std::size_t>(shards_));
        for (int i = 0; i < shards_; ++i) {
            // Shard 0's replica also evaluates and predicts, for which all threads are welcome.
            const int own = alone_ ? (i ? 1 : threads_) : threads_ / workers;
            const auto options = with_threads<device>(devices(i), own);
            if constexpr (shared)
                if (i) {
                    units_.emplace_back(options, units_[0]);
                    continue;
                }
            units_.emplace_back(options);
        }
        shard_.resize(at(shards_));
        numbers_.resize(at(shards_));
        operands_.assign(at(workers), std::vector<const float*>(at(shards_)));
        joined_states_ = runtime::arena(P0::v.floats(compiler::space::state));
        nothing_ = runtime::arena(P0::v.floats(compiler::space::state));
        std::fill_n(nothing_.data(), nothing_.size(), -0.f);
        of_bucket_.resize(at(most_buckets(all{})));
        make_lists(all{});
        if constexpr (reads_all) let_updates_read_all(all{});
        if (!shared)
            for (int i = 0; i < shards_; ++i) {
                host_.emplace_back(most_gradients(all{}));
                host_states_.emplace_back(P0::v.floats(compiler::space::state));
            }
    }
    synchronous_session(synchronous_session&&) = default;
    synchronous_session& operator=(synchronous_session&&) = default;

    /// This member's part of a step; the result is the whole batch's, on every member.
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        begin<I>(b, v);
        if (examples_ == 0) return {0, false, totals_[stop] > 0, totals_[save] > 0, 0, 0};
        try {
            crew_->run([&](int thread) { work<I>(thread, v, observe); });
        } catch (...) {
            put_back<I>();
            throw;
        }
        if (members_) members_->report(v.step + 1, totals_[loss]);
        return {static_cast<float>(totals_[loss]), applied_,  totals_[stop] > 0,
                totals_[save] > 0,                 examples_, totals_[weight]};
    }

    /// The replica of this process's first shard, which evaluates and predicts.
    unit& local() { return units_[0]; }
    const unit& local() const { return units_[0]; }
    /// This process's shards, each with its part of the last step's batch; parts may be empty.
    struct part {
        const unit& replica;
        batch_view batch;
    };
    const std::vector<part>& parts() {
        if (make_parts_) (this->*make_parts_)();
        return parts_;
    }
    /// Output `i` of the last run; behind a step, of all of this process's examples.
    span<const float> output(int i) const {
        if (shards_ == 1 || !units_[0].within_step()) return units_[0].output(i);
        output_.clear();
        for (const unit& u : units_) {
            const span<const float> own = u.output(i);
            output_.insert(output_.end(), own.begin(), own.end());
            if (!u.output_shape(i).batched && !own.empty()) break;
        }
        return {output_.data(), output_.size()};
    }

    void read(compiler::address from, float* to, std::int64_t n) const {
        units_[0].read(from, to, n);
        if (unit::gathers() && is_gathered(from)) return read_gathered(from, to, n);
        if constexpr (Sharded)
            if (from.where() == compiler::space::slot) read_parts(from, to, n);
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        units_[0].write(to, from, n);
        for (int i = 1; i < shards_; ++i) {
            if (!owned(to)) continue;
            if (unit::gathers() && is_gathered(to)) empty_gathered(i, to, n);
            else units_[at(i)].write(to, from, n);
        }
    }
    void clear_slots() {
        for (unit& u : units_) u.clear_slots();
    }
    /// All members call it. Slots of which each member keeps a part have been written by each.
    void publish() {
        if (!members_) return;
        publish(compiler::space::parameter);
        publish(compiler::space::state);
        if (!Sharded) publish(compiler::space::slot);
        if (unit::gathers() && !member().chief()) {   // what the chief has gathered counts once
            const std::int64_t n = P0::v.z.trained;
            if (!Sharded) empty_gathered(0, gather_slot(), n);
            empty_gathered(0, gathered_weight<P0>(), 1);
        }
    }
    void refresh() {}
    void reduce(span<double> x) {
        if (members_) members_->all_reduce(x);
    }
    void barrier() {
        if (members_) members_->barrier();
    }
    /// The chief's bytes, on every member.
    void broadcast(span<std::byte> x) {
        if (members_) members_->broadcast(x);
    }
    membership member() const {
        if (members_) return {members_->rank(), members_->size()};
        return {};
    }
    bool evaluates() const { return evaluates_; }           ///< this process is the job's evaluator: not among the members
    bool has_evaluator() const { return has_evaluator_; }   ///< the job has one
    bool per_worker() const { return input_ == batch_input::per_worker; }
    bool asked_to_stop() const { return members_ && members_->asked_to_stop(); }
    void ask_all_to_stop(const char* why) {
        if (members_) members_->ask_all_to_stop(why);
    }
    int threads() const { return threads_; }
    /// Null where this process is alone.
    collective::communicator* communicator() { return members_.get(); }

private:
    using P0 = training<0>;
    using all = std::make_integer_sequence<int, Programs::n_training>;
    template <int... I>
    static constexpr int most_buckets(std::integer_sequence<int, I...>) {
        return std::max({training<I>::v.n_buckets...});
    }
    template <int... I>
    static constexpr std::int64_t most_gradients(std::integer_sequence<int, I...>) {
        return std::max({std::max(training<I>::v.floats(compiler::space::gradient), training<I>::v.z.trained)...});
    }
    static constexpr bool shared = device::shares_memory;
    /// Do updates add up the gradients of all shards themselves? But those of tables.
    static constexpr int sources = P0::request::options.gradient_sources;
    static constexpr bool reads_all = sources > 1;
    static_assert(!reads_all || shared, "strategy_traits::gradient_sources: this device's replicas share no memory");
    template <int... I>
    void let_updates_read_all(std::integer_sequence<int, I...>) {
        if (members_ || shards_ != sources)
            throw option_error("replicas whose gradients an update adds up", "strategy_traits::gradient_sources",
                               std::to_string(sources), "as many as this process has, and no other process");
        std::vector<float*> arenas(at(shards_));
        const auto of_program = [&]<int K>(std::integral_constant<int, K>) {
            using P = training<K>;
            const compiler::space in = P::v.n_buckets ? P::v.buckets[0].at.where() : compiler::space::gradient;
            for (int i = 0; i < shards_; ++i) arenas[at(i)] = units_[at(i)].at({in, 0});
            units_[0].template runner<K>().update_from(arenas.data());
        };
        (of_program(std::integral_constant<int, I>{}), ...);
    }
    /// What is added up over members: of each step, and where these have batches of their own.
    enum total { loss, not_finite, weight, stop, save, count_of_examples, count_of_shards, n_totals };
    struct shard {
        detail::example_range part;
        runtime::batch_shard numbers;
        float loss = 0;
        bool finite = true;
    };
    using ticket = collective::ticket;

    std::unique_ptr<collective::communicator> members_;
    int shards_;
    batch_input input_;
    state_policy states_;
    bool in_tree_order_, evaluates_, has_evaluator_, alone_ = true;
    int threads_;
    std::unique_ptr<runtime::team> crew_;
    std::vector<unit> units_;
    std::vector<shard> shard_;
    std::vector<std::vector<const float*>> operands_;   ///< of a sum over shards, for each thread
    std::vector<double> numbers_;          ///< likewise
    runtime::arena joined_states_, nothing_;        ///< the latter -0, to which anything is added as it is
    std::vector<runtime::arena> host_;              ///< gradients on their way, where devices have memory of their own
    std::vector<runtime::arena> host_states_;
    detail::shard_sums<unit> sums_;
    batch_view batch_{};                   ///< of the last step
    void (synchronous_session::*make_parts_)() = nullptr;
    std::vector<detail::batch_part> batches_;
    std::vector<part> parts_;
    mutable std::vector<float> output_;

    // ---- of the step that is run
    std::array<double, n_totals> totals_{};
    double loss_weights_[std::size_t{bundle::most}] = {};
    float handed_in_[std::size_t{bundle::most}] = {};
    std::int64_t examples_ = 0;   ///< of the whole batch
    int filled_ = 0;              ///< shards that have examples, over all members
    int last_ = -1;               ///< of this process's shards, the last that has; -1: none has
    bool applied_ = false;
    int next_bucket_ = 0;         ///< those before it have been started
    bool started_totals_ = false;
    ticket of_totals_ = 0;
    std::vector<ticket> of_bucket_;
    std::array<std::vector<detail::list_exchange>, std::size_t{Programs::n_training}> lists_;   ///< of each training program
    std::vector<row_list> joined_lists_;

    template <int... I>
    SINTER_COLD void make_lists(std::integer_sequence<int, I...>) {
        (make_lists_of<I>(), ...);
    }
    template <int I>
    SINTER_COLD void make_lists_of() {
        using P = training<I>;
        for (int number = 0; number < P::v.n_lists; ++number)
            for (int k = 0; k < P::v.n_buckets; ++k) {
                const compiler::gradient_bucket& b = P::v.buckets[k];
                if (b.list == number)
                    lists_[std::size_t{I}].emplace_back(shards_, members_ ? members_->size() : 0, b.most_rows,
                                                        P::v.parameters[b.parameter].s.d[0], b.row_floats);
            }
        joined_lists_.resize(std::max(joined_lists_.size(), lists_[std::size_t{I}].size()));
    }
    template <int I>
    detail::list_exchange& list_of(const compiler::gradient_bucket& b) { return lists_[std::size_t{I}][at(b.list)]; }

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    void meet(int thread) { crew_->barrier(thread); }
    template <class F>
    void own_shards(int thread, F f) {
        const std::int64_t n = shards_, of = crew_->size();
        for (auto i = static_cast<int>(n * thread / of); i < static_cast<int>(n * (thread + 1) / of); ++i) f(i);
    }
    bool filled(int i) const { return shard_[at(i)].part.size > 0; }
    collective::operation operation(collective::kind what, std::int64_t step, collective::element type, int bucket = -1) const {
        return {.what = what, .type = type, .step = step, .bucket = bucket};
    }
    collective::kind summing() const {
        return in_tree_order_ ? collective::kind::all_reduce_tree : collective::kind::all_reduce;
    }
    void sum_now(double* x, int n, std::int64_t step) {
        if (members_) members_->wait(members_->start(operation(summing(), step, collective::element::f64), x, n, false));
    }

    // ---- before it: which shard has which examples
    template <int I>
    void begin(const batch_view& b, const step_values& v) {
        using P = training<I>;
        const membership me = member();
        const float* whole[std::size_t{P::v.n_inputs + P::v.n_targets + 1}];
        totals_ = {};
        totals_[stop] = v.stop;
        totals_[save] = v.save;
        const int shards = me.count * shards_;
        if (per_worker()) {
            try {
                if (b.size < 0 || b.size > shards_ * P::v.max_batch) detail::refuse_size(b.size, shards_ * P::v.max_batch);
                if (b.size) bind_ports<P>(b, whole, true);
            } catch (const std::exception& e) {   // the others wait for this member
                if (members_) members_->fail(e.what());
                throw;
            }
            totals_[count_of_examples] = b.size;
            totals_[count_of_shards] = std::min(b.size, shards_);
            sum_now(totals_.data(), n_totals, v.step);
            examples_ = static_cast<std::int64_t>(totals_[count_of_examples]);
            filled_ = static_cast<int>(totals_[count_of_shards]);
        } else {
            if (b.size < 1 || b.size > shards * P::v.max_batch) detail::refuse_size(b.size, shards * P::v.max_batch);
            bind_ports<P>(b, whole, true);   // of the whole batch: what is wrong with it, all members see
            examples_ = b.size;
            filled_ = std::min(b.size, shards);
        }
        last_ = -1;
        for (int i = 0; i < shards_; ++i) {
            const int number = me.index * shards_ + i;
            shard& s = shard_[at(i)];
            s = {per_worker() ? detail::part_of_batch(b.size, i, shards_) : detail::part_of_batch(b.size, number, shards),
                 {.index = static_cast<std::uint64_t>(number), .global_batch = static_cast<int>(examples_)}};
            const float* ports[std::size_t{P::v.n_inputs + P::v.n_targets + 1}] = {};
            if (s.part.size) detail::move_ports<P>(whole, s.part.first, ports), last_ = i;
            units_[at(i)].template begin_step<I>(ports, s.part.size);
        }
        batch_ = b;
        make_parts_ = &synchronous_session::make_parts<I>;
        next_bucket_ = 0;
        started_totals_ = false;
        applied_ = true;
    }
    template <int I>
    void make_parts() {
        batches_.resize(at(shards_));
        parts_.clear();
        for (int i = 0; i < shards_; ++i) {
            batches_[at(i)].template assign<training<I>>(batch_, shard_[at(i)].part);
            parts_.push_back({units_[at(i)], batches_[at(i)].view});
        }
    }

    // ---- the step, by each of the threads
    template <int I, class Observer>
    void work(int thread, const step_values& v, Observer& observe) {
        using P = training<I>;
        constexpr compiler::program_segments cut = P::v.segments;
        constexpr bool gathers = unit::gathers();
        int begun = 0;
        if constexpr (P::v.n_loss_weights > 0) {
            static_assert(P::v.loss_weights_ready > 0, "this loss divides by weights that it does not show before");
            pass_sync_points<I>(thread, v, begun, P::v.loss_weights_ready, observe);
            run_own<I>(thread, v, {begun, P::v.loss_weights_ready}, observe);
            begun = P::v.loss_weights_ready;
            meet(thread);
            if (thread == 0) sum_loss_weights<I>(v);
            meet(thread);
        }
        constexpr int known = gathers ? cut.first_change : cut.first_update;
        pass_sync_points<I>(thread, v, begun, known, observe);
        const bool overlaps = shared && members_ && crew_->size() == 1 && !gathers;
        own_shards(thread, [&](int i) {
            shard& s = shard_[at(i)];
            if (!filled(i)) return leave_out<I>(i, v);
            s.finite = s.finite && units_[at(i)].template stretch<I>(
                values(i, v), {begun, known}, alone_, [&](int launch, bool before) {
                    if (i == 0) observe(launch, before);
                    if (overlaps && i == last_ && !before) start_ready<I>(launch, v, true, true);
                });
            s.loss = units_[at(i)].template finish_step<I>();
            s.finite = s.finite && std::abs(s.loss) <= std::numeric_limits<float>::max();
            if (!shared && !gathers) fetch<I>(i);
        });
        meet(thread);
        if constexpr (gathers) {
            if (thread == 0) know_totals<I>(v);
            meet(thread);
            begun = known;
            if (applied_) {
                pass_sync_points<I>(thread, v, begun, cut.first_update, observe);
                if (begun < cut.first_update) run_own<I>(thread, v, {begun, cut.first_update}, observe);
                if (!shared) own_shards(thread, [&](int i) { fetch<I>(i); });
            }
            meet(thread);
        }
        const bool updates = !gathers || (applied_ && (v.step + 1) % every<P> == 0);
        if (updates && !overlaps) {
            join_gradients<I>(thread);
            meet(thread);
        }
        if (thread == 0) exchange<I>(v, updates, overlaps);
        meet(thread);
        if (!applied_ || !updates) return;
        update<I>(thread, v);
        if constexpr (gathers) {   // what all have gathered, the chief alone remembers
            meet(thread);
            if (thread == 0 && !member().chief()) empty_gathered(0, gathered_weight<P>(), 1);
        }
    }
    /// These launches, of each of this thread's shards that has examples.
    template <int I, class Observer>
    void run_own(int thread, const step_values& v, runtime::launch_range launches, Observer& observe) {
        own_shards(thread, [&](int i) {
            shard& s = shard_[at(i)];
            if (!filled(i) || !s.finite) return;
            s.finite = units_[at(i)].template stretch<I>(values(i, v), launches, alone_, [&](int launch, bool before) {
                if (i == 0) observe(launch, before);
            });
        });
    }
    /// From launch `next` up to the last sum over all shards before `end`, which are made; `next` is
    /// then the launch behind it.
    template <int I, class Observer>
    void pass_sync_points(int thread, const step_values& v, int& next, int end, Observer& observe) {
        using P = training<I>;
        for (int k = 0; k < P::v.n_sync_points; ++k) {
            const compiler::sync_point& p = P::v.sync_points[k];
            if (p.after < next || p.after >= end) continue;
            run_own<I>(thread, v, {next, p.after + 1}, observe);
            meet(thread);
            if (thread == 0)
                sums_.add_up(units_, p, [&](int i) { return filled(i); }, members_.get(),
                             operation(summing(), v.step, collective::element::f32));
            meet(thread);
            next = p.after + 1;
        }
    }
    template <int... I>
    static constexpr std::int64_t most_sums(std::integer_sequence<int, I...>) {
        std::int64_t most = 0;
        const auto look = [&](const auto& p) {
            for (int k = 0; k < p.n_sync_points; ++k) most = std::max(most, p.sync_points[k].floats);
        };
        (look(training<I>::v), ...);
        return most;
    }
    template <class P>
    static constexpr int every = P::v.n_buckets ? P::v.buckets[0].every : 1;

    step_values values(int i, const step_values& v) const {
        step_values own = v;
        own.shard = shard_[at(i)].numbers;
        return own;
    }
    /// What all shards' losses are divided by.
    template <int I>
    void sum_loss_weights(const step_values& v) {
        using P = training<I>;
        for (int k = 0; k < P::v.n_loss_weights; ++k) {
            for (int i = 0; i < shards_; ++i) {
                float w = 0;
                if (filled(i)) units_[at(i)].read(P::v.loss_weights[k], &w, 1);
                numbers_[at(i)] = static_cast<double>(w);
            }
            loss_weights_[k] = detail::tree_sum(numbers_.data(), shards_);
        }
        sum_now(loss_weights_, P::v.n_loss_weights, v.step);
        for (int k = 0; k < P::v.n_loss_weights; ++k) handed_in_[k] = static_cast<float>(loss_weights_[k]);
        for (shard& s : shard_) s.numbers.loss_weights = handed_in_;
    }
    /// A shard without examples adds nothing.
    template <int I>
    void leave_out(int i, const step_values& v) {
        using P = training<I>;
        if constexpr (unit::gathers()) {
            const float none = 0;   // of a round that begins
            if (v.step % every<P> == 0) units_[at(i)].write(gathered_weight<P>(), &none, 1);
        } else {
            for (int k = 0; k < P::v.n_buckets; ++k) {
                const compiler::gradient_bucket& b = P::v.buckets[k];
                if (!b.is_list()) std::fill_n(place<I>(i, b.at), b.floats, -0.f);
            }
        }
    }
    /// Where shard i's gradients lie in the host's memory.
    template <int I>
    float* place(int i, compiler::address a) {
        if constexpr (shared) return units_[at(i)].at(a);
        else return host_[at(i)].data() + host_offset<training<I>>(a);
    }
    template <class P>
    static constexpr std::int64_t host_offset(compiler::address a) {
        return a.where() == compiler::space::slot ? a.offset() - (P::v.slots - 1) * P::v.z.trained : a.offset();
    }
    template <int I>
    void fetch(int i) {
        using P = training<I>;
        for (int k = 0; k < P::v.n_buckets; ++k)
            units_[at(i)].read(P::v.buckets[k].at, place<I>(i, P::v.buckets[k].at), P::v.buckets[k].floats);
    }

    // ---- sums
    template <int I>
    void join_bucket(int k, int thread, int threads) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        if (b.is_list()) return thread == 0 ? join_lists<I>(b) : void();
        if (shards_ == 1 || (reads_all && b.parameter < 0)) return;
        std::vector<const float*>& from = operands_[at(thread)];
        for (int i = 0; i < shards_; ++i) from[at(i)] = place<I>(i, b.at);
        const std::int64_t lines = b.floats / 16;
        detail::tree_sum(place<I>(0, b.at), from.data(), shards_, lines * thread / threads, lines * (thread + 1) / threads);
    }
    template <int I>
    void join_lists(const compiler::gradient_bucket& b) {
        if constexpr (training<I>::v.n_lists > 0) {
            detail::list_exchange& l = list_of<I>(b);
            for (int i = 0; i < shards_; ++i) {
                if (!filled(i) || !shard_[at(i)].finite) l.set_empty(i);
                else l.set(i, {reinterpret_cast<std::int32_t*>(units_[at(i)].at(b.keys)), units_[at(i)].at(b.at), b.row_floats});
            }
            joined_lists_[at(b.list)] = l.join_shards();
            if (members_) l.pack(members_->rank());
        }
    }
    template <int I>
    void join_gradients(int thread) {
        for (int k = 0; k < training<I>::v.n_buckets; ++k) join_bucket<I>(k, thread, crew_->size());
    }
    void sum_totals() {
        const auto sum = [&](auto of_shard) {
            for (int i = 0; i < shards_; ++i) numbers_[at(i)] = filled(i) ? of_shard(i) : 0.;
            return detail::tree_sum(numbers_.data(), shards_);
        };
        totals_[loss] = sum([&](int i) { return static_cast<double>(shard_[at(i)].loss); });
        totals_[not_finite] = sum([&](int i) { return shard_[at(i)].finite ? 0. : 1.; });
        totals_[weight] = sum([&](int i) { return units_[at(i)].loss_weight(); });
    }
    void start_totals(const step_values& v, bool more) {
        sum_totals();
        started_totals_ = true;
        if (members_)
            of_totals_ = members_->start(operation(summing(), v.step, collective::element::f64), totals_.data(),
                                         per_worker() ? stop : count_of_examples, more);
    }
    void wait_for_totals() {
        if (members_) members_->wait(of_totals_);
        const auto l = static_cast<float>(totals_[loss]);
        applied_ = totals_[not_finite] == 0 && std::abs(l) <= std::numeric_limits<float>::max();
    }
    template <int I>
    void know_totals(const step_values& v) {
        start_totals(v, false);
        wait_for_totals();
        if (!applied_) put_back<I>();
    }
    /// Buckets that are final behind this launch, in order; before the first of them, the totals.
    /// `joins`: adds up this process's before. `more`: the step goes on meanwhile.
    template <int I>
    void start_ready(int launch, const step_values& v, bool joins, bool more) {
        using P = training<I>;
        if (!started_totals_) {
            if (launch < loss_launch<P>) return;
            if (more) read_last_loss<I>();
            start_totals(v, more);
        }
        for (; next_bucket_ < P::v.n_buckets && P::v.buckets[next_bucket_].final_after <= launch; ++next_bucket_) {
            const compiler::gradient_bucket& b = P::v.buckets[next_bucket_];
            if (joins) join_bucket<I>(next_bucket_, 0, 1);
            of_bucket_[at(next_bucket_)] = start_bucket<I>(next_bucket_, b, v, more);
        }
    }
    template <int I>
    ticket start_bucket(int k, const compiler::gradient_bucket& b, const step_values& v, bool more) {
        if constexpr (training<I>::v.n_lists > 0)
            if (b.is_list()) {
                detail::list_exchange& l = list_of<I>(b);
                return members_->start(operation(collective::kind::all_gather_rows, v.step, collective::element::u8, k), l.slots(),
                                       l.slot_bytes(), more);
            }
        collective::kind how = summing();
        if constexpr (Sharded)
            if (training<I>::v.reach == compiler::update_reach::own_gradient && in_parts<training<I>>(k))
                how = in_tree_order_ ? collective::kind::reduce_scatter_tree : collective::kind::reduce_scatter;
        return members_->start(operation(how, v.step, collective::element::f32, k), place<I>(0, b.at), b.floats, more);
    }
    template <class P>
    static constexpr int loss_launch = [] {
        int last = P::v.n_launches;
        for (int i = 0; i < P::v.n_launches; ++i)
            if (P::v.launches[i].loss) last = detail::ends_with(P::v.launches, {P::v.loops, P::v.n_loops}, i);
        return last;
    }();
    template <int I>
    void read_last_loss() {
        shard& s = shard_[at(last_)];
        s.loss = units_[at(last_)].template finish_step<I>();
        s.finite = std::abs(s.loss) <= std::numeric_limits<float>::max();
    }
    /// All that is left to be sent, and waiting for it. `gradients`: they are reduced in this step. `joins`: this
    /// process's have not been added up yet.
    template <int I>
    void exchange(const step_values& v, bool gradients, bool joins) {
        using P = training<I>;
        if (!started_totals_) start_totals(v, false);
        if (members_ && gradients) start_ready<I>(P::v.n_launches, v, joins, false);
        sum_states<I>(v);
        if (!unit::gathers()) wait_for_totals();
        if (members_ && gradients)
            for (int k = 0; k < P::v.n_buckets; ++k) members_->wait(of_bucket_[at(k)]);
        if (!applied_) return put_back<I>();
        join_members_lists<I>();
        put_states();
        if constexpr (unit::gathers())
            if (gradients) sum_gathered_weight<I>(v);
    }
    template <int I>
    void join_members_lists() {
        using P = training<I>;
        if constexpr (P::v.n_lists > 0) {
            for (std::size_t k = 0; members_ && k < lists_[std::size_t{I}].size(); ++k)
                joined_lists_[k] = lists_[std::size_t{I}][k].join_members();
            units_[0].template runner<I>().place_lists(joined_lists_.data());
        }
    }
    template <int I>
    void put_back() {
        for (unit& u : units_) {
            u.template put_back_step<I>();
            u.forget_outputs();
        }
    }

    // ---- states
    static constexpr int n_states = P0::v.n_states - (unit::gathers() ? 1 : 0);   // but what gathers weights
    float* states_of(int i) {
        if constexpr (shared) return units_[at(i)].at({compiler::space::state, 0});
        else return host_states_[at(i)].data();
    }
    template <int I>
    void sum_states(const step_values& v) {
        if (n_states < 1 || (!members_ && shards_ == 1)) return;
        if (!shared)
            for (int i = 0; i < shards_; ++i) units_[at(i)].read({compiler::space::state, 0}, states_of(i), P0::v.floats(compiler::space::state));
        int first = 0;
        while (first < shards_ && !filled(first)) ++first;
        std::vector<const float*>& from = operands_[0];
        for (int i = 0; i < shards_; ++i) from[at(i)] = filled(i) ? states_of(i) : nothing_.data();
        for (int k = 0; k < n_states; ++k) {
            const std::int64_t line = P0::v.states[k].at.offset() / 16, end = line + (P0::v.states[k].floats + 15) / 16;
            if (states_ == state_policy::per_shard) detail::tree_sum(joined_states_.data(), from.data(), shards_, line, end);
            else if (first < shards_) detail::tree_sum(joined_states_.data(), from.data() + first, 1, line, end);
            else detail::tree_sum(joined_states_.data(), from.data(), 1, line, end);
        }
        if (members_ && states_ == state_policy::per_shard) {
            const ticket t = members_->start(operation(summing(), v.step, collective::element::f32), joined_states_.data(),
                                             P0::v.floats(compiler::space::state), false);
            members_->wait(t);
        }
    }
    void put_states() {
        if (n_states < 1 || (!members_ && shards_ == 1)) return;
        if (states_ == state_policy::local && last_ < 0) return;
        const float scale = states_ == state_policy::per_shard ? 1.f / static_cast<float>(filled_) : 1.f;
        for (int k = 0; k < n_states; ++k) {
            const compiler::variable_info& s = P0::v.states[k];
            float* const x = joined_states_.data() + s.at.offset();
            for (std::int64_t j = 0; j < s.floats; ++j) x[j] *= scale;
            for (unit& u : units_) u.write(s.at, x, s.floats);
        }
    }
    /// What the gradients of a round count together: the program keeps it in its last state.
    template <class P>
    static constexpr compiler::address gathered_weight() { return P::v.states[P::v.n_states - 1].at; }
    template <int I>
    void sum_gathered_weight(const step_values& v) {
        using P = training<I>;
        double sum = 1;   // of a loss that is no mean
        if constexpr (reduction_of<typename P::request::loss>() != reduction::sum) {
            for (int i = 0; i < shards_; ++i) {
                float w = 0;
                units_[at(i)].read(gathered_weight<P>(), &w, 1);
                numbers_[at(i)] = static_cast<double>(w);
            }
            sum = detail::tree_sum(numbers_.data(), shards_);
            sum_now(&sum, 1, v.step);
        }
        const auto w = static_cast<float>(sum);
        for (int i = 0; i < (shared ? 1 : shards_); ++i) units_[at(i)].write(gathered_weight<P>(), &w, 1);
    }

    // ---- the second half
    template <int I>
    void update(int thread, const step_values& v) {
        using P = training<I>;
        if constexpr (shared) {
            runtime::step_arguments now{nullptr, v.scalars, v.seed, v.step, 1, false, {P::v.segments.first_update}};
            const bool by_parts = Sharded && members_;
            if constexpr (Sharded)   // else nothing of it is compiled: an optimizer may have no parts
                if (by_parts) update_parts<I>(thread, now);
            if (!by_parts) units_[0].template runner<I>().run_share(*crew_, thread, now);
            if constexpr (unit::gathers())
                own_shards(thread, [&](int i) {   // the next round begins
                    for (int k = 0; i > 0 && k < P::v.n_buckets; ++k)
                        std::fill_n(place<I>(i, P::v.buckets[k].at), P::v.buckets[k].floats, -0.f);
                    if (i > 0) empty_gathered(i, gathered_weight<P>(), 1);
                });
        } else {
            own_shards(thread, [&](int i) {
                for (int k = 0; k < P::v.n_buckets; ++k)
                    units_[at(i)].write(P::v.buckets[k].at, place<I>(0, P::v.buckets[k].at), P::v.buckets[k].floats);
                units_[at(i)].template update<I>(v);
                if constexpr (unit::gathers())   // what all have gathered, the first alone remembers
                    if (i > 0) empty_gathered(i, gathered_weight<P>(), 1);
            });
        }
    }
    /// Each member's part of each bucket, what is not cut whole, and everybody's new weights.
    template <int I>
    void update_parts(int thread, runtime::step_arguments now) {
        using P = training<I>;
        constexpr check_updates_in_parts<P::v.reach> sound{};
        (void)sound;
        auto& run = units_[0].template runner<I>();
        const int first_sweep = P::v.segments.first_sweep;
        if (P::v.segments.first_update < first_sweep) {   // the norm of all gradients, which everybody has
            now.launches.end = first_sweep;
            run.run_share(*crew_, thread, now);
        }
        now.launches = {first_sweep};
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const compiler::gradient_bucket& b = P::v.buckets[k];
            collective::part_range own{0, b.floats};
            if (in_parts<P>(k)) own = members_->part(b.floats, members_->rank());
            now.updated = {{b.at.where(), b.at.offset() + own.first}, own.end - own.first};
            if (now.updated.floats > 0) run.run_share(*crew_, thread, now);
            if (unit::gathers() && in_parts<P>(k) && thread == 0) {   // the next round begins
                std::fill_n(place<I>(0, b.at), own.first, -0.f);
                std::fill(place<I>(0, b.at) + own.end, place<I>(0, b.at) + b.floats, -0.f);
            }
        }
        meet(thread);
        if (thread != 0) return;
        int last = -1;
        for (int k = 0; k < P::v.n_buckets; ++k)
            if (in_parts<P>(k)) last = k;
        for (int k = 0; k <= last; ++k)
            if (in_parts<P>(k))
                of_bucket_[at(k)] = members_->start(operation(collective::kind::all_gather, now.step, collective::element::f32, k),
                                                    units_[0].at(parameters_of<P>(k)), P::v.buckets[k].floats, k < last);
        for (int k = 0; k <= last; ++k)
            if (in_parts<P>(k)) members_->wait(of_bucket_[at(k)]);
    }
    /// The weights that bucket k is for, if they are one stretch of as many floats; else none.
    template <class P>
    static constexpr compiler::address parameters_of(int k) {
        const compiler::gradient_bucket& b = P::v.buckets[k];
        compiler::address first;
        if (b.parameter >= 0) return first;
        int stretches = 0;
        std::int64_t n = 0;
        for_each_updated<P>(compiler::gradient_range{b.at, b.floats}, [&](compiler::address a, std::int64_t floats) {
            if (++stretches == 1) first = a;
            n = floats;
        });
        return stretches == 1 && n == b.floats ? first : compiler::address{};
    }
    /// Whether members update bucket k in parts.
    template <class P>
    static constexpr bool in_parts(int k) { return parameters_of<P>(k).where() == compiler::space::parameter; }
    /// Slots as all members together have them.
    void read_parts(compiler::address from, float* to, std::int64_t n) const {
        if (!members_) return;
        std::vector<bool> mine(static_cast<std::size_t>(n), members_->rank() == 0);
        const std::int64_t at_ = from.offset() % P0::v.z.trained;
        for (int k = 0; k < P0::v.n_buckets; ++k) {
            if (!in_parts<P0>(k)) continue;
            const std::int64_t begin = parameters_of<P0>(k).offset(), floats = P0::v.buckets[k].floats;
            const collective::part_range own = members_->part(floats, members_->rank());
            for (std::int64_t j = std::max<std::int64_t>(begin, at_); j < std::min(begin + floats, at_ + n); ++j)
                mine[static_cast<std::size_t>(j - at_)] = j - begin >= own.first && j - begin < own.end;
        }
        for (std::int64_t j = 0; j < n; ++j)
            if (!mine[static_cast<std::size_t>(j)]) to[j] = -0.f;   // to which anything is added as it is
        members_->all_reduce(span<float>(to, static_cast<std::size_t>(n)));
    }

    /// Whether each replica has its own of what lies there.
    static constexpr bool owned(compiler::address a) { return !shared || a.where() == compiler::space::state || (a.where() == compiler::space::slot && unit::gathers()); }

    // ---- what is gathered in a round of steps
    static constexpr compiler::address gather_slot() { return {compiler::space::slot, (P0::v.slots - 1) * P0::v.z.trained}; }
    static constexpr bool is_gathered(compiler::address a) {
        if (a.where() == compiler::space::slot) return a.offset() >= gather_slot().offset();
        return a == gathered_weight<P0>();
    }
    /// The sum over shards and members.
    void read_gathered(compiler::address from, float* to, std::int64_t n) const {
        const bool once = from.where() == compiler::space::state && reduction_of<typename P0::request::loss>() == reduction::sum;
        if (once) return;
        std::vector<float> more(static_cast<std::size_t>(n));
        for (int i = 1; i < shards_; ++i) {
            units_[at(i)].read(from, more.data(), n);
            for (std::int64_t j = 0; j < n; ++j) to[j] += more[static_cast<std::size_t>(j)];
        }
        if (members_) members_->all_reduce(span<float>(to, static_cast<std::size_t>(n)));
    }
    void empty_gathered(int i, compiler::address a, std::int64_t n) {
        const bool state = a.where() == compiler::space::state;
        if (state && reduction_of<typename P0::request::loss>() == reduction::sum) return;
        const float nothing = 0;
        if (state) return units_[at(i)].write(a, &nothing, 1);
        const std::vector<float> none(static_cast<std::size_t>(n), -0.f);
        units_[at(i)].write(a, none.data(), n);
    }
    SINTER_COLD void publish(compiler::space s) {
        const std::int64_t n = P0::v.floats(s);
        if (n == 0) return;
        const compiler::address first{s, 0};
        std::vector<float> x(static_cast<std::size_t>(n));
        units_[0].read(first, x.data(), n);
        members_->broadcast({reinterpret_cast<std::byte*>(x.data()), x.size() * sizeof(float)});
        for (int i = 0; i < shards_; ++i)
            if (i == 0 || (owned(first) && !(unit::gathers() && s == compiler::space::slot))) units_[at(i)].write(first, x.data(), n);
    }

    template <class P>
    static constexpr bool lies_like() {
        if (P::v.n_parameters != P0::v.n_parameters) return false;
        for (int i = 0; i < P::v.n_parameters; ++i)
            if (!(P::v.parameters[i].at == P0::v.parameters[i].at)) return false;
        for (int i = 0; i < P::v.n_states; ++i)
            if (!(P::v.states[i].at == P0::v.states[i].at)) return false;
        return true;
    }
    static constexpr bool of_examples() {
        for (int i = 0; i < P0::v.n_states; ++i)
            if (P0::v.states[i].of_examples) return true;
        return false;
    }
    static constexpr void check_programs() {
        static_assert(!of_examples(), "a state of this net belongs to the examples of a batch (recurrent layers under "
                                      "`carried`): a strategy that cuts batches cannot train it");
    }
};

} // namespace sinter
