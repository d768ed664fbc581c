// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/job_files.hpp>
#include <sinter/parameter_server/server/joining.hpp>
#include <sinter/parameter_server/server/meanwhile.hpp>
#include <sinter/parameter_server/server/opening.hpp>
#include <sinter/parameter_server/server/row_calls.hpp>

/// What workers ask of a server besides values and updates (parameter_server/calls.hpp): leave to begin a step, sums,
/// checkpoints, ends.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Whom a worker waits for is reported to the operator, after 10 s, 20 s, 40 s, ...
inline void server_session::report_waiting(awaited what, double seconds) {
    if (seconds < 10) next_report_ = 10;
    if (what == awaited::nobody || seconds < next_report_) return;
    const std::string names = e_.whom(what, w_);
    if (!names.empty())
        e_.notify_operator(to_text({e_.who.member(w_).name(), " waits for ", names, ", for ",
                        static_cast<std::int64_t>(seconds), " s"}));
    while (next_report_ <= seconds) next_report_ *= 2;
}
/// A worker that waits for nothing here gets a refusal as the answer to its heartbeat once this server has failed.
inline void server_session::refuse_if_failed() {
    const lock hold(e_.mutex);
    if (e_.ending.failure()) throw refused_request{e_.ending.failure()->what(), true};
}

template <>
inline void server_session::carry_out(const calls::acquire_step&) {
    e_.workers.comes(w_);
    auto t = step_tickets::answer::not_yet;
    wait([&]() SINTER_REQUIRES(e_.mutex) {
        if (e_.stops(w_)) return true;
        if (!e_.progress.is_open()) return false;
        if (!e_.all_are_back()) return false;
        t = e_.ask_for_step(w_);
        return t != step_tickets::answer::not_yet;
    }, e_.progress.is_open() ? awaited::others : awaited::opening);
    answer_call<calls::nothing>({}, true);
}

template <>
inline void server_session::carry_out(const calls::wait_for_others& c) {
    using presence = server::engine::presence;
    e_.note_progress(c.clocks, c.named_save);
    wait([&]() SINTER_REQUIRES(e_.mutex) {
        for (int i = 0; i < e_.who.size(); ++i) {
            const presence p = e_.workers.at(i).now();
            // Who may yet come counts, so that the end does not depend on who was started
            // first.
            const bool may_come = p == presence::expected && (e_.options.order.all_join || e_.may_step_still());
            const bool works = p == presence::here || may_come;
            if (i != w_ && works) return false;
        }
        return e_.has_applied_all();
    }, awaited::others);
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::wait_for_clock& c) {
    e_.comes_to(w_, c.clock);   // its next push is of this clock
    const bool whole = e_.options.order.all_join;   // elsewhere who stops may leave clocks open
    const auto is_applied = [&]() SINTER_REQUIRES(e_.mutex) {
        return e_.all_clocks.applied() >= c.clock || (e_.progress.asked_to_stop() && !whole);
    };
    wait(is_applied, awaited::clock);
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::all_reduce& c) {
    if (!e_.sums.give(w_, c.number, c.numbers))
        throw refused_request{sinter::to_text({"sum ", static_cast<std::int64_t>(c.number),
                                               " over workers is not known "
                                               "here any more, or not yet to come: the next is ",
                                               static_cast<std::int64_t>(e_.sums.now())})};
    e_.look_at_sums();
    wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.sums.done(c.number); }, awaited::sum);
    if (c.number < e_.sums.first_kept()) throw refused_request{"a sum over workers that is not known here any more"};
    answer_call(calls::all_reduce::answer{e_.sums.result(c.number)});
}

template <>
inline void server_session::carry_out(const calls::restore_sums& c) {
    e_.sums.learn_all(c.first, c.sums);
    e_.changed.notify_all();
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::stop& c) {
    e_.progress.ask_to_stop(e_.who.member(w_).name() + ": " + base::one_line(c.reason));
    if (!e_.options.order.all_join) e_.together.stop_at_once();
    else if (e_.is_first()) e_.together.stop_after_next();
    e_.changed.notify_all();
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::save_together&) {
    if (!e_.options.order.all_join) throw refused_request{"workers with batches of their own save alone"};
    e_.together.files_after_next(e_.all_clocks.applied());
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::fail& c) {
    const cluster_member& m = e_.who.member(w_);
    e_.fail_held({w_, m.name(), text_of(m.address()), "training", e_.progress.global_step(), c.cause});
    answer_call();
}

template <>
inline void server_session::carry_out(const calls::get_phase_steps&) {
    answer_call(calls::get_phase_steps::answer{e_.progress.phase_steps()});
}

template <>
inline void server_session::carry_out(const calls::get_stop_reason&) {
    answer_call(calls::get_stop_reason::answer{e_.progress.stop_reason()});
}

template <>
inline void server_session::carry_out(const calls::get_counters&) {
    std::string text;
    {
        const base::mutex_release away(e_.mutex);
        text = e_.counters_text();
    }
    answer_call(calls::get_counters::answer{text});
}

template <>
inline void server_session::carry_out(const calls::find_non_finite&) {
    wrong_numbers found;
    do_meanwhile([&] { found.all = e_.memory.wrong_numbers(); });
    answer_call(found);
}

template <>
inline void server_session::carry_out(const calls::checkpoint& c) {
    if (!e_.options.files) throw refused_request{"this server keeps no checkpoints"};
    const std::int64_t mine = e_.saves.request(c.name);
    e_.changed.notify_all();
    wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.saves.is_done(mine); });
    if (const std::string& fault = e_.saves.fault_of_request(); !fault.empty()) throw refused_request{fault};
    answer_call();
}

inline void server_session::call(call_id id, span<const std::byte> arguments) {
    const bool known = worker_calls::visit(id, arguments, [this](const auto& c) {
        const lock hold(e_.mutex);
        carry_out(c);
    });
    if (!known) throw refused_request{"a call that is not known"};
}

} // namespace sinter::parameter_servers
