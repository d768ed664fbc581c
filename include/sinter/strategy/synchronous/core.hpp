// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/bind_batch.hpp>
#include <sinter/strategy/synchronous/batch_cut.hpp>
#include <sinter/strategy/synchronous/bucket_exchange.hpp>
#include <sinter/strategy/synchronous/commit_barrier.hpp>
#include <sinter/strategy/synchronous/member_values.hpp>
#include <sinter/strategy/synchronous/step_delta.hpp>
#include <sinter/strategy/synchronous/shard_states.hpp>
#include <sinter/strategy/synchronous/shard_sums.hpp>
#include <sinter/strategy/synchronous/update_in_parts.hpp>
#include <exception>
#include <type_traits>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

template <class Programs>
class updates_on_host;   // synchronous/updates_on_host.hpp, which sharded_update.hpp includes
/// In its place where devices update.
struct no_updates_on_host {
    explicit no_updates_on_host(int) {}
};

/// A step of all synchronous strategies: mirrored, central_storage, canonical, multi_worker. A batch is cut by example
/// into shards. Each shard has a replica in this process or another, which makes its gradients; they are added up, and
/// everybody updates by the sum.
///
/// A step allocates nothing (but, once, what a replica's may and what each_part() and output() return). Whatever is
/// thrown comes before any parameter is changed; states are then as they were. Its parts refer to each other, so it
/// stays where it was made.
template <class Programs, other_processes Others>
class synchronous_core {
public:
    using programs = Programs;
    using set = replica_set<Programs>;
    using unit = typename set::unit;
    using P0 = typename set::P0;
    template <int I>
    using training = typename set::template training<I>;
    static constexpr bool distributed = Others != other_processes::none;
    static constexpr bool copied = Others == other_processes::update_copied_parts;
    static constexpr bool in_parts = Others == other_processes::update_parts || copied;
    static constexpr bool accumulates = unit::accumulates();
    /// Whether the host updates, in parts, what devices with memory of their own have.
    static constexpr bool by_host = member_values<Programs, Others>::slots_on_host;

    /// `devices(i)`: the options of shard i's device. `threads`: of the host's, for all shards together; 0: one for
    /// each usable core.
    template <class Devices>
    SINTER_COLD synchronous_core(synchronous_setup s, Devices devices, int threads)
        : members(s), replicas(s.shards, workers_of(s, threads), threads ? threads : base::usable_cores(),
                               sends_from_devices(), devices, !by_host),
          values(replicas, members), all_shards_(members.place().count * s.shards), states_(s.shards, s.states),
          sums_(s.shards, most_sums()), totals_(replicas, members), lists_(replicas, members),
          exchange_(replicas, members, totals_, lists_), host_(replicas.threads()) {}
    synchronous_core(const synchronous_core&) = delete;
    synchronous_core& operator=(const synchronous_core&) = delete;
    /// Connections go before all that operations were given: some of a step that has thrown may be on their way.
    ~synchronous_core() { members.connect(nullptr); }

    member_group<distributed> members;
    set replicas;
    member_values<Programs, Others> values;
    commit_barrier commit;

