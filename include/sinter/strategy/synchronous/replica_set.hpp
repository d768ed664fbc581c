// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/device/cpu/threads.hpp>
#include <sinter/strategy/strategy.hpp>
#include <sinter/strategy/synchronous/batch_part.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <sinter/strategy/synchronous/tree_sum.hpp>
#include <sinter/strategy/synchronous/work_memory.hpp>
#include <limits>
#include <memory>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

inline bool is_finite(float x) { return __builtin_fabsf(x) <= std::numeric_limits<float>::max(); }

/// The replicas of a process, one for each of its shards of a batch, the threads that compute them, and the memory
/// where their gradients are added up. Replicas share parameters and slots where the device's memory is the host's.
template <class Programs>
class replica_set {
public:
    using device = typename Programs::device;
    using unit = replica<Programs>;
    template <int I>
    using training = typename Programs::template training<I>;
    using P0 = training<0>;
    using facts = strategy_parts::of_program::largest<Programs>;
    using all = std::make_integer_sequence<int, Programs::n_training>;
    static constexpr bool shared = device::shares_memory, peers = adds_from_peers<device>;

    /// `devices(i)`: the options of shard i's device. `workers`: threads that share the shards. `threads`: of the
    /// host's, for all of them together. `on_devices`: other processes, too, are sent gradients from devices' memory.
    /// `slots`: whether devices with memory of their own have the optimizer's.
    template <class Devices>
    SINTER_COLD replica_set(int shards, int workers, int threads, bool on_devices, Devices devices, bool slots = true)
        : shards_(shards), threads_(threads), on_devices_(on_devices), slots_(slots), alone_(threads <= workers),
          team_(workers) {
        static_assert(!of_examples(), "a state of this net belongs to the examples of a batch (recurrent layers under "
                                      "`carried`): a strategy that cuts batches cannot train it");
        make_units(devices);
    }
    replica_set(const replica_set&) = delete;
    replica_set& operator=(const replica_set&) = delete;

    int size() const { return shards_; }
    unit& operator[](int i) { return units_[at(i)]; }
    const unit& operator[](int i) const { return units_[at(i)]; }
    auto begin() { return units_.begin(); }
    auto end() { return units_.end(); }
    /// That of the first shard, which evaluates and predicts.
    unit& first() { return units_[0]; }
    const unit& first() const { return units_[0]; }
    /// Of the host's.
    int threads() const { return threads_; }
    runtime::team& team() { return team_; }
    bool alone() const { return alone_; }   ///< there are as many threads as share the shards
    bool on_devices() const { return on_devices_; }

    /// This process has so many shards from now on (strategy/elastic.hpp). New ones have the first one's weights,
    /// states and slots, and no gradients.
    template <class Devices>
    SINTER_COLD void resize(int n, Devices devices) {
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
    }
    /// Whether each replica has its own of what lies there.
    static constexpr bool owned(compiler::address a) {
        const bool accumulated = a.where() == compiler::space::slot && unit::accumulates();
        return !shared || a.where() == compiler::space::state || accumulated;
    }

