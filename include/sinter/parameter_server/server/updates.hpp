// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/engine.hpp>

/// Updates that several workers make together.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Applies all clocks that can be. One thread at a time does; others find that somebody is at it,
/// who sees what they have staged. Before a checkpoint that is due has been copied no further clock
/// is applied.
inline void server::engine::advance() {
    if (clip.squares) return changed.notify_all();   // apply_clocks()
    if (applying || options.order.mode != update_mode::clocks) return;
    applying = true;
    while (copies.leads() && all_clocks.ready() && ending.goes_on() && !save_is_due()) apply_clock();
    applying = false;
}

/// A worker is to push this clock. Of those before that it has not pushed here, since they were made
/// elsewhere without it, it pushes nothing any more: nobody waits for that.
inline void server::engine::comes_to(int w, std::int64_t clock) {
    if (!progress.is_open() || all_clocks.next(w) >= clock) return;
    all_clocks.pass(w, clock - 1);
    advance();
}

/// What has been pushed of clock applied() by these workers.
inline clock_pushes server::engine::pushes_of_clock(shared_squares::ranks of) const {
    const std::size_t slot = slot_of(all_clocks.applied());
    clock_pushes p;
    const auto n = static_cast<std::size_t>(workers.size());
    p.here.resize(n), p.used.resize(n);
    for (std::size_t w = 0; w < n; ++w) {
        if (!all_clocks.in_next(static_cast<int>(w))) continue;
        if (of != shared_squares::everybody && (of >> w & 1) == 0) continue;
        staged_push* const mine = p.here[w] = workers.at(static_cast<int>(w)).staged[slot].get();
        p.came = true;
        p.finite &= mine->info.finite;
        p.save = std::max(p.save, mine->save);
        if (mine->version < progress.version()) continue;   // of values that are no more: as if it had come too late
        p.used[w] = mine;
        if (!p.any) p.rate = mine->info.rate, p.phase = mine->info.phase;
        p.agree &= mine->info.phase == p.phase;
        p.any = true;
        p.info.loss += mine->info.loss, p.info.weight += mine->info.weight, p.info.examples += mine->info.examples;
    }
    p.info.push = p.finite ? answer_info::fate::applied : answer_info::fate::not_finite;
    return p;
}

