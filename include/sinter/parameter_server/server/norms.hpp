// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/updates.hpp>

/// Clipping by the norm of all gradients where several servers each have some of them.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// At the server's beginning: whether updates are clipped, and how servers add up squares.
inline void server::engine::begin_clipping(const wire::identity& same) {
    int& n = clip.parameters;
    for (const parameter_servers::run& r : memory.layout().runs) n = std::max(n, r.tensor + 1);
    for (const table_layout& t : memory.layout().tables) n = std::max(n, t.tensor + 1);
    n = std::max(n, options.parameters);
    clip.used = options.order.mode == update_mode::clocks && memory.optimizer().needs() == norm_need::all_gradients;
    if (!clip.used || who.servers().size() == 1) return;
    if ((options.order.backup > 0 || replicated()) && who.size() > shared_squares::most_workers)
        throw option_error("too many workers for clipping by the norm of all gradients on several servers with "
                           "backup workers, or with replicas = 2",
                           "the optimizer of a parameter server", sinter::to_text({who.size(), " workers"}),
                           sinter::to_text({shared_squares::most_workers, " at most"}));
    std::optional<shared_squares::second_copies> twice;
    if (replicated())
        twice = {shard_number, [this](std::int64_t clock, span<const float> total) { return keep_norm(clock, total); }};
    const auto is_over = [this] {
        const lock hold(mutex);
        return !ending.goes_on();
    };
    clip.squares =
        std::make_unique<shared_squares>(who, same, n, is_over, 60 + who.options.dead_after, std::move(twice));
}

/// A thread, where servers add up norms: applies clocks. It waits for other servers, which no
/// worker's thread may. With backup workers server 0 says whose pushes make a clock, and the others
/// do as it says.
inline void server::engine::apply_clocks() {
    const lock hold(mutex);
    while (ending.goes_on()) {
        const bool leads = copies.leads();   // else `norm` is the follower's
        const bool decided = leads && clip.norm.clock == all_clocks.applied();   // by whoever led this shard before
        const bool asks = agrees() && !is_first() && !decided;
        const bool begun_there = all_clocks.begun() || all_clocks.applied() < progress.end_clock();
        if (!leads || save_is_due() || only_the_dead_wait() ||
            !(decided || (asks ? begun_there : all_clocks.ready()))) {
            changed.wait_for(mutex, 0.1);
            continue;
        }
        std::optional<shared_squares::ranks> of = shared_squares::everybody;
        if (decided) of = clip.norm.of;
        else if (asks) of = decision();
        if (!of || !ending.goes_on()) continue;
        applying = true;
        apply_clock(*of);
        applying = false;
        changed.notify_all();
    }
}
/// Whose pushes server 0 has named for clock applied(), once all of these are
/// here. Where one will never come, for its worker died in between, all servers do without.
/// Nothing: this server is to do something else.
inline std::optional<shared_squares::ranks> server::engine::decision() {
    using ranks = shared_squares::ranks;
    const std::int64_t clock = all_clocks.applied();
    const std::uint64_t seen = copies.view();
    const auto ask = [&](auto f) SINTER_REQUIRES(mutex) {
        std::optional<ranks> answer;
        std::string fault;
        {
            const base::mutex_release away(mutex);
            try {
                answer = f([&] { return is_other_view(seen); });
            } catch (const std::exception& e) {
                fault = *e.what() ? e.what() : "it failed";
            }
        }
        if (!fault.empty()) fail_held(about_self("applying an update", fault));
        return answer;
    };
    auto of = ask([&](const auto& leave) { return clip.squares->decision(clock, leave); });
    while (of && copies.view() == seen && ending.goes_on()) {
        ranks missing = 0;
        bool all = true;
        for (int w = 0; w < who.size(); ++w) {
            if ((*of >> w & 1) == 0 || all_clocks.in_next(w)) continue;
            all = false;
            const presence p = workers.at(w).now();
            // One that rests pushes nothing more of a clock that server 0 has applied: this server has
            // been started again since.
            const bool passed = p == presence::resting && clock < progress.end_clock();
            if (all_clocks.next(w) > clock || passed || p == presence::dead || p == presence::left ||
                p == presence::never_came)
                missing |= ranks{1} << w;
        }
        if (all) return of;
        if (missing != 0)
            of = ask([&](const auto& leave) { return clip.squares->decision_without(clock, missing, leave); });
        else changed.wait_for(mutex, 0.05);
    }
    return {};
}
inline bool server::engine::is_other_view(std::uint64_t seen) const {
    const lock hold(mutex);
    return copies.view() != seen;
}

/// Whether what waits for its clock is of dead workers alone, for some time, and
/// nobody is here who would push it, too. It may have come to this server alone: then the others
/// never have a part of that clock's norm. Where others have not been sent whose pushes
/// make the clock, those who rest may still push it. Each server decides this by itself, by when it
/// noticed the last death: doc/parameter-servers.md says what that leaves open.
inline bool server::engine::only_the_dead_wait() const {
    if (!clip.squares || options.order.all_join) return false;
    const bool rests_are_known = agrees() || replicated();
    bool any = false;
    for (int w = 0; w < who.size(); ++w) {
        const presence p = workers.at(w).now();
        if (p == presence::here || (rests_are_known && p == presence::resting)) return false;
        if (!all_clocks.in_next(w)) continue;
        if (p != presence::dead) return false;
        any = true;
    }
    return any && base::monotonic_seconds() - workers.died() > who.options.dead_after;
}
/// Whether others need not be waited for to apply the clock that is being applied.
inline bool server::engine::gives_up_clock(std::uint64_t seen) const {
    const lock hold(mutex);
    return copies.view() != seen || only_the_dead_wait();
}

