// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/checked_communicator.hpp>
#include <sinter/strategy/elastic/accumulation_log.hpp>
#include <sinter/strategy/elastic/operation_log.hpp>
#include <sinter/strategy/elastic/slot_partition.hpp>
#include <sinter/strategy/elastic/state_transfer.hpp>
#include <sinter/strategy/elastic/undo_log.hpp>
#include <sinter/strategy/synchronous/session.hpp>
#include <bit>
#include <functional>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// A process in a job whose members may end and come again.
enum class join_state : std::uint8_t {
    member,
    waiting,   ///< it has not joined the job yet: it is not the chief, and not alone
    passive,   ///< it has joined, and what it calls does nothing until take_part(): what hooks write at the beginning
               ///< of a run or an epoch the others wrote at theirs, and what they have given has it
    ended   ///< it takes no part any more
};

/// What members of a synchronous job that may end and come again do together.
///
/// All that members do together is an operation: a step, a sum, a broadcast... Where one fails, those that live agree
/// on who they are (collective::elastic_job), make a new group, and do the operation again; the batch of a step is then
/// cut anew. Who had completed it already, and was notified of the failure in the next one, gives its result to the
/// others: sums, or weights, slots and states. So all that go on have the same numbers, and an operation has counted
/// once, for those who took part in it.
///
/// A process that joins later is given the model's state by the last member, while all go on (state_transfer.hpp). Once
/// it has caught up it becomes a member behind a step, and is given what else the run has (admit(), join()). Until then
/// what it calls does nothing.
///
/// `Shards`: into which each batch is cut, whoever computes them (canonical<S>); 0: one for each member. Of members
/// that are no power of two the last ones have no shards, and add nothing: so the order of sums is the tree's, whoever
/// is there.
template <class Core, int Shards>
class elastic_operations {
    using P0 = typename Core::P0;
    using result = result_kind;
    using excluded_member = collective::excluded_member;
    using image = model_image<Core>;

public:
    /// The process is a member of the job, or waits to join it.
    template <class Strategy>
    SINTER_COLD elastic_operations(const Strategy& s, Core& core, std::unique_ptr<collective::elastic_job> job)
        : core_(core), job_(std::move(job)), writes_(core), round_(core), slots_(core), transfer_(core, *job_),
          devices_([s](int i) { return s.device_options(i); }), check_every_(s.check_sums_every()) {
        // Not in the class: clang would then miss all that comes after it.
        static_assert(!Core::copied || Core::programs::n_training == 1,
                      "elastic(sharded_update(...)): a model that one loss trains, not several that alternate");
        collective::elastic_job::group g = job_->begin();
        if (g.members == nullptr) {
            state_ = join_state::waiting;
            transfer_.wait_for_state();
        }
        enter(std::move(g));
        chief_since_ = log_.made_in = job_->epoch();
        if (state_ == join_state::member) slots_.begin(job_->epoch());
    }
    elastic_operations(const elastic_operations&) = delete;
    elastic_operations& operator=(const elastic_operations&) = delete;

