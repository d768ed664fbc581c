// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>

/// Updates that several workers make together.
namespace sinter::inline SINTER_TARGET::sharded {

/// Applies all clocks that can be. One thread at a time does; others find that somebody is at it, who
/// sees what they have staged. Before a checkpoint that is due has been copied no further clock is applied.
inline void server::engine::advance(lock& hold) {
    if (applying || order.mode != update_mode::clocks || (agrees() && !is_first())) return;
    applying = true;
    while (part == copy_role::leading && all_clocks.ready() && !failure && !stopping && !save_is_due(0))
        apply_clock(hold);
    applying = false;
}

/// On servers that do as server 0 decides: applies clocks, by the pushes of those that it names. Where one of
/// these will never come here, for its worker died in between, all servers do without.
inline void server::engine::follow_decisions() {
    lock hold(mutex);
    while (!stopping && !failure) {
        if (!all_clocks.begun() || (saver.joinable() && save_is_due(0))) {
            changed.wait_for(hold, std::chrono::milliseconds(100));
            continue;
        }
        const std::int64_t clock = all_clocks.applied();
        const auto ask = [&](auto f) {
            std::optional<shared_squares::ranks> answer;
            hold.unlock();
            try {
                answer = f();
                hold.lock();
            } catch (const std::exception& e) {
                hold.lock();
                fail_held(about_self("applying an update", e.what()));
            }
            return answer;
        };
        auto of = ask([&] { return all_squares->decision(clock); });
        for (bool all = false; of && !all && !stopping && !failure;) {
            shared_squares::ranks missing = 0;
            all = true;
            for (int w = 0; w < who.size(); ++w) {
                if ((*of >> w & 1) == 0 || all_clocks.in_next(w)) continue;
                all = false;
                const presence p = at(w).now;
                if (all_clocks.next(w) > clock || p == presence::dead || p == presence::left ||
                    p == presence::never_came)
                    missing |= shared_squares::ranks{1} << w;
            }
            if (missing != 0) of = ask([&] { return all_squares->decision_without(clock, missing); });
            else if (!all) changed.wait_for(hold, std::chrono::milliseconds(50));
        }
        if (!of || stopping || failure) continue;
        applying = true;
        apply_clock(hold, *of);
        applying = false;
        changed.notify_all();
    }
}

/// Under the mutex: what has been pushed of clock applied() by these workers.
inline server::engine::clock_pushes server::engine::pushes_of_clock(shared_squares::ranks of) const {
    const auto slot = static_cast<std::size_t>(all_clocks.applied() % (order.staleness + 1));
    clock_pushes p;
    p.here.resize(workers.size()), p.used.resize(workers.size());
    for (std::size_t w = 0; w < workers.size(); ++w) {
        if (!all_clocks.in_next(static_cast<int>(w)) || (agrees() && (of >> w & 1) == 0)) continue;
        staged_push* const mine = p.here[w] = workers[w].staged[slot].get();
        p.came = true;
        p.finite &= mine->info.finite;
        p.save = std::max(p.save, mine->save);
        if (mine->version < version) continue;   // of values that are no more: as if it had come too late
        p.used[w] = mine;
        if (!p.any) p.rate = mine->info.rate, p.phase = mine->info.phase;
        p.agree &= mine->info.phase == p.phase;
        p.any = true;
        p.info.loss += mine->info.loss, p.info.weight += mine->info.weight, p.info.examples += mine->info.examples;
    }
    p.info.push = p.finite ? answer_info::fate::applied : answer_info::fate::not_finite;
    return p;
}

/// Clock applied() becomes an update, by all that has been pushed of it; where servers agree on that, by what
/// workers `of` have pushed.
inline void server::engine::apply_clock(lock& hold, shared_squares::ranks of) {
    const auto slot = static_cast<std::size_t>(all_clocks.applied() % (order.staleness + 1));
    clock_pushes p = pushes_of_clock(of);
    const std::int64_t step = begun, clock = all_clocks.applied();
    const std::uint64_t seen = view;
    if (!p.agree)
        return fail_held(
            about_self("applying an update", "workers have pushed gradients of different losses as one step"));
    const int phase = p.phase;
    if (p.updates()) begin_update(phase, p.rate, scalar_values.data());
    all_clocks.close();
    if (agrees()) {
        of = 0;
        for (std::size_t w = 0; w < workers.size(); ++w) of |= shared_squares::ranks{p.here[w] != nullptr} << w;
    }
    hold.unlock();
    if (agrees() && is_first()) all_squares->decide(clock, of);   // which takes a lock under which others take this one
    const changing_values changing(*this);
    if (replicated()) {
        hold.lock();
        if (view != seen) {   // the values are no longer this server's to change
            if (p.updates()) undo_update(phase);
            all_clocks.close(false);
            return;
        }
        hold.unlock();
    }
    try {
        std::vector<staged_rows*> rows;
        float sum = 0;
        const std::size_t tables = memory.layout().tables.size();
        const auto join = [&] {
            joined.begin(p.used);
            rows.clear();
            for (std::size_t t = 0; t < tables; ++t) rows.push_back(&joined.rows(t));
        };
        if (p.updates() || (all_squares && p.came && p.finite)) join();
        // Sums over tensors, before any of them is updated.
        while (clipped && (all_squares ? p.came && p.finite : p.updates())) {
            std::vector<float> squares(static_cast<std::size_t>(16 * parameters));
            for (const sharded::run& r : memory.layout().runs)
                if (r.group >= 0 && r.phase == phase && r.tensor >= 0 && joined.has_dense())
                    squares[static_cast<std::size_t>(16 * r.tensor)] =
                        memory.optimizer().squares(joined.dense(r.first, r.floats), r.floats);
            for (std::size_t t = 0; t < tables; ++t)
                if (const int tensor = memory.layout().tables[t].tensor;
                    tensor >= 0 && memory.layout().tables[t].phase == phase)
                    squares[static_cast<std::size_t>(16 * tensor)] = memory.squares(t, *rows[t], step);
            const shared_squares::ranks now = all_squares ? all_squares->exchange(clock, squares, of) : of;
            sum = memory.optimizer().total(squares.data(), parameters);
            if (now == of) break;
            of = now;   // fewer: once more
            hold.lock();
            if (p.updates()) undo_update(phase);
            p = pushes_of_clock(of);
            if (p.updates()) begin_update(phase, p.rate, scalar_values.data());
            hold.unlock();
            join();
        }
        if (p.updates()) {
            if (joined.has_dense())
                memory.update(
                    phase, [&](std::int64_t first, std::int64_t n) { return joined.dense(first, n); },
                    scalar_values.data(), sum, nullptr);
            const char* fault = nullptr;
            for (std::size_t t = 0; t < tables; ++t) {
                const bool listed = clipped && memory.layout().tables[t].tensor >= 0;
                if (rows[t]->size() == 0) continue;
                const char* const f = memory.update_rows(t, *rows[t], scalar_values.data(), sum, step, listed);
                if (f) fault = f;
            }
            if (joined.has_states()) memory.put_states(joined.states());
            if (fault) throw error(fault, "an update of rows");
        }
        hold.lock();
    } catch (const std::exception& e) {
        hold.lock();
        fail_held(about_self("applying an update", e.what()));
    }
    for (std::size_t w = 0; w < workers.size(); ++w) {
        worker& k = workers[w];
        const bool late = !p.here[w] && all_clocks.in_next(static_cast<int>(w));   // where servers agree on others
        if (late) p.here[w] = k.staged[slot].get();
        if (!p.here[w]) continue;
        --k.counters.staged;
        k.applied_number = p.here[w]->number;
        if (p.used[w]) {
            ++(p.finite ? k.counters.applied : k.counters.not_finite);
            continue;
        }
        ++k.counters.dropped, k.counters.outdated += !late;
        if (all_clocks.next(static_cast<int>(w)) == clock + 1)   // its last one
            k.info.push = late ? answer_info::fate::late : answer_info::fate::outdated;
    }
    if (p.updates()) {
        end_update(phase);
        for (int w = 0; w < who.size(); ++w) {   // how far each is ahead of the slowest
            const std::int64_t ahead = std::max<std::int64_t>(0, all_clocks.next(w) - all_clocks.applied() - 1);
            if (!p.used[static_cast<std::size_t>(w)]) continue;
            at(w).counters.staleness_sum += ahead;
            at(w).counters.staleness_max = std::max(at(w).counters.staleness_max, ahead);
        }
    }
    if (stream) {
        wire::frame_tag t;
        t.step = clock;
        t.elements = static_cast<std::uint64_t>(version);
        stream->add(copied::clock, t);
    }
    all_clocks.apply();
    save_agreed = std::max(save_agreed, p.save);
    if (p.any)
        for (worker& k : workers) {
            const auto fate = k.info.push;
            k.info.loss = p.info.loss, k.info.weight = p.info.weight, k.info.examples = p.info.examples;
            if (fate == answer_info::fate::staged) k.info.push = p.info.push;
        }
    changed.notify_all();
}

/// A push by itself, with nobody else changing anything where that has to have one order. What is wrong
/// with it; null: nothing.
inline const char* server::engine::apply_push(staged_push& p, std::int64_t step, const float* scalar_floats,
                                              float* copy_to) {
    const auto sum = static_cast<float>(p.info.square_sum);
    if (p.has_dense())
        memory.update(
            p.info.phase, [&](std::int64_t first, std::int64_t) { return p.dense() + first; }, scalar_floats, sum,
            copy_to);
    const char* fault = nullptr;
    for (std::size_t t = 0; t < p.tables().size(); ++t)
        if (p.tables()[t].size() > 0)
            if (const char* f = memory.update_rows(t, p.tables()[t], scalar_floats, sum, step)) fault = f;
    if (p.has_states()) {
        if (p.info.states_are_changes) memory.add_states(p.states());
        else memory.put_states(p.states());
    }
    return fault;
}

/// Rows of a file. Those of a table that is full are left out, so that the newest come first. None at all follow
/// the last.
inline void server::engine::put_rows(const table_rows& r) {
    const auto& tables = memory.layout().tables;
    if (r.table < 0 || r.table >= static_cast<std::int64_t>(tables.size()) ||
        tables[static_cast<std::size_t>(r.table)].rows >= 0)
        throw error("rows of no table of 64-bit keys", "sharded::server");
    memory.use_rows(static_cast<std::size_t>(r.table), [&](row_store& rows, std::int64_t& newest) {
        if (r.first != 0) rows.clear();
        if (r.size() > 0 && (r.row_floats != rows.row_floats() || (r.slots != 0 && r.slots != rows.slots())))
            throw error("rows of another width, or of another optimizer", "sharded::server");
        std::vector<const float*> slots(static_cast<std::size_t>(r.slots + 1));
        for (std::size_t i = 0; i < r.size(); ++i) {
            for (int s = 0; s < r.slots; ++s)
                slots[static_cast<std::size_t>(s)] = r.row(i) + std::int64_t{s + 1} * r.row_floats;
            newest = std::max(newest, r.steps[i]);
            if (rows.find(r.keys[i]) >= 0) continue;   // said before, on a connection that broke
            if (rows.size() == rows.capacity()) continue;
            if (r.slots == rows.slots()) rows.restore(r.keys[i], r.steps[i], r.row(i), slots.data());
            else rows.write(r.keys[i], r.row(i), r.steps[i]);
        }
        if (r.size() == 0 && r.first == 0) rows.order_by_age();
    });
}

/// Under the mutex: a sum is made as soon as all who live have given their part.
inline void server::engine::look_at_sums() {
    if (!sums.any()) return;
    for (int w = 0; w < who.size(); ++w)
        if (lives(at(w)) && !sums.has(w)) return;
    if (!sums.finish())
        fail_held(about_self("a sum over workers",
                             "workers do not do the same: they gave different numbers of numbers"));
    changed.notify_all();
}

inline std::vector<worker_counters> server::engine::counters() const {
    const lock hold(mutex);
    std::vector<worker_counters> all;
    for (const worker& k : workers) all.push_back(k.counters);
    return all;
}

/// One JSON object in a line.
inline std::string server::engine::counters_text() const {
    const lock hold(mutex);
    std::string s = sinter::joined({"{\"server\": ", who.self().index, ", \"shard\": ", shard_number, ", \"copies\": ",
                                    stream ? 2 : 1, ", \"global_step\": ", global_step,
                                    ", \"clocks\": ", all_clocks.applied(), ", \"workers\": ["});
    for (int w = 0; w < who.size(); ++w) {
        const worker& k = workers[static_cast<std::size_t>(w)];
        const worker_counters& c = k.counters;
        s += sinter::joined({w ? ", " : "", "{\"worker\": \"", who.member(w).name(), "\", \"applied\": ", c.applied,
                             ", \"staged\": ", c.staged, ", \"dropped\": ", c.dropped, ", \"repeated\": ", c.repeated,
                             ", \"outdated\": ", c.outdated, ", \"not_finite\": ", c.not_finite,
                             ", \"torn\": ", c.torn, ", \"lost\": ",
                             log.at(w).missing, ", \"connections\": ", c.connections, ", \"bytes_in\": ", c.bytes_in,
                             ", \"bytes_out\": ", c.bytes_out, ", \"staleness_sum\": ", c.staleness_sum,
                             ", \"staleness_max\": ", c.staleness_max, ", \"last\": ", log.at(w).last, "}"});
    }
    return s + "]}";
}

} // namespace sinter::sharded
