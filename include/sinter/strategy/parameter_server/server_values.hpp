// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/broadcast_by_sums.hpp>
#include <sinter/strategy/parameter_server/followed_rates.hpp>
#include <sinter/strategy/parameter_server/job_tables.hpp>
#include <sinter/strategy/parameter_server/server_process.hpp>
#include <sinter/strategy/parameter_server/written_slots.hpp>
#include <sinter/strategy/told_by_the_chief.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET::detail {

/// What a process of a job with servers is and has, in every role: all of a server_session but the step.
template <class Programs, class Optimizer>
class server_values : public server_process<Programs, Optimizer> {
protected:
    using process = server_process<Programs, Optimizer>;
    using replicas = typename process::replicas;
    using typename process::unit, typename process::P, typename process::worker_tables;
    using process::units_, process::at, process::setup_, process::places_, process::link_, process::tables_,
        process::report_, process::phases, process::takes_norm, process::n_states, process::trains,
        process::clocks;
    template <int I>
    static constexpr bool sums = process::template sums<I>;

public:
    using process::member, process::independent, process::serves;

    // ---- the run
    /// Whether there is nothing to wait for before the first step, or there is none here.
    bool begun() const { return begun_ || !link_; }
    /// Before the first step: the chief's values are those of all from now on. Answers the steps
    /// done by all. Servers that began with a checkpoint go on from that, unless the chief has
    /// loaded a whole file, or `keeps_runs`: it saves whole runs itself, and begins anew where it
    /// has found none. A server's checkpoint has no place in the data and no hooks.
    SINTER_COLD std::int64_t begin_training(std::int64_t step, std::int64_t max_steps, bool keeps_runs = false) {
        if (!link_) return step;
        settle();
        if (member().chief()) {
            const bool found = !begun_ && link_->client().initialised(),
                       restored = found && (link_->client().is_live() || (!keeps_runs && !loaded_));
            if (found && !link_->client().is_live())
                detail::say_what_was_found(restored, step, link_->client().global_step(), setup_);
            if (found && !restored) replace_values();
            else if (!restored && changed_) send_values();
            for (int t = 0; t < worker_tables::count; ++t) tables_.loaded(t).forget();
            of_job_.forget();
            link_->client().open(max_steps, restored || (begun_ && !set_) ? -1 : step, true, phase_steps_);
            if (!independent() && begun_) meet();
        } else {
            if (!independent() && begun_) meet();
            link_->client().wait_until_open();
        }
        max_steps_ = max_steps;
        begun_ = true;
        changed_ = false;
        set_ = resting_ = false;
        pull_all();
        consumed_ = link_->client().open_clock();
        steps_before_clocks_ = link_->client().open_step() - link_->client().open_clock();
        steps_before_own_ = steps_made() - steps_;
        return steps_made();
    }
    /// Behind the last step of this worker. The chief waits for the others; `early`: nobody is to
    /// go on.
    SINTER_COLD std::int64_t end_training(bool early = false) {
        if (!link_ || !begun_) return -1;
        settle();
        if (early && member().chief() && independent()) link_->client().ask_all_to_stop("the chief has ended training");
        rest();
        if (member().chief()) link_->client().wait_for_others();
        pull_all();
        return steps_made();
    }
    /// This worker makes no steps for a while, and is not waited for; the next step joins again.
    SINTER_COLD void rest() {
        if (!link_ || !begun_ || resting_) return;
        settle();
        report_->rest();
        link_->client().rest();
        resting_ = true;
    }

