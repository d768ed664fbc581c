// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/checked_communicator.hpp>
#include <sinter/strategy/elastic/healing_session.hpp>
#include <sinter/strategy/elastic/told_result.hpp>
#include <bit>
#include <functional>

namespace sinter::inline SINTER_TARGET::detail {

/// A synchronous session whose members may end and come again.
///
/// All that members do together is an operation: a step, a sum, a broadcast... Where one fails,
/// those that live agree on who they are (collective::elastic_job), make a new group, and do the
/// operation again; the batch of a step is then cut anew. Who had completed it already, and was
/// notified of the failure in the next one, gives its result to the others: sums, or weights, slots and
/// states. So all that go on have the same numbers, and an operation has counted once, for those
/// who took part in it.
///
/// A process that joins later is healed by the last member, while all go on: that one sends it the
/// model's state as it is behind some step, and of each step from there on what the members have
/// made of it together (reduced_step.hpp), by which the other makes the same updates. Once it has
/// caught up it becomes a member behind a step, and is given what else the run has (admit(),
/// join()). Until then what it calls does nothing. Whether it has the same bits is compared then;
/// if not, or where steps cannot be sent so, it is given the state in the group, and all wait for
/// that.
///
/// `Shards`: into which each batch is cut, whoever computes them (canonical<S>); 0: one for each
/// member. Of members that are no power of two the last ones have no shards, and add nothing: so
/// the order of sums is the tree's, whoever is there.
template <class Programs, int Shards = 0, other_processes Others = other_processes::update_all>
class elastic_replicas : public detail::healing_session<Programs, Others> {
    using base = detail::healing_session<Programs, Others>;
    using replicas = shard_replicas<Programs, Others>;
    using unit = replica<Programs>;
    using P0 = typename Programs::template training<0>;
    using left_behind = collective::left_behind;
    using base::gathers, base::round_, base::loads_, base::tells, base::job_, base::list_, base::healed_, base::step_,
        base::told_, base::healer_, base::of_self, base::source, base::somebody_joins, base::set_weights, base::heal,
        base::stop_healing, base::wait_and_follow, base::heal_in_group, base::at_;
    static_assert(!base::Copied || Programs::n_training == 1,
                  "elastic(sharded_update(...)): a model that one loss trains, not several that alternate");

public:
    template <class Strategy>
    SINTER_COLD elastic_replicas(const Strategy& s, int threads) : base(s, threads) {
        devices_ = [s](int i) { return s.device_options(i); };
        job_ = s.job(detail::identity_of<Programs>(s.policy()));
        if (!job_) return;   // this process evaluates, or elastic is off
        check_every_ = s.check_sums_every();
        collective::elastic_job::group g = job_->begin();
        waits_ = quiet_ = g.members == nullptr;
        healed_ = !waits_;
        if (waits_ && tells) job_->may_join(false);
        enter(std::move(g));
        chief_since_ = made_in_ = job_->epoch();
        if (!waits_) base::begin_parts(job_->epoch());
    }

    template <int I = 0, class Observer = runtime::unobserved>
    step_result step(const batch_view& b, const step_values& v, Observer observe = {}) {
        if (!job_) return base::template step<I>(b, v, observe);
        need_to_speak();
        step_values mine = v;
        mine.join = job_->somebody_waits();
        if (healer_ && healer_->is_broken()) stop_healing();
        told_.clear();
        if constexpr (gathers) base::made_ = {&b, &v};
        perform(result::step, [&] { step_ = base::template step<I>(b, mine, observe); });
        if constexpr (gathers) base::note_step(step_.applied);
        step_.join = step_.join && round_.empty();   // who joins has nothing of a round
        heal();
        return step_;
    }
    void publish() {
        bool begins = false;
        if constexpr (gathers)
            if ((begins = std::exchange(loads_, false))) base::load_round();
        perform(result::weights, [&] { base::publish(); });
        if constexpr (gathers) {
            round_.begin_loaded();
            // Without steps nothing is sent, and what nobody waits for is no operation: members may be two apart.
            const bool repeats = (begins || !round_.empty()) && job_ && !quiet_;
            if (repeats && round_.has_steps()) perform(result::none, [&] { base::repeat_round(); });
            else if (repeats) base::repeat_round();
        }
        if (healer_) healer_->add(collective::healing::image, base::weights());
    }
    /// Of what is gathered in a round, or of which each member keeps a part: a call of all members.
    void read(compiler::address from, float* to, std::int64_t n) const {
        if constexpr (gathers)
            if (job_ && replicas::is_gathered(from) && !replicas::is_same_everywhere(from))
                return read_together(from, to, n);
        if constexpr (base::Copied)
            if (job_ && from.where() == compiler::space::slot) return read_together(from, to, n);
        base::read(from, to, n);
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (is_quiet()) return;
        if constexpr (gathers) loads_ = loads_ || replicas::is_gathered(to);
        base::write(to, from, n);
    }
    void clear_slots() {
        if (!is_quiet()) base::clear_slots();
    }
    void reduce(span<double> x) {
        perform_on(as_writable_bytes_of(x), [&] { base::reduce(x); });
    }
    void barrier() {
        perform_on({}, [&] { base::barrier(); });
    }
    void broadcast(span<std::byte> x) {
        perform_on(x, [&] { base::broadcast(x); });
    }
    /// Before it has joined a process is not the chief, and not alone.
    membership member() const {
        if (waits_ || broken_) return {1, 2};
        return base::member();
    }
    /// Of what this member throws the others are notified, and need not wait for it.
    void fail(const char* what) {
        if (job_) job_->end();
        base::fail(what);
    }

