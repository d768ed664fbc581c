// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/broadcast_by_sums.hpp>
#include <sinter/strategy/parameter_server/followed_rates.hpp>
#include <sinter/strategy/parameter_server/job_process.hpp>
#include <sinter/strategy/parameter_server/worker_progress.hpp>
#include <sinter/strategy/parameter_server/written_slots.hpp>
#include <sinter/strategy/table_calls.hpp>
#include <sinter/strategy/run_on_chief.hpp>
#include <array>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The values of a job whose servers keep them, as a process has them: what it reads and writes, and when they are sent
/// and read again; and the calls of all workers that are no steps.
template <class Programs, class Optimizer>
class value_mirror final : public table_calls {
    using process = job_process<Programs, Optimizer>;
    using unit = typename process::unit;
    using P = typename process::P;
    using worker_tables = typename process::worker_tables;
    static constexpr int phases = process::phases;
    static constexpr std::int64_t n_states = process::n_states;

public:
    explicit value_mirror(process& job) : job_(job), states_before_(at(static_cast<int>(n_states))) {}
    value_mirror(const value_mirror&) = delete;
    value_mirror& operator=(const value_mirror&) = delete;

    // ---- the run
    /// Whether there is nothing to wait for before the first step, or there is none here.
    bool begun() const { return now.begun || !job_.link; }
    /// Before the first step: the chief's values are those of all from now on. Answers the steps
    /// done by all. Servers that began with a checkpoint go on from that, unless the chief has
    /// loaded a whole file, or `keeps_runs`: it saves whole runs itself, and begins anew where it
    /// has found none. A server's checkpoint has no place in the data and no hooks.
    SINTER_COLD std::int64_t begin_training(std::int64_t step, std::int64_t max_steps, bool keeps_runs = false) {
        if (!job_.link) return step;
        settle();
        if (member().chief()) {
            const bool found = !now.begun && job_.link->client().initialised(),
                       restored = found && (job_.link->client().is_live() || (!keeps_runs && !loaded_));
            if (found && !job_.link->client().is_live())
                say_what_was_found(restored, step, job_.link->client().global_step(), job_.setup.checkpoints,
                                   job_.setup.members);
            if (found && !restored) replace_values();
            else if (!restored && changed_) send_values();
            for (int t = 0; t < worker_tables::count; ++t) job_.tables.loaded(t).forget();
            of_job_.forget();
            job_.link->client().open(max_steps, restored || (now.begun && !set_) ? -1 : step, true, phase_steps_);
            if (!independent() && now.begun) meet();
        } else {
            if (!independent() && now.begun) meet();
            job_.link->client().wait_until_open();
        }
        now.max_steps = max_steps;
        now.begun = true;
        changed_ = false;
        set_ = now.resting = false;
        pull_all();
        now.consumed = job_.link->client().open_clock();
        now.before_clocks = job_.link->client().open_step() - job_.link->client().open_clock();
        now.before_own = steps_made() - now.steps;
        return steps_made();
    }
    /// Behind the last step of this worker. The chief waits for the others; `early`: nobody is to
    /// go on.
    SINTER_COLD std::int64_t end_training(std::int64_t steps, bool early) {
        if (!job_.link || !now.begun) return steps;
        settle();
        if (early && member().chief() && independent())
            job_.link->client().ask_all_to_stop("the chief has ended training");
        rest();
        if (member().chief()) job_.link->client().wait_for_others();
        pull_all();
        return steps_made();
    }
    /// This worker makes no steps for a while, and is not waited for; the next step joins again.
    SINTER_COLD void rest() {
        if (!job_.link || !now.begun || now.resting) return;
        settle();
        job_.report->rest();
        job_.link->client().rest();
        now.resting = true;
    }