    // ---- values
    void read(compiler::address from, float* to, std::int64_t n) const {
        const_cast<server_values*>(this)->get(from, to, n);
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (serves()) return;
        if (const int t = of_table(to); t >= 0) return write_table(t, to, from, n);
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.write(to, from, n);
            changed_ = true, ++version_;
            return;
        }
        if (begun_ && !changed_) refresh();
        changed_ = true, ++version_;
        replicas::write(to, from, n);
    }
    void clear_slots() {   // servers make new ones
        slots_.clear();
        renewed_slots_ = true;
    }
    /// The table begins with its initializer's values (strategy_traits::remote_tables).
    void start_table(const variable_info& v, std::uint64_t stream) {
        tables_.start(v, stream);
        of_job_.forget();
        changed_ = true, ++version_;
    }
    /// As strategy_session says (Remote tables).
    template <class F>
    SINTER_COLD bool each_wrong_number(F f) const {
        auto& self = const_cast<server_values&>(*this);
        if (!self.connected()) return false;
        self.catch_up();
        for (const detail::server_link::wrong_value& n : self.link_->wrong_values()) {
            if (n.table < 0) {
                for (const variable_info& v : P::v.parameters)
                    if (!v.remote && v.at.offset() <= n.at && n.at < v.at.offset() + v.floats)
                        f(v, n.slot, -1, nullptr, n.value);
                continue;
            }
            const remote_table& table = worker_tables::table(n.table);
            const std::int64_t number = n.at + (table.hashed ? 0 : n.key * table.width);
            f(worker_tables::variable(n.table), n.slot, number, table.hashed ? &n.key : nullptr, n.value);
        }
        return true;
    }
    /// Rows of a table whose keys are any numbers, in their order: f(key, step of its last update,
    /// row), where the row's slots lie behind its values. Of an asynchronous job that goes on this
    /// is no cut.
    template <class F>
    SINTER_COLD void each_row(const variable_info& v, F f) const {
        const int t = of_table(v.at);
        auto& self = const_cast<server_values&>(*this);
        if (self.connected()) self.catch_up(), link_->each_row(t, f);
        else self.tables_.loaded(t).each(f);
    }
    /// The table has these rows, and no others. f(i, key, step, row) says what number i is;
    /// `slots`: of each row behind its values, or 0: they begin anew. Where there is no room for
    /// all, those of low numbers stay. `lasts`: f may be called later, too.
    template <class F>
    SINTER_COLD void put_rows(const variable_info& v, int slots, std::size_t n, F f, bool lasts = false) {
        if (serves()) return;
        const int t = of_table(v.at);
        ++version_;
        if (!connected()) {
            if (trains() && !member().chief()) return;
            tables_.loaded(t).put(tables_.table(t).width, slots, n, f, lasts);
            changed_ = true;
            return;
        }
        detail::told_by_the_chief(
            "put a table's rows", "parameter servers", [&] { return member().chief(); },
            [&] { link_->put_rows(t, slots, n, f); },
            [&](bool failed) { return !independent() && meet(failed); },   // nobody goes on with rows of before
            [](auto all_of_it) { all_of_it(); });
    }
    /// Whether servers have tables, which they can save (save_tables) better than the chief.
    bool keeps_tables() const { return worker_tables::count > 0 && link_ && begun_; }
    /// f(rows) of a table of known rows (slot -1: its values), some at a time: where keeps_tables().
    template <class F>
    SINTER_COLD void each_block(const variable_info& v, int slot, F f) {
        catch_up(), link_->each_block(of_table(v.at), 1 + slot, f);
    }
    /// By the chief: all servers write their rows (job_tables::save).
    template <class Take>
    SINTER_COLD bool save_tables(const std::string& folder, Take take) {
        return catch_up(), of_job_.save(*link_, folder, take);
    }
    /// Rows are those of folder/name/file (job_tables::put). `slots`: with the optimizer's memory.
    SINTER_COLD void put_tables(const std::string& folder, const std::string& name,
                                const std::vector<std::string>& files, bool slots) {
        if (serves()) return;
        changed_ = true, ++version_;
        if (!trains() || member().chief())
            of_job_.put(tables_, places_, {folder, name, slots}, files, Optimizer::slots);
    }
    template <class Q>
    batch_view prepared(const batch_view& b) {
        const batch_view whole = tables_.template prepare<Q>(b);
        tables_.pull(connected(), parameters());
        if constexpr (unit::template has_own_parameters<Q>()) {
            std::int64_t& has = whole_of_[std::is_same_v<Q, typename Programs::evaluation> ? 0 : 1];
            if (has != version_)
                worker_tables::template each_whole<Q>([&](int, int parameter) {
                    float* const to = units_[0].template whole_table<Q>(parameter);
                    get(P::v.parameters[parameter].at, to, P::v.parameters[parameter].floats);
                });
            has = version_;
        }
        return whole;
    }
    /// What the chief has written becomes the servers'. Before training it stays here until that
    /// begins; later the others have it with their next step, or where all make this call together
    /// when it returns. What they push that was computed from the values before is dropped and
    /// counted: it is the gradient of another point.
    void publish() {
        if (!link_ || !begun_) return;
        if (member().chief() && changed_) {
            catch_up();   // those that share batches: behind all updates that were begun
            link_->client().begin_renewal();
            send_values();
            link_->client().end_renewal();
            link_->client().use_newest();
            set_ = true;
        }
        stale_ = true;
        if (!std::exchange(changed_, false) || member().chief()) return;
        settle();
        if (independent()) {   // what the chief writes counts, and what was written here is nobody's
            is_old_ = true;
        } else {
            link_->client().wait_for_renewal();
            pull_all();
        }
    }
    /// The newest weights, unless nothing has happened here since the last time.
    void refresh() {
        report_->rest();
        if (link_ && begun_ && !changed_ && !averages_ && stale_) pull_all();
    }
    /// local() has the averages that the optimizer keeps in this slot, or again the weights.
    /// Servers and other workers know nothing of it.
    SINTER_COLD void exchange_with_slot(int slot) {
        if (averages_) {
            averages_ = false;
            stale_ = true;
            return refresh();
        }
        refresh();
        averages_ = true;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.remote || v.group == compiler::frozen_group) continue;
            std::vector<float> x(at(static_cast<int>(v.floats)));
            get({compiler::space::slot, slot * P::v.z.trained + v.at.offset()}, x.data(), v.floats);
            units_[0].write(v.at, x.data(), v.floats);
        }
    }
    /// Learning rates that hooks have changed go with each push, as the factor by which they are not what they were
    /// when training began: servers have them as they were. option_error where several have other factors.
    void follow(const Optimizer& o) {
        rates_.follow(o);
        if (takes_norm && setup_.order.mode == sharded::update_mode::async && !updater_)
            updater_ = make_updater<P, Optimizer>(o);
    }

    /// The trainer says how many steps the weights have had that it has just written, or that it
    /// starts anew.
    SINTER_COLD void set_steps(std::int64_t n) {
        if (!begun_) loaded_ = n > 0;
        if (begun_ && may_lag()) steps_before_clocks_ = n - consumed_;
        if (!set_ || !begun_ || !member().chief()) return;
        set_ = false;
        link_->client().open(max_steps_, n, false, phase_steps_);
    }
    /// Where losses alternate: steps of each that all have made; `here`: what the trainer knows of
    /// before there are servers.
    template <class Steps>
    void read_phase_steps(Steps& here) const {
        if (!link_ || !begun_) return;
        const_cast<server_values*>(this)->catch_up();
        const std::vector<std::int64_t> n = link_->client().phase_steps();
        if (n.size() == here.size()) std::copy(n.begin(), n.end(), here.begin());
    }
    /// What set_steps() or the beginning of training makes the servers'.
    template <class Steps>
    void set_phase_steps(const Steps& n) {
        phase_steps_.assign(n.begin(), n.end());
    }
    /// The number of the step that this worker makes next, by which it takes one of several losses:
    /// as all count that make it together; of a worker at its own pace its own steps.
    std::int64_t next_step(std::int64_t trainers) {
        if (!link_ || !begun_) return trainers;
        if (!clocks()) return steps_before_own_ + steps_;
        if (!independent()) return trainers;
        settle();
        return steps_before_clocks_ + link_->client().next_clock();
    }

    // ---- members
    /// Sums over all workers, who make this call together; nothing where each goes its own way.
    void reduce(span<double> x) {
        if (link_ && !independent() && member().count > 1) link_->client().reduce(x);
    }
    /// The chief's bytes, on all workers that share batches.
    SINTER_COLD void broadcast(span<std::byte> x) {
        detail::broadcast_by_sums(x, member().chief(), [&](span<double> numbers) { reduce(numbers); });
    }
    /// Whether workers that make all calls together may be some updates apart: each knows its own
    /// losses alone.
    bool may_lag() const {
        return !independent() && clocks() && (setup_.order.staleness > 0 || setup_.order.backup > 0);
    }
    /// The mean over all workers' examples of what is `mean` over this worker's, which weigh
    /// `weight`. Both are as losses are: where weights cancel, or there are none, the sum
    /// (metrics::mean::of_sum). Workers that may lag make this call together.
    SINTER_COLD double mean_of_all(double mean, double weight) {
        double x[] = {weight == 0 ? mean : mean * weight, weight, mean};
        reduce(x);
        if (setup_.canonical || sums<0>) return x[2];   // each has a part of the batch's loss
        return x[1] == 0 ? x[0] : x[0] / x[1];
    }
    /// Whether this worker makes calls that others have made without it (client::makes_up).
    bool makes_up() const { return link_ && !independent() && link_->client().makes_up(); }
    bool asked_to_stop() const { return link_ && link_->client().asked(); }
    bool server_ends() const { return link_ && link_->client().server_ends(); }   ///< its process was asked to
    void ask_all_to_stop(const char* why) {
        if (link_) link_->client().ask_all_to_stop(why);
    }
    /// This worker cannot go on, and why: ends the job, unless the others go on without it.
    SINTER_COLD void fail(const char* cause) noexcept {
        const bool others_go_on = independent() && (!clocks() || setup_.order.backup > 0);
        if (link_ && !others_go_on) link_->client().fail(cause);
    }
    sharded::client_counters counters() const { return link_ ? link_->client().seen() : sharded::client_counters{}; }
    sharded::client* client() { return link_ ? &link_->client() : nullptr; }

