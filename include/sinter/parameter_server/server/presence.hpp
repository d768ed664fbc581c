// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/engine.hpp>

/// Which workers are there, who is dead or was started again, and for whom others wait.
namespace sinter::inline SINTER_TARGET::sharded {

/// Under the mutex: whether the other end of a worker's connection is closed, as it is when its process has died,
/// though the thread that serves it has not seen that yet.
inline bool server::engine::has_hung_up(const worker& k) {
    pollfd p{k.descriptor, POLLRDHUP, 0};
    return k.descriptor >= 0 && ::poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
/// Under the mutex: another process has come for a worker. The one before is dead from now on, however short the
/// time between them: what it had to do with others nobody will do. Workers that share batches can go on without
/// it only where the mode has backup workers.
inline void server::engine::replace(int w) {
    worker& k = at(w);
    if (k.now != presence::here && k.now != presence::resting) return;
    if (!open) {   // nothing has been done yet that the new one does not do again
        k.comes = worker::not_said;
        return all_clocks.begin_anew(w);
    }
    take_leave(w, presence::dead);
    died = base::monotonic_seconds();
    tell(who.member(w).name() + " was started again");
    int away = 0;   // who is dead, this one or another, or is so by the look of its connection
    for (const worker& peer : workers)
        away += peer.now == presence::dead ||
                (lives(peer) && peer.now != presence::expected && (!peer.served || has_hung_up(peer)));
    if (order.all_join && away > order.backup)
        fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "serving", global_step,
                                sinter::joined({"it has died, and was started again while the others are in the "
                                                "midst of training. This mode can do without ", order.backup,
                                                " workers, and ", away, " are away: the job ends"})));
}
/// Under the mutex: whether another worker is in the job, too.
inline bool server::engine::has_others(int w) const {
    for (int i = 0; i < who.size(); ++i)
        if (const presence p = workers[static_cast<std::size_t>(i)].now;
            i != w && (p == presence::here || p == presence::resting))
            return true;
    return false;
}
/// Under the mutex: a worker has heard from another server of so many clocks and updates. Where this one was
/// started again, clocks that it has lost count as updates, so that all servers count alike.
inline void server::engine::steps_elsewhere(std::int64_t clocks, std::int64_t step) {
    if (!restored || saves_alone() || clocks <= all_clocks.applied() || clocks <= clocks_elsewhere) return;
    clocks_elsewhere = clocks, step_elsewhere = step;
}
/// Under the mutex: a clock was applied that nobody has pushed.
inline void server::engine::count_lost_clock() {
    if (!restored || saves_alone() || made_of.size() > 1 || all_clocks.applied() > clocks_elsewhere) return;
    ++global_step, ++begun, ++made_of[0], ++begun_of[0];
    if (all_clocks.applied() == clocks_elsewhere && step_elsewhere >= restored_step)
        global_step = begun = made_of[0] = begun_of[0] = step_elsewhere;
}
/// Under the mutex: those that a worker waits for and who live, by their names.
inline std::string server::engine::whom(awaited what, int but) const {
    std::string names;
    for (int w = 0; w < who.size(); ++w) {
        const worker& k = workers[static_cast<std::size_t>(w)];
        const bool lacks = what == awaited::opening ? w == 0
                         : what == awaited::clock   ? lives(k) && all_clocks.next(w) <= all_clocks.applied()
                         : what == awaited::sum     ? lives(k) && !sums.has(w)
                                                    : k.now == presence::here;
        if (lacks && w != but) names += (names.empty() ? "" : ", ") + who.member(w).name();
    }
    return names;
}
/// Under the mutex: nothing has happened for progress_within that a worker waits for: who lives and does not get
/// on.
inline std::string server::engine::stuck(awaited what, int waiter) {
    std::string names = whom(what, waiter);
    const char* const for_what = what == awaited::opening ? "to open the job"
                               : what == awaited::clock   ? "for its part of a step"
                               : what == awaited::sum     ? "in a sum over all workers"
                                                          : "to end its steps";
    if (names.empty()) names = "the other servers";
    std::string why = sinter::joined({names, " lives but does not get on: ", who.member(waiter).name(),
                                      " has waited ", for_what, " in step ", global_step, ", and nothing has "
                                      "happened for ", static_cast<std::int64_t>(who.options.stuck_after()),
                                      " s (progress_within)"});
    if (order.all_join) fail_held(about_self("waiting", why));
    else notes.say(why);
    return why;
}
inline void server::engine::declare_dead(int w, double silent) {
    worker& k = at(w);
    if (k.descriptor >= 0) ::shutdown(k.descriptor, SHUT_RDWR);
    take_leave(w, presence::dead);
    died = base::monotonic_seconds();
    tell(sinter::joined({who.member(w).name(), " is dead: no sign of life for ",
                         static_cast<std::int64_t>(silent + 0.5), " s"}));
    int dead = 0;
    std::string names;
    for (int i = 0; i < who.size(); ++i)
        if (at(i).now == presence::dead) ++dead, names += (names.empty() ? "" : ", ") + who.member(i).name();
    const bool too_many = order.mode == update_mode::clocks &&
                          ((order.backup > 0 && dead > order.backup) || (order.all_join && order.backup == 0));
    if (too_many)
        fail_held(cluster_error(w, who.member(w).name(), text_of(who.member(w).address()), "serving", global_step,
                                joined_text_of_dead(names, dead, silent)));
}
inline std::string server::engine::joined_text_of_dead(const std::string& names, int dead, double silent) const {
    return sinter::joined({"no sign of life for ", static_cast<std::int64_t>(silent * 10) / 10, " s; ", dead,
                           " of ", who.size(), " workers are dead (", names, "), and this mode does without ",
                           order.backup});
}

} // namespace sinter::sharded
