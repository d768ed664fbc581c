// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/parameter_server/server/serving.hpp>

/// The chief opens a job, and overwrites its values.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

template <>
SINTER_COLD inline void server_session::carry_out(const calls::open& c) {
    if (w_ != 0) throw refused_request{"only the chief opens a job"};
    const std::int64_t step = c.global_step;
    const bool begins = c.begins != 0;
    if (e_.replicated()) {   // nothing is answered for good before both copies are there
        const double until = base::monotonic_seconds() + e_.who.options.join_within;
        wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.copies.was_followed() || base::monotonic_seconds() > until; });
        if (!e_.copies.was_followed()) throw refused_request{"the server that is to keep its second copy has not come"};
    }
    // Those who are in the midst of a job that this server was started again in say so when they join.
    if (begins) wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.all_are_back(); });
    const auto wait_for_load = [&](std::int64_t load) SINTER_REQUIRES(e_.mutex) {
        wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.saves.is_saved(load); });
        if (const std::string& fault = e_.saves.fault_of_load(); load > 0 && !fault.empty())
            throw refused_request{"no checkpoint of what was loaded could be written: " + fault};
    };
    // Asked for once more, as after a lost connection, it is done: others may have made steps since.
    if (e_.progress.knows_opening(incarnation_, c.number))
        return wait_for_load(e_.saves.loads()), answer_call(opening());
    e_.tickets.limit(c.max_steps);
    const std::uint64_t before = e_.progress.opened_by();
    const bool returns = begins && e_.options.order.all_join && e_.progress.is_open() && before != incarnation_ &&
                         (before != 0 || e_.progress.is_restored()) && e_.workers.has_others(w_);
    if (begins && e_.options.order.all_join && !returns) {   // an end that was agreed on was the training's before
        e_.progress.go_on();
        e_.together.go_on();
    }
    const bool goes_on_from_others = step >= 0 && (e_.progress.take_replaced() || e_.progress.is_open());
    if (step >= 0) e_.set_steps(step, c.phase_steps);
    // A chief that was started again makes the same calls from the beginning, while the others are in the midst.
    const bool again = returns && !goes_on_from_others;
    e_.progress.open(incarnation_, c.number);
    if (!again) e_.progress.opened_at(e_.all_clocks.applied(), e_.progress.global_step());
    e_.gets_on();
    e_.changed.notify_all();
    // A job that is started again goes on from what was loaded, not from later steps of before.
    if (goes_on_from_others) {   // what was named before would be of values before and after
        e_.saves.forget_named();
    }
    if (goes_on_from_others && e_.options.files) {
        const std::int64_t mine = e_.saves.loaded(step);
        e_.changed.notify_all();
        wait_for_load(mine);
    }
    answer_call(opening());
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::wait_until_open&) {
    wait([&]() SINTER_REQUIRES(e_.mutex) { return e_.progress.is_open() || e_.progress.asked_to_stop(); },
         awaited::opening);
    answer_call(opening());
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::begin_renewal& c) {
    need_chief();
    e_.progress.begin_renewal();
    wait([&]() SINTER_REQUIRES(e_.mutex) { return !e_.applying; });   // updates that were begun before are over
    {
        const base::mutex_release away(e_.mutex);
        for (double most = 0.001; !e_.gate.try_lock_for(most); send_wait()) most = e_.who.options.heartbeat_every();
        const std::unique_lock alone(e_.gate, std::adopt_lock);
        const lock hold(e_.mutex);
        e_.progress.raise_version(c.version);
    }
    e_.changed.notify_all();
    answer_call();
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::end_renewal& c) {
    need_chief();
    e_.progress.end_renewal(c.step);
    e_.saves.overwritten(c.step);
    e_.changed.notify_all();
    answer_call();
}

template <>
SINTER_COLD inline void server_session::carry_out(const calls::wait_for_renewal& c) {
    wait([&]() SINTER_REQUIRES(e_.mutex) { return !e_.progress.is_renewing() && e_.progress.version() >= c.version; });
    answer_call();
}

} // namespace sinter::parameter_servers