protected:
    detail::job_tables of_job_;
    /// What becomes one push of a training program's.
    struct round {
        runtime::arena gathered{};   ///< gradients of several steps, or of one that is sent while the next is made
        int steps = 0;               ///< whose gradients are gathered
        sharded::push_info info{.weight = 0};
    };
    std::array<round, std::size_t{Programs::n_training}> rounds_;
    std::unique_ptr<sharded::updater> updater_;   ///< that squares are taken with
    detail::written_slots slots_;      ///< not sent yet
    bool begun_ = false, resting_ = false;
    bool changed_ = false;         ///< values here are newer than the servers'
    bool renewed_slots_ = false;   ///< all slots begin anew with the next values that are sent
    bool loaded_ = false;          ///< before training: the chief has the values of a whole file
    bool set_ = false;             ///< the chief has overwritten values since training began
    bool stale_ = false;           ///< steps have been made since the last pull
    bool averages_ = false;
    bool is_old_ = false;          ///< not all values here are the servers': all are to be read
    struct awaited {
        sharded::ticket ticket = 0;
        bool waits = false, brings = false;   ///< brings: with its answer come values
    };
    awaited push_, pull_;
    std::int64_t version_ = 0,
                 whole_of_[2] = {-1, -1};   ///< of the values; with which evaluation and prediction have tables
    std::int64_t max_steps_ = 0, steps_ = 0, steps_before_own_ = 0;
    std::vector<std::int64_t> phase_steps_ = std::vector<std::int64_t>(std::size_t{phases});
    std::vector<float> states_before_;   ///< as they were pulled
    std::int64_t consumed_ = 0;          ///< clocks that this worker has had a batch of
    std::int64_t steps_before_clocks_ = 0;   ///< updates of the checkpoint that the servers began with
    detail::followed_rates rates_;
    double waited_ = 0;   ///< seconds, for servers and so for others

    template <class Devices>
    SINTER_COLD server_values(server_setup s, Devices devices, int threads)
        : process(std::move(s), devices, threads), states_before_(at(static_cast<int>(n_states))) {}
    detail::server_link* connected() { return link_ && begun_ ? link_.get() : nullptr; }
    float* parameters() const { return units_[0].at({compiler::space::parameter, 0}); }
    float* place(int i, compiler::address a) const { return units_[at(i)].at(a); }
    static int of_table(compiler::address a) { return worker_tables::table_at(a); }

    // ---- values
    /// All that servers have of an earlier run becomes the chief's. It is older then than what they
    /// save from now on (known_checkpoint).
    SINTER_COLD void replace_values() {
        link_->client().begin_renewal();
        for (int t = 0; t < worker_tables::count; ++t) link_->forget_rows(t);
        send_values();
        link_->client().end_renewal();
    }
    SINTER_COLD void send_values() {
        const int tables = worker_tables::count, slots = renewed_slots_ ? 0 : Optimizer::slots;
        std::vector<std::vector<float>> kept;   // servers make new slots for the parameters that they are sent
        for (int k = 0; begun_ && k < slots; ++k) {
            kept.emplace_back(static_cast<std::size_t>(P::v.z.trained));
            link_->read(1 + k, 0, kept.back().data(), P::v.z.trained);
        }
        renewed_slots_ = false;
        link_->write_all(parameters(), place(0, {compiler::space::state, 0}));
        for (std::size_t k = 0; k < kept.size(); ++k)
            link_->write(1 + static_cast<int>(k), 0, kept[k].data(), P::v.z.trained);
        of_job_.send(*link_, tables_);
        for (int t = 0; t < tables; ++t)
            if (tables_.take_written(t, begun_)) {
                if (tables_.table(t).hashed) {
                    tables_.send_loaded(*link_, t);
                    continue;
                }
                if (tables_.whole(t).empty()) {
                    link_->forget_rows(t);
                    continue;
                }
                link_->write_table(t, sharded::client::parameters, tables_.whole(t).data());
                tables_.whole(t) = {};
            }
        slots_.each([&](compiler::address to, const std::vector<float>& x) {
            const auto slot = 1 + static_cast<int>(to.offset() / P::v.z.trained);
            if (const int t = of_table(to); t >= 0) link_->write_table(t, slot, x.data());
            else link_->write(slot, to.offset() % P::v.z.trained, x.data(), std::ssize(x));
        });
        slots_.clear();
    }
    SINTER_COLD void write_table(int t, compiler::address to, const float* from, std::int64_t n) {
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.write(to, from, n);
        } else if (!trains() || member().chief()) {
            tables_.whole(t).assign(from, from + n);
        }
        changed_ = true, ++version_;
    }
    SINTER_COLD void get(compiler::address from, float* to, std::int64_t n) {
        const bool slot = from.where() == compiler::space::slot;
        const int array = slot ? 1 + static_cast<int>(from.offset() / P::v.z.trained) : sharded::client::parameters;
        if (const int t = of_table(from); t >= 0 && from.where() != compiler::space::gradient) {
            if (connected()) return catch_up(), link_->read_table(t, array, to);
            if (slot) return slots_.read(from, to, n);
            const std::vector<float> x = tables_.first_rows(t);
            std::copy_n(x.data(), n, to);
            return;
        }
        if (slot && !connected()) return slots_.read(from, to, n);
        if (slot) return catch_up(), link_->read(array, from.offset() % P::v.z.trained, to, n);
        if (from.where() != compiler::space::gradient) refresh();
        units_[0].read(from, to, n);
    }
    /// All values, also those that never change, of one version; a server that came back may stay at an older one.
    SINTER_COLD void pull_all() {
        catch_up();
        ++version_;
        sharded::client& c = link_->client();
        for (std::int64_t tries = 0, seen = -1; tries < 3; tries = seen == c.version() ? tries + 1 : 0) {
            seen = c.version();
            c.begin_reading();
            link_->read_all(parameters());
            if (n_states) c.read(0, sharded::client::states, 0, {states_before_.data(), states_before_.size()});
            if (c.use_read()) break;
        }
        put_states(states_before_.data());
        stale_ = is_old_ = false;
    }
    void put_states(const float* x) {
        if (n_states)
            for (unit& u : units_) u.write({compiler::space::state, 0}, x, n_states);
    }
    void take_values() {
        link_->take(parameters());
        if (n_states) {
            std::copy_n(link_->states(), n_states, states_before_.data());
            put_states(link_->states());
        }
    }
    void wait(awaited& a) {
        if (!a.waits) return;
        a.waits = false;
        while_waiting([&] { return link_->client().wait(a.ticket), true; });
        if (!a.brings) return;
        take_values();
        if (link_->client().use_pulled()) is_old_ = true;
    }
    /// f(), whose time counts as waiting for others.
    template <class F>
    bool while_waiting(F f) {
        if (!report_->wanted()) return f();
        const double began = base::monotonic_seconds();
        const bool answer = f();
        waited_ += base::monotonic_seconds() - began;
        return answer;
    }
    /// To sinter-launch, now and then: this worker's own steps, and what it has counted.
    void report(double loss) {
        // Others are waited for where clocks need the pushes of all; elsewhere only servers are.
        const bool for_others = clocks() && setup_.order.backup == 0;
        if (!report_->step(steps_, loss, for_others ? waited_ : -1)) return;
        detail::report_worker(*report_, counters(), link_->client().global_step());
    }
    /// Nothing is on its way, and what came is in place.
    void settle() { wait(push_), wait(pull_); }
    /// Returns when all workers have come here. Whether any of them says so.
    bool meet(bool mine = false) {
        double x = mine ? 1 : 0;
        reduce(span<double>(&x, 1));
        return x > 0;
    }
    /// The servers' values are those behind this worker's last step, then: those that share batches
    /// are read as one cut.
    SINTER_COLD void catch_up() {
        settle();
        if (may_lag()) link_->client().wait_for_clock();
    }
    /// The trainer's steps: updates by all. Who may lag counts its own pushes, so that all who make
    /// the same calls count alike.
    std::int64_t steps_made() const {
        return may_lag() ? steps_before_clocks_ + consumed_ : link_->client().global_step();
    }
    void start_pull() {
        if (steps_ % setup_.pull_every == 0) pull_ = {link_->client().start_pull(link_->targets()), true, true};
    }
};

} // namespace sinter::detail
