// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/reduced_step.hpp>
#include <sinter/strategy/synchronous/same_batch.hpp>
#include <sinter/strategy/synchronous/shard_states.hpp>
#include <sinter/strategy/synchronous/shard_sums.hpp>
#include <sinter/strategy/synchronous/step_commit.hpp>
#include <sinter/strategy/synchronous/tree_sum.hpp>
#include <sinter/strategy/synchronous/update_in_parts.hpp>
#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

/// One session for all synchronous strategies: mirrored, central_storage, canonical, multi_worker.
/// A batch is cut by example into shards. Each shard has a replica in this process or another,
/// which makes its gradients; they are added up, and everybody updates by the sum.
namespace sinter::inline SINTER_TARGET::detail {

/// Sums over this process's shards have the order of a binary tree (tree_sum.hpp), whatever the
/// number of threads; those over members that of the communicator, or, on request, of the tree.
///
/// A step allocates nothing (but, once, what a replica's may and what parts() and output() return).
/// Whatever is thrown comes before any parameter is changed; states are then as they were.
template <class Programs, other_processes Others = other_processes::update_all>
class synchronous_session : public step_commit<Programs, Others> {
    using replicas = step_commit<Programs, Others>;
    using replicas::distributed, replicas::Sharded, replicas::shared, replicas::peers, replicas::members_,
        replicas::shards_, replicas::alone_, replicas::team_, replicas::units_, replicas::shard_, replicas::batch_,
        replicas::at, replicas::filled, replicas::meet, replicas::own_shards, replicas::empty_gathered,
        replicas::numbers_, replicas::is_finite, replicas::values, replicas::sum_of_shards, replicas::joins_,
        replicas::joined_lists_;
    using typename replicas::device, typename replicas::unit, typename replicas::P0, typename replicas::shard,
        typename replicas::facts, typename replicas::all;
    template <int I>
    using training = typename Programs::template training<I>;

public:
    /// As shard_replicas is made.
    template <class Devices>
    SINTER_COLD synchronous_session(synchronous_setup s, Devices devices, int threads)
        : replicas(s, devices, threads), in_tree_order_(s.in_tree_order), all_shards_(this->member().count * shards_),
          states_(shards_, s.states), sums_(shards_, facts::most_sums(all{})) {
        operands_.assign(at(team_->size()), std::vector<const float*>(at(shards_)));
        of_bucket_.resize(at(facts::most_buckets(all{})));
        this->make_lists(all{});
        if constexpr (reads_all) this->let_updates_read_all(all{});
    }

    /// This member's part of a step; the result is the whole batch's, on every member.
    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        begin<I>(b, v);
        if (examples_ == 0) return result(0, false);
        try {
            team_->run([&](int thread) { work<I>(thread, v, observe); });
        } catch (...) {
            if (!this->has_updated()) this->template put_back<I>();
            throw;
        }
        this->end_commit();
        if (members_) members_->report(v.step + 1, totals_[loss]);
        return result(static_cast<float>(totals_[loss]), applied_);
    }

protected:
    /// Other members from now on (strategy/elastic.hpp); null: none, for the time being.
    SINTER_COLD void connect(std::unique_ptr<collective::communicator> m) {
        this->save_lists();
        members_ = std::move(m);
        all_shards_ = this->member().count * shards_;
        this->make_lists(all{});
    }
    /// Batches are cut into `of` shards from now on. This process has `own` of them, numbered from
    /// its index times so many on; those that are beyond the last are empty.
    template <class Devices>
    SINTER_COLD void share(int own, int of, Devices devices) {
        this->set_shards(own, devices);
        all_shards_ = of;
        for (auto& o : operands_) o.resize(at(own));
        states_.set_shards(own);
        sums_ = {own, facts::most_sums(all{})};
        this->make_lists(all{});
    }

    step_result last_result() const { return result(static_cast<float>(totals_[loss]), applied_); }
    /// Steps that change the model are sent there from now on (reduced_step.hpp); null: nowhere.
    void tell_steps(std::vector<std::byte>* to) {
        told_ = to;
        tell_ = [](synchronous_session& s, const step_values& v, bool updates) {
            detail::tell_step<P0>(*s.told_, v, updates, s.units_[0], s.places());
        };
    }
    /// Makes the update of a step that others have sent. data_error where it is no such step.
    SINTER_COLD void repeat_step(const std::vector<std::byte>& from) {
        detail::heard_step<P0> heard(from, units_, places());
        if (heard.updates) team_->run([&](int thread) { update<0>(thread, heard.values); });
    }

private:
    std::vector<std::byte>* told_ = nullptr;
    void (*tell_)(synchronous_session&, const step_values&, bool) = nullptr;

