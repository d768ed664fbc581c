// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/engine.hpp>

/// A server's beginning and end, checkpoints, and who is dead.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

SINTER_COLD inline void server::engine::restore() {
    if (!options.files) return;
    shard_view v = memory.view();
    v.server = shard_number;
    v.servers = static_cast<int>(who.servers().size());
    v.restore_row = [this](std::size_t table, std::int64_t key, std::int64_t step, const float* values,
                           const float* const* slots) { memory.restore_row(table, key, step, values, slots); };
    if (!options.files->load(v)) return;
    memory.end_of_rows();
    server_log l;
    if (!v.log.empty()) {
        l = server_log::of(v.log);
        log.restore(l.pushes);
        tickets.limit(l.max_steps);
        all_clocks.restore(l.clocks);
    }
    progress.restored(v.global_step, l.phases, l.version, std::min(l.open_clock, l.clocks), l.open_step);
    notify_operator(sinter::to_text({"goes on from its checkpoint of step ", v.global_step}));
    saves.restore(v.global_step, v.name);
    if (v.name < 0) return;
    if (options.order.mode == update_mode::async) together.save_was_named(v.name);
    else together.name_later_than(v.name);
}

/// With nobody changing values.
SINTER_COLD inline std::string server::engine::saved_log() const {
    server_log l;
    l.global_step = progress.global_step();
    l.clocks = all_clocks.applied();
    l.max_steps = tickets.limit();
    l.version = progress.version();
    l.open = progress.is_open();
    l.open_clock = progress.open_clock(), l.open_step = progress.open_step();
    l.pushes = log.entries();
    if (progress.phase_steps().size() > 1) l.phases = progress.phase_steps();
    if (options.order.mode == update_mode::clocks)   // what only waits for its clock is not in the values
        for (int w = 0; w < workers.size(); ++w)
            if (auto& last = l.pushes[static_cast<std::size_t>(w)].last; last != 0) last = workers.at(w).applied_number;
    return l.bytes();
}

/// Writes all as it is at one moment, while everybody goes on: a copy of the dense values, and the
/// rows of tables from where they are (shard::tables_now()). `of_job`: in place of this server's own
/// files.
SINTER_COLD inline void server::engine::save(const std::string& where, bool by_steps,
                                             const std::shared_ptr<shard_files>& of_job) {
    shard_view v;
    std::shared_ptr<shard_files> files;   // a copy that comes to lead again may have others meanwhile
    std::vector<std::unique_ptr<float[]>> floats;
    const auto copy = [&](float*& x, std::int64_t n) {
        floats.push_back(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n)));
        std::copy_n(x, n, floats.back().get());
        x = floats.back().get();
    };
    {
        const std::unique_lock alone(gate);
        v = memory.view();
        v.server = shard_number;
        v.servers = static_cast<int>(who.servers().size());
        {
            const lock hold(mutex);
            if (ending.failure()) throw cluster_error(*ending.failure());
            if (!copies.leads()) throw error("this copy leads its shard no longer", "a checkpoint");
            files = of_job ? of_job : options.files;
            v.log = saved_log();
            v.global_step = progress.global_step();
            v.clock = options.order.mode == update_mode::clocks ? all_clocks.applied() : -1;
            v.version = progress.version();
            if (!of_job) saves.copied(progress.global_step(), base::monotonic_seconds(), by_steps);
        }
        const shard_layout& l = memory.layout();
        copy(v.values, l.floats);
        for (float*& s : v.slots) copy(s, l.floats);
        copy(v.states, l.states);
        v.tables = memory.tables_now();
    }
    {
        const lock hold(mutex);
        advance();   // clocks that waited for the copy
    }
    files->save(v, where);
}

/// On server 0: whether all servers are to save.
SINTER_COLD inline void server::engine::agree_to_save() {
    if (!options.files || !progress.is_open() || saves_alone()) return;
    checkpoint_facts f = facts(base::monotonic_seconds());
    f.at_rest = is_at_rest();
    const std::int64_t before = saves.newest_named();
    report_saves(before, saves.agree(f, all_clocks, together));
}
SINTER_COLD inline void server::engine::report_saves(std::int64_t before, checkpoint_schedule::notice n) {
    using notice = checkpoint_schedule::notice;
    if (saves.newest_named() != before) changed.notify_all();
    if (n == notice::none) return;
    if (n == notice::no_folder)
        return notes.say("other servers write checkpoints, and this one has no folder for them: none is whole",
                         message_level::warning);
    notes.say(
        sinter::to_text({"checkpoints are due more often than all servers can write them: some are left out, for ",
                         n == notice::this_one_late ? "this server" : "another server", " has not written step-",
                         together.save(), " yet"}));
}
/// What a worker that rests or leaves has received from server 0, which all servers
/// are to do before they end: how many clocks are applied there, and which save was named last. To
/// server 0 it says which save it has sent to the others.
SINTER_COLD inline void server::engine::note_progress(std::int64_t clocks, std::int64_t named) {
    if (options.order.mode == update_mode::clocks) {
        if (agrees() && !is_first()) progress.note_clocks(clocks);
        return changed.notify_all();
    }
    together.save_was_named(named);
    const std::int64_t before = saves.newest_named();
    report_saves(before, saves.progress_known(named, options.files != nullptr));
}

