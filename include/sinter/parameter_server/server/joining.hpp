// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/serving.hpp>

/// Workers that join a server, rest, and leave.
namespace sinter::inline SINTER_TARGET::sharded {

/// Under the mutex: this worker is here, which an operator may want to know.
inline void server_session::note_presence() {
    using presence = server::engine::presence;
    const presence before = std::exchange(k_.now, presence::here);
    if (before == presence::here || before == presence::resting) return;
    const std::string name = e_.who.member(w_).name();
    int here = 0;
    for (int i = 0; i < e_.who.size(); ++i) {
        const presence p = e_.at(i).now;
        here += p == presence::here || p == presence::resting;
    }
    if (before == presence::dead) e_.tell(name + " is back");
    else if (here == e_.who.size() && here > 1) e_.tell(joined({"all ", here, " workers are here"}));
    else e_.tell(joined({name, " is here: ", here, " of ", e_.who.size(), " workers"}), message_level::detailed);
}
/// Under the mutex: a worker joins that makes sum `next` next. Where this server was started again, and workers share
/// batches, all are those of before or none is, but for as many as the mode does without.
inline void server_session::need_same_run(std::uint64_t next) {
    using worker = server::engine::worker;
    k_.comes = next > 1 ? worker::amid : worker::anew;
    if (!e_.restored || !e_.order.all_join) return;
    int amid = 0, anew = 0, last = w_;
    for (int i = 0; i < e_.who.size(); ++i) {
        const worker& k = e_.at(i);
        if (!e_.lives(k)) continue;
        amid += k.comes == worker::amid;
        if (k.comes == worker::anew) ++anew, last = i;
    }
    if (amid == 0 || anew <= e_.order.backup) return;
    const cluster_member& m = e_.who.member(last);
    e_.fail_held(cluster_error(last, m.name(), text_of(m.address()), "joining the job again", e_.global_step,
                               joined({"it was started again while others are in the midst of training. This mode can "
                                       "do without ", e_.order.backup, " workers: the job ends"})));
}
/// Where server 0 says whose pushes make a clock it says to a worker that rests how many are
/// applied; others have come so far before it leaves them. Without this a server might end before
/// the last clock.
inline void server_session::wait_for_clocks(lock& hold) {
    if (e_.agrees()) wait(hold, [&] { return e_.has_applied_all(); });
}
/// What a worker that joins gets: about_server.
inline void server_session::answer_about_server(lock& hold) {
    const std::string about = e_.about_text();
    hold.unlock();
    answer(about);
}

template <>
inline void server_session::carry_out(const calls::join& c, lock& hold) {
    const known_to_worker& known = c.known;
    if (e_.is_first() && e_.order.mode == update_mode::clocks) e_.together.name_later_than(c.named_save);
    // One that began again from a checkpoint of before load(): it is part of the job's next ones.
    if (w_ == 0 && e_.restored && !e_.renewing) e_.version = std::max(e_.version, c.version);
    if (e_.replicated() && c.epoch > e_.epoch) {   // another leads since
        e_.part = copy_role::waiting;
        e_.changed_view();
        throw view_changed{};
    }
    note_presence();
    if (e_.restored && known.opened != 0) {
        e_.open = true;   // the job that was saved goes on
        // It may have been opened after that: then the checkpoint's own is that of the job before.
        e_.open_clock = known.open_clock, e_.open_step = known.open_step;
    }
    if (w_ == 0 && known.opened != 0) e_.opened_by = incarnation_;
    if (e_.is_first() && e_.restored) {
        e_.together.know(known.stop_clock, known.files);
        if (known.stop_clock >= 0 && e_.order.all_join) e_.asked = true;
    }
    e_.steps_elsewhere(known.applied, known.step);
    e_.all_clocks.join(w_, c.clock);
    e_.gets_on();
    need_same_run(known.sum);
    if (e_.restored) e_.together.give(e_.all_clocks.next(w_));   // it may have leave for that already
    // A copy that has come to lead may know the last sums alone. Others tell it of those before, which one that
    // begins is to have.
    if (e_.keeps_sums() && known.sum == 1 && e_.has_others(w_)) {
        const double until = base::monotonic_seconds() + e_.who.options.dead_after / 2;
        wait(hold, [&] { return e_.sums.first_kept() == 1 || base::monotonic_seconds() > until; });
    }
    answer_about_server(hold);
}

template <>
inline void server_session::carry_out(const calls::join_resting&, lock& hold) {   // pushes that it asks again follow
    e_.take_leave(w_, server::engine::presence::resting);
    e_.advance(hold);
    answer_about_server(hold);
}

template <>
inline void server_session::carry_out(const calls::rest& c, lock& hold) {
    e_.hear_before_end(c.clocks, c.named_save);
    e_.take_leave(w_, server::engine::presence::resting);
    e_.advance(hold);
    wait_for_clocks(hold);
    answer_call(hold);
}

template <>
inline void server_session::carry_out(const calls::leave& c, lock& hold) {
    e_.hear_before_end(c.clocks, c.named_save);
    e_.take_leave(w_, server::engine::presence::left);
    e_.advance(hold);
    wait_for_clocks(hold);
    answer_call(hold);
}

} // namespace sinter::sharded