    // ---- of members that change
    /// Whether this process has not joined the job yet.
    bool waits() const { return waits_; }
    /// Whether it has joined and does not speak yet: what hooks write at the beginning of a run or
    /// an epoch the others wrote at theirs, and what they have given has it. So it is left out here.
    bool is_quiet() const { return quiet_ && !waits_; }
    /// The epoch of those who did the last operation: the same number on all members.
    std::int64_t made_in() const { return made_in_; }
    /// The epoch in which this process became the chief; 0 where members do not change.
    std::int64_t chief_since() const { return job_ ? chief_since_ : 0; }
    /// All members call it, at a place that a saved run has; who waits joins and is given `run`.
    SINTER_COLD void admit(std::vector<std::byte> run) {
        if (!job_ || quiet_) return;
        if (healer_ && healer_->is_ready()) healer_->finish();
        run_ = std::move(run);   // bytes_ may still be asked for: see perform_on()
        const auto give = [&] { hand_over(); };
        doing_ = {result::bytes};
        if (telling([&] { return again(job_->fault("members change"), give, true, true); }))
            bytes_ = std::move(run_), made_in_ = job_->epoch();
        count();
        stop_healing();
    }
    /// Waits until the members admit this process; what they give it. It stays quiet until speak().
    SINTER_COLD std::vector<std::byte> join() {
        bool first = true;
        for (;;) try {
                base::connect(nullptr);
                if (first) wait_and_follow();
                collective::elastic_job::group g =
                    first ? job_->wait_for_place() : job_->regroup(done_, false, true, -1);
                first = false;
                done_ = wire::done_of(of_self(g.list).progress);
                enter(std::move(g));
                settle();
                heal_in_group();
                const bool has_it = catch_up();
                base::divide(job_->epoch());
                if (!has_it) hand_over(), made_in_ = job_->epoch();
                break;
            } catch (const left_behind& e) {
                end(e);
            } catch (const cluster_error&) {   // somebody died meanwhile, or the new members could not connect
                if (std::exchange(first, false)) done_ = wire::done_of(of_self(job_->list()).progress);
            }
        count();
        healed_ = true;
        waits_ = false;
        const auto& h = base::healed_by();
        job_->say({job_->own(), " was given the state: ", h.images, " images, and ", h.steps, " steps to repeat"},
                  message_level::detailed);
        return bytes_;
    }
    /// In a message: this process goes on where the others are.
    void say_joined(std::int64_t step, int epoch) const {
        job_->say({job_->own(), " joins the job behind step ", step, ", in epoch ", epoch});
    }
    /// A process that has joined does what the others do from here on.
    void speak() {
        if (!std::exchange(quiet_, false)) return;
        if constexpr (gathers) {   // at the beginning of a round, whose sums are the others'
            loads_ = false;
            round_.clear();
            base::repeat_round();
        }
    }

private:
    using result = detail::result_kind;
    struct operation {
        result kind;
        std::int64_t bytes = -1;   ///< of its result; -1: a run, which is as large as it is
    };
    static constexpr int most_tries = 3;   // with the same members: then it is not they who are at fault

    std::function<typename Programs::device::options(int)> devices_;
    std::int64_t done_ = 0;          ///< operations
    std::int64_t behind_ = 0;        ///< steps made in the group before: for errors
    std::int64_t made_in_ = 0, chief_since_ = 0, check_every_ = 0;
    bool waits_ = false, quiet_ = false, chief_ = false;
    operation doing_{result::bytes}, did_{result::none};   ///< what is being done; what was done last
    std::vector<std::byte> bytes_;   ///< what it gave
    std::vector<std::byte> run_;     ///< for those that are being admitted
    std::vector<std::byte> given_;   ///< what it was given
    std::unique_ptr<cluster_error> broken_;

