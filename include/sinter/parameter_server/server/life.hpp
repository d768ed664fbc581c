// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>

/// A server's beginning and end, checkpoints, and who is dead.
namespace sinter::inline SINTER_TARGET::sharded {

inline void server::engine::restore() {
    if (!options.files) return;
    shard_view v = memory.view();
    v.server = shard_number;
    v.servers = static_cast<int>(who.servers().size());
    v.restore_row = [this](std::size_t table, std::int64_t key, std::int64_t step, const float* values,
                           const float* const* slots) { memory.restore_row(table, key, step, values, slots); };
    if (!options.files->load(v)) return;
    memory.end_of_rows();
    restored = has_values = true;
    std::vector<std::int64_t> phases;
    if (!v.log.empty()) {
        const server_log l = server_log::of(v.log);
        phases = l.phases;
        log.restore(l.pushes);
        tickets.limit(l.max_steps);
        all_clocks.restore(l.clocks);
        version = l.version;
        open_clock = std::min(l.open_clock, l.clocks), open_step = l.open_step;
    }
    set_steps(v.global_step, phases);
    restored_step = global_step;
    tell(sinter::joined({"goes on from its checkpoint of step ", global_step}));
    saves.restore(global_step, v.name);
    if (v.name < 0) return;
    if (order.mode == update_mode::async) together.save_was_named(v.name);
    else together.name_later_than(v.name);
}

/// Under the mutex, with nobody changing values.
inline std::string server::engine::saved_log() const {
    server_log l;
    l.global_step = global_step;
    l.clocks = all_clocks.applied();
    l.max_steps = tickets.limit();
    l.version = version;
    l.open = open;
    l.open_clock = open_clock, l.open_step = open_step;
    l.pushes = log.entries();
    if (made_of.size() > 1) l.phases = made_of;
    if (order.mode == update_mode::clocks)   // what only waits for its clock is not in the values
        for (std::size_t w = 0; w < workers.size(); ++w)
            if (l.pushes[w].last != 0) l.pushes[w].last = workers[w].applied_number;
    return l.bytes();
}

/// Writes all as it is at one moment, while everybody goes on: a copy of the dense values, and the
/// rows of tables from where they are (shard::tables_now()). `of_job`: in place of this server's own
/// files.
inline void server::engine::save(const std::string& where, bool by_steps, const std::shared_ptr<shard_files>& of_job) {
    shard_view v;
    std::shared_ptr<shard_files> files;   // a copy that comes to lead again may have others meanwhile
    std::vector<std::unique_ptr<float[]>> copies;
    const auto copy = [&](float*& x, std::int64_t n) {
        copies.push_back(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n)));
        std::copy_n(x, n, copies.back().get());
        x = copies.back().get();
    };
    {
        const std::unique_lock alone(gate);
        v = memory.view();
        v.server = shard_number;
        v.servers = static_cast<int>(who.servers().size());
        {
            const lock hold(mutex);
            if (failure) throw cluster_error(*failure);
            if (part != copy_role::leading) throw error("this copy leads its shard no longer", "a checkpoint");
            files = of_job ? of_job : options.files;
            v.log = saved_log();
            v.global_step = global_step;
            v.clock = order.mode == update_mode::clocks ? all_clocks.applied() : -1;
            v.version = version;
            if (!of_job) saves.copied(global_step, base::monotonic_seconds(), by_steps);
        }
        const shard_layout& l = memory.layout();
        copy(v.values, l.floats);
        for (float*& s : v.slots) copy(s, l.floats);
        copy(v.states, l.states);
        v.tables = memory.tables_now();
    }
    {
        lock hold(mutex);
        advance(hold);   // clocks that waited for the copy
    }
    files->save(v, where);
}

/// Under the mutex, on server 0: whether all servers are to save.
inline void server::engine::agree_to_save() {
    if (!options.files || !open || saves_alone()) return;
    checkpoint_facts f = facts(base::monotonic_seconds());
    f.at_rest = is_at_rest();
    hear_of_saves([&] { return saves.agree(f, all_clocks, together); });
}
/// Under the mutex: ask() may name a checkpoint, and returns what an operator should hear.
template <class F>
void server::engine::hear_of_saves(F ask) {
    using notice = checkpoint_schedule::notice;
    const std::int64_t before = saves.newest_named();
    const notice n = ask();
    if (saves.newest_named() != before) changed.notify_all();
    if (n == notice::none) return;
    if (n == notice::no_folder)
        return notes.say("other servers write checkpoints, and this one has no folder for them: none is whole",
                         message_level::warning);
    notes.say(sinter::joined({"checkpoints are due more often than all servers can write them: some are left out, for ",
                              n == notice::this_one_late ? "this server" : "another server", " has not written step-",
                              together.save(), " yet"}));
}
/// Under the mutex: what a worker that rests or leaves has heard from server 0, which all servers
/// are to do before they end: how many clocks are applied there, and which save was named last. To
/// server 0 it says which save it has told the others of.
inline void server::engine::hear_before_end(std::int64_t clocks, std::int64_t named) {
    if (order.mode == update_mode::clocks) {
        if (agrees() && !is_first()) end_clock = std::max(end_clock, clocks);
        return changed.notify_all();
    }
    together.save_was_named(named);
    hear_of_saves([&] { return saves.heard_before_end(named, options.files != nullptr); });
}