    auto places() {
        return [this](int k) { return this->template place<0>(0, P0::v.buckets[k].at); };
    }
    /// Do updates add up the gradients of all shards themselves? But those of tables.
    static constexpr int sources = P0::request::options.gradient_sources;
    static constexpr bool reads_all = sources > 1;
    static_assert(!reads_all || shared, "strategy_traits::gradient_sources: this device's replicas share no memory");
    /// What is added up over members. The last two: of a shared batch its size, which all must have, and its square.
    enum total { loss, not_finite, weight, stop, save, join, count_of_examples, count_of_shards, n_totals };
    using ticket = collective::ticket;

    bool in_tree_order_;
    int all_shards_;   ///< of all members
    std::vector<std::vector<const float*>> operands_;   ///< of a sum over shards, for each thread
    detail::shard_states<Programs> states_;
    detail::shard_sums<unit> sums_;

    // ---- of the step that is run
    std::array<double, n_totals> totals_{};
    std::int64_t examples_ = 0;   ///< of the whole batch
    int filled_ = 0;              ///< shards that have examples, over all members
    int last_ = -1;               ///< of this process's shards, the last that has; -1: none has
    bool applied_ = false;
    int next_bucket_ = 0;         ///< those before it have been started
    bool started_totals_ = false;
    ticket of_totals_ = 0;
    std::vector<ticket> of_bucket_;

    step_result result(float mean_loss, bool applied) const {
        return {.loss = mean_loss, .applied = applied, .stop = totals_[stop] > 0, .save = totals_[save] > 0,
                .examples = examples_, .loss_weight = totals_[weight], .join = totals_[join] > 0};
    }
    collective::operation operation(collective::kind what, std::int64_t step, collective::element type,
                                    int bucket = -1) const {
        return {.what = what, .type = type, .step = step, .bucket = bucket};
    }
    collective::kind summing() const {
        return in_tree_order_ ? collective::kind::all_reduce_tree : collective::kind::all_reduce;
    }
    void sum_now(double* x, int n, std::int64_t step) {
        if (members_)
            members_->wait(members_->start(operation(summing(), step, collective::element::f64), x, n, false));
    }