    static span<std::byte> as_writable_bytes_of(span<double> x) {
        return {reinterpret_cast<std::byte*>(x.data()), x.size() * sizeof(double)};
    }
    void need_to_speak() const {
        if (broken_) throw *broken_;
        if (waits_)
            throw option_error("a process that joins a job that runs does so in train()", "elastic session", "a step",
                               "train(), or train_and_evaluate()");
    }

    void read_together(compiler::address from, float* to, std::int64_t n) const {
        if (quiet_) return base::local().read(from, to, n);
        auto& self = const_cast<elastic_replicas&>(*this);   // who the members are may change
        self.perform_on({reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(n) * sizeof(float)},
                        [&] { base::read(from, to, n); });
    }
    /// f() until it is done.
    template <class F>
    void perform(result k, F f) {
        if (!job_) return f();
        if (quiet_) return;
        if (broken_) throw *broken_;
        if (k != result::bytes) doing_ = {k, 0};
        const bool own = telling([&] {
            try {
                f();
                return true;
            } catch (const cluster_error& e) {
                return again(e, f);
            }
        });
        if (own) made_in_ = job_->epoch();
        count();
    }
    /// An operation is over.
    void count() {
        ++done_;
        did_ = doing_;
        base::begin_writes(base::member().count > 1);
    }
    /// f() changes x, which is what all are to have afterwards.
    template <class F>
    void perform_on(span<std::byte> x, F f) {
        if (!job_) return f();
        if (quiet_) return;
        given_.assign(x.begin(), x.end());
        doing_ = {result::bytes, static_cast<std::int64_t>(x.size())};
        // Until f() is over bytes_ stays the result of the operation before, which others may still
        // be in.
        perform(result::bytes, [&] {
            if (!given_.empty()) std::memcpy(x.data(), given_.data(), given_.size());
            f();
            bytes_.assign(x.begin(), x.end());
        });
        if (bytes_.size() != x.size())
            throw left_behind(job_->fault("members do not do the same: the result of another one has another size"));
        if (!bytes_.empty()) std::memcpy(x.data(), bytes_.data(), x.size());
    }
    /// Whether this member has done it itself, with those that are left.
    template <class F>
    SINTER_COLD bool again(cluster_error e, F& f, bool admits = false, bool nobody_died = false) {
        for (int in_vain = 0;;) {
            const std::size_t before = list_.seats.size();
            if (!nobody_died) job_->say({e.what()}, message_level::detailed);
            try {
                regroup(admits, nobody_died ? -1 : e.rank());
                nobody_died = false;
                const bool completed = settle();
                heal_in_group();
                const bool has_it = catch_up() || completed;
                base::divide(job_->epoch());
                base::end_commit();
                if constexpr (gathers) {
                    if (has_it) base::note_step(step_.applied), round_.begin_loaded();
                    base::repeat_round();
                }
                if (has_it) return completed;
                base::write_again();
                f();
                return true;
            } catch (const left_behind& last) {
                end(last);
            } catch (const cluster_error& next) {
                e = next;
            }
            if (list_.seats.size() >= before && ++in_vain == most_tries) end(e);
        }
    }
    /// f(). What it throws for this member alone, which lacks memory, files or threads, the others
    /// are notified of: they need not wait for it.
    template <class F>
    bool telling(F f) {
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
        job_->end();
        base::fail(why);
    } catch (...) {   // no memory for it: its service says so when it is asked
    }
    [[noreturn]] SINTER_COLD void end(const cluster_error& e) {
        job_->end();
        base::connect(nullptr);
        broken_ = std::make_unique<cluster_error>(e);
        throw *broken_;
    }
    SINTER_COLD void regroup(bool admits, int suspect) {
        if (base::communicator()) behind_ = base::communicator()->behind();
        base::connect(nullptr);
        enter(job_->regroup(done_, healed_, admits, suspect));
    }
    void enter(collective::elastic_job::group g) {
        const bool was_chief = chief_;
        list_ = std::move(g.list);
        base::connect(collective::checked(std::move(g.members), check_every_));
        if (!base::communicator()) return;
        base::communicator()->behind_step(behind_);
        if constexpr (Shards > 0) {
            const int most = std::min(base::member().count, Shards);
            base::share(Shards / static_cast<int>(std::bit_floor(static_cast<unsigned>(most))), Shards, devices_);
        }
        chief_ = base::member().chief();
        if (chief_ && !was_chief) chief_since_ = job_->epoch();
    }

