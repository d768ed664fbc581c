// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/gradient_parts.hpp>
#include <sinter/strategy/synchronous/member_group.hpp>
#include <sinter/strategy/synchronous/replica_set.hpp>
#include <sinter/strategy/synchronous/slot_keepers.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Parameters, states and slots of a model that all members train, as one of them reads and writes them.
///
/// Under other_processes::update_parts each member keeps what the optimizer remembers of its part alone: reading slots
/// is a call of all members then. So is reading what steps have accumulated since the last update, of which each shard
/// has a part (the last slot, and the weight of the round, a state).
template <class Programs, other_processes Others>
class member_values {
    using set = replica_set<Programs>;
    using unit = typename set::unit;
    using P0 = typename set::P0;
    static constexpr bool in_parts =
        Others == other_processes::update_parts || Others == other_processes::update_copied_parts;

public:
    using group = member_group<Others != other_processes::none>;
    static constexpr bool accumulates = unit::accumulates();
    /// Whether the host keeps the slots: devices with memory of their own have none then.
    static constexpr bool slots_on_host = in_parts && !set::shared;

    member_values(set& replicas, group& members) : replicas_(replicas), members_(members) {
        if (in_parts && members_) kept_ = {members_->rank(), members_->size()};
        if constexpr (slots_on_host) slots_ = arena(P0::v.floats(compiler::space::slot));
    }

    void read(compiler::address from, float* to, std::int64_t n) const {
        read_first(from, to, n);
        if (accumulates && is_accumulated(from)) return sum_accumulated(from, to, n);
        if (strategy_parts::stays_in_parts<P0>(from)) add_other_shards(from, to, n);
        if constexpr (in_parts) {
            if (from.where() == compiler::space::slot) read_parts(from, to, n);
            if (from.where() == compiler::space::gradient && members_) strategy_parts::refuse_parts_of_gradients();
        }
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (is_in_parts(to)) return write_parts(to, from, n);
        written_ = written_ || (accumulates && is_accumulated(to));
        write_first(to, from, n);
        for (int i = 1; i < replicas_.size(); ++i) {
            if (!set::owned(to) || is_on_host(to)) continue;
            if (accumulates && is_accumulated(to)) empty_accumulated(i, to, n);
            else replicas_[i].write(to, from, n);
        }
    }
    void clear_slots() {
        if constexpr (slots_on_host) slots_.clear();
        for (unit& u : replicas_) u.clear_slots();
    }
    /// All members call it. Slots of which each member keeps a part have been written by each. What is accumulated in a
    /// round stays with whoever has accumulated it, unless it was written: then the chief's counts, once.
    void publish() {
        if (!members_) return;
        publish(compiler::space::parameter);
        publish(compiler::space::state);
        if (!in_parts) publish(compiler::space::slot);
        else if (written_ && !members_.chief()) empty_accumulated(0, accumulation_slot(), P0::v.z.trained);
        written_ = false;
    }

    // ---- slots of which each member keeps a part
    /// Where slots_on_host.
    float* host_slots() const { return slots_.data(); }
    /// Which parts this one keeps.
    const kept_parts& kept() const { return kept_; }
    void keep(kept_parts k) { kept_ = k; }
    /// f(begin, end) for each stretch of n floats there that this member keeps.
    template <class F>
    void each_kept(compiler::address a, std::int64_t n, F f) const {
        if (!is_in_parts(a)) return f(std::int64_t{0}, n);
        const std::vector<keeper> k = strategy_parts::keepers_of_slot<P0>(kept_, a, n);
        const auto kept = [&](std::int64_t j) { return k[static_cast<std::size_t>(j)] != keeper::another; };
        for (std::int64_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && kept(end) == kept(begin);) ++end;
            if (kept(begin)) f(begin, end);
        }
    }

    // ---- what is accumulated in a round of steps
    static constexpr compiler::address accumulation_slot() {
        return {compiler::space::slot, (P0::v.slots - 1) * P0::v.z.trained};
    }
    static constexpr bool is_accumulated(compiler::address a) {
        if (a.where() == compiler::space::slot) return a.offset() >= accumulation_slot().offset();
        return a == P0::v.round_weight;
    }
    /// The weight of a round where the loss is a sum: each shard has all of it.
    static constexpr bool is_same_everywhere(compiler::address a) {
        return a.where() == compiler::space::state && reduction_of<typename P0::request::loss>() == reduction::sum;
    }
    void empty_accumulated(int i, compiler::address a, std::int64_t n) {
        if (is_same_everywhere(a)) return;
        const float nothing = 0;
        if (a.where() == compiler::space::state) return replicas_[i].write(a, &nothing, 1);
        const std::vector<float> none(static_cast<std::size_t>(n), -0.f);
        replicas_[i].write(a, none.data(), n);
    }
    /// Shard i has accumulated nothing of this round.
    void empty_round(int i) {
        empty_accumulated(i, accumulation_slot(), P0::v.z.trained);
        empty_accumulated(i, P0::v.round_weight, 1);
    }
    /// What all shards have accumulated in a round is divided by. `add_others(sums, how many)`: those of other
    /// processes.
    template <int I, class F>
    void sum_round_weight(F add_others) {
        using P = typename set::template training<I>;
        double sum = 1;   // of a loss that is no mean
        if constexpr (reduction_of<typename P::request::loss>() != reduction::sum) {
            sum = replicas_.sum_of_all([&](int i) {
                float w = 0;
                replicas_[i].read(P::v.round_weight, &w, 1);
                return static_cast<double>(w);
            });
            add_others(&sum, 1);
        }
        round_weight_ = static_cast<float>(sum);
        for (int i = 0; i < (set::shared ? 1 : replicas_.size()); ++i)
            replicas_[i].write(P::v.round_weight, &round_weight_, 1);
    }
    /// That of the last round, once more.
    template <int I>
    void write_round_weight() {
        replicas_.first().write(set::template training<I>::v.round_weight, &round_weight_, 1);
    }
    /// What has been written of it is not the chief's alone, but a part of what all have accumulated.
    void count_written_as_accumulated() { written_ = false; }