    template <int I, class Observer>
    step_result step(const batch_view& b, const step_values& v, Observer observe) {
        need_member();
        step_values mine = v;
        mine.join = job_->somebody_waits();
        transfer_.begin_step();
        round_.begin_step(b, v);
        perform(result::step, [&] { log_.step = core_.template step<I>(b, mine, observe); });
        round_.end_step(log_.step.applied);
        log_.step.join = log_.step.join && round_.empty();   // who joins has nothing of a round
        transfer_.end_step(log_.step, round_.empty());
        return log_.step;
    }
    void publish() {
        const bool begins = round_.load();
        perform(result::weights, [&] { core_.values.publish(); });
        round_.begin_loaded();
        // Without steps nothing is sent, and what nobody waits for is no operation: members may be two apart.
        if ((begins || !round_.empty()) && !leaves_out()) {
            if (round_.has_steps()) perform(result::none, [&] { round_.repeat(); });
            else round_.repeat();
        }
        transfer_.add_image();
    }
    /// Of what is accumulated in a round, or of which each member keeps a part: a call of all members.
    void read(compiler::address from, float* to, std::int64_t n) {
        if (!is_read_together(from)) return core_.values.read(from, to, n);
        if (leaves_out()) return core_.replicas.first().read(from, to, n);
        perform_on({reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(n) * sizeof(float)},
                   [&] { core_.values.read(from, to, n); });
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (state_ == join_state::passive) return;
        round_.note_write(to);
        writes_.write(to, from, n);
    }
    void clear_slots() {
        if (state_ != join_state::passive) writes_.clear_slots();
    }
    void reduce(span<double> x) {
        perform_on({reinterpret_cast<std::byte*>(x.data()), x.size() * sizeof(double)},
                   [&] { core_.members.reduce(x); });
    }
    void broadcast(span<std::byte> x) {
        perform_on(x, [&] { core_.members.broadcast(x); });
    }
    membership member() const {
        if (state_ == join_state::waiting || state_ == join_state::ended) return {1, 2};
        return core_.members.place();
    }
    /// Of what this member throws the others are notified, and need not wait for it.
    void fail(const char* why) {
        job_->end();
        core_.members.fail(why);
    }
    void checkpoint_saved(const std::string& file) { slots_.checkpoint_saved(file); }
    /// How this process got the model's state when it joined.
    const collective::healing_counts& healed_by() const { return transfer_.counts(); }

    // ---- of members that change: joining_calls
    join_state state() const { return state_; }
    std::int64_t made_in() const { return log_.made_in; }
    std::int64_t chief_since() const { return chief_since_; }
    SINTER_COLD void admit(std::vector<std::byte> run) {
        if (leaves_out()) return;
        transfer_.finish();
        run_ = std::move(run);   // log_.bytes may still be asked for: see perform_on()
        const auto give = [&] { hand_over(); };
        log_.doing = {result::bytes};
        if (notifying([&] { return again(job_->fault("members change"), give, true, true); }))
            log_.bytes = std::move(run_), log_.made_in = job_->epoch();
        count();
        transfer_.stop();
    }
    SINTER_COLD std::vector<std::byte> join() {
        bool first = true;
        for (;;) try {
                core_.connect(nullptr);
                if (first) transfer_.follow();
                collective::elastic_job::group g =
                    first ? job_->wait_for_place() : job_->regroup(log_.done, false, true, -1);
                first = false;
                log_.done = wire::done_of(of_self(g.list).progress);
                enter(std::move(g));
                settle();
                transfer_.give_state(list_, has_state());
                const bool has_it = catch_up();
                slots_.divide(job_->epoch());
                if (!has_it) hand_over(), log_.made_in = job_->epoch();
                break;
            } catch (const excluded_member& e) {
                end(e);
            } catch (const cluster_error&) {   // somebody died meanwhile, or the new members could not connect
                if (std::exchange(first, false)) log_.done = wire::done_of(of_self(job_->list()).progress);
            }
        count();
        state_ = join_state::passive;
        const auto& h = transfer_.counts();
        job_->report({job_->own(), " was given the state: ", h.images, " images, and ", h.steps, " steps to repeat"},
                  message_level::detailed);
        return log_.bytes;
    }
    void say_joined(std::int64_t step, int epoch) const {
        job_->report({job_->own(), " joins the job behind step ", step, ", in epoch ", epoch});
    }
    void take_part() {
        if (!leaves_out()) return;
        state_ = join_state::member;
        round_.forget_writes();   // at the beginning of a round, whose sums are the others'
        round_.clear();
        round_.repeat();
    }

private:
    static constexpr int most_tries = 3;   // with the same members: then it is not they who are at fault

