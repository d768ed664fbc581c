// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu/threads.hpp>
#include <sinter/strategy/strategy.hpp>
#include <sinter/strategy/synchronous/batch_part.hpp>
#include <sinter/strategy/synchronous/gradient_parts.hpp>
#include <sinter/strategy/synchronous/kept_parts.hpp>
#include <sinter/strategy/synchronous/options.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <sinter/strategy/synchronous/slot_keepers.hpp>
#include <sinter/strategy/synchronous/tree_sum.hpp>
#include <sinter/strategy/synchronous/work_memory.hpp>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// The replicas of a process, one for each of its shards of a batch, and its connection to others, if there are any:
/// all of a synchronous session but the step.
///
/// Replicas share parameters and slots where the device's memory is the host's. Under update_parts each member keeps
/// what the optimizer remembers of its part alone: reading slots, also of accumulated steps, is a call of all members.
template <class Programs, other_processes Others>
class shard_replicas {
protected:
    static constexpr bool distributed = Others != other_processes::none;
    static constexpr bool Copied = Others == other_processes::update_copied_parts;
    static constexpr bool Sharded = Others == other_processes::update_parts || Copied;
    using device = typename Programs::device;
    using unit = replica<Programs>;
    template <int I>
    using training = typename Programs::template training<I>;
    using P0 = training<0>;
    using facts = detail::of_program::largest<Programs>;
    using all = std::make_integer_sequence<int, Programs::n_training>;
    static constexpr bool shared = device::shares_memory, peers = adds_from_peers<device>;

public:
    /// `devices(i)`: the options of shard i's device. `threads`: of the host's, for all shards
    /// together; 0: one for each usable core.
    template <class Devices>
    SINTER_COLD shard_replicas(synchronous_setup& s, Devices devices, int threads)
        : members_(std::move(s.members)), shards_(s.shards), input_(s.input), in_job_(std::move(s.in_job)),
          on_devices_(peers && members_ && members_->reads_device_memory()),
          threads_(threads ? threads : base::usable_cores()) {
        check_programs();
        const int workers = std::min(s.workers ? s.workers : threads_, shards_);
        alone_ = threads_ <= workers;
        team_ = std::make_unique<runtime::team>(workers);
        make_units(devices);
        if (Sharded && members_) kept_ = {members_->rank(), members_->size()};
    }
    shard_replicas(shard_replicas&&) = default;
    shard_replicas& operator=(shard_replicas&&) = default;

