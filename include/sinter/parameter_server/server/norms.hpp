// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/updates.hpp>

/// Clipping by the norm of all gradients where several servers each have some of them.
namespace sinter::inline SINTER_TARGET::sharded {

/// A thread, where servers add up norms: applies clocks. It waits for other servers, which no
/// worker's thread may. With backup workers server 0 says whose pushes make a clock, and the others
/// do as it says.
inline void server::engine::apply_clocks() {
    lock hold(mutex);
    while (!stopping && !failure) {
        const bool leads = part == copy_role::leading;   // else `norm` is the follower's
        const bool decided = leads && norm.clock == all_clocks.applied();   // by whoever led this shard before
        const bool asks = agrees() && !is_first() && !decided;
        const bool begun_there = all_clocks.begun() || all_clocks.applied() < end_clock;
        if (!leads || save_is_due() || only_the_dead_wait() ||
            !(decided || (asks ? begun_there : all_clocks.ready()))) {
            changed.wait_for(hold, std::chrono::milliseconds(100));
            continue;
        }
        std::optional<shared_squares::ranks> of = shared_squares::everybody;
        if (decided) of = norm.of;
        else if (asks) of = decision(hold);
        if (!of || stopping || failure) continue;
        applying = true;
        apply_clock(hold, *of);
        applying = false;
        changed.notify_all();
    }
}
/// Under the mutex: whose pushes server 0 has named for clock applied(), once all of these are
/// here. Where one will never come, for its worker died in between, all servers do without.
/// Nothing: this server is to do something else.
inline std::optional<shared_squares::ranks> server::engine::decision(lock& hold) {
    using ranks = shared_squares::ranks;
    const std::int64_t clock = all_clocks.applied();
    const std::uint64_t seen = view;
    const auto ask = [&](auto f) {
        std::optional<ranks> answer;
        hold.unlock();
        try {
            answer = f([&] { return is_other_view(seen); });
            hold.lock();
        } catch (const std::exception& e) {
            hold.lock();
            fail_held(about_self("applying an update", e.what()));
        }
        return answer;
    };
    auto of = ask([&](const auto& leave) { return all_squares->decision(clock, leave); });
    while (of && view == seen && !stopping && !failure) {
        ranks missing = 0;
        bool all = true;
        for (int w = 0; w < who.size(); ++w) {
            if ((*of >> w & 1) == 0 || all_clocks.in_next(w)) continue;
            all = false;
            const presence p = at(w).now;
            // One that rests pushes nothing more of a clock that server 0 has applied: this server has
            // been started again since.
            const bool passed = p == presence::resting && clock < end_clock;
            if (all_clocks.next(w) > clock || passed || p == presence::dead || p == presence::left ||
                p == presence::never_came)
                missing |= ranks{1} << w;
        }
        if (all) return of;
        if (missing != 0)
            of = ask([&](const auto& leave) { return all_squares->decision_without(clock, missing, leave); });
        else changed.wait_for(hold, std::chrono::milliseconds(50));
    }
    return {};
}
inline bool server::engine::is_other_view(std::uint64_t seen) const {
    const lock hold(mutex);
    return view != seen;
}

/// Under the mutex: whether what waits for its clock is of dead workers alone, for some time, and
/// nobody is here who would push it, too. It may have come to this server alone: then the others
/// never have a part of that clock's norm. Where nothing has been said to others of whose pushes
/// make the clock, those who rest may still push it. Each server decides this by itself, by when it
/// noticed the last death: doc/parameter-servers.md says what that leaves open.
inline bool server::engine::only_the_dead_wait() const {
    if (!all_squares || order.all_join) return false;
    const bool said = agrees() || replicated();
    bool any = false;
    for (int w = 0; w < who.size(); ++w) {
        const presence p = workers[static_cast<std::size_t>(w)].now;
        if (p == presence::here || (said && p == presence::resting)) return false;
        if (!all_clocks.in_next(w)) continue;
        if (p != presence::dead) return false;
        any = true;
    }
    return any && base::monotonic_seconds() - died > who.options.dead_after;
}
/// Whether others need not be waited for to apply the clock that is being applied.
inline bool server::engine::gives_up_clock(std::uint64_t seen) const {
    const lock hold(mutex);
    return view != seen || only_the_dead_wait();
}

/// Joins the pushes of a clock: `joined` has them until the next.
inline void server::engine::join(const clock_pushes& p) {
    joined.begin(p.used);
    for (std::size_t t = 0; t < memory.layout().tables.size(); ++t) joined.rows(t);
}
/// The sums of squares of this server's tensors, by all pushes of a clock, which are joined for it.
/// Rows of tables are made by this: it is done once for a clock, and by whoever keeps the second
/// copy, too. (A clock that was given up, and that somebody pushes after all, is another: keys that
/// wait for `admit_after` are then counted twice.)
inline void server::engine::sum_squares(const clock_pushes& p, const clock_norm& of, std::int64_t step) {
    if (norm.clock == of.clock && norm.of == of.of && norm.version == of.version && !norm.squares.empty()) return;
    join(p);
    norm = of;
    norm.squares.assign(static_cast<std::size_t>(16 * parameters), 0.f);
    const auto square = [&](int tensor) -> float& { return norm.squares[static_cast<std::size_t>(16 * tensor)]; };
    for (const sharded::run& r : memory.layout().runs)
        if (r.group >= 0 && r.phase == p.phase && r.tensor >= 0 && joined.has_dense())
            square(r.tensor) = memory.optimizer().squares(joined.dense(r.first, r.floats), r.floats);
    for (std::size_t t = 0; t < memory.layout().tables.size(); ++t)
        if (const table_layout& l = memory.layout().tables[t]; l.tensor >= 0 && l.phase == p.phase)
            square(l.tensor) = memory.squares(t, joined.table(t), step);
}
/// Without the mutex, while the clock that `of` names is applied by pushes p: the sum of squares
/// that it is clipped by. Other servers may find that some of these pushes are nowhere there; then
/// p and `of` are fewer. Nothing: this server leads its shard no longer, or not with the follower
/// that it had; or only_the_dead_wait().
inline std::optional<float> server::engine::norm_of_clock(lock& hold, clock_pushes& p, clock_norm of, std::int64_t step,
                                                          std::uint64_t seen) {
    for (;;) {
        if (all_squares && agrees() && is_first()) {
            if (!is_kept(hold, seen)) return {};
            all_squares->decide(of.clock, of.of);
        }
        sum_squares(p, of, step);
        std::vector<float> squares = norm.squares;
        if (all_squares) {
            if (!is_kept(hold, seen)) return {};
            const std::optional<shared_squares::ranks> now = all_squares->exchange(
                of.clock, squares, agrees() ? of.of : 0, [&] { return gives_up_clock(seen); });
            if (!now) return {};
            if (agrees() && *now != of.of) {   // fewer: once more
                hold.lock();
                if (p.updates()) undo_update(p.phase);
                of.of = *now;
                p = pushes_of_clock(of.of);
                tell_joining(of);
                if (p.updates()) begin_update(p.phase, p.rate, scalar_values.data());
                hold.unlock();
                continue;
            }
        }
        return memory.optimizer().total(squares.data(), parameters);
    }
}

// ---- Where two servers keep this shard
/// Under the mutex: tells the follower whose pushes make a clock.
inline void server::engine::tell_joining(const clock_norm& of) {
    if (!stream || !all_squares) return;
    wire::frame_tag t;
    t.step = of.clock;
    t.elements = static_cast<std::uint64_t>(of.version);
    t.offset = of.of;
    stream->add(copied::joining, t);
}
/// Waits until the follower has all that it was told. False: this server leads no longer, or
/// without it.
inline bool server::engine::is_kept(lock& hold, std::uint64_t seen) {
    if (!replicated()) return true;
    hold.lock();
    const std::uint64_t n = stream ? stream->added() : 0;
    changed.wait(hold, [&] { return view != seen || stopping || failure || !stream || stream->has(n); });
    const bool kept = view == seen && !stopping && !failure;
    hold.unlock();
    return kept;
}
/// The sum of all servers' squares, before another one is told of it.
inline bool server::engine::keep_norm(std::int64_t clock, span<const float> total) {
    lock hold(mutex);
    const std::uint64_t seen = view;
    if (part != copy_role::leading) return false;
    if (stream) {
        wire::frame_tag t;
        t.step = clock;
        t.elements = total.size();
        stream->add(copied::norm, t, as_bytes(total));
    }
    hold.unlock();
    return is_kept(hold, seen);
}
/// What a leader has said of whose pushes make a clock.
inline void server::engine::take_joining(clock_norm of) {
    lock hold(mutex);
    if (!all_squares || of.clock != all_clocks.applied())
        throw error("a clock that is not the next", "a leader's stream");
    version = std::max(version, of.version);
    const clock_pushes p = pushes_of_clock(of.of);
    all_clocks.close();
    hold.unlock();
    if (agrees() && is_first()) all_squares->decide(of.clock, of.of);   // should this copy have to answer
    const changing_values changing(*this);
    if (norm.clock == of.clock && norm.of == of.of && norm.version == of.version) return;   // told before
    norm = of;
    if (has_norm(p)) sum_squares(p, of, begun);
}

} // namespace sinter::sharded