    Core& core_;
    std::unique_ptr<collective::elastic_job> job_;
    wire::member_list list_;
    join_state state_ = join_state::member;
    operation_log log_;
    undo_log<Core> writes_;
    accumulation_log<Core> round_;
    slot_partition<Core> slots_;
    state_transfer<Core> transfer_;
    std::function<typename Core::set::device::options(int)> devices_;
    std::vector<std::byte> run_;     ///< for those that are being admitted
    std::int64_t behind_ = 0;        ///< steps made in the group before: for errors
    std::int64_t chief_since_ = 0, check_every_ = 0;
    bool chief_ = false;
    std::unique_ptr<cluster_error> ended_by_;

    /// Whether what this process calls does nothing.
    bool leaves_out() const { return state_ == join_state::waiting || state_ == join_state::passive; }
    /// Whether it has the model's state.
    bool has_state() const { return state_ != join_state::waiting; }
    void need_member() const {
        if (ended_by_) throw *ended_by_;
        if (state_ == join_state::waiting)
            throw option_error("a process that joins a job that runs does so in train()", "elastic session", "a step",
                               "train(), or train_and_evaluate()");
    }
    static constexpr bool is_read_together(compiler::address a) {
        using values = decltype(Core::values);
        if (Core::accumulates && values::is_accumulated(a) && !values::is_same_everywhere(a)) return true;
        return Core::copied && a.where() == compiler::space::slot;
    }
    const wire::member_entry& of_self(const wire::member_list& l) const {
        for (const wire::member_entry& s : l.entries)
            if (s.slot == job_->slot()) return s;
        throw excluded_member(job_->fault("this process is not among the members"));
    }
    const wire::member_entry& member_at(int rank) const { return list_.entries[static_cast<std::size_t>(rank)]; }

    /// f() until it is done.
    template <class F>
    void perform(result k, F f) {
        if (leaves_out()) return;
        if (ended_by_) throw *ended_by_;
        if (k != result::bytes) log_.doing = {k, 0};
        const bool own = notifying([&] {
            try {
                f();
                return true;
            } catch (const cluster_error& e) {
                return again(e, f);
            }
        });
        if (own) log_.made_in = job_->epoch();
        count();
    }
    /// An operation is over.
    void count() {
        log_.end();
        writes_.begin(core_.members.place().count > 1);
    }
    /// f() changes x, which is what all are to have afterwards.
    template <class F>
    void perform_on(span<std::byte> x, F f) {
        if (leaves_out()) return;
        log_.begin(x);
        // Until f() is over log_.bytes stays the result of the operation before, which others may still be in.
        perform(result::bytes, [&] {
            log_.restore(x);
            f();
            log_.bytes.assign(x.begin(), x.end());
        });
        if (log_.bytes.size() != x.size())
            throw excluded_member(
                job_->fault("members called different operations: the result of another one has another size"));
        if (!log_.bytes.empty()) std::memcpy(x.data(), log_.bytes.data(), x.size());
    }
    /// Whether this member has done it itself, with those that are left.
    template <class F>
    SINTER_COLD bool again(cluster_error e, F& f, bool admits = false, bool nobody_died = false) {
        for (int in_vain = 0;;) {
            const std::size_t before = list_.entries.size();
            if (!nobody_died) job_->report({e.what()}, message_level::detailed);
            try {
                regroup(admits, nobody_died ? -1 : e.rank());
                nobody_died = false;
                const bool completed = settle();
                transfer_.give_state(list_, has_state());
                const bool has_it = catch_up() || completed;
                slots_.divide(job_->epoch());
                core_.end_commit();
                if (has_it) {
                    round_.end_step(log_.step.applied);
                    round_.begin_loaded();
                }
                round_.repeat();
                if (has_it) return completed;
                writes_.write_again();
                f();
                return true;
            } catch (const excluded_member& last) {
                end(last);
            } catch (const cluster_error& next) {
                e = next;
            }
            if (list_.entries.size() >= before && ++in_vain == most_tries) end(e);
        }
    }
    /// f(). What it throws for this member alone, which lacks memory, files or threads, the others are notified of:
    /// they need not wait for it.
    template <class F>
    bool notifying(F f) {
        try {
            return f();
        } catch (const std::bad_alloc&) {
            give_up("it has no memory left");
            throw;
        } catch (const io_error& e) {
            give_up(e.what());
            throw;
        } catch (const device_error& e) {
            give_up(e.what());
            throw;
        }
    }
    SINTER_COLD void give_up(const char* why) noexcept try {
        fail(why);
    } catch (...) {   // no memory for it: its service says so when it is asked
    }
    [[noreturn]] SINTER_COLD void end(const cluster_error& e) {
        job_->end();
        core_.connect(nullptr);
        ended_by_ = std::make_unique<cluster_error>(e);
        state_ = join_state::ended;
        throw *ended_by_;
    }
    SINTER_COLD void regroup(bool admits, int suspect) {
        if (core_.members) behind_ = core_.members->steps_done();
        core_.connect(nullptr);
        enter(job_->regroup(log_.done, has_state(), admits, suspect));
    }
    void enter(collective::elastic_job::group g) {
        const bool was_chief = chief_;
        list_ = std::move(g.list);
        core_.connect(collective::checked(std::move(g.members), check_every_));
        if (!core_.members) return;
        core_.members->set_steps_done(behind_);
        const membership me = core_.members.place();
        if constexpr (Shards > 0) {
            const int most = std::min(me.count, Shards);
            core_.share(Shards / static_cast<int>(std::bit_floor(static_cast<unsigned>(most))), Shards, devices_);
        }
        chief_ = me.chief();
        if (chief_ && !was_chief) chief_since_ = job_->epoch();
    }

