// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/engine.hpp>

/// Which workers are there, who is dead or was started again, and for whom others wait.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Whether the other end of a worker's connection is closed, as it is when its process has died,
/// though the thread that serves it has not seen that yet.
SINTER_COLD inline bool server::engine::has_hung_up(const worker& k) {
    pollfd p{k.descriptor, POLLRDHUP, 0};
    return k.descriptor >= 0 && ::poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
SINTER_COLD inline std::string server::engine::objection(const wire::greeting& g) {
    const lock hold(mutex);
    if (ending.failure()) return "the server has failed: " + std::string(ending.failure()->what());
    if (ending.is_stopping()) return "the job is over";
    if (replicated() && g.rank >= who.size()) return {};
    if (g.rank >= who.size())
        return clip.squares && is_first() && g.index > 0 ? "" : "this server asks nothing of other servers";
    const worker& k = workers.at(g.rank);
    if (k.served && k.incarnation != g.incarnation && !k.is(presence::dead) && !has_hung_up(k))
        return who.member(g.rank).name() + " is in this job already: the task was started twice";
    return {};
}
SINTER_COLD inline void server::engine::begin(const wire::greeting& g, wire::data_link link) {
    const lock hold(mutex);
    listening.connections.remove_if([](connection& c) {
        if (!c.over) return false;
        c.thread.join();
        return true;
    });
    connection& c = listening.connections.emplace_back();
    auto held = std::make_shared<wire::data_link>(std::move(link));
    c.thread = base::posix_thread([this, &c, held, w = g.rank, incarnation = g.incarnation] {
        if (replicated()) serve_copy(w, incarnation, std::move(*held));
        else if (w >= who.size()) serve_server(w - who.size(), std::move(*held));
        else serve(w, incarnation, std::move(*held));
        c.over = true;
    });
}
SINTER_COLD inline void server::engine::serve_server(int index, wire::data_link link) {
    try {
        clip.squares->serve(index, link);
    } catch (const error&) {   // it has ended, or dials again: whoever misses its part says so
    }
}
SINTER_COLD inline void server::engine::hang_up_on_workers() {
    for (worker& k : workers)
        if (k.descriptor >= 0) ::shutdown(k.descriptor, SHUT_RDWR);
}
/// Ends all connections: their threads notice.
SINTER_COLD inline void server::engine::hang_up() {
    hang_up_on_workers();
    for (const int d : copies.connections()) ::shutdown(d, SHUT_RDWR);
}
/// The worker rests, leaves or is dead.
SINTER_COLD inline void server::engine::take_leave(int w, presence how) {
    if (w == 0) need_whole_values();
    if (how == presence::dead) workers.dies(w, base::monotonic_seconds());
    else if (how == presence::left) workers.leaves(w);
    else workers.rests(w);
    all_clocks.retire(w);
    tickets.give_back(w);
    gets_on();
    changed.notify_all();
}
/// The chief is gone: where it was overwriting values, they are partly old.
SINTER_COLD inline void server::engine::need_whole_values() {
    if (!progress.is_renewing()) return;
    fail_held(cluster_error(0, who.member(0).name(), text_of(who.member(0).address()), "overwriting values",
                            progress.global_step(), "it has gone before all of them were written"));
}
/// Another process has come for a worker. The one before is dead from now on, however short the time between them: what
/// it had to do with others nobody will do. Workers that share batches can go on without it only where the mode has
/// backup workers.
SINTER_COLD inline void server::engine::replace(int w) {
    worker& k = workers.at(w);
    if (!k.is_in_job()) return;
    if (!progress.is_open()) {   // nothing has been done yet that the new one does not do again
        k.comes = worker::unknown;
        return all_clocks.begin_anew(w);
    }
    take_leave(w, presence::dead);
    notify_operator(who.member(w).name() + " was started again");
    const int away = workers.away(has_hung_up), backup = options.order.backup;   // this one or another
    if (options.order.all_join && away > backup)
        fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "serving",
                                progress.global_step(),
                                sinter::to_text({"it has died, and was started again while the others are in the "
                                                "midst of training. This mode can do without ", backup,
                                                " workers, and ", away, " are away: the job ends"})));
}
/// Those that a worker waits for and who live, by their names.
SINTER_COLD inline std::string server::engine::whom(awaited what, int but) const {
    std::string names;
    for (int w = 0; w < who.size(); ++w) {
        const worker& k = workers.at(w);
        const bool lacks = what == awaited::opening ? w == 0
                         : what == awaited::clock   ? workers.lives(k) && all_clocks.next(w) <= all_clocks.applied()
                         : what == awaited::sum     ? workers.lives(k) && !sums.has(w)
                                                    : k.is(presence::here);
        if (lacks && w != but) names += (names.empty() ? "" : ", ") + who.member(w).name();
    }
    return names;
}
/// Nothing has happened for progress_within that a worker waits for: who lives and does not get
/// on.
SINTER_COLD inline std::string server::engine::stuck(awaited what, int waiter) {
    std::string names = whom(what, waiter);
    const char* const for_what = what == awaited::opening ? "to open the job"
                               : what == awaited::clock   ? "for its part of a step"
                               : what == awaited::sum     ? "in a sum over all workers"
                                                          : "to end its steps";
    if (names.empty()) names = "the other servers";
    std::string why = sinter::to_text({names, " lives but does not get on: ", who.member(waiter).name(),
                                      " has waited ", for_what, " in step ", progress.global_step(),
                                      ", and nothing has happened for ",
                                      static_cast<std::int64_t>(who.options.stuck_after()),
                                      " s (progress_within)"});
    if (options.order.all_join) fail_held(about_self("waiting", why));
    else notes.say(why);
    return why;
}
SINTER_COLD inline void server::engine::declare_dead(int w, double silent) {
    worker& k = workers.at(w);
    if (k.descriptor >= 0) ::shutdown(k.descriptor, SHUT_RDWR);
    take_leave(w, presence::dead);
    notify_operator(sinter::to_text({who.member(w).name(), " is dead: no sign of life for ",
                         static_cast<std::int64_t>(silent + 0.5), " s"}));
    std::string names;
    for (int i = 0; i < who.size(); ++i)
        if (workers.at(i).is(presence::dead)) names += (names.empty() ? "" : ", ") + who.member(i).name();
    const int dead = workers.count(presence::dead), backup = options.order.backup;
    const bool too_many = options.order.mode == update_mode::clocks &&
                          ((backup > 0 && dead > backup) || (options.order.all_join && backup == 0));
    if (too_many)
        fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "serving",
                                progress.global_step(), text_of_dead(names, dead, silent)));
}
SINTER_COLD inline std::string server::engine::text_of_dead(const std::string& names, int dead,
                                                                   double silent) const {
    return sinter::to_text({"no sign of life for ", static_cast<std::int64_t>(silent * 10) / 10, " s; ", dead,
                           " of ", who.size(), " workers are dead (", names, "), and this mode does without ",
                           options.order.backup});
}

} // namespace sinter::parameter_servers