    // ---- before it: which shard has which examples
    template <int I>
    void begin(const batch_view& b, const step_values& v) {
        using P = training<I>;
        const membership me = this->member();
        const float* whole[std::size_t{P::v.n_inputs + P::v.n_targets + 1}];
        totals_ = {};
        totals_[stop] = v.stop, totals_[save] = v.save, totals_[join] = v.join;
        const int shards = all_shards_;
        if (this->per_worker()) {
            try {
                if (b.size < 0 || b.size > shards_ * P::v.max_batch)
                    detail::refuse_size(b.size, shards_ * P::v.max_batch);
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
            examples_ = b.size, filled_ = std::min(b.size, shards);
            totals_[count_of_examples] = b.size, totals_[count_of_shards] = static_cast<double>(b.size) * b.size;
        }
        last_ = -1;
        for (int i = 0; i < shards_; ++i) {
            const int number = me.index * shards_ + i;
            shard& s = shard_[at(i)];
            s = {this->per_worker()  ? detail::part_of_batch(b.size, i, shards_)
                 : number < shards ? detail::part_of_batch(b.size, number, shards)
                                   : detail::example_range{},
                 {.index = static_cast<std::uint64_t>(number), .global_batch = static_cast<int>(examples_)}};
            const float* ports[std::size_t{P::v.n_inputs + P::v.n_targets + 1}] = {};
            if (s.part.size) detail::move_ports<P>(whole, s.part.first, ports), last_ = i;
            units_[at(i)].template begin_step<I>(ports, s.part.size);
        }
        batch_ = b;
        this->template remember_program<I>();
        next_bucket_ = 0;
        started_totals_ = false;
        applied_ = true;
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
            if (thread == 0)
                this->template sum_loss_weights<I>([&](double* x, int n) { sum_now(x, n, v.step); });
            meet(thread);
        }
        constexpr int known = gathers ? cut.first_change : cut.first_update;
        pass_sync_points<I>(thread, v, begun, known, observe);
        constexpr bool marks = marks_launches<device> && std::is_same_v<Observer, runtime::unobserved>;
        const bool ends_round = !gathers || (v.step + 1) % detail::of_program::every<P> == 0;
        const bool aside = marks && joins_ && ends_round;
        const bool overlaps = aside || (distributed && shared && members_ && team_->size() == 1 && ends_round);
        own_shards(thread, [&](int i) {
            shard& s = shard_[at(i)];
            if (!filled(i)) return this->template leave_out<I>(i, v);
            if constexpr (marks && !gathers)
                if (aside) return units_[at(i)].template marked_stretch<I>(values(i, v), {begun, known}, marks_of<P>());
            s.finite = s.finite && stretch<I>(i, v, {begun, known}, observe, overlaps && !gathers);
            s.loss = units_[at(i)].template finish_step<I>();
            s.finite = s.finite && is_finite(s.loss);
            if (!shared && !peers && !gathers) this->template fetch<I>(i);
            if constexpr (!shared) this->template fetch_lists<I>(i);
        });
        meet(thread);
        if constexpr (gathers) {
            if (thread == 0) know_totals<I>(v);
            meet(thread);
            begun = known;
            if (applied_) gather<I>(thread, v, begun, observe, aside, overlaps);
            meet(thread);
        }
        const bool updates = ends_round && (!gathers || applied_);
        if constexpr (marks)
            if (aside && updates && thread == 0) send_marked<I>(v);
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
            if (thread == 0 && !this->member().chief()) empty_gathered(0, P::v.round_weight, 1);
        }
    }
    /// Of a step that is accumulated, once all know that its loss is finite: from launch `begun` on
    /// it is added to those before. In a round's last step what is ready is sent meanwhile: marks
    /// are set for that (`aside`), or it is started between the launches (`overlaps`).
    template <int I, class Observer>
    void gather(int thread, const step_values& v, int begun, Observer& observe, bool aside, bool overlaps) {
        using P = training<I>;
        constexpr int end = P::v.segments.first_update;
        pass_sync_points<I>(thread, v, begun, end, observe);
        if constexpr (marks_launches<device> && std::is_same_v<Observer, runtime::unobserved>)
            if (aside)
                return own_shards(thread, [&](int i) {   // one without examples may have gathered before
                    const runtime::launch_range left{filled(i) ? begun : end, end};
                    units_[at(i)].template marked_stretch<I>(values(i, v), left, marks_of<P>());
                });
        if (begun < end) run_own<I>(thread, v, {begun, end}, observe, overlaps);
        if (!shared && !peers && !aside && (v.step + 1) % detail::of_program::every<P> == 0)
            own_shards(thread, [&](int i) { this->template fetch<I>(i); });
    }
    /// These launches, of this thread's shards that have examples. `sends`: also what is ready.
    template <int I, class Observer>
    void run_own(int thread, const step_values& v, runtime::launch_range launches, Observer& observe,
                 bool sends = false) {
        own_shards(thread, [&](int i) {
            shard& s = shard_[at(i)];
            if (!filled(i) || !s.finite) return;
            s.finite = stretch<I>(i, v, launches, observe, sends);
        });
    }
    /// These launches, of shard i. `sends`: what is ready is sent meanwhile.
    template <int I, class Observer>
    bool stretch(int i, const step_values& v, runtime::launch_range launches, Observer& observe, bool sends) {
        if constexpr (!distributed && std::is_same_v<Observer, runtime::unobserved>)   // as other programs are run
            return units_[at(i)].template stretch<I>(values(i, v), launches, alone_);
        else
            return units_[at(i)].template stretch<I>(values(i, v), launches, alone_, [&](int launch, bool before) {
                if (i == 0) observe(launch, before);
                if constexpr (distributed)
                    if (sends && i == last_ && !before) start_ready<I>(launch, v, true, true);
            });
    }
    /// From launch `next` up to the last sum over all shards before `end`, which are made; `next`
    /// is then the launch behind it.
    template <int I, class Observer>
    void pass_sync_points(int thread, const step_values& v, int& next, int end, Observer& observe) {
        using P = training<I>;
        if constexpr (P::v.n_sync_points > 0)
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

    // ---- sums
    template <int I>
    void join_bucket(int k, int thread, int threads) {
        const compiler::gradient_bucket& b = training<I>::v.buckets[k];
        if (b.is_list()) return thread == 0 ? this->template join_lists<I>(b) : void();
        if (shards_ == 1 || (reads_all && b.parameter < 0)) return;
        std::vector<const float*>& from = operands_[at(thread)];
        for (int i = 0; i < shards_; ++i) from[at(i)] = this->template place<I>(i, b.at);
        const std::int64_t lines = b.floats / 16;
        detail::tree_sum(this->template place<I>(0, b.at), from.data(), shards_, lines * thread / threads,
                         lines * (thread + 1) / threads);
    }
    template <int I>
    void join_gradients(int thread) {
        if constexpr (peers) this->template join_on_devices<I>(thread);
        for (int k = 0; k < training<I>::v.n_buckets; ++k)
            if (!peers || training<I>::v.buckets[k].is_list()) join_bucket<I>(k, thread, team_->size());
    }
    void sum_totals() {
        totals_[loss] = sum_of_shards([&](int i) { return static_cast<double>(shard_[at(i)].loss); });
        totals_[not_finite] = sum_of_shards([&](int i) { return shard_[at(i)].finite ? 0. : 1.; });
        totals_[weight] = sum_of_shards([&](int i) { return units_[at(i)].loss_weight(); });
    }
    void start_totals(const step_values& v, bool more) {
        sum_totals();
        started_totals_ = true;
        if (members_)
            of_totals_ = members_->start(operation(summing(), v.step, collective::element::f64), totals_.data(),
                                         this->per_worker() ? stop : n_totals, more);
    }
    void wait_for_totals(const step_values& v) {
        if (members_) members_->wait(of_totals_);
        if (members_ && !this->per_worker())
            detail::need_one_batch(*members_, &totals_[count_of_examples], examples_, v.step);
        const auto l = static_cast<float>(totals_[loss]);
        applied_ = totals_[not_finite] == 0 && is_finite(l);
    }
    template <int I>
    void know_totals(const step_values& v) {
        start_totals(v, false);
        wait_for_totals(v);
        if (!applied_) this->template put_back<I>();
    }
    /// Buckets that are final behind this launch, in order; before the first of them, the totals.
    /// `joins`: adds up this process's before. `more`: the step goes on meanwhile.
    template <int I>
    void start_ready(int launch, const step_values& v, bool joins, bool more) {
        using P = training<I>;
        if (!started_totals_) {
            if (launch < detail::of_program::loss_launch<P>) return;
            if (more) read_last_loss<I>();
            start_totals(v, more);
        }
        for (; next_bucket_ < P::v.n_buckets && P::v.buckets[next_bucket_].final_after <= launch; ++next_bucket_) {
            const compiler::gradient_bucket& b = P::v.buckets[next_bucket_];
            if (joins) join_bucket<I>(next_bucket_, 0, 1);
            of_bucket_[at(next_bucket_)] = start_bucket<I>(next_bucket_, b, v, more);
        }
    }
    template <class P>
    static constexpr runtime::launch_marks marks_of() {
        return {detail::of_program::marks<P>.all, P::v.n_buckets + 1};
    }
    /// While devices work: the totals, where they are not known; then each bucket once it is final.
    template <int I>
    void send_marked(const step_values& v) {
        using P = training<I>;
        for (int i = 0; i < shards_ && !started_totals_; ++i) {
            shard& s = shard_[at(i)];
            if (!filled(i)) continue;
            units_[at(i)].template follow<I>(P::v.n_buckets);
            s.loss = units_[at(i)].template finish_aside<I>();
            s.finite = s.finite && is_finite(s.loss);
        }
        if (!started_totals_) start_totals(v, true);
        for (int k = 0; k < P::v.n_buckets; ++k) {
            const compiler::gradient_bucket& b = P::v.buckets[k];
            if (b.is_list()) this->template fetch_lists_aside<I>(k);
            else this->template join_aside<I>(k);
            if (b.is_list() || !peers) join_bucket<I>(k, 0, 1);
            if constexpr (distributed)
                if (members_) of_bucket_[at(k)] = start_bucket<I>(k, b, v, true);
        }
        next_bucket_ = P::v.n_buckets;
        for (unit& u : units_) u.wait_aside();
    }
    template <int I>
    ticket start_bucket(int k, const compiler::gradient_bucket& b, const step_values& v, bool more) {
        if constexpr (training<I>::v.n_lists > 0)
            if (b.is_list()) {
                detail::list_exchange& l = this->template list_of<I>(b);
                return members_->start(operation(collective::kind::all_gather_rows, v.step, collective::element::u8, k),
                                       l.slots(), l.slot_bytes(), more);
            }
        collective::kind how = summing();
        if constexpr (Sharded)
            if (training<I>::v.reach == compiler::update_reach::own_gradient &&
                detail::of_program::in_parts<training<I>>(k))
                how = in_tree_order_ ? collective::kind::reduce_scatter_tree : collective::kind::reduce_scatter;
        return members_->start(operation(how, v.step, collective::element::f32, k), this->template place<I>(0, b.at),
                               b.floats, more);
    }
    template <int I>
    void read_last_loss() {
        shard& s = shard_[at(last_)];
        s.loss = units_[at(last_)].template finish_step<I>();
        s.finite = is_finite(s.loss);
    }
    /// All that is left to be sent, and waiting for it. `gradients`: they are reduced in this step.
    /// `joins`: this process's have not been added up yet.
    template <int I>
    void exchange(const step_values& v, bool gradients, bool joins) {
        using P = training<I>;
        if (!started_totals_) start_totals(v, false);
        if constexpr (distributed)
            if (members_ && gradients) start_ready<I>(P::v.n_launches, v, joins, false);
        sum_states(v);
        if (!unit::gathers()) wait_for_totals(v);
        if (members_ && gradients)
            for (int k = 0; k < P::v.n_buckets; ++k) members_->wait(of_bucket_[at(k)]);
        if (!applied_) return this->template put_back<I>();
        this->template join_members_lists<I>();
        if constexpr (unit::gathers())
            if (gradients)
                this->template sum_round_weight<I>([&](double* x, int n) { sum_now(x, n, v.step); });
        if constexpr (replicas::Copied)
            if (gradients) this->template commit<I>(v, of_bucket_, &synchronous_session::template update_again<I>);
        if (members_ || shards_ > 1) states_.put(units_, filled_);
        if constexpr (distributed)
            if (told_) tell_(*this, v, gradients);
    }
    void sum_states(const step_values& v) {
        if (!members_ && shards_ == 1) return;
        const std::int64_t n = states_.join(units_, [&](int i) { return filled(i); });
        if (members_ && n)
            members_->wait(
                members_->start(operation(summing(), v.step, collective::element::f32), states_.joined(), n, false));
    }

    // ---- the second half
    /// Of a step that others have updated by already: this member's part of that.
    template <int I>
    SINTER_COLD void update_again(const step_values& v) {
        using P = training<I>;
        states_.put(units_, filled_);
        if constexpr (unit::gathers()) units_[0].write(P::v.round_weight, &this->round_weight_, 1);
        const runtime::step_arguments now{nullptr, v.scalars, v.seed, v.step, 1, false, {P::v.segments.first_update}};
        team_->run([&](int t) { detail::update_kept_parts<I>(units_[0], *team_, t, replicas::kept_, now); });
    }
    template <int I>
    void update(int thread, const step_values& v) {
        using P = training<I>;
        if constexpr (shared) {
            runtime::step_arguments now{nullptr, v.scalars, v.seed, v.step, 1, false, {P::v.segments.first_update}};
            bool in_parts = false;
            if constexpr (Sharded) in_parts = members_ != nullptr;
            if constexpr (Sharded)
                if (in_parts) {
                    detail::update_kept_parts<I>(units_[0], *team_, thread, replicas::kept_, now);
                    meet(thread);
                    if (thread == 0) detail::gather_parts<I>(units_[0], *members_, v.step, of_bucket_);
                }
            if (!in_parts) units_[0].template runner<I>().run_share(*team_, thread, now);
            if constexpr (unit::gathers())
                own_shards(thread, [&](int i) {   // the next round begins
                    for (int k = 0; i > 0 && k < P::v.n_buckets; ++k)
                        std::fill_n(this->template place<I>(i, P::v.buckets[k].at), P::v.buckets[k].floats, -0.f);
                    if (i > 0) empty_gathered(i, P::v.round_weight, 1);
                });
        } else {
            if constexpr (peers) this->template spread_on_devices<I>(thread);
            own_shards(thread, [&](int i) {
                for (int k = 0; !peers && k < P::v.n_buckets; ++k)
                    if (!P::v.buckets[k].is_list())
                        units_[at(i)].write(P::v.buckets[k].at, this->template place<I>(0, P::v.buckets[k].at),
                                            P::v.buckets[k].floats);
                if constexpr (P::v.n_lists > 0)
                    if (joins_) units_[at(i)].template place_lists<I>(joined_lists_.data());
                units_[at(i)].template update<I>(v);
                if constexpr (unit::gathers())   // what all have gathered, the first alone remembers
                    if (i > 0) empty_gathered(i, P::v.round_weight, 1);
            });
        }
    }
};

} // namespace sinter::detail