    /// Whether others have not completed this member's last operation.
    bool others_are_behind(std::int64_t done) const {
        for (const wire::member_entry& s : list_.entries)
            if (wire::done_of(s.progress) < done) return true;
        return false;
    }
    /// In a new group: those that have completed one operation more give its result to those that have not; true: this
    /// member is one of the latter.
    SINTER_COLD bool catch_up() {
        const int from = transfer_.source(list_);
        const std::int64_t most = wire::done_of(member_at(from).progress);
        std::int64_t least = most;
        for (const wire::member_entry& s : list_.entries) least = std::min(least, wire::done_of(s.progress));
        if (least == most) return false;
        const std::int64_t mine = wire::done_of(of_self(list_).progress);
        if (mine < most - 1)
            throw excluded_member(job_->fault("this process is more than one operation behind the others"));
        auto& c = *core_.members;
        const bool gives = c.rank() == from, lacks = mine < most;
        const operation_result& last = lacks ? log_.doing : log_.did;
        const bool of_model = last.kind == result::step || last.kind == result::weights;
        strategy_parts::result_header sent{.made_in = log_.made_in, .kind = last.kind};
        sent.set(log_.step);
        if (gives && of_model) log_.bytes = image::of(core_);
        if (gives && last.kind != result::none) sent.bytes = std::ssize(log_.bytes);
        c.broadcast({reinterpret_cast<std::byte*>(&sent), sizeof sent}, from);
        constexpr std::int64_t size = std::int64_t{image::bytes()}, run = collective::most_of_run(size);
        need_result(sent, from, last.kind,
                    {size, std::max<std::int64_t>(last.bytes, 0), last.bytes < 0 ? run : last.bytes}, job_->epoch());
        std::vector<std::byte> other;
        std::vector<std::byte>& to = lacks || gives ? log_.bytes : other;
        to.resize(static_cast<std::size_t>(sent.bytes));
        c.broadcast({to.data(), to.size()}, from);
        if (!lacks) return false;
        log_.made_in = sent.made_in;
        if (of_model) transfer_.put(log_.bytes);
        if (last.kind == result::step) log_.step = sent.step();
        return true;
    }
    /// In the group of admit(): those that join are given the run.
    SINTER_COLD void hand_over() {
        if (!transfer_.somebody_joins(list_)) return;
        const int from = transfer_.source(list_);
        auto& c = *core_.members;
        std::int64_t n[1] = {std::ssize(run_)};
        c.broadcast({reinterpret_cast<std::byte*>(n), sizeof n}, from);
        collective::need_sent(from, "giving the run to one that joins", "bytes", n[0], 0,
                              collective::most_of_run(image::bytes()));
        std::vector<std::byte> other;
        std::vector<std::byte>& to = has_state() ? c.rank() == from ? run_ : other : log_.bytes;
        to.resize(static_cast<std::size_t>(n[0]));
        c.broadcast({to.data(), to.size()}, from);
    }
    /// In a new group, where each member keeps a part of the slots: who has which; and whether this member's last step
    /// was completed.
    SINTER_COLD bool settle() {
        const std::int64_t done = wire::done_of(of_self(list_).progress);
        const std::string lost = slots_.meet(done, has_state(), job_->most());
        if (!lost.empty()) throw excluded_member(job_->fault(lost));
        if (others_are_behind(done)) writes_.take_back();
        else writes_.write_again();   // those that were have died
        const bool completed = slots_.settle(done, has_state());
        if (completed) log_.step = core_.result();
        return completed;
    }
};