    /// Whether others have not completed this member's last operation.
    bool others_are_behind(std::int64_t done) const {
        for (const wire::seat& s : list_.seats)
            if (wire::done_of(s.progress) < done) return true;
        return false;
    }

    /// In a new group: those that have completed one operation more give its result to those that
    /// have not; true: this member is one of the latter.
    SINTER_COLD bool catch_up() {
        const int from = source();
        const std::int64_t most = wire::done_of(list_.seats[at_(from)].progress);
        std::int64_t least = most;
        for (const wire::seat& s : list_.seats) least = std::min(least, wire::done_of(s.progress));
        if (least == most) return false;
        const std::int64_t mine = wire::done_of(of_self(list_).progress);
        if (mine < most - 1)
            throw left_behind(job_->fault("this process is more than one operation behind the others"));
        const bool gives = base::member().index == from, lacks = mine < most;
        const operation& last = lacks ? doing_ : did_;
        const bool of_model = last.kind == result::step || last.kind == result::weights;
        detail::told_result told{.made_in = made_in_, .kind = last.kind};
        told.set(step_);
        if (gives && of_model) bytes_ = base::weights();
        if (gives && last.kind != result::none) told.bytes = std::ssize(bytes_);
        auto& c = *base::communicator();
        c.broadcast({reinterpret_cast<std::byte*>(&told), sizeof told}, from);
        constexpr std::int64_t image = std::int64_t{base::image_bytes()}, run = collective::most_of_run(image);
        need_result(told, from, last.kind,
                    {image, std::max<std::int64_t>(last.bytes, 0), last.bytes < 0 ? run : last.bytes}, job_->epoch());
        std::vector<std::byte> other;
        std::vector<std::byte>& to = lacks || gives ? bytes_ : other;
        to.resize(static_cast<std::size_t>(told.bytes));
        c.broadcast({to.data(), to.size()}, from);
        if (!lacks) return false;
        made_in_ = told.made_in;
        if (of_model) set_weights(bytes_);
        if (last.kind == result::step) step_ = told.step();
        return true;
    }
    /// Behind the gathering of admit(): those that join are given the run.
    SINTER_COLD void hand_over() {
        if (!somebody_joins()) return;
        const int from = source();
        auto& c = *base::communicator();
        std::int64_t n[1] = {std::ssize(run_)};
        c.broadcast({reinterpret_cast<std::byte*>(n), sizeof n}, from);
        collective::need_told(from, "giving the run to one that joins", "bytes", n[0], 0,
                              collective::most_of_run(base::image_bytes()));
        std::vector<std::byte> other;
        std::vector<std::byte>& to = healed_ ? base::member().index == from ? run_ : other : bytes_;
        to.resize(static_cast<std::size_t>(n[0]));
        c.broadcast({to.data(), to.size()}, from);
    }

    // ---- where each member keeps a part of the slots (parts_session.hpp)
    SINTER_COLD bool settle() {
        const std::int64_t done = wire::done_of(of_self(list_).progress);
        const std::string lost = base::meet_keepers(done, healed_, job_->most());
        if (!lost.empty()) throw left_behind(job_->fault(lost));
        if (others_are_behind(done)) base::take_writes_back();
        else base::write_again();   // those that were have died
        const bool completed = base::settle(done, healed_);
        if (completed) step_ = base::last_result();
        return completed;
    }
};

/// The session of elastic(): see elastic_replicas.
template <class Programs, int Shards = 0, other_processes Others = other_processes::update_all>
class elastic_session final : public session_over<elastic_replicas<Programs, Shards, Others>>, public joining_calls {
    using parts = elastic_replicas<Programs, Shards, Others>;

public:
    static constexpr bool members_change = true;
    using session_over<parts>::session_over;

    joining_calls* joining() override { return this; }
    void checkpoint_saved(const std::string& file) override {
        if constexpr (parts::Copied) parts::checkpoint_saved(file);
    }
    bool waits() const override { return parts::waits(); }
    bool is_quiet() const override { return parts::is_quiet(); }
    std::int64_t made_in() const override { return parts::made_in(); }
    std::int64_t chief_since() const override { return parts::chief_since(); }
    std::vector<std::byte> join() override { return parts::join(); }
    void speak() override { parts::speak(); }
    void admit(std::vector<std::byte> run) override { parts::admit(std::move(run)); }
    void say_joined(std::int64_t step, int epoch) const override { parts::say_joined(step, epoch); }
};

} // namespace sinter::detail