private:
    set& replicas_;
    group& members_;
    arena slots_;       ///< where slots_on_host
    kept_parts kept_;   ///< under update_parts, and update_copied_parts
    float round_weight_ = 0;
    bool written_ = false;   ///< what is accumulated, since the last publish()

    static constexpr bool is_on_host(compiler::address a) {
        return slots_on_host && a.where() == compiler::space::slot;
    }
    void read_first(compiler::address from, float* to, std::int64_t n) const {
        if (is_on_host(from)) std::copy_n(slots_.data() + from.offset(), n, to);
        else replicas_.first().read(from, to, n);
    }
    void write_first(compiler::address to, const float* from, std::int64_t n) {
        if (is_on_host(to)) std::copy_n(from, n, slots_.data() + to.offset());
        else replicas_.first().write(to, from, n);
    }
    void add_other_shards(compiler::address from, float* to, std::int64_t n) const {
        std::vector<float> more(static_cast<std::size_t>(n));
        for (int i = 1; i < replicas_.size(); ++i) {
            replicas_[i].read(from, more.data(), n);
            for (std::int64_t j = 0; j < n; ++j) to[j] += more[static_cast<std::size_t>(j)];
        }
    }
    /// Over shards and members.
    void sum_accumulated(compiler::address from, float* to, std::int64_t n) const {
        if (is_same_everywhere(from)) return;
        add_other_shards(from, to, n);
        if (members_) members_->all_reduce(span<float>(to, static_cast<std::size_t>(n)));
    }
    /// In `x`, which is to become shard i's of this space: what that has accumulated, or is to have where it was
    /// written.
    SINTER_COLD void keep_accumulated(int i, compiler::space s, float* x) {
        const compiler::address a = s == compiler::space::state ? P0::v.round_weight : accumulation_slot();
        if (a.where() != s) return;
        const std::int64_t n = s == compiler::space::state ? 1 : P0::v.z.trained;
        if (written_ && !(i == 0 && members_.chief())) empty_accumulated(i, a, n);
        replicas_[i].read(a, x + a.offset(), n);
    }
    SINTER_COLD void publish(compiler::space s) {
        const std::int64_t n = P0::v.floats(s);
        if (n == 0) return;
        const compiler::address first{s, 0};
        std::vector<float> x(static_cast<std::size_t>(n));
        replicas_.first().read(first, x.data(), n);
        members_->broadcast(as_writable_bytes(x));
        for (int i = 0; i < replicas_.size(); ++i)
            if (i == 0 || (set::owned(first) && !(accumulates && s == compiler::space::slot))) {
                if constexpr (accumulates) keep_accumulated(i, s, x.data());
                replicas_[i].write(first, x.data(), n);
            }
    }
    /// Whether each member keeps a part of what lies there.
    bool is_in_parts(compiler::address a) const {
        return in_parts && members_ && a.where() == compiler::space::slot && !(accumulates && is_accumulated(a));
    }
    /// Slots as all members together have them.
    void read_parts(compiler::address from, float* to, std::int64_t n) const {
        if (!members_) return;
        const std::vector<keeper> k = strategy_parts::keepers_of_slot<P0>(kept_, from, n);
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
            write_first({to.where(), to.offset() + begin}, from + begin, end - begin);
        });
    }
};

} // namespace sinter::strategy_parts