/// A thread: writes what is due.
inline void server::engine::keep_saving() {
    lock hold(mutex);
    for (;;) {
        const auto next = failure ? std::nullopt : saves.begins(facts(base::monotonic_seconds()));
        if (!next) {
            if (stopping) return;
            changed.wait_for(hold, std::chrono::milliseconds(options.save_every_steps > 0 ? 5 : 100));
            continue;
        }
        const std::shared_ptr<shard_files> files = options.files;
        hold.unlock();
        std::string fault;
        try {
            if (next->begins_anew) files->begin_anew();
            save(next->where, next->by_steps);
        } catch (const std::exception& e) {
            fault = e.what();
        }
        hold.lock();
        if (!fault.empty()) notes.say("a checkpoint could not be written: " + fault, message_level::warning);
        saves.ends(*next, fault);
        tell_state();   // before clocks that waited for it
        changed.notify_all();
    }
}

inline void server::engine::look_who_lives(double gap) {
    const double now = base::monotonic_seconds(), dead_after = who.options.dead_after;
    if (part != copy_role::leading || copying) return;
    if (absent_workers.due()) {
        std::vector<std::string> whom;
        for (int w = 0; w < who.size(); ++w)
            if (at(w).now == presence::expected) whom.push_back(who.member(w).name());
        absent_workers.say(whom);
    }
    for (int w = 0; w < who.size(); ++w) {
        worker& k = at(w);
        if (double was = k.heard; gap > who.options.heartbeat_every() && was < now - dead_after / 2)
            k.heard.compare_exchange_strong(was, now - dead_after / 2);
        if (k.now == presence::here || k.now == presence::resting) {
            if (now - k.heard > dead_after) declare_dead(w, now - k.heard);
        } else if (k.now == presence::expected && now - started > who.options.join_within) {
            k.now = presence::never_came;
            all_clocks.retire(w);
            int missing = 0;
            for (const worker& x : workers) missing += x.now == presence::never_came || x.now == presence::dead;
            // One that had died already when this server was started again is none that should come.
            if (order.all_join && !(restored && missing <= order.backup))
                fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "joining the job",
                                        -1, "it has not come within join_within"));
            else tell(who.member(w).name() + " has not come within join_within: nobody waits for it");
            changed.notify_all();
        }
    }
}

/// Under the mutex: whether no worker has been here yet. A copy may have been started anew: whether
/// there is a job, whoever leads tells it soon.
inline bool server::engine::nobody_came(double now) const {
    if (replicated()) return epoch == 0 && now - started > who.options.dead_after;
    return !restored && std::ranges::all_of(workers, [](const worker& k) {
        return k.now == presence::expected || k.now == presence::never_came;
    });
}
/// Under the mutex: whether all that workers have pushed, and no other waits for, is in the values.
inline bool server::engine::has_applied_all() const {
    if (order.mode == update_mode::async) return true;
    if (agrees() && !is_first()) return !applying && all_clocks.applied() >= end_clock;   // server 0 decides on clocks
    return !applying && (!all_clocks.ready() || only_the_dead_wait());
}
/// Under the mutex: whether nobody makes steps, and those that were made are in the values.
inline bool server::engine::is_at_rest() const {
    return has_applied_all() && std::ranges::none_of(workers, [](const worker& k) { return k.now == presence::here; });
}
/// Under the mutex: each answer tells workers that this process was asked to end. Where there are
/// none it ends.
inline void server::engine::look_whether_it_is_to_end(double now) {
    if (!options.asked_to_end || !options.asked_to_end()) return;
    if (!std::exchange(ends_soon, true)) notes.say("asked to end: workers stop after their next steps");
    if (nobody_came(now)) stopping = true;
}
/// Under the mutex.
inline bool server::engine::is_over(double now) const {
    bool waits = false, may_return = false;
    if (part != copy_role::leading) return is_done_unled(now);
    for (const worker& k : workers) {
        if (k.now == presence::here || k.now == presence::resting || k.arriving > 0) return false;
        waits |= k.now == presence::expected;
        may_return |= k.now == presence::dead;
    }
    // A worker that comes when there is nothing left to do is to find that, and end well. One that had died may be
    // started again; one that others could not do without would have nobody to train with.
    may_return = may_return && !order.all_join && now - died < 2 * who.options.dead_after;
    if (any_left) return has_applied_all() && (ends_soon || !(waits || may_return));
    return now - started > who.options.join_within + who.options.dead_after && !(waits || (may_return && !ends_soon));
}