    /// This member's part of a step; the result is the whole batch's, on every member.
    template <int I, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        begin<I>(b, v);
        if (totals_.examples() == 0) return totals_.nothing();
        try {
            replicas.run([&](int thread) { work<I>(thread, v, observe); });
        } catch (...) {
            if (!commit.has_updated()) replicas.template put_back<I>();
            throw;
        }
        end_commit();
        if constexpr (distributed)
            if (members) members->report(v.step + 1, totals_.loss());
        return totals_.result();
    }
    /// Of the last step.
    step_result result() const { return totals_.result(); }
    /// Which examples of batches that all members share this one computes.
    batch_share own_share() const {
        if (members.per_worker()) return {};
        return {members.place().index * replicas.size(), replicas.size(), all_shards_};
    }
    /// f(replica, part of b) for each shard that had examples in the last step, which was of this batch.
    template <class F>
    void each_part(const batch_view& b, F f) {
        [&]<int... I>(std::integer_sequence<int, I...>) {
            ((I == program_ ? replicas.template each_part<I>(b, 0, f) : void()), ...);
        }(typename set::all{});
    }

    // ---- of members that change (strategy/elastic.hpp)
    /// Other members from now on; null: none, for the time being.
    SINTER_COLD void connect(std::unique_ptr<collective::communicator> m) {
        if (commit.stage() == commit_stage::summed) lists_.save();
        members.connect(std::move(m));
        all_shards_ = members.place().count * replicas.size();
        lists_.resize();
    }
    /// Batches are cut into `of` shards from now on. This process has `own` of them, numbered from its index times so
    /// many on; those that are beyond the last are empty.
    template <class Devices>
    SINTER_COLD void share(int own, int of, Devices devices) {
        const int before = replicas.size();
        replicas.resize(own, devices);
        for (int i = before; accumulates && i < own; ++i) values.empty_round(i);
        all_shards_ = of;
        exchange_.resize();
        states_.set_shards(own);
        sums_ = {own, most_sums()};
        lists_.resize();
    }
    /// The step is over: it has counted, or is to be made again.
    void end_commit() {
        if constexpr (copied) {
            commit.end();
            lists_.forget_saved();
        }
    }
    /// Steps that change the model are sent there from now on (step_delta.hpp); null: nowhere.
    void send_steps(std::vector<std::byte>* to) {
        sent_ = to;
        send_ = [](synchronous_core& s, const step_values& v, bool updates) {
            strategy_parts::encode_step_delta<P0>(*s.sent_, v, updates, s.replicas.first(), s.sums_at());
        };
    }
    /// Makes the update of a step that others have sent. data_error where it is no such step.
    SINTER_COLD void repeat_step(const std::vector<std::byte>& from) {
        strategy_parts::step_delta<P0> received(from, replicas, sums_at());
        if (received.updates) replicas.run([&](int thread) { update<0>(thread, received.values); });
    }