/// Clock applied() becomes an update, by what workers `of` have pushed of it. `known_sum`: the sum of
/// squares that it is clipped by, as the leader of this shard says; else it is made here.
inline void server::engine::apply_clock(shared_squares::ranks of, std::optional<float> known_sum) {
    clock_pushes p = pushes_of_clock(of);
    const std::int64_t step = progress.begun(), clock = all_clocks.applied();
    const std::uint64_t seen = copies.view();
    if (!p.agree)
        return fail_held(
            about_self("applying an update", "workers have pushed gradients of different losses as one step"));
    if (p.updates()) begin_update(p.phase, p.rate, work.scalar_values.data());
    all_clocks.close();
    std::optional<changing_values> changing;   // to the end
    bool goes_on = true;
    {
        const base::mutex_release away(mutex);
        changing.emplace(*this);
        try {
            clock_norm now{clock, 0, of, {}};
            {
                const lock hold(mutex);
                if (clip.squares && (agrees() || replicated())) {
                    of = 0;
                    for (std::size_t w = 0; w < p.here.size(); ++w)
                        of |= shared_squares::ranks{p.here[w] != nullptr} << w;
                }
                goes_on = !replicated() || copies.view() == seen;   // else the values are no longer this server's
                now.version = progress.version(), now.of = of;
                if (goes_on && !known_sum) send_joining(now);
            }
            if (goes_on && !known_sum && has_norm(p)) {   // over tensors, before any of them is updated
                known_sum = norm_of_clock(p, now, step, seen);
                goes_on = known_sum.has_value();
            } else if (goes_on && !known_sum && clip.squares && agrees() && is_first()) {   // others ask at each clock
                goes_on = is_kept(seen);
                if (goes_on) clip.squares->decide(clock, of);
            }
            if (goes_on && p.updates()) update_by_clock(p, clock, step, known_sum.value_or(0.f));
        } catch (const std::exception& e) {
            const lock hold(mutex);
            fail_held(about_self("applying an update", e.what()));
            goes_on = false;
        }
    }
    if (!goes_on) {
        if (p.updates()) progress.undo_update(p.phase);
        if (!agrees() && !replicated()) clip.norm = {};   // pushed by others yet, it has other squares
        all_clocks.close(clip.norm.clock == clock);
        send_state();
        return changed.notify_all();
    }
    note_applied(p, clock);
    if (copies.stream()) {
        wire::frame_tag t;
        t.step = clock;
        t.elements = static_cast<std::uint64_t>(progress.version());
        t.offset = std::bit_cast<std::uint32_t>(known_sum.value_or(0.f));
        copies.stream()->add(copied::clock, t);
    }
    all_clocks.apply();
    if (!p.came && !saves_alone()) progress.count_lost_clock(all_clocks.applied());
    gets_on();
    if (clip.squares && agrees() && is_first()) clip.squares->is_over(clock);
    saves.agreed_by_clock(p.save);
    if (p.any)
        for (worker& k : workers) {
            const auto fate = k.info.push;
            k.info.loss = p.info.loss, k.info.weight = p.info.weight, k.info.examples = p.info.examples;
            if (fate == answer_info::fate::staged) k.info.push = p.info.push;
        }
    changed.notify_all();
}
/// Counts what has become of each push of a clock.
inline void server::engine::note_applied(clock_pushes& p, std::int64_t clock) {
    const std::size_t slot = slot_of(clock);
    for (int w = 0; w < workers.size(); ++w) {
        worker& k = workers.at(w);
        staged_push*& mine = p.here[static_cast<std::size_t>(w)];
        const bool late = !mine && all_clocks.in_next(w);   // where servers agree on others
        if (late) mine = k.staged[slot].get();
        if (!mine) continue;
        --k.counters.staged;
        if (mine->incarnation == k.incarnation) k.applied_number = mine->number;
        if (p.used[static_cast<std::size_t>(w)]) {
            ++(p.finite ? k.counters.applied : k.counters.not_finite);
            continue;
        }
        ++k.counters.dropped, k.counters.outdated += !late;
        if (all_clocks.next(w) == clock + 1)   // its last one
            k.info.push = late ? answer_info::fate::late : answer_info::fate::outdated;
    }
    if (!p.updates()) return;
    progress.end_update(p.phase);
    for (int w = 0; w < workers.size(); ++w) {   // how far each is ahead of the slowest
        const std::int64_t ahead = std::max<std::int64_t>(0, all_clocks.next(w) - all_clocks.applied() - 1);
        if (!p.used[static_cast<std::size_t>(w)]) continue;
        worker_counters& c = workers.at(w).counters;
        c.staleness_sum += ahead;
        c.staleness_max = std::max(c.staleness_max, ahead);
    }
}

/// What the pushes of a clock change, without the mutex.
inline void server::engine::update_by_clock(const clock_pushes& p, std::int64_t clock, std::int64_t step, float sum) {
    const bool summed = clip.used && clip.norm.clock == clock;   // sum_squares() has joined them, and made rows
    if (!summed) join(p);
    if (work.joined.has_dense())
        memory.update(
            p.phase, [&](std::int64_t first, std::int64_t n) { return work.joined.dense(first, n); },
            work.scalar_values.data(), sum, nullptr);
    const char* fault = nullptr;
    for (std::size_t t = 0; t < memory.layout().tables.size(); ++t) {
        const bool listed = summed && memory.layout().tables[t].tensor >= 0;
        if (work.joined.table(t).size() == 0) continue;
        const char* const f = memory.update_rows(t, work.joined.table(t), work.scalar_values.data(), sum, step, listed);
        if (f) fault = f;
    }
    if (work.joined.has_states()) memory.put_states(work.joined.states());
    if (fault) throw error(fault, "an update of rows");
}