    // ---- of a step
    /// What is known of shard i in it.
    shard_in_step& shard(int i) { return shard_[at(i)]; }
    bool filled(int i) const { return shard_[at(i)].part.size > 0; }
    /// What shard i's part of a step is run with.
    step_values values(int i, const step_values& v) const {
        step_values own = v;
        own.shard = shard_[at(i)].numbers;
        return own;
    }
    /// f(thread) on each of the threads that share the shards.
    template <class F>
    void run(F f) {
        team_.run(f);
    }
    /// Within it: returns when all threads have come here.
    void meet(int thread) { team_.barrier(thread); }
    /// f(i) for each of a thread's shards.
    template <class F>
    void own_shards(int thread, F f) {
        thread_shards{shards_, team_.size()}.each(thread, f);
    }
    /// In the order of tree_sum; a shard without examples counts as 0.
    template <class F>
    double sum(F of_shard) {
        for (int i = 0; i < shards_; ++i) numbers_[at(i)] = filled(i) ? of_shard(i) : 0.;
        return strategy_parts::tree_sum(numbers_.data(), shards_);
    }
    /// Likewise, of every shard.
    template <class F>
    double sum_of_all(F of_shard) {
        for (int i = 0; i < shards_; ++i) numbers_[at(i)] = of_shard(i);
        return strategy_parts::tree_sum(numbers_.data(), shards_);
    }
    /// What all shards' losses are divided by. `add_others(sums, how many)` adds those of other processes.
    template <int I, class F>
    void sum_loss_weights(F add_others) {
        constexpr auto& p = training<I>::v;
        for (int k = 0; k < p.n_loss_weights; ++k)
            loss_weights_[k] = sum([&](int i) {
                float w = 0;
                units_[at(i)].read(p.loss_weights[k], &w, 1);
                return static_cast<double>(w);
            });
        add_others(loss_weights_, p.n_loss_weights);
        for (int k = 0; k < p.n_loss_weights; ++k) handed_in_[k] = static_cast<float>(loss_weights_[k]);
        for (shard_in_step& s : shard_) s.numbers.loss_weights = handed_in_;
    }
    /// All is as before the step.
    template <int I>
    void put_back() {
        for (unit& u : units_) {
            u.template put_back_step<I>();
            u.forget_outputs();
        }
    }
    template <int I>
    static span<const compiler::gradient_bucket> buckets() {
        return {training<I>::v.buckets, static_cast<std::size_t>(training<I>::v.n_buckets)};
    }
    /// Where shard i's gradients are added up and sent from.
    template <int I>
    float* place(int i, compiler::address a) {
        if constexpr (shared) return units_[at(i)].host(a);
        if constexpr (peers)
            if (on_devices_) return units_[at(i)].in_device(a);
        return host_[at(i)].data() + host_offset<training<I>>(a);
    }
    /// Copies shard i's gradients to the host's memory.
    template <int I>
    void fetch(int i) {
        for (const compiler::gradient_bucket& b : buckets<I>())
            if (!b.is_list()) units_[at(i)].read(b.at, place<I>(i, b.at), b.floats);
    }
    /// A shard without examples adds nothing.
    template <int I>
    void leave_out(int i, const step_values& v) {
        using P = training<I>;
        if constexpr (unit::accumulates()) {
            const float none = 0;   // of a round that begins
            if (v.step % strategy_parts::of_program::every<P> == 0) units_[at(i)].write(P::v.round_weight, &none, 1);
        } else {
            for (const compiler::gradient_bucket& b : buckets<I>()) {
                if (b.is_list()) continue;
                if constexpr (peers)
                    units_[at(i)].write(b.at, std::vector<float>(static_cast<std::size_t>(b.floats), -0.f).data(),
                                        b.floats);
                else std::fill_n(place<I>(i, b.at), b.floats, -0.f);
            }
        }
    }

    // ---- of what came of it
    /// Output `i` of the last run; of a step, of all of this process's examples.
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
    /// f(replica, part of b) for each shard that had examples in the last step, which was of training program I.
    /// `first`: of b's examples, the one that shards count theirs from.
    template <int I, class F>
    void each_part(const batch_view& b, int first, F f) {
        for (int i = 0; i < shards_; ++i) {
            if (!filled(i)) continue;
            const example_range own = shard_[at(i)].part;
            part_.template assign<training<I>>(b, {first + own.first, own.size});
            f(static_cast<const unit&>(units_[at(i)]), static_cast<const batch_view&>(part_.view));
        }
    }

private:
    int shards_, threads_;
    bool on_devices_, slots_, alone_;
    runtime::team team_;
    std::vector<unit> units_;
    work_memory work_;
    std::vector<shard_in_step> shard_;
    /// Gradients on their way, where devices have memory of their own: of each shard; or, where devices read that of
    /// others, the sum of all, for other processes.
    std::vector<typename detail::staging_of<device>::type> host_;
    batch_part part_;
    mutable std::vector<float> output_;
    std::vector<double> numbers_;   ///< of each shard, to be added up
    double loss_weights_[std::size_t{bundle::most}] = {};   ///< of the step that is run
    float handed_in_[std::size_t{bundle::most}] = {};

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    template <class P>
    static constexpr std::int64_t host_offset(compiler::address a) {
        return a.where() == compiler::space::slot ? a.offset() - (P::v.slots - 1) * P::v.z.trained : a.offset();
    }
    template <class Devices>
    SINTER_COLD void make_units(Devices devices) {
        const int workers = team_.size(), before = static_cast<int>(units_.size());
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
            units_.emplace_back(options, slots_);
        }
        if constexpr (shared && !unit::accumulates() && facts::in_one_stretch(all{})) work_.share(units_, workers);
        shard_.resize(at(shards_));
        numbers_.resize(at(shards_));
        if constexpr (!shared)
            for (int i = static_cast<int>(host_.size()), n = on_devices_ ? 0 : peers ? std::min(1, shards_) : shards_;
                 i < n; ++i)
                host_.emplace_back(facts::most_gradients(all{}));
    }
    static constexpr bool of_examples() {
        for (int i = 0; i < P0::v.n_states; ++i)
            if (P0::v.states[i].of_examples) return true;
        return false;
    }
};

} // namespace sinter::strategy_parts