/// The session of elastic(): see elastic_operations. Where members stay the same (this process evaluates, or elastic is
/// off) it is a synchronous_session.
template <class Programs, int Shards = 0, other_processes Others = other_processes::update_all>
class elastic_session final : public session_of_core<Programs, Others>, public joining_calls {
    using base = session_of_core<Programs, Others>;
    using base::core_;

public:
    static constexpr bool members_change = true;

    template <class Strategy>
    SINTER_COLD elastic_session(const Strategy& s, int threads) : base(s, threads) {
        if (auto job = s.job(strategy_parts::identity_of<Programs>(s.policy())))
            job_ = std::make_unique<operations>(s, *core_, std::move(job));
    }

    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        return job_ ? job_->template step<I>(b, v, observe) : core_->template step<I>(b, v, observe);
    }
    void read(compiler::address from, float* to, std::int64_t n) const override {
        job_ ? job_->read(from, to, n) : core_->values.read(from, to, n);   // who the members are may change
    }
    void write(compiler::address to, const float* from, std::int64_t n) override {
        job_ ? job_->write(to, from, n) : core_->values.write(to, from, n);
    }
    void clear_slots() override { job_ ? job_->clear_slots() : core_->values.clear_slots(); }
    void publish() override { job_ ? job_->publish() : core_->values.publish(); }
    membership member() const override { return job_ ? job_->member() : core_->members.place(); }
    void reduce(span<double> x) override { job_ ? job_->reduce(x) : core_->members.reduce(x); }
    void broadcast(span<std::byte> x) override { job_ ? job_->broadcast(x) : core_->members.broadcast(x); }
    void fail(const char* why) override { job_ ? job_->fail(why) : core_->members.fail(why); }
    void checkpoint_saved(const std::string& file) override {
        if (job_) job_->checkpoint_saved(file);
    }
    /// How this process got the model's state when it joined a job.
    collective::healing_counts healed_by() const { return job_ ? job_->healed_by() : collective::healing_counts{}; }

    /// Steps of a round are kept, and computed again by the others where a member dies in it: whole batches.
    batch_share own_share() const override {
        return core_->accumulates ? batch_share{} : base::own_share();
    }
    joining_calls* joining() override { return this; }
    bool waits() const override { return job_ && job_->state() == join_state::waiting; }
    bool is_passive() const override { return job_ && job_->state() == join_state::passive; }
    std::int64_t made_in() const override { return job_ ? job_->made_in() : 0; }
    std::int64_t chief_since() const override { return job_ ? job_->chief_since() : 0; }
    std::vector<std::byte> join() override { return job_->join(); }
    void take_part() override {
        if (job_) job_->take_part();
    }
    void admit(std::vector<std::byte> run) override {
        if (job_) job_->admit(std::move(run));
    }
    void say_joined(std::int64_t step, int epoch) const override { job_->say_joined(step, epoch); }

private:
    using operations = elastic_operations<synchronous_core<Programs, Others>, Shards>;
    std::unique_ptr<operations> job_;   ///< null where members stay the same
};

} // namespace sinter::strategy_parts