/// A push by itself, with nobody else changing anything where that has to have one order. What is
/// wrong with it; null: nothing.
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

/// Rows of a file. Those of a table that is full are left out, so that the newest come first. None
/// at all follow the last.
SINTER_COLD inline void server::engine::put_rows(const table_rows& r) {
    const auto& tables = memory.layout().tables;
    if (r.table < 0 || r.table >= static_cast<std::int64_t>(tables.size()) ||
        tables[static_cast<std::size_t>(r.table)].rows >= 0)
        throw error("rows of no table of 64-bit keys", "parameter_servers::server");
    memory.use_rows(static_cast<std::size_t>(r.table), [&](row_store& rows, std::int64_t& newest) {
        if (r.first != 0) rows.clear();
        if (r.size() > 0 && (r.row_floats != rows.row_floats() || (r.slots != 0 && r.slots != rows.slots())))
            throw error("rows of another width, or of another optimizer", "parameter_servers::server");
        std::vector<const float*> slots(static_cast<std::size_t>(r.slots + 1));
        for (std::size_t i = 0; i < r.size(); ++i) {
            for (int s = 0; s < r.slots; ++s)
                slots[static_cast<std::size_t>(s)] = r.row(i) + std::int64_t{s + 1} * r.row_floats;
            newest = std::max(newest, r.steps[i]);
            if (rows.find(r.keys[i]) >= 0) continue;   // sent before, on a connection that broke
            if (rows.size() == rows.capacity()) continue;
            if (r.slots == rows.slots()) rows.restore(r.keys[i], r.steps[i], r.row(i), slots.data());
            else rows.write(r.keys[i], r.row(i), r.steps[i]);
        }
        if (r.size() == 0 && r.first == 0) rows.order_by_age();
    });
}

/// A sum is made as soon as all who live have given their part.
inline void server::engine::look_at_sums() {
    if (!sums.any()) return;
    for (int w = 0; w < who.size(); ++w)
        if (workers.lives(workers.at(w)) && !sums.has(w)) return;
    if (!sums.finish())
        fail_held(about_self("a sum over workers",
                             "workers called different operations: they gave different numbers of numbers"));
    if (!keeps_sums()) sums.forget_all_but_the_last();
    gets_on();
    changed.notify_all();
}

inline std::vector<worker_counters> server::engine::counters() const {
    const lock hold(mutex);
    return workers.counters();
}

/// One JSON object in a line.
inline std::string server::engine::counters_text() const {
    const lock hold(mutex);
    std::string s = sinter::to_text({"{\"server\": ", who.self().index, ", \"shard\": ", shard_number, ", \"copies\": ",
                                    copies.stream() ? 2 : 1, ", \"global_step\": ", progress.global_step(),
                                    ", \"clocks\": ", all_clocks.applied(), ", \"workers\": ["});
    for (int w = 0; w < who.size(); ++w) {
        const worker& k = workers.at(w);
        const worker_counters& c = k.counters;
        s += sinter::to_text({w ? ", " : "", "{\"worker\": \"", who.member(w).name(), "\", \"applied\": ", c.applied,
                             ", \"staged\": ", c.staged, ", \"dropped\": ", c.dropped, ", \"repeated\": ", c.repeated,
                             ", \"outdated\": ", c.outdated, ", \"not_finite\": ", c.not_finite,
                             ", \"torn\": ", c.torn, ", \"lost\": ",
                             log.at(w).missing, ", \"connections\": ", c.connections, ", \"bytes_in\": ", c.bytes_in,
                             ", \"bytes_out\": ", c.bytes_out, ", \"staleness_sum\": ", c.staleness_sum,
                             ", \"staleness_max\": ", c.staleness_max, ", \"last\": ", log.at(w).last, "}"});
    }
    return s + "]}";
}

} // namespace sinter::parameter_servers
