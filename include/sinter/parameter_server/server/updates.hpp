// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>

/// Updates that several workers make together.
namespace sinter::inline SINTER_TARGET::sharded {

/// Applies all clocks that can be. One thread at a time does; others find that somebody is at it, who
/// sees what they have staged. Before a checkpoint that is due has been copied no further clock is applied.
inline void server::engine::advance(lock& hold) {
    if (applying || order.mode != update_mode::clocks) return;
    applying = true;
    while (part == copy_role::leading && turn.ready() && !failure && !stopping && !save_is_due(0)) apply_clock(hold);
    applying = false;
}

/// Clock applied() becomes an update, by all that has been pushed of it.
inline void server::engine::apply_clock(lock& hold) {
    std::vector<staged_push*> here(workers.size()), pushes(workers.size());   // those that came; that are added up
    const auto slot = static_cast<std::size_t>(turn.applied() % (order.staleness + 1));
    bool finite = true, any = false, came = false;
    answer_info info;
    float rate = 1;
    std::int64_t save = 0;
    for (std::size_t w = 0; w < workers.size(); ++w) {
        here[w] = turn.in_next(static_cast<int>(w)) ? workers[w].staged[slot].get() : nullptr;
        if (!here[w]) continue;
        came = true;
        finite &= here[w]->info.finite;
        save = std::max(save, here[w]->save);
        if (here[w]->version < version) continue;   // of values that are no more: as if it had come too late
        pushes[w] = here[w];
        const push_info& i = pushes[w]->info;
        if (!any) rate = i.rate;
        any = true;
        info.loss += i.loss, info.weight += i.weight, info.examples += i.examples;
    }
    info.push = finite ? answer_info::fate::applied : answer_info::fate::not_finite;
    const bool updates = any && finite, exchanges = all_squares && came && finite;
    const std::int64_t step = begun, clock = turn.applied();
    const std::uint64_t seen = view;
    if (updates) scalars(begun++, rate, scalar_values.data());
    turn.close();
    hold.unlock();
    const changing_values changing(*this);
    if (replicated()) {
        hold.lock();
        if (view != seen) {   // the values are no longer this server's to change
            begun = step;
            turn.close(false);
            return;
        }
        hold.unlock();
    }
    try {
        if (updates || exchanges) {
            joined.begin(pushes);
            float sum = 0;
            const std::size_t tables = memory.layout().tables.size();
            std::vector<staged_rows*> rows;
            for (std::size_t t = 0; t < tables; ++t) rows.push_back(&joined.rows(t));
            if (clipped) {   // sums over tensors, before any of them is updated
                std::vector<float> squares(static_cast<std::size_t>(16 * parameters));
                for (const sharded::run& r : memory.layout().runs)
                    if (r.group >= 0 && r.tensor >= 0 && joined.has_dense())
                        squares[static_cast<std::size_t>(16 * r.tensor)] =
                            memory.optimizer().squares(joined.dense(r.first, r.floats), r.floats);
                for (std::size_t t = 0; t < tables; ++t)
                    if (const int tensor = memory.layout().tables[t].tensor; tensor >= 0)
                        squares[static_cast<std::size_t>(16 * tensor)] = memory.squares(t, *rows[t], step);
                if (exchanges) all_squares->exchange(clock, squares);
                sum = memory.optimizer().total(squares.data(), parameters);
            }
            if (joined.has_dense())
                memory.update([&](std::int64_t first, std::int64_t n) { return joined.dense(first, n); },
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
        if (!here[w]) continue;
        --k.counters.staged;
        k.applied_number = here[w]->number;
        if (pushes[w]) {
            ++(finite ? k.counters.applied : k.counters.not_finite);
            continue;
        }
        ++k.counters.dropped, ++k.counters.outdated;
        if (turn.next(static_cast<int>(w)) == clock + 1) k.info.push = answer_info::fate::outdated;   // its last one
    }
    if (updates) {
        ++global_step;
        for (int w = 0; w < who.size(); ++w) {   // how far each is ahead of the slowest
            const std::int64_t ahead = std::max<std::int64_t>(0, turn.next(w) - turn.applied() - 1);
            if (!pushes[static_cast<std::size_t>(w)]) continue;
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
    turn.apply();
    save_agreed = std::max(save_agreed, save);
    if (any)
        for (worker& k : workers) {
            const auto fate = k.info.push;
            k.info.loss = info.loss, k.info.weight = info.weight, k.info.examples = info.examples;
            if (fate == answer_info::fate::staged) k.info.push = info.push;
        }
    changed.notify_all();
}

/// A push by itself, with nobody else changing anything where that has to have one order. What is wrong
/// with it; null: nothing.
inline const char* server::engine::apply_push(staged_push& p, std::int64_t step, const float* scalar_floats,
                                              float* copy_to) {
    const auto sum = static_cast<float>(p.info.square_sum);
    if (p.has_dense())
        memory.update([&](std::int64_t first, std::int64_t) { return p.dense() + first; }, scalar_floats, sum, copy_to);
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
                                    ", \"clocks\": ", turn.applied(), ", \"workers\": ["});
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