/// A thread: writes what is due.
SINTER_COLD inline void server::engine::keep_saving() {
    const lock hold(mutex);
    for (;;) {
        const auto next = ending.failure() ? std::nullopt : saves.begins(facts(base::monotonic_seconds()));
        if (!next) {
            if (ending.is_stopping()) return;
            changed.wait_for(mutex, options.save_every_steps > 0 ? 0.005 : 0.1);
            continue;
        }
        const std::shared_ptr<shard_files> files = options.files;
        std::string fault;
        {
            const base::mutex_release away(mutex);
            try {
                if (next->begins_anew) files->begin_anew();
                save(next->where, next->by_steps);
            } catch (const std::exception& e) {
                fault = e.what();
            }
        }
        if (!fault.empty()) notes.say("a checkpoint could not be written: " + fault, message_level::warning);
        saves.ends(*next, fault);
        send_state();   // before clocks that waited for it
        changed.notify_all();
    }
}

SINTER_COLD inline void server::engine::look_who_lives(double gap) {
    const double now = base::monotonic_seconds(), dead_after = who.options.dead_after;
    if (!copies.leads() || copies.is_copying()) return;
    if (notes.absent_workers.due()) {
        std::vector<std::string> whom;
        for (int w = 0; w < who.size(); ++w)
            if (workers.at(w).is(presence::expected)) whom.push_back(who.member(w).name());
        notes.absent_workers.say(whom);
    }
    for (int w = 0; w < who.size(); ++w) {
        worker& k = workers.at(w);
        if (double was = k.last_received; gap > who.options.heartbeat_every() && was < now - dead_after / 2)
            k.last_received.compare_exchange_strong(was, now - dead_after / 2);
        if (k.is_in_job()) {
            if (now - k.last_received > dead_after) declare_dead(w, now - k.last_received);
        } else if (k.is(presence::expected) && now - notes.began > who.options.join_within) {
            workers.never_came(w);
            all_clocks.retire(w);
            int missing = 0;
            for (const worker& x : workers) missing += x.is(presence::never_came) || x.is(presence::dead);
            // One that had died already when this server was started again is none that should come.
            if (options.order.all_join && !(progress.is_restored() && missing <= options.order.backup))
                fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "joining the job",
                                        -1, "it has not come within join_within"));
            else notify_operator(who.member(w).name() + " has not come within join_within: nobody waits for it");
            changed.notify_all();
        }
    }
}

/// Whether no worker has been here yet. A copy may have been started anew: whether
/// there is a job, whoever leads sends it soon.
SINTER_COLD inline bool server::engine::nobody_came(double now) const {
    if (replicated()) return copies.epoch() == 0 && now - notes.began > who.options.dead_after;
    return !progress.is_restored() && workers.nobody_came();
}
/// Whether all that workers have pushed, and no other waits for, is in the values.
SINTER_COLD inline bool server::engine::has_applied_all() const {
    if (options.order.mode == update_mode::async) return true;
    if (agrees() && !is_first())   // server 0 decides on clocks
        return !applying && all_clocks.applied() >= progress.end_clock();
    return !applying && (!all_clocks.ready() || only_the_dead_wait());
}
/// Whether nobody makes steps, and those that were made are in the values.
SINTER_COLD inline bool server::engine::is_at_rest() const {
    return has_applied_all() && workers.count(presence::here) == 0;
}
/// Each answer has a flag that this process was asked to end. Where there are
/// none it ends.
SINTER_COLD inline void server::engine::look_whether_it_is_to_end(double now) {
    if (!options.asked_to_end || !options.asked_to_end()) return;
    if (progress.end_soon()) notes.say("asked to end: workers stop after their next steps");
    if (nobody_came(now)) ending.stop();
}
/// Whether all work is done, or nobody is left who could do it.
SINTER_COLD inline bool server::engine::is_over(double now) const {
    if (!copies.leads()) return is_done_unled(now);
    if (workers.any_at_work()) return false;
    // A worker that comes when there is nothing left to do is to find that, and end well. One that had died may be
    // started again; one that others could not do without would have nobody to train with.
    const bool waits = workers.count(presence::expected) > 0,
               may_return = workers.count(presence::dead) > 0 && !options.order.all_join &&
                            now - workers.died() < 2 * who.options.dead_after;
    if (workers.any_left()) return has_applied_all() && (progress.ends_soon() || !(waits || may_return));
    return now - notes.began > who.options.join_within + who.options.dead_after &&
           !(waits || (may_return && !progress.ends_soon()));
}

