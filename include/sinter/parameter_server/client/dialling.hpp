// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/message.hpp>
#include <sinter/parameter_server/client/engine.hpp>

/// How a client comes to its servers, and comes back to one whose connection was lost.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// While a server is dialled that takes its time: the others get signs of life, and what was
/// begun. What is wrong with one of them progress() finds out.
SINTER_COLD inline void client::engine::send_to_others() {
    const double now = base::monotonic_seconds();
    for (std::size_t k = 0; k < connections.size(); ++k) {
        server_connection& l = *connections[k];
        if (k == dialled || !l.up()) continue;
        try {
            l.send_available();
            if (now - l.last_sent >= 0.9 * heartbeat_every()) l.send_heartbeat();
        } catch (const error&) {
        }
    }
}
SINTER_COLD inline void client::engine::give_up(std::size_t i) {
    const double down = base::monotonic_seconds() - down_since[i];
    const double waited = joined ? down : std::min(down, patience());   // the limit, where that has passed
    fail(dialler.about(static_cast<int>(i), joined ? connections[i]->oldest() : "joining the job",
                       joined ? connections[i]->global_step : -1,
                       sinter::to_text({replicated() ? "nor the server with its second copy: " : "",
                                       joined ? "it has not answered for " : "it was not there within ",
                                       static_cast<std::int64_t>(waited + 0.5), " s",
                                       why_down[i].empty() ? "" : ": ", why_down[i].text()})));
}
SINTER_COLD inline void client::engine::dial(std::size_t i) {
    dialled = i;
    try {
        // The caller of this worker waits meanwhile, twice so long where its name is looked up.
        auto link = dialler.dial(process(i), std::min(std::max(0.5, heartbeat_every()), dead_after() / 2));
        const double now = base::monotonic_seconds();
        if (link) {
            connections[i]->connect(std::move(*link));
            if (join_server(i)) return;
            connections[i]->disconnect();
        } else {
            why_down[i].note(dialler.trouble().text(), dialler.trouble().has_reason());
            if (replicated()) copies[i].known.missed(copies[i].aim, dialler.nobody_there());
        }
        if (replicated()) {
            if (!leaving && copies[i].known.lost())
                return fail(dialler.about(static_cast<int>(i), connections[i]->oldest(), connections[i]->global_step,
                                          "both copies of what it kept are lost"));
            copies[i].aim = 1 - copies[i].aim;
        }
        if (leaving && joined) return connections[i]->forget_all();
        if (dialler.refused() && now - down_since[i] > dead_after() + 1)
            return fail(dialler.about(static_cast<int>(i), "joining the job", -1, dialler.trouble().text()));
        if (now - down_since[i] > patience()) return give_up(i);
        report_trouble(i, now);
        next_try[i] = now + (now - down_since[i] < 3 ? 0.02 : 0.25);
    } catch (const cluster_error& e) {
        fail(e);
    } catch (const error& e) {   // on the thread that carries on it would end the program
        if (!joined) throw;
        fail(dialler.about(static_cast<int>(i), "joining the job again", connections[i]->global_step, e.what()));
    }
}
/// The first call on a connection: who is this, and at which clock.
SINTER_COLD inline bool client::engine::join_server(std::size_t i) {
    server_connection& l = *connections[i];
    const auto poll = [this, until = until_an_answer()](int descriptor, short events) {
        return dialler.poll_until(descriptor, events, until);
    };
    try {
        const std::int64_t next = std::max<std::int64_t>(0, clock - l.commits());   // that it will be sent
        if (!(resting ? l.first_call(calls::join_resting(), poll)
                      : l.first_call(joining(next, replicated() ? copies[i].epoch : 0), poll)))
            return why_down[i].note("no answer in time", false), false;
        if (replicated() && !l.refused && !leads(i)) return false;
        if (!l.refused) met(i);
        if (!l.refused && i == 0 && !failure && !restore_sums(i))
            return why_down[i].note("no answer in time", false), false;
    } catch (const wire::lost_connection& e) {
        return why_down[i].note(e.cause(), false), false;
    } catch (const wire::damaged_connection& e) {
        return why_down[i].note(e.cause(), true), false;
    } catch (const format_error& e) {
        return why_down[i].note(e.what(), true), false;
    }
    if (l.refused) {
        why_down[i].note(l.first_text, true);
        return l.refused = false;
    }
    return true;
}
/// Whether the copy that was just met is the one to obey. The chief may have to make it lead.
SINTER_COLD inline bool client::engine::leads(std::size_t i) {
    server_connection& l = *connections[i];
    shard_copies& c = copies[i];
    copy_note note = decode<about_server>(as_bytes(l.first_text)).note;
    if (!note.makes_sense()) note = {};
    const bool obeyed = note.role == copy_role::leading && note.epoch >= c.epoch;
    if (obeyed) c.known.leads(c.aim, note);
    else c.known.met(c.aim, note);
    if (obeyed) return c.epoch = note.epoch, true;
    why_down[i].note("it does not lead its shard, epoch " + std::to_string(note.epoch), false);
    if (!is_chief()) return false;
    const bool silent = base::monotonic_seconds() - down_since[i] > dead_after();
    if (const std::uint64_t next = c.known.decide(c.aim, silent)) {
        c.epoch = std::max(c.epoch, next);
        const auto poll = [this, until = until_an_answer()](int descriptor, short events) {
            return dialler.poll_until(descriptor, events, until);
        };
        if (l.first_call(calls::lead{next}, poll) && !l.refused)
            c.aim = 1 - c.aim;   // which dial() changes back: the leader is dialled next
        l.refused = false;
    }
    return false;
}
/// What a server says to one who joins. One that has begun anew without a checkpoint ends the
/// job.
SINTER_COLD inline void client::engine::met(std::size_t i) {
    server_connection& l = *connections[i];
    take(i, l.last);
    l.version = l.last.version;
    if (i == 0) take_agreed(l.last);
    if (l.first_text.empty()) return;
    const auto answer = decode<about_server>(as_bytes(l.first_text));
    if (i == 0) about = answer;
    // The first time that another worker meets it the chief may be about to open the job there. A chief that joins
    // looks at all servers together: need_whole_job().
    const bool known = is_chief() ? joined : l.incarnation != 0;
    const bool other_process = known && answer.incarnation != l.incarnation;
    if (other_process && l.gave_values && !answer.has_values && !leaving && !replicated())
        return fail(dialler.about(static_cast<int>(i), "joining the job again", l.global_step,
                                  "it was started anew without a checkpoint: what it kept is lost"));
    // Both copies of a part were started anew, and lead a job that begins.
    if (joined && opened && replicated() && !answer.open && answer.restored < 0 && !leaving)
        return fail(dialler.about(static_cast<int>(i), "joining the job again", l.global_step,
                                  "both copies of what it kept are lost"));
    report_return(i, answer, l.incarnation != 0 && answer.incarnation != l.incarnation);
    l.incarnation = answer.incarnation;
    l.gave_values = l.gave_values || answer.has_values;
    initialised = answer.has_values != 0;
    is_live = is_live || answer.open != 0;
    if (joined || i != 0) return;
    sums = std::max(sums, answer.begins), others_sum = answer.sum;
    all_files = answer.files;
}
/// By a chief that joins: where a server keeps a job that runs, and another has lost its part of it, nothing can go on.
/// Those that run end, too, and all begin again.
SINTER_COLD inline void client::engine::need_whole_job(lock& hold) {
    std::vector<std::size_t> run;
    std::optional<std::size_t> empty;
    for (std::size_t i = 0; i < connections.size(); ++i) {
        if (connections[i]->first_text.empty()) continue;
        const auto of = decode<about_server>(as_bytes(connections[i]->first_text));
        if (of.open) run.push_back(i);
        else if (!of.has_values) empty = i;
    }
    if (run.empty() || !empty) return;
    const cluster_error e = dialler.about(static_cast<int>(*empty), "joining the job", -1,
                                          "it has no values, as one that was started anew without a checkpoint, and "
                                          "other servers are in the midst of the job: what it kept is lost");
    const auto t = ++numbers;
    const std::string cause = encode(calls::fail{std::string(e.what()).substr(0, most_reason)});
    for (const std::size_t i : run) call(hold, i, t, call_id::fail, cause);
    wait_for(hold, t);
    throw e;
}
SINTER_COLD inline void client::engine::report_trouble(std::size_t i, double now) {
    const double down = now - down_since[i];
    if (!joined || leaving || down < report_after[i]) return;
    while (report_after[i] <= down) report_after[i] *= 2;
    const cluster_member& at = dialler.roster().servers()[static_cast<std::size_t>(process(i))];
    base::say(message_level::normal,
              sinter::to_text({"waits for ", at.name(), " at ",
                              text_of(at.address()), ", for ",
                              static_cast<std::int64_t>(down), " s of ", static_cast<std::int64_t>(patience()), " s",
                              why_down[i].empty() ? "" : ": ", why_down[i].text()}),
              dialler.roster().self().name());
}
SINTER_COLD inline void client::engine::report_return(std::size_t i, const about_server& it, bool other_process) {
    if (!joined || leaving) return;
    const double down = base::monotonic_seconds() - down_since[i];
    const bool reported = report_after[i] > first_report;
    report_after[i] = first_report;
    if (!reported && !other_process) return;
    base::say(message_level::normal,
              sinter::to_text({dialler.roster().servers()[static_cast<std::size_t>(process(i))].name(),
                              " is back after ", static_cast<std::int64_t>(down + 0.5), " s",
                              !other_process     ? std::string()
                              : it.restored >= 0 ? sinter::to_text({", from its checkpoint of step ", it.restored})
                                                 : std::string(", another process")}),
              dialler.roster().self().name());
}

} // namespace sinter::parameter_servers