inline void server::engine::report(lock& hold, bool last) {
    if (!options.report) return;
    std::vector<worker_counters> all;
    for (const worker& k : workers) all.push_back(k.counters);
    const std::int64_t step = global_step;
    hold.unlock();
    options.report(step, all, memory.counts(last));
    hold.lock();
}

inline void server::engine::serve_until_the_end() {
    if (options.files || options.files_of) saver = base::posix_thread([this] { keep_saving(); });
    if (options.changes) exporter = base::posix_thread([this] { keep_exporting(); });
    if (all_squares) applier = base::posix_thread([this] { apply_clocks(); });
    if (replicated()) follower = base::posix_thread([this] { follow(); });
    lock hold(mutex);
    double ran = base::monotonic_seconds(), reported = ran;
    const double every = std::min(who.options.heartbeat_every() / 2, options.asked_to_end ? 0.1 : 1e3);
    while (!stopping && !failure) {
        const double now = base::monotonic_seconds();
        for (worker& k : workers)
            if (k.talk) k.talk->say_for_who_works(who.options.heartbeat_every());
        look_who_lives(now - ran);
        look_whether_it_is_to_end(now);
        ran = now;
        if (is_over(now)) {
            if (is_led_by_nobody(now))
                fail_held(about_self("serving", sinter::joined({"nobody leads part ", shard_number,
                                                                " of the parameters, and workers wait for it: its "
                                                                "leader was lost, or the chief that knew which copy "
                                                                "has all of it"})));
            break;
        }
        look_at_sums();
        advance(hold);
        if (now - reported >= options.report_every) {
            for (worker& k : workers)
                k.counters.steps_per_second =
                    static_cast<double>(k.counters.applied - std::exchange(k.applied_before, k.counters.applied)) /
                    (now - reported);
            reported = now;
            report(hold);
        }
        changed.wait_for(hold, std::chrono::microseconds(static_cast<std::int64_t>(every * 1e6)));
    }
    const bool nobody_left = !any_left && !stopping && !told_end;
    if (stream && !failure) stream->add(copied::end);
    report(hold, true);
    const auto served = [&] { return std::ranges::any_of(workers, [](const worker& k) { return k.served; }); };
    const double now = base::monotonic_seconds();
    if (failure) {   // those who wait for something are told, and the others with their next heartbeats
        const double least = now + 0.5, most = now + 0.5 + 1.5 * who.options.heartbeat_every();
        while (base::monotonic_seconds() < (served() ? most : least))
            changed.wait_for(hold, std::chrono::milliseconds(50));
    } else {         // the last answers go
        const auto owes = [&] { return served() || (stream && !stream->has(stream->added())); };
        while (owes() && base::monotonic_seconds() < now + 1) changed.wait_for(hold, std::chrono::milliseconds(50));
    }
    stopping = true;
    hang_up();
    changed.notify_all();
    if (failure) throw cluster_error(*failure);
    if (nobody_left)
        throw about_self("serving", "no worker is there any more, and none has said that it leaves");
}

inline server::server(const cluster& c, const wire::identity& same, shard_layout l, std::unique_ptr<updater> u,
                      scalars_function s, server_options o)
    : engine_(std::make_unique<engine>(c, same, std::move(l), std::move(u), std::move(s), std::move(o))) {}
inline server::~server() = default;
inline void server::run() {
    if (engine_->other) engine_->serve_both();
    else engine_->serve_until_the_end();
}
inline void server::stop() noexcept {
    for (engine* e : {engine_.get(), engine_->other.get()}) {
        if (!e) continue;
        const engine::lock hold(e->mutex);
        e->stopping = true;
        e->changed.notify_all();
    }
}
inline std::int64_t server::global_step() const {
    const engine::lock hold(engine_->mutex);
    return engine_->global_step;
}
inline std::vector<worker_counters> server::counters() const { return engine_->counters(); }

} // namespace sinter::sharded
