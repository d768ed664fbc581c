// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/serving.hpp>

/// Workers that join a server, rest, and leave.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// This worker is here, which an operator may want to know.
SINTER_COLD inline void server_session::note_presence() {
    using presence = server::engine::presence;
    const presence before = e_.workers.comes(w_);
    if (before == presence::here || before == presence::resting) return;
    const std::string name = e_.who.member(w_).name();
    const int here = e_.workers.in_job();
    if (before == presence::dead) e_.notify_operator(name + " is back");
    else if (here == e_.who.size() && here > 1) e_.notify_operator(to_text({"all ", here, " workers are here"}));
    else
        e_.notify_operator(to_text({name, " is here: ", here, " of ", e_.who.size(), " workers"}),
                           message_level::detailed);
}
/// A worker joins that makes sum `next` next. Where this server was started again, and workers share
/// batches, all are those of before or none is, but for as many as the mode does without.
SINTER_COLD inline void server_session::need_same_run(std::uint64_t next) {
    using worker = server::engine::worker;
    k_.comes = next > 1 ? worker::amid : worker::anew;
    if (!e_.progress.is_restored() || !e_.options.order.all_join) return;
    int amid = 0, anew = 0, last = w_;
    for (int i = 0; i < e_.who.size(); ++i) {
        const worker& k = e_.workers.at(i);
        amid += k.comes == worker::amid;   // those, too, that have died since: they got steps that were lost
        if (e_.workers.lives(k) && k.comes == worker::anew) ++anew, last = i;
    }
    if (amid == 0 || anew <= e_.options.order.backup) return;
    const cluster_member& m = e_.who.member(last);
    e_.fail_held(cluster_error(last, m.name(), text_of(m.address()), "joining the job again", e_.progress.global_step(),
                               to_text({"it was started again while others are in the midst of training. This mode can "
                                       "do without ", e_.options.order.backup, " workers: the job ends"})));
}
/// Where server 0 says whose pushes make a clock it says to a worker that rests how many are
/// applied; others have come so far before it leaves them. Without this a server might end before
/// the last clock.
SINTER_COLD inline void server_session::wait_for_clocks() {
    if (e_.agrees()) wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.has_applied_all(); });
}
/// What a worker that joins gets: about_server.
SINTER_COLD inline void server_session::answer_about_server() {
    const std::string about = e_.about_text();
    const base::mutex_release away(e_.mutex);
    answer(about);
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::join& c) {
    const known_to_worker& known = c.known;
    if (e_.is_first() && e_.options.order.mode == update_mode::clocks) e_.together.name_later_than(c.named_save);
    // One that began again from a checkpoint of before load(): it is part of the job's next ones.
    if (w_ == 0 && e_.progress.is_restored() && !e_.progress.is_renewing()) e_.progress.raise_version(c.version);
    if (e_.replicated() && c.epoch > e_.copies.epoch()) {   // another leads since
        e_.copies.wait_to_follow();
        e_.changed_view();
        throw view_changed{};
    }
    note_presence();
    if (e_.progress.is_restored() && known.opened != 0) {
        e_.progress.goes_on();   // the job that was saved goes on
        // It may have been opened after that: then the checkpoint's own is that of the job before.
        e_.progress.opened_at(known.open_clock, known.open_step);
    }
    if (w_ == 0 && known.opened != 0) e_.progress.was_opened_by(incarnation_, known.openings);
    if (e_.is_first() && e_.progress.is_restored()) {
        e_.together.know(known.stop_clock, known.files);
        if (known.stop_clock >= 0 && e_.options.order.all_join) e_.progress.ask_to_stop();
    }
    if (!e_.saves_alone()) e_.progress.steps_elsewhere(known.applied, known.step, e_.all_clocks.applied());
    // One that begins has its clock from servers, when the job is open. One in the midst of a job that this server
    // knows nothing of is about to end.
    const bool amid = known.opened != 0 && (e_.progress.is_restored() || e_.progress.is_open());
    e_.all_clocks.join(w_, amid ? c.clock : 0);
    e_.gets_on();
    need_same_run(known.sum);
    if (e_.progress.is_restored()) e_.together.give(e_.all_clocks.next(w_));   // it may have leave for that already
    // A copy that has come to lead may know the last sums alone. Others send it those before, which one that
    // begins is to have.
    if (e_.keeps_sums() && known.sum == 1 && e_.workers.has_others(w_)) {
        const double until = base::monotonic_seconds() + e_.who.options.dead_after / 2;
        wait([&]() SINTER_REQUIRES(e_.mutex) {
            return e_.sums.first_kept() == 1 || base::monotonic_seconds() > until;
        });
    }
    answer_about_server();
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::join_resting&) {   // pushes that it asks again follow
    e_.take_leave(w_, server::engine::presence::resting);
    e_.advance();
    answer_about_server();
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::rest& c) {
    e_.note_progress(c.clocks, c.named_save);
    e_.take_leave(w_, server::engine::presence::resting);
    e_.advance();
    wait_for_clocks();
    answer_call();
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::leave& c) {
    e_.note_progress(c.clocks, c.named_save);
    e_.take_leave(w_, server::engine::presence::left);
    e_.advance();
    wait_for_clocks();
    answer_call();
}

} // namespace sinter::parameter_servers