/// Merges the pushes of a clock: `joined` has them until the next.
inline void server::engine::join(const clock_pushes& p) {
    work.joined.begin(p.used);
    for (std::size_t t = 0; t < memory.layout().tables.size(); ++t) work.joined.rows(t);
}
/// The sums of squares of this server's tensors, by all pushes of a clock, which are joined for it.
/// Rows of tables are made by this: it is done once for a clock, and by whoever keeps the second
/// copy, too. (A clock that was given up, and that somebody pushes after all, is another: keys that
/// wait for `admit_after` are then counted twice.)
inline void server::engine::sum_squares(const clock_pushes& p, const clock_norm& of, std::int64_t step) {
    clock_norm& norm = clip.norm;
    if (norm.clock == of.clock && norm.of == of.of && norm.version == of.version && !norm.squares.empty()) return;
    join(p);
    norm = of;
    norm.squares.assign(static_cast<std::size_t>(16 * clip.parameters), 0.f);
    const auto square = [&](int tensor) -> float& { return norm.squares[static_cast<std::size_t>(16 * tensor)]; };
    for (const parameter_servers::run& r : memory.layout().runs)
        if (r.group >= 0 && r.phase == p.phase && r.tensor >= 0 && work.joined.has_dense())
            square(r.tensor) = memory.optimizer().squares(work.joined.dense(r.first, r.floats), r.floats);
    for (std::size_t t = 0; t < memory.layout().tables.size(); ++t)
        if (const table_layout& l = memory.layout().tables[t]; l.tensor >= 0 && l.phase == p.phase)
            square(l.tensor) = memory.squares(t, work.joined.table(t), step);
}
/// Without the mutex, while the clock that `of` names is applied by pushes p: the sum of squares
/// that it is clipped by. Other servers may find that some of these pushes are nowhere there; then
/// p and `of` are fewer. Nothing: this server leads its shard no longer, or not with the follower
/// that it had; or only_the_dead_wait().
inline std::optional<float> server::engine::norm_of_clock(clock_pushes& p, clock_norm of, std::int64_t step,
                                                          std::uint64_t seen) {
    for (;;) {
        if (clip.squares && agrees() && is_first()) {
            if (!is_kept(seen)) return {};
            clip.squares->decide(of.clock, of.of);
        }
        sum_squares(p, of, step);
        std::vector<float> squares = clip.norm.squares;
        if (clip.squares) {
            if (!is_kept(seen)) return {};
            const std::optional<shared_squares::ranks> now = clip.squares->exchange(
                of.clock, squares, agrees() ? of.of : 0, [&] { return gives_up_clock(seen); });
            if (!now) return {};
            if (agrees() && *now != of.of) {   // fewer: once more
                const lock hold(mutex);
                if (p.updates()) progress.undo_update(p.phase);
                of.of = *now;
                p = pushes_of_clock(of.of);
                send_joining(of);
                if (p.updates()) begin_update(p.phase, p.rate, work.scalar_values.data());
                continue;
            }
        }
        return memory.optimizer().total(squares.data(), clip.parameters);
    }
}

// ---- Where two servers keep this shard
/// Tells the follower whose pushes make a clock.
inline void server::engine::send_joining(const clock_norm& of) {
    if (!copies.stream() || !clip.squares) return;
    wire::frame_tag t;
    t.step = of.clock;
    t.elements = static_cast<std::uint64_t>(of.version);
    t.offset = of.of;
    copies.stream()->add(copied::joining, t);
}
/// Waits until the follower has all that it was sent. False: this server leads no longer, or
/// without it.
inline bool server::engine::is_kept(std::uint64_t seen) {
    if (!replicated()) return true;
    const lock hold(mutex);
    const std::uint64_t n = copies.stream() ? copies.stream()->added() : 0;
    changed.wait(mutex, [&]() SINTER_REQUIRES(mutex) {
        return copies.view() != seen || !ending.goes_on() || !copies.stream() || copies.stream()->has(n);
    });
    return copies.view() == seen && ending.goes_on();
}
/// The sum of all servers' squares, before another one gets it.
inline bool server::engine::keep_norm(std::int64_t clock, span<const float> total) {
    std::uint64_t seen = 0;
    {
        const lock hold(mutex);
        seen = copies.view();
        if (!copies.leads()) return false;
        if (copies.stream()) {
            wire::frame_tag t;
            t.step = clock;
            t.elements = total.size();
            copies.stream()->add(copied::norm, t, as_bytes(total));
        }
    }
    return is_kept(seen);
}
/// A leader's word on whose pushes make a clock.
inline void server::engine::take_joining(clock_norm of) {
    lock hold(mutex);
    if (!clip.squares || of.clock != all_clocks.applied())
        throw error("a clock that is not the next", "a leader's stream");
    progress.raise_version(of.version);
    const clock_pushes p = pushes_of_clock(of.of);
    all_clocks.close();
    hold.unlock();
    if (agrees() && is_first()) clip.squares->decide(of.clock, of.of);   // should this copy have to answer
    const changing_values changing(*this);
    clock_norm& norm = clip.norm;
    if (norm.clock == of.clock && norm.of == of.of && norm.version == of.version) return;   // sent before
    norm = of;
    if (!has_norm(p)) return;
    hold.lock();
    const std::int64_t step = progress.begun();
    hold.unlock();
    sum_squares(p, of, step);
}

} // namespace sinter::parameter_servers