SINTER_COLD inline void server::engine::report(bool last) {
    if (!options.report) return;
    const std::vector<worker_counters> all = workers.counters();
    const std::int64_t step = progress.global_step();
    const base::mutex_release away(mutex);
    options.report(step, all, memory.counts(last));
}

SINTER_COLD inline void server::engine::serve_until_the_end() {
    if (options.files || options.files_of) threads.saver = base::posix_thread([this] { keep_saving(); });
    if (options.changes) threads.exporter = base::posix_thread([this] { keep_exporting(); });
    if (clip.squares) threads.applier = base::posix_thread([this] { apply_clocks(); });
    if (replicated()) threads.follower = base::posix_thread([this] { follow(); });
    const lock hold(mutex);
    double ran = base::monotonic_seconds(), reported = ran;
    const double every = std::min(who.options.heartbeat_every() / 2, options.asked_to_end ? 0.1 : 1e3);
    while (ending.goes_on()) {
        const double now = base::monotonic_seconds();
        for (worker& k : workers)
            if (k.conn) k.conn->send_wait_for_thread(who.options.heartbeat_every());
        look_who_lives(now - ran);
        look_whether_it_is_to_end(now);
        ran = now;
        if (is_over(now)) {
            if (is_led_by_nobody(now))
                fail_held(about_self("serving", sinter::to_text({"nobody leads part ", shard_number,
                                                                " of the parameters, and workers wait for it: its "
                                                                "leader was lost, or the chief that knew which copy "
                                                                "has all of it"})));
            break;
        }
        look_at_sums();
        advance();
        if (now - reported >= options.report_every) {
            workers.measure(now - reported);
            reported = now;
            report();
        }
        changed.wait_for(mutex, every);
    }
    end_service();
}
/// The last answers go, and all connections end. Throws cluster_error: what went wrong, or all workers are gone and
/// none has left.
SINTER_COLD inline void server::engine::end_service() {
    const bool nobody_left = !workers.any_left() && !ending.is_stopping() && !copies.has_ended();
    if (copies.stream() && !ending.failure()) copies.stream()->add(copied::end);
    report(true);
    const double now = base::monotonic_seconds();
    if (ending.failure()) {   // those who wait for something are refused, and the others at their next heartbeats
        const double least = now + 0.5, most = now + 0.5 + 1.5 * who.options.heartbeat_every();
        while (base::monotonic_seconds() < (workers.any_served() ? most : least)) changed.wait_for(mutex, 0.05);
    } else {         // the last answers go
        const auto owes = [&]() SINTER_REQUIRES(mutex) {
            const auto& stream = copies.stream();
            return workers.any_served() || (stream && !stream->has(stream->added()));
        };
        while (owes() && base::monotonic_seconds() < now + 1) changed.wait_for(mutex, 0.05);
    }
    ending.stop();
    hang_up();
    changed.notify_all();
    if (ending.failure()) throw cluster_error(*ending.failure());
    if (nobody_left)
        throw about_self("serving", "no worker is there any more, and none has left the job");
}

SINTER_COLD SINTER_APART server::server(const cluster& c, const wire::identity& same, shard_layout l,
                                        std::unique_ptr<updater> u, scalars_function s, server_options o)
    : engine_(std::make_unique<engine>(c, same, std::move(l), std::move(u), std::move(s), std::move(o))) {}
SINTER_APART server::~server() = default;
SINTER_COLD SINTER_APART void server::run() {
    if (engine_->other) engine_->serve_both();
    else engine_->serve_until_the_end();
}
SINTER_COLD SINTER_APART void server::stop() noexcept {
    for (engine* e : {engine_.get(), engine_->other.get()}) {
        if (!e) continue;
        const engine::lock hold(e->mutex);
        e->ending.stop();
        e->changed.notify_all();
    }
}
SINTER_COLD SINTER_APART std::int64_t server::global_step() const {
    const engine::lock hold(engine_->mutex);
    return engine_->progress.global_step();
}
SINTER_APART std::vector<worker_counters> server::counters() const { return engine_->counters(); }

} // namespace sinter::parameter_servers