private:
    int all_shards_;   ///< of all members
    strategy_parts::shard_states<Programs> states_;
    strategy_parts::shard_sums<Programs> sums_;
    step_totals<Programs, distributed> totals_;
    row_list_exchange<Programs, distributed> lists_;
    bucket_exchange<Programs, Others> exchange_;
    [[no_unique_address]] std::conditional_t<by_host, updates_on_host<Programs>, no_updates_on_host> host_;
    int program_ = 0;   ///< of the last step
    std::vector<std::byte>* sent_ = nullptr;
    void (*send_)(synchronous_core&, const step_values&, bool) = nullptr;

    static int workers_of(const synchronous_setup& s, int threads) {
        const int own = threads ? threads : base::usable_cores();
        return std::min(s.workers ? s.workers : own, s.shards);
    }
    SINTER_COLD bool sends_from_devices() const {
        const bool does = set::peers && members && members->reads_device_memory();
        if (does && by_host)
            throw option_error("gradients are sent from devices' memory, and the host updates by them",
                               "sharded_update", "an algorithm such as nccl", "one that sends from the host's: ring");
        return does;
    }
    static constexpr std::int64_t most_sums() { return set::facts::most_sums(typename set::all{}); }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    auto sums_at() {
        return [this](int k) { return replicas.template place<0>(0, P0::v.buckets[k].at); };
    }

    // ---- before it: which shard has which examples
    template <int I>
    void begin(const batch_view& b, const step_values& v) {
        using P = training<I>;
        const membership me = members.place();
        const float* ports[std::size_t{P::v.n_inputs + P::v.n_targets + 1}];
        const int first = me.index * replicas.size();
        batch_cut cut{b.size, first, all_shards_};
        if (members.per_worker()) {
            const int most = replicas.size() * P::v.max_batch;
            try {
                if (b.size < 0 || b.size > most) session_parts::refuse_size(b.size, most);
                if (b.size) bind_ports<P>(b, ports, true);
            } catch (const std::exception& e) {   // the others wait for this member
                members.fail(e.what());
                throw;
            }
            totals_.begin_own(v, b.size, replicas.size());
            cut = {b.size, 0, replicas.size()};
        } else {
            const int most = all_shards_ * P::v.max_batch;
            if (b.whole) cut.size = b.whole;
            if (cut.size < 1 || cut.size > most) session_parts::refuse_size(cut.size, most);
            need_examples(b, cut.own(replicas.size()), cut.size);
            if (b.size) bind_ports<P>(b, ports, true);   // of a whole batch: what is wrong with it, all members see
            totals_.begin_shared(v, cut.size, all_shards_);
        }
        const auto numbers = [&](int i, int) {
            return runtime::batch_shard{.index = static_cast<std::uint64_t>(first + i),
                                        .global_batch = static_cast<int>(totals_.examples())};
        };
        begin_shards<I>(replicas, cut, ports, b.first, numbers, [](const float**) {});
        int last = -1;
        for (int i = 0; i < replicas.size(); ++i)
            if (replicas.filled(i)) last = i;
        exchange_.begin(last);
        program_ = I;
    }

    // ---- the step, by each of the threads
    template <int I, class Observer>
    void work(int thread, const step_values& v, Observer& observe) {
        using P = training<I>;
        constexpr compiler::program_segments cut = P::v.segments;
        const auto sum_over_members = [&](double* x, int n) { members.sum_now(x, n, v.step); };
        int begun = 0;
        if constexpr (P::v.n_loss_weights > 0) {
            static_assert(P::v.loss_weights_ready > 0, "this loss divides by weights that it does not show before");
            pass_sync_points<I>(thread, v, begun, P::v.loss_weights_ready, observe);
            run_own<I>(thread, v, {begun, P::v.loss_weights_ready}, observe, false);
            begun = P::v.loss_weights_ready;
            replicas.meet(thread);
            if (thread == 0) replicas.template sum_loss_weights<I>(sum_over_members);
            replicas.meet(thread);
        }
        constexpr int known = accumulates ? cut.first_change : cut.first_update;
        pass_sync_points<I>(thread, v, begun, known, observe);
        const bool ends_round = !accumulates || (v.step + 1) % of_program::every<P> == 0;
        const sending how = ends_round ? way_to_send<Observer>() : sending::behind;
        replicas.own_shards(thread, [&](int i) {
            shard_in_step& s = replicas.shard(i);
            if (!replicas.filled(i)) return replicas.template leave_out<I>(i, v);
            if constexpr (marks<Observer> && !accumulates)
                if (how == sending::marked)
                    return replicas[i].template marked_stretch<I>(replicas.values(i, v), {begun, known}, marks_of<P>());
            s.finite = s.finite &&
                       stretch<I>(i, v, {begun, known}, observe, how != sending::behind && !accumulates);
            s.loss = replicas[i].template finish_step<I>();
            s.finite = s.finite && is_finite(s.loss);
            if (!set::shared && !set::peers && !accumulates) replicas.template fetch<I>(i);
            if constexpr (!set::shared) lists_.template fetch<I>(i);
        });
        replicas.meet(thread);
        if constexpr (accumulates) {
            if (thread == 0) know_totals<I>(v);
            replicas.meet(thread);
            begun = known;
            if (totals_.applied()) accumulate<I>(thread, v, begun, observe, how);
            replicas.meet(thread);
        }
        const bool updates = ends_round && (!accumulates || totals_.applied());
        if constexpr (marks<Observer>)
            if (how == sending::marked && updates && thread == 0) exchange_.template send_marked<I>(v);
        if (updates && how == sending::behind) {
            exchange_.template add_up_all<I>(thread);
            replicas.meet(thread);
        }
        if (thread == 0) exchange<I>(v, updates, how != sending::behind);
        replicas.meet(thread);
        if (!totals_.applied() || !updates) return;
        update<I>(thread, v);
        if constexpr (accumulates) {   // what all have accumulated, the chief alone remembers
            replicas.meet(thread);
            if (thread == 0 && !members.chief()) values.empty_accumulated(0, P::v.round_weight, 1);
        }
    }
    /// When gradients are added up and sent.
    enum class sending : std::uint8_t {
        behind,    ///< behind all launches, by all threads
        between,   ///< between the launches of the last shard, as they become final
        marked     ///< while devices work: they mark when each is final
    };
    template <class Observer>
    static constexpr bool marks =
        marks_launches<typename set::device> && std::is_same_v<Observer, runtime::unobserved>;
    template <class Observer>
    sending way_to_send() {
        if (marks<Observer> && lists_.adds()) return sending::marked;
        const bool between = distributed && set::shared && members && replicas.team().size() == 1;
        return between ? sending::between : sending::behind;
    }
    template <class P>
    static constexpr runtime::launch_marks marks_of() {
        return {of_program::marks<P>.all, P::v.n_buckets + 1};
    }
    /// Of a step that is accumulated, once all know that its loss is finite: from launch `begun` on it is added to
    /// those before. In a round's last step what is ready is sent as `how` says.
    template <int I, class Observer>
    void accumulate(int thread, const step_values& v, int begun, Observer& observe, sending how) {
        using P = training<I>;
        constexpr int end = P::v.segments.first_update;
        pass_sync_points<I>(thread, v, begun, end, observe);
        if constexpr (marks<Observer>)
            if (how == sending::marked)
                return replicas.own_shards(thread, [&](int i) {   // one without examples may have accumulated before
                    const runtime::launch_range left{replicas.filled(i) ? begun : end, end};
                    replicas[i].template marked_stretch<I>(replicas.values(i, v), left, marks_of<P>());
                });
        if (begun < end) run_own<I>(thread, v, {begun, end}, observe, how != sending::behind);
        if (!set::shared && !set::peers && (v.step + 1) % of_program::every<P> == 0)
            replicas.own_shards(thread, [&](int i) { replicas.template fetch<I>(i); });
    }
    /// These launches, of this thread's shards that have examples. `sends`: also what is ready.
    template <int I, class Observer>
    void run_own(int thread, const step_values& v, runtime::launch_range launches, Observer& observe, bool sends) {
        replicas.own_shards(thread, [&](int i) {
            shard_in_step& s = replicas.shard(i);
            if (!replicas.filled(i) || !s.finite) return;
            s.finite = stretch<I>(i, v, launches, observe, sends);
        });
    }
    /// These launches, of shard i. `sends`: what is ready is sent meanwhile.
    template <int I, class Observer>
    bool stretch(int i, const step_values& v, runtime::launch_range launches, Observer& observe, bool sends) {
        if constexpr (!distributed && std::is_same_v<Observer, runtime::unobserved>)   // as other programs are run
            return replicas[i].template stretch<I>(replicas.values(i, v), launches, replicas.alone());
        else
            return replicas[i].template stretch<I>(
                replicas.values(i, v), launches, replicas.alone(), [&](int launch, bool before) {
                    if (i == 0) observe(launch, before);
                    if constexpr (distributed)
                        if (sends && i == exchange_.last() && !before)
                            exchange_.template start_ready<I>(launch, v, true, true);
                });
    }
    /// From launch `next` up to the last sum over all shards before `end`, which are made; `next` is then the launch
    /// behind it.
    template <int I, class Observer>
    void pass_sync_points(int thread, const step_values& v, int& next, int end, Observer& observe) {
        using P = training<I>;
        if constexpr (P::v.n_sync_points > 0)
            for (int k = 0; k < P::v.n_sync_points; ++k) {
                const compiler::sync_point& p = P::v.sync_points[k];
                if (p.after < next || p.after >= end) continue;
                run_own<I>(thread, v, {next, p.after + 1}, observe, false);
                replicas.meet(thread);
                if (thread == 0)
                    sums_.add_up(replicas, p, [&](float* x, std::int64_t n) { members.sum_now(x, n, v.step); });
                replicas.meet(thread);
                next = p.after + 1;
            }
    }
    template <int I>
    void know_totals(const step_values& v) {
        totals_.start(v, false);
        totals_.wait(v);
        if (!totals_.applied()) replicas.template put_back<I>();
    }
    /// All that is left to be sent, and waiting for it. `gradients`: they are reduced in this step. `adds_up`: this
    /// process's have not been added up yet.
    template <int I>
    void exchange(const step_values& v, bool gradients, bool adds_up) {
        using P = training<I>;
        if (!totals_.started()) totals_.start(v, false);
        if constexpr (distributed)
            if (members && gradients) exchange_.template start_ready<I>(P::v.n_launches, v, adds_up, false);
        const bool several = members || replicas.size() > 1;
        if (several) members.sum_now(states_.sums(), states_.add_up(replicas), v.step);
        if (!accumulates) totals_.wait(v);
        if constexpr (distributed)
            if (members && gradients) exchange_.template wait<I>();
        if (!totals_.applied()) return replicas.template put_back<I>();
        lists_.template add_up_members<I>();
        if constexpr (accumulates)
            if (gradients)
                values.template sum_round_weight<I>([&](double* x, int n) { members.sum_now(x, n, v.step); });
        if constexpr (copied)
            if (members && values.kept().copies && gradients)
                commit.commit<I>(replicas, *members, v.step, exchange_.tickets(),
                                 [this, &v] { update_again<I>(v); });
        if (several) states_.put(replicas, totals_.filled());
        if constexpr (distributed)
            if (sent_) send_(*this, v, gradients);
    }

    // ---- the second half
    static runtime::step_arguments update_arguments(const step_values& v, int first) {
        return {nullptr, v.scalars, v.seed, v.step, 1, false, {first}};
    }
    /// Of a step that others have updated by already: this member's part of that.
    template <int I>
    SINTER_COLD void update_again(const step_values& v) {
        using P = training<I>;
        states_.put(replicas, totals_.filled());
        if constexpr (accumulates) values.template write_round_weight<I>();
        const runtime::step_arguments now = update_arguments(v, P::v.segments.first_update);
        replicas.run([&](int t) {
            strategy_parts::update_kept_parts<I>(replicas.first(), replicas.team(), t, values.kept(), now);
        });
    }
    template <int I>
    void update(int thread, const step_values& v) {
        using P = training<I>;
        if constexpr (set::shared) {
            const runtime::step_arguments now = update_arguments(v, P::v.segments.first_update);
            if (in_parts && members) {
                if constexpr (in_parts) {
                    strategy_parts::update_kept_parts<I>(replicas.first(), replicas.team(), thread, values.kept(), now);
                    replicas.meet(thread);
                    if (thread == 0)
                        gather_parts<P>([&](compiler::address a) { return replicas.first().host(a); }, *members,
                                        v.step, exchange_.tickets());
                }
            } else {
                replicas.first().template runner<I>().run_share(replicas.team(), thread, now);
            }
            if constexpr (accumulates)
                replicas.own_shards(thread, [&](int i) {   // the next round begins
                    for (int k = 0; i > 0 && k < P::v.n_buckets; ++k)
                        std::fill_n(replicas.template place<I>(i, P::v.buckets[k].at), P::v.buckets[k].floats, -0.f);
                    if (i > 0) values.empty_accumulated(i, P::v.round_weight, 1);
                });
        } else if constexpr (by_host) {
            if (thread == 0)
                host_.template update<I>(replicas, v, values.kept(), values.host_slots(), members.get(),
                                         exchange_.tickets());
        } else {
            if constexpr (set::peers) device_sums::spread<I>(replicas, thread, static_cast<bool>(members));
            replicas.own_shards(thread, [&](int i) {
                for (int k = 0; !set::peers && k < P::v.n_buckets; ++k)
                    if (!P::v.buckets[k].is_list())
                        replicas[i].write(P::v.buckets[k].at, replicas.template place<I>(0, P::v.buckets[k].at),
                                          P::v.buckets[k].floats);
                lists_.template place<I>(replicas[i]);
                replicas[i].template update<I>(v);
                if constexpr (accumulates)   // what all have accumulated, the first alone remembers
                    if (i > 0) values.empty_accumulated(i, P::v.round_weight, 1);
            });
        }
    }
};

} // namespace sinter::strategy_parts