    // ---- values
    void read(compiler::address from, float* to, std::int64_t n) const {
        const_cast<value_mirror*>(this)->get(from, to, n);
    }
    void write(compiler::address to, const float* from, std::int64_t n) {
        if (serves()) return;
        if (const int t = of_table(to); t >= 0) return write_table(t, to, from, n);
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.write(to, from, n);
            changed_ = true, ++version_;
            return;
        }
        if (now.begun && !changed_) refresh();
        changed_ = true, ++version_;
        for (unit& u : job_.replicas)
            if (&u == &job_.replicas.first() || process::set::owned(to)) u.write(to, from, n);
        job_.parameters.note(to, from, n);
    }
    void clear_slots() {   // servers make new ones
        slots_.clear();
        renewed_slots_ = true;
    }
    /// The table begins with its initializer's values (strategy_traits::remote_tables).
    void start_table(const variable_info& v, std::uint64_t stream) override {
        job_.tables.start(v, stream);
        of_job_.forget();
        changed_ = true, ++version_;
    }
    SINTER_COLD bool each_wrong_number(wrong_number_function f) const override {
        auto& self = const_cast<value_mirror&>(*this);
        if (!self.connected()) return false;
        self.catch_up();
        for (const strategy_parts::server_link::wrong_value& n : self.job_.link->wrong_values()) {
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
    SINTER_COLD void each_row(const variable_info& v, row_function f) const override {
        const int t = of_table(v.at);
        auto& self = const_cast<value_mirror&>(*this);
        if (self.connected()) self.catch_up(), job_.link->each_row(t, f);
        else self.job_.tables.loaded(t).each(f);
    }
    SINTER_COLD void put_rows(const variable_info& v, int slots, std::size_t n, given_row_function f,
                              bool lasts) override {
        if (serves()) return;
        const int t = of_table(v.at);
        ++version_;
        if (!connected()) {
            if (trains() && !member().chief()) return;
            job_.tables.loaded(t).put(job_.tables.table(t).width, slots, n, f, lasts);
            changed_ = true;
            return;
        }
        strategy_parts::run_on_chief(
            "put a table's rows", "parameter servers", [&] { return member().chief(); },
            [&] { job_.link->put_rows(t, slots, n, f); },
            [&](bool failed) { return !independent() && meet(failed); },   // nobody goes on with rows of before
            [](auto all_of_it) { all_of_it(); });
    }
    bool keeps_tables() const override { return worker_tables::count > 0 && job_.link && now.begun; }
    SINTER_COLD void each_block(const variable_info& v, int slot, rows_function f) override {
        catch_up(), job_.link->each_block(of_table(v.at), 1 + slot, f);
    }
    SINTER_COLD bool save_tables(const std::string& folder, file_function take) override {
        return catch_up(), of_job_.save(*job_.link, folder, take);
    }
    SINTER_COLD void put_tables(const std::string& folder, const std::string& name,
                                const std::vector<std::string>& files, bool slots) override {
        if (serves()) return;
        changed_ = true, ++version_;
        if (!trains() || member().chief())
            of_job_.put(job_.tables.held(Optimizer::slots), job_.places, {folder, name, slots}, files);
    }
    float evaluate(const batch_view& b, const step_values& v) {
        job_.need_model("evaluate");
        return job_.replicas.first().evaluate(prepared<typename Programs::evaluation>(b), v);
    }
    void predict(const batch_view& b, const step_values& v) {
        job_.need_model("predict");
        job_.replicas.first().predict(prepared<typename Programs::prediction>(b), v);
    }
    /// What the chief has written becomes the servers'. Before training it stays here until that
    /// begins; later the others have it with their next step, or where all make this call together
    /// when it returns. What they push that was computed from the values before is dropped and
    /// counted: it is the gradient of another point.
    void publish() {
        if (!job_.link || !now.begun) return;
        if (member().chief() && changed_) {
            catch_up();   // those that share batches: behind all updates that were begun
            job_.link->client().begin_renewal();
            send_values();
            job_.link->client().end_renewal();
            job_.link->client().use_newest();
            set_ = true;
        }
        now.stale = true;
        if (!std::exchange(changed_, false) || member().chief()) return;
        settle();
        if (independent()) {   // what the chief writes counts, and what was written here is nobody's
            now.is_old = true;
        } else {
            job_.link->client().wait_for_renewal();
            pull_all();
        }
    }
    /// The newest weights, unless nothing has happened here since the last time.
    void refresh() {
        job_.report->rest();
        if (job_.link && now.begun && !changed_ && !averages_ && now.stale) pull_all();
    }
    /// local() has the averages that the optimizer keeps in this slot, or again the weights.
    /// Servers and other workers know nothing of it.
    SINTER_COLD void exchange_with_slot(int slot) {
        if (averages_) {
            averages_ = false;
            now.stale = true;
            return refresh();
        }
        refresh();
        averages_ = true;
        for (int i = 0; i < P::v.n_parameters; ++i) {
            const variable_info& v = P::v.parameters[i];
            if (v.remote || v.group == compiler::frozen_group) continue;
            std::vector<float> x(at(static_cast<int>(v.floats)));
            get({compiler::space::slot, slot * P::v.z.trained + v.at.offset()}, x.data(), v.floats);
            job_.replicas.first().write(v.at, x.data(), v.floats);
            job_.parameters.note(v.at, x.data(), v.floats);
        }
    }
    /// The trainer says how many steps the weights have had that it has just written, or that it
    /// starts anew.
    SINTER_COLD void set_steps(std::int64_t n) {
        if (!now.begun) loaded_ = n > 0;
        if (now.begun && may_lag()) now.before_clocks = n - now.consumed;
        if (!set_ || !now.begun || !member().chief()) return;
        set_ = false;
        job_.link->client().open(now.max_steps, n, false, phase_steps_);
    }
    /// Where losses alternate: steps of each that all have made; `here`: what the trainer knows of
    /// before there are servers.
    void read_phase_steps(span<std::int64_t> here) const {
        if (!job_.link || !now.begun) return;
        const_cast<value_mirror*>(this)->catch_up();
        const std::vector<std::int64_t> n = job_.link->client().phase_steps();
        if (n.size() == here.size()) std::copy(n.begin(), n.end(), here.begin());
    }
    /// What set_steps() or the beginning of training makes the servers'.
    void set_phase_steps(span<const std::int64_t> n) { phase_steps_.assign(n.begin(), n.end()); }
    /// The number of the step that this worker makes next, by which it takes one of several losses:
    /// as all count that make it together; of a worker at its own pace its own steps.
    std::int64_t next_step(std::int64_t trainers) {
        if (!job_.link || !now.begun) return trainers;
        if (!clocks()) return now.before_own + now.steps;
        if (!independent()) return trainers;
        settle();
        return now.before_clocks + job_.link->client().next_clock();
    }

    // ---- members
    /// Sums over all workers, who make this call together; nothing where each goes its own way.
    void reduce(span<double> x) {
        if (job_.link && !independent() && member().count > 1) job_.link->client().reduce(x);
    }
    /// The chief's bytes, on all workers that share batches.
    SINTER_COLD void broadcast(span<std::byte> x) {
        strategy_parts::broadcast_by_sums(x, member().chief(), [&](span<double> numbers) { reduce(numbers); });
    }
    /// Whether workers that make all calls together may be some updates apart: each knows its own
    /// losses alone.
    bool may_lag() const {
        return !independent() && clocks() && (job_.setup.order.staleness > 0 || job_.setup.order.backup > 0);
    }
    /// The mean over all workers' examples of what is `mean` over this worker's, which weigh
    /// `weight`. Both are as losses are: where weights cancel, or there are none, the sum
    /// (metrics::mean::of_sum). Workers that may lag make this call together.
    SINTER_COLD double mean_of_all(double mean, double weight) {
        double x[] = {weight == 0 ? mean : mean * weight, weight, mean};
        reduce(x);
        if (job_.setup.canonical || process::template sums<0>) return x[2];   // each has a part of the batch's loss
        return x[1] == 0 ? x[0] : x[0] / x[1];
    }
    /// Whether this worker makes calls that others have made without it (client::makes_up).
    bool makes_up() const { return job_.link && !independent() && job_.link->client().makes_up(); }
    bool asked_to_stop() const { return job_.link && job_.link->client().asked(); }
    bool server_ends() const { return job_.link && job_.link->client().server_ends(); }   ///< its process was asked to
    void ask_all_to_stop(const char* why) {
        if (job_.link) job_.link->client().ask_all_to_stop(why);
    }
    /// This worker cannot go on, and why: ends the job, unless the others go on without it.
    SINTER_COLD void fail(const char* cause) noexcept {
        const bool others_go_on = independent() && (!clocks() || job_.setup.order.backup > 0);
        if (job_.link && !others_go_on) job_.link->client().fail(cause);
    }
    parameter_servers::client_counters counters() const {
        return job_.link ? job_.link->client().seen() : parameter_servers::client_counters{};
    }
    parameter_servers::client* client() { return job_.link ? &job_.link->client() : nullptr; }

    /// Nothing is on its way, and what came is in place.
    void settle() { wait(push_), wait(pull_); }
    /// What is sent lies where it was until the last push is over.
    void wait_for_push() { wait(push_); }
    /// A push was begun; `pulls`: with its answer come values.
    void begin_push(parameter_servers::ticket t, bool pulls) { push_ = {t, true, pulls}; }
    void start_pull() {
        if (now.steps % job_.setup.pull_every == 0)
            pull_ = {job_.link->client().start_pull(job_.link->targets()), true, true};
    }
    /// f(), whose time counts as waiting for others.
    template <class F>
    bool while_waiting(F f) {
        if (!job_.report->wanted()) return f();
        const double began = base::monotonic_seconds();
        const bool answer = f();
        waited_ += base::monotonic_seconds() - began;
        return answer;
    }
    /// To sinter-launch, now and then: this worker's own steps, and what it has counted.
    void report(double loss) {
        // Others are waited for where clocks need the pushes of all; elsewhere only servers are.
        const bool for_others = clocks() && job_.setup.order.backup == 0;
        if (!job_.report->step(now.steps, loss, for_others ? waited_ : -1)) return;
        strategy_parts::report_worker(*job_.report, counters(), job_.link->client().global_step());
    }
    /// All values, also those that never change, of one version; a server that came back may stay at an older one.
    SINTER_COLD void pull_all() {
        catch_up();
        ++version_;
        parameter_servers::client& c = job_.link->client();
        for (std::int64_t tries = 0, seen = -1; tries < 3; tries = seen == c.version() ? tries + 1 : 0) {
            seen = c.version();
            c.begin_reading();
            job_.link->read_all(job_.parameters.data());
            if (n_states)
                c.read(0, parameter_servers::client::states, 0, {states_before_.data(), states_before_.size()});
            if (c.use_read()) break;
        }
        job_.parameters.put();
        put_states(states_before_.data());
        now.stale = now.is_old = false;
    }
    /// The trainer's steps: updates by all. Who may lag counts its own pushes, so that all who make the same calls
    /// count alike.
    std::int64_t steps_made() const {
        return may_lag() ? now.before_clocks + now.consumed : job_.link->client().global_step();
    }
    /// States as they were read.
    const std::vector<float>& states_read() const { return states_before_; }

    worker_progress now;

private:
    struct awaited {
        parameter_servers::ticket ticket = 0;
        bool waits = false, brings = false;   ///< brings: with its answer come values
    };
    process& job_;
    strategy_parts::job_tables of_job_;
    strategy_parts::written_slots slots_;      ///< not sent yet
    bool changed_ = false;         ///< values here are newer than the servers'
    bool renewed_slots_ = false;   ///< all slots begin anew with the next values that are sent
    bool loaded_ = false;          ///< before training: the chief has the values of a whole file
    bool set_ = false;             ///< the chief has overwritten values since training began
    bool averages_ = false;
    awaited push_, pull_;
    std::int64_t version_ = 0,
                 whole_of_[2] = {-1, -1};   ///< of the values; with which evaluation and prediction have tables
    std::vector<std::int64_t> phase_steps_ = std::vector<std::int64_t>(std::size_t{phases});
    std::vector<float> states_before_;   ///< as they were read
    double waited_ = 0;   ///< seconds, for servers and so for others

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    membership member() const { return job_.member(); }
    bool independent() const { return job_.independent(); }
    bool clocks() const { return job_.clocks(); }
    bool serves() const { return job_.serves(); }
    bool trains() const { return job_.trains(); }
    strategy_parts::server_link* connected() { return job_.link && now.begun ? job_.link.get() : nullptr; }
    static int of_table(compiler::address a) { return worker_tables::table_at(a); }

    // ---- values
    /// The batch for program Q's run on local(): with its lookups' ports, and the rows that it names in place.
    template <class Q>
    batch_view prepared(const batch_view& b) {
        const batch_view whole = job_.tables.template prepare<Q>(b);
        job_.pull_rows(connected());
        if constexpr (unit::template has_own_parameters<Q>()) {
            std::int64_t& has = whole_of_[std::is_same_v<Q, typename Programs::evaluation> ? 0 : 1];
            if (has != version_)
                worker_tables::template each_whole<Q>([&](int, int i) {
                    const variable_info& v = P::v.parameters[i];
                    if constexpr (process::set::shared) {
                        get(v.at, job_.replicas.first().template whole_table<Q>(i), v.floats);
                    } else {
                        std::vector<float> x(static_cast<std::size_t>(v.floats));
                        get(v.at, x.data(), v.floats);
                        job_.replicas.first().template write_whole_table<Q>(i, x.data());
                    }
                });
            has = version_;
        }
        return whole;
    }
    /// All that servers have of an earlier run becomes the chief's. It is older then than what they
    /// save from now on (known_checkpoint).
    SINTER_COLD void replace_values() {
        job_.link->client().begin_renewal();
        for (int t = 0; t < worker_tables::count; ++t) job_.link->forget_rows(t);
        send_values();
        job_.link->client().end_renewal();
    }
    SINTER_COLD void send_values() {
        const int tables = worker_tables::count, slots = renewed_slots_ ? 0 : Optimizer::slots;
        std::vector<std::vector<float>> kept;   // servers make new slots for the parameters that they are sent
        for (int k = 0; now.begun && k < slots; ++k) {
            kept.emplace_back(static_cast<std::size_t>(P::v.z.trained));
            job_.link->read(1 + k, 0, kept.back().data(), P::v.z.trained);
        }
        renewed_slots_ = false;
        std::vector<float> states(at(static_cast<int>(n_states)));
        if (n_states) job_.replicas.first().read({compiler::space::state, 0}, states.data(), n_states);
        job_.link->write_all(job_.parameters.data(), states.data());
        for (std::size_t k = 0; k < kept.size(); ++k)
            job_.link->write(1 + static_cast<int>(k), 0, kept[k].data(), P::v.z.trained);
        if (of_job_.send(*job_.link)) job_.tables.forget_loaded();
        for (int t = 0; t < tables; ++t)
            if (job_.tables.take_written(t, now.begun)) {
                if (job_.tables.table(t).hashed) {
                    job_.tables.send_loaded(*job_.link, t);
                    continue;
                }
                if (job_.tables.whole(t).empty()) {
                    job_.link->forget_rows(t);
                    continue;
                }
                job_.link->write_table(t, parameter_servers::client::parameters, job_.tables.whole(t).data());
                job_.tables.whole(t) = {};
            }
        slots_.each([&](compiler::address to, const std::vector<float>& x) {
            const auto slot = 1 + static_cast<int>(to.offset() / P::v.z.trained);
            if (const int t = of_table(to); t >= 0) job_.link->write_table(t, slot, x.data());
            else job_.link->write(slot, to.offset() % P::v.z.trained, x.data(), std::ssize(x));
        });
        slots_.clear();
    }
    SINTER_COLD void write_table(int t, compiler::address to, const float* from, std::int64_t n) {
        if (to.where() == compiler::space::slot) {
            if (member().chief() && trains()) slots_.write(to, from, n);
        } else if (!trains() || member().chief()) {
            job_.tables.whole(t).assign(from, from + n);
        }
        changed_ = true, ++version_;
    }
    SINTER_COLD void get(compiler::address from, float* to, std::int64_t n) {
        const bool slot = from.where() == compiler::space::slot;
        const int array =
            slot ? 1 + static_cast<int>(from.offset() / P::v.z.trained) : parameter_servers::client::parameters;
        if (const int t = of_table(from); t >= 0 && from.where() != compiler::space::gradient) {
            if (connected()) return catch_up(), job_.link->read_table(t, array, to);
            if (slot) return slots_.read(from, to, n);
            const std::vector<float> x = job_.tables.first_rows(t);
            std::copy_n(x.data(), n, to);
            return;
        }
        if (slot && !connected()) return slots_.read(from, to, n);
        if (slot) return catch_up(), job_.link->read(array, from.offset() % P::v.z.trained, to, n);
        job_.need_model("read");
        if (from.where() != compiler::space::gradient) refresh();
        job_.replicas.first().read(from, to, n);
    }
    void put_states(const float* x) {
        if (n_states)
            for (unit& u : job_.replicas) u.write({compiler::space::state, 0}, x, n_states);
    }
    void take_values() {
        job_.link->take(job_.parameters.data());
        job_.parameters.put();
        if (n_states) {
            std::copy_n(job_.link->states(), n_states, states_before_.data());
            put_states(job_.link->states());
        }
    }
    void wait(awaited& a) {
        if (!a.waits) return;
        a.waits = false;
        while_waiting([&] { return job_.link->client().wait(a.ticket), true; });
        if (!a.brings) return;
        take_values();
        if (job_.link->client().use_pulled()) now.is_old = true;
    }
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
        if (may_lag()) job_.link->client().wait_for_clock();
    }
};

} // namespace sinter::strategy_parts