    /// The replica of this process's first shard, which evaluates and predicts.
    unit& local() { return units_[0]; }
    const unit& local() const { return units_[0]; }
    float evaluate(const batch_view& b, const step_values& v) { return local().evaluate(b, v); }
    void predict(const batch_view& b, const step_values& v) { local().predict(b, v); }
    const shape& output_shape(int i) const { return local().output_shape(i); }
    double loss_weight() const { return local().loss_weight(); }
    void forget_outputs() { local().forget_outputs(); }
    /// f(replica, part of the batch) for each of this process's shards that had examples in the last step.
    template <class F>
    void each_part(const batch_view&, F f) {
        if (make_parts_) (this->*make_parts_)();
        for (const part& p : parts_)
            if (p.batch.size > 0) f(p.replica, p.batch);
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
        if (detail::stays_in_parts<P0>(from)) add_others(from, to, n);
        if constexpr (Sharded) {
            if (from.where() == compiler::space::slot) read_parts(from, to, n);
            if (from.where() == compiler::space::gradient && members_) detail::refuse_parts_of_gradients();
        }
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (is_in_parts(to)) return write_parts(to, from, n);
        gathered_written_ = gathered_written_ || (unit::gathers() && is_gathered(to));
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
    /// All members call it. Slots of which each member keeps a part have been written by each. What
    /// is gathered of a round stays with whoever has gathered it, unless it was written: then the
    /// chief's counts, once.
    void publish() {
        if (!members_) return;
        publish(compiler::space::parameter);
        publish(compiler::space::state);
        if (!Sharded) publish(compiler::space::slot);
        else if (gathered_written_ && !member().chief()) empty_gathered(0, gather_slot(), P0::v.z.trained);
        gathered_written_ = false;
    }
    void refresh() {}
    void set_steps(std::int64_t n) { if (members_) members_->behind_step(n); }   ///< for errors
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
    membership member() const
        requires distributed
    {
        if (members_) return {members_->rank(), members_->size()};
        return {};
    }
    static constexpr membership member()
        requires(!distributed)
    {
        return {};
    }
    const place_in_job& in_job() const { return in_job_; }   ///< an evaluator is not among the members
    bool per_worker() const { return distributed && input_ == batch_input::per_worker; }
    bool asked_to_stop() const { return members_ && members_->asked_to_stop(); }
    void ask_all_to_stop(const char* why) {
        if (members_) members_->ask_all_to_stop(why);
    }
    /// Notifies the others that this member cannot go on, and why.
    void fail(const char* cause) {
        if (members_) members_->fail(cause);
    }
    int threads() const { return threads_; }
    /// Null where this process is alone.
    collective::communicator* communicator() { return members_.get(); }

protected:
    struct part {
        const unit& replica;
        batch_view batch;
    };
    using shard = detail::shard_in_step;

    std::conditional_t<distributed, std::unique_ptr<collective::communicator>, detail::no_members> members_;
    int shards_;
    batch_input input_;
    place_in_job in_job_;
    bool on_devices_;   ///< other processes, too, are sent gradients from the device's memory
    bool alone_ = true;
    int threads_;
    kept_parts kept_;   ///< under update_parts, and update_copied_parts
    std::unique_ptr<runtime::team> team_;
    std::vector<unit> units_;
    work_memory work_;
    std::vector<shard> shard_;
    /// Gradients on their way, where devices have memory of their own: of each shard; or, where
    /// devices read that of others, the sum of all, for other processes.
    std::vector<typename detail::staging_of<device>::type> host_;
    batch_view batch_{};                   ///< of the last step
    void (shard_replicas::*make_parts_)() = nullptr;
    bool gathered_written_ = false;   ///< of the round, since the last publish()
    std::vector<detail::batch_part> batches_;
    std::vector<part> parts_;
    mutable std::vector<float> output_;
    std::vector<double> numbers_ = std::vector<double>(at(shards_));   ///< of each shard, to be added up
    double loss_weights_[std::size_t{bundle::most}] = {};              ///< of the step that is run
    float handed_in_[std::size_t{bundle::most}] = {};

    int shards() const { return shards_; }
    /// Comes before all that operations were given is destroyed: some of a step that has thrown may
    /// be on their way.
    void end_communication() {
        if constexpr (distributed) members_.reset();
    }
    /// A unit for each shard. New ones have the first one's states, weights and slots, and no gradients.
    template <class Devices>
    SINTER_COLD void make_units(Devices devices) {
        const int workers = team_->size(), before = static_cast<int>(units_.size());
        if (before > shards_) units_.erase(units_.begin() + shards_, units_.end());
        units_.reserve(at(shards_));
        for (int i = before; i < shards_; ++i) {
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
        if constexpr (shared && !unit::gathers() && facts::in_one_stretch(all{})) work_.share(units_, workers);
        shard_.resize(at(shards_));
        numbers_.resize(at(shards_));
        if constexpr (!shared)
            for (int i = static_cast<int>(host_.size()); i < (on_devices_ ? 0 : peers ? 1 : shards_); ++i)
                host_.emplace_back(facts::most_gradients(all{}));
    }
    /// This process has so many shards from now on (strategy/elastic.hpp).
    template <class Devices>
    SINTER_COLD void set_shards(int n, Devices devices) {
        const int before = shards_;
        shards_ = n;
        make_units(devices);
        for (const compiler::space s : {compiler::space::parameter, compiler::space::state, compiler::space::slot}) {
            const std::int64_t floats = P0::v.floats(s);
            if (floats == 0 || !owned({s, 0}) || before >= n) continue;
            std::vector<float> x(static_cast<std::size_t>(floats));
            units_[0].read({s, 0}, x.data(), floats);
            for (int i = before; i < n; ++i)
                if (!shared || s == compiler::space::state) units_[at(i)].write({s, 0}, x.data(), floats);
        }
        for (int i = before; unit::gathers() && i < n; ++i) empty_round(i);
    }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    bool filled(int i) const { return shard_[at(i)].part.size > 0; }
    /// Parts are those of a batch of training program I from now on.
    template <int I>
    void remember_program() { make_parts_ = &shard_replicas::template make_parts<I>; }
    template <int I>
    void make_parts() {
        batches_.resize(at(shards_));
        parts_.clear();
        for (int i = 0; i < shards_; ++i) {
            batches_[at(i)].template assign<training<I>>(batch_, shard_[at(i)].part);
            parts_.push_back({units_[at(i)], batches_[at(i)].view});
        }
    }

    // ---- a step's numbers
    static bool is_finite(float x) { return __builtin_fabsf(x) <= std::numeric_limits<float>::max(); }
    /// What shard i's part of a step is run with.
    step_values values(int i, const step_values& v) const {
        step_values own = v;
        own.shard = shard_[at(i)].numbers;
        return own;
    }
    /// In the tree's order; a shard without examples counts as 0.
    template <class F>
    double sum_of_shards(F of_shard) {
        for (int i = 0; i < shards_; ++i) numbers_[at(i)] = filled(i) ? of_shard(i) : 0.;
        return detail::tree_sum(numbers_.data(), shards_);
    }
    /// What all shards' losses are divided by. `add_others(sums, how many)` adds those of other
    /// processes.
    template <int I, class F>
    void sum_loss_weights(F add_others) {
        constexpr auto& p = training<I>::v;
        for (int k = 0; k < p.n_loss_weights; ++k)
            loss_weights_[k] = sum_of_shards([&](int i) {
                float w = 0;
                units_[at(i)].read(p.loss_weights[k], &w, 1);
                return static_cast<double>(w);
            });
        add_others(loss_weights_, p.n_loss_weights);
        for (int k = 0; k < p.n_loss_weights; ++k) handed_in_[k] = static_cast<float>(loss_weights_[k]);
        for (shard& s : shard_) s.numbers.loss_weights = handed_in_;
    }
    /// All is as before the step.
    template <int I>
    void put_back() {
        for (unit& u : units_) {
            u.template put_back_step<I>();
            u.forget_outputs();
        }
    }

    void meet(int thread) { team_->barrier(thread); }
    template <class F>
    void own_shards(int thread, F f) {
        thread_shards{shards_, team_->size()}.each(thread, f);
    }

    /// Where shard i's gradients are added up and sent from.
    template <int I>
    float* place(int i, compiler::address a) {
        if (shared || on_devices_) return units_[at(i)].at(a);
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
            if (!P::v.buckets[k].is_list())
                units_[at(i)].read(P::v.buckets[k].at, place<I>(i, P::v.buckets[k].at), P::v.buckets[k].floats);
    }

    /// A shard without examples adds nothing.
    template <int I>
    void leave_out(int i, const step_values& v) {
        using P = training<I>;
        if constexpr (unit::gathers()) {
            const float none = 0;   // of a round that begins
            if (v.step % detail::of_program::every<P> == 0) units_[at(i)].write(P::v.round_weight, &none, 1);
        } else {
            for (int k = 0; k < P::v.n_buckets; ++k) {
                const compiler::gradient_bucket& b = P::v.buckets[k];
                if (b.is_list()) continue;
                if constexpr (peers)
                    units_[at(i)].write(b.at, std::vector<float>(static_cast<std::size_t>(b.floats), -0.f).data(),
                                        b.floats);
                else std::fill_n(place<I>(i, b.at), b.floats, -0.f);
            }
        }
    }

    // ---- gradients in memory that others read
    /// Updates add up the gradients of all shards themselves (strategy_traits::gradient_sources).
    template <int... I>
    void let_updates_read_all(std::integer_sequence<int, I...>) {
        if (members_ || shards_ != P0::request::options.gradient_sources)
            throw option_error("replicas whose gradients an update adds up", "strategy_traits::gradient_sources",
                               std::to_string(P0::request::options.gradient_sources),
                               "as many as this process has, and no other process");
        std::vector<float*> arenas(at(shards_));
        const auto of_program = [&]<int K>(std::integral_constant<int, K>) {
            using P = training<K>;
            const compiler::space in = P::v.n_buckets ? P::v.buckets[0].at.where() : compiler::space::gradient;
            for (int i = 0; i < shards_; ++i) {
                units_[at(i)].template use_gradients<K>();
                arenas[at(i)] = units_[at(i)].at({in, 0});
            }
            units_[0].template runner<K>().update_from(arenas.data());
        };
        (of_program(std::integral_constant<int, I>{}), ...);
    }
    /// Bucket k of all shards in the first one's memory, added up beside what the devices do. Waits
    /// for it only where the host has it then.
    template <int I>
    void join_aside(int k) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        for (int i = 0; i < shards_; ++i)
            if (filled(i) || unit::gathers()) units_[at(i)].template follow<I>(k);
        if constexpr (peers)
            for (int step = 1; step < shards_; step *= 2)
                for (int i = 0; i + step < shards_; i += 2 * step)
                    units_[at(i)].add_aside(units_[at(i + step)], b.at, b.floats);
        if (on_devices_) return units_[0].wait_aside();
        for (int i = 0; i < (peers ? 1 : shards_); ++i)
            if (peers ? static_cast<bool>(members_) : filled(i) || unit::gathers())
                units_[at(i)].read_aside(b.at, place<I>(i, b.at), b.floats);
    }
    /// In the order of tree_sum, each sum by the device whose memory has it.
    template <int I>
    void join_on_devices(int thread) {
        for (int step = 1; step < shards_; step *= 2) {
            own_shards(thread, [&](int i) {
                if (i % (2 * step) != 0 || i + step >= shards_) return;
                for (const compiler::gradient_bucket& b : buckets_of<I>())
                    if (!b.is_list()) units_[at(i)].add_from(units_[at(i + step)], b.at, b.floats);
            });
            meet(thread);
        }
        if (members_ && !on_devices_ && thread == 0) fetch<I>(0);
    }
    /// What all together have gathered: to each device.
    template <int I>
    void spread_on_devices(int thread) {
        if (members_ && !on_devices_ && thread == 0)
            for (const compiler::gradient_bucket& b : buckets_of<I>())
                if (!b.is_list()) units_[0].write(b.at, place<I>(0, b.at), b.floats);
        meet(thread);
        own_shards(thread, [&](int i) {
            for (const compiler::gradient_bucket& b : buckets_of<I>())
                if (i > 0 && !b.is_list()) units_[at(i)].copy_from(units_[0], b.at, b.floats);
        });
        meet(thread);
    }
    template <int I>
    static span<const compiler::gradient_bucket> buckets_of() {
        return {training<I>::v.buckets, static_cast<std::size_t>(training<I>::v.n_buckets)};
    }

    /// Whether each replica has its own of what lies there.
    static constexpr bool owned(compiler::address a) {
        const bool gathered = a.where() == compiler::space::slot && unit::gathers();
        return !shared || a.where() == compiler::space::state || gathered;
    }

    // ---- what is gathered in a round of steps
    static constexpr compiler::address gather_slot() {
        return {compiler::space::slot, (P0::v.slots - 1) * P0::v.z.trained};
    }
    static constexpr bool is_gathered(compiler::address a) {
        if (a.where() == compiler::space::slot) return a.offset() >= gather_slot().offset();
        return a == P0::v.round_weight;
    }
    /// The weight of a round where the loss is a sum: each shard has all of it.
    static constexpr bool is_same_everywhere(compiler::address a) {
        return a.where() == compiler::space::state && reduction_of<typename P0::request::loss>() == reduction::sum;
    }
    void add_others(compiler::address from, float* to, std::int64_t n) const {
        std::vector<float> more(static_cast<std::size_t>(n));
        for (int i = 1; i < shards_; ++i) {
            units_[at(i)].read(from, more.data(), n);
            for (std::int64_t j = 0; j < n; ++j) to[j] += more[static_cast<std::size_t>(j)];
        }
    }
    /// The sum over shards and members.
    void read_gathered(compiler::address from, float* to, std::int64_t n) const {
        if (is_same_everywhere(from)) return;
        add_others(from, to, n);
        if (members_) members_->all_reduce(span<float>(to, static_cast<std::size_t>(n)));
    }
    void empty_gathered(int i, compiler::address a, std::int64_t n) {
        if (is_same_everywhere(a)) return;
        const float nothing = 0;
        if (a.where() == compiler::space::state) return units_[at(i)].write(a, &nothing, 1);
        const std::vector<float> none(static_cast<std::size_t>(n), -0.f);
        units_[at(i)].write(a, none.data(), n);
    }
    /// Shard i has gathered nothing of this round.
    void empty_round(int i) {
        empty_gathered(i, gather_slot(), P0::v.z.trained);
        empty_gathered(i, P0::v.round_weight, 1);
    }
    /// In `x`, which is to become shard i's of this space: what that has gathered, or is to have
    /// where it was written.
    SINTER_COLD void keep_gathered(int i, compiler::space s, float* x) {
        const compiler::address a = s == compiler::space::state ? P0::v.round_weight : gather_slot();
        if (a.where() != s) return;
        const std::int64_t n = s == compiler::space::state ? 1 : P0::v.z.trained;
        if (gathered_written_ && !(i == 0 && member().chief())) empty_gathered(i, a, n);
        units_[at(i)].read(a, x + a.offset(), n);
    }
    SINTER_COLD void publish(compiler::space s) {
        const std::int64_t n = P0::v.floats(s);
        if (n == 0) return;
        const compiler::address first{s, 0};
        std::vector<float> x(static_cast<std::size_t>(n));
        units_[0].read(first, x.data(), n);
        members_->broadcast(as_writable_bytes(x));
        for (int i = 0; i < shards_; ++i)
            if (i == 0 || (owned(first) && !(unit::gathers() && s == compiler::space::slot))) {
                if constexpr (unit::gathers()) keep_gathered(i, s, x.data());
                units_[at(i)].write(first, x.data(), n);
            }
    }
    /// Whether each member keeps a part of what lies there.
    bool is_in_parts(compiler::address a) const {
        return Sharded && members_ && a.where() == compiler::space::slot && !(unit::gathers() && is_gathered(a));
    }
    /// f(begin, end) for each stretch of n floats there that this member keeps.
    template <class F>
    void each_kept(compiler::address a, std::int64_t n, F f) const {
        if (!is_in_parts(a)) return f(std::int64_t{0}, n);
        const std::vector<detail::keeper> k = detail::keepers_of_slot<P0>(kept_, a, n);
        const auto kept = [&](std::int64_t j) { return k[static_cast<std::size_t>(j)] != detail::keeper::another; };
        for (std::int64_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && kept(end) == kept(begin);) ++end;
            if (kept(begin)) f(begin, end);
        }
    }

private:
    /// Slots as all members together have them.
    void read_parts(compiler::address from, float* to, std::int64_t n) const {
        if (!members_) return;
        using detail::keeper;
        const std::vector<keeper> k = detail::keepers_of_slot<P0>(kept_, from, n);
        for (std::int64_t j = 0; j < n; ++j) {
            const keeper who = k[static_cast<std::size_t>(j)];
            if (who != keeper::this_member && (who != keeper::everybody || members_->rank() != 0))
                to[j] = -0.f;   // to which anything is added as it is
        }
        members_->all_reduce(span<float>(to, static_cast<std::size_t>(n)));
    }
    /// What others keep takes no memory here.
    void write_parts(compiler::address to, const float* from, std::int64_t n) {
        each_kept(to, n, [&](std::int64_t begin, std::int64_t end) {
            units_[0].write({to.where(), to.offset() + begin}, from + begin, end - begin);
        });
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

} // namespace sinter::detail
