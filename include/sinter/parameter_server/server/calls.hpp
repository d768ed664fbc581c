// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/server/meanwhile.hpp>
#include <sinter/parameter_server/table_rows.hpp>

/// What workers ask of a server besides values and updates: joining, tickets, sums, checkpoints,
/// ends.
namespace sinter::inline SINTER_TARGET::sharded {

/// A request that is known by its name.
inline void server_session::call(const wire::frame_header& h, span<const std::byte> bytes) {
    const char* const at = reinterpret_cast<const char*>(bytes.data());
    const std::string name(at, static_cast<std::size_t>(h.tag.elements)),
        argument(at + h.tag.elements, bytes.size() - static_cast<std::size_t>(h.tag.elements));
    using presence = server::engine::presence;
    const auto opened = [&] {
        wire::archive_writer w;
        w & e_.open_clock & e_.open_step;
        return w.bytes();
    };
    lock hold(e_.mutex);
    const auto back = [&](std::string_view text, bool with_ticket = false) {
        hold.unlock();
        answer(text, with_ticket);
    };
    if (name == "join") {
        wire::archive_reader r(as_bytes(argument));
        std::int64_t clock = 0, named = 0, version = 0;
        std::uint64_t known = 0;
        r & clock;
        if (e_.replicated()) r & known;
        if (!r.at_end()) r & named;   // the last save that it has heard of, perhaps from an earlier process
        check_number(named, 0, "no name of a save", "what a worker that joins has heard", most_count / 2);
        if (!r.at_end()) r & version;   // of the job's values, as the chief knows when it is not overwriting them
        check_number(version, 0, "no number of overwritings", "what a worker that joins has heard");
        known_to_worker known_of;
        if (!r.at_end()) known_of.serialize(r, 0u);
        if (e_.is_first() && e_.order.mode == update_mode::clocks) e_.together.name_later_than(named);
        // One that began again from a checkpoint of before load(): it is part of the job's next ones.
        if (w_ == 0 && e_.restored && !e_.renewing) e_.version = std::max(e_.version, version);
        if (known > e_.epoch) {   // another leads since
            e_.part = copy_role::waiting;
            e_.changed_view();
            throw view_changed{};
        }
        check_number(clock, 0, "no clock", "the next push of a worker that joins");
        note_presence();
        if (e_.restored && known_of.opened != 0) {
            e_.open = true;   // the job that was saved goes on
            // It may have been opened after that: then the checkpoint's own is that of the job before.
            if (known_of.makes_sense()) e_.open_clock = known_of.open_clock, e_.open_step = known_of.open_step;
        }
        if (w_ == 0 && known_of.opened != 0) e_.opened_by = incarnation_, e_.openings = known_of.openings;
        if (e_.is_first() && e_.restored && known_of.makes_sense()) {
            e_.together.know(known_of.stop_clock, known_of.files);
            if (known_of.stop_clock >= 0 && e_.order.all_join) e_.asked = true;
        }
        e_.steps_elsewhere(known_of.applied, known_of.step);
        const std::uint64_t next_sum = known_of.sum;
        // One that begins has its clock from servers, when the job is open. One in the midst of a job that this server
        // knows nothing of is about to end.
        e_.all_clocks.join(w_, known_of.opened != 0 && (e_.restored || e_.open) ? clock : 0);
        e_.gets_on();
        need_same_run(next_sum);
        if (e_.restored) e_.together.give(e_.all_clocks.next(w_));   // it may have leave for that already
        // A copy that has come to lead may know the last sums alone. Others tell it of those before, which one that
        // begins is to have.
        if (e_.keeps_sums() && next_sum == 1 && e_.has_others(w_)) {
            const double until = base::monotonic_seconds() + e_.who.options.dead_after / 2;
            wait(hold, [&] { return e_.sums.first_kept() == 1 || base::monotonic_seconds() > until; });
        }
        return back(e_.about_text());
    }
    if (name == "open") {
        if (w_ != 0) throw refused_request{"only the chief opens a job"};
        wire::archive_reader r(as_bytes(argument));
        std::int64_t most = 0, step = -1;
        std::uint8_t begins = 1;
        std::vector<std::int64_t> phases;
        std::uint64_t number = 0;
        r & most & step & begins & phases & number;
        for (const std::int64_t n : phases) check_number(n, 0, "no number of updates of a loss", "opening a job");
        check_number(step, -1, "no global step", "opening a job");
        if (e_.replicated()) {   // nothing is answered for good before both copies are there
            const double until = base::monotonic_seconds() + e_.who.options.join_within;
            wait(hold, [&] { return e_.was_followed || base::monotonic_seconds() > until; });
            if (!e_.was_followed) throw refused_request{"the server that is to keep its second copy has not come"};
        }
        // Those who are in the midst of a job that this server was started again in say so when they join.
        if (begins) wait(hold, [&] { return e_.all_are_back(); });
        // Asked for once more, as after a lost connection, it is done: others may have made steps since.
        const auto wait_for_load = [&](std::int64_t load) {
            wait(hold, [&] { return e_.loads_saved >= load; });
            if (load > 0 && !e_.load_fault.empty())
                throw refused_request{"no checkpoint of what was loaded could be written: " + e_.load_fault};
        };
        if (e_.opened_by == incarnation_ && e_.openings == number) return wait_for_load(e_.loads_heard), back(opened());
        e_.tickets.limit(std::max<std::int64_t>(most, 0));
        const bool returns = begins && e_.order.all_join && e_.open && e_.opened_by != incarnation_ &&
                             (e_.opened_by != 0 || e_.restored) && e_.has_others(w_);
        if (begins && e_.order.all_join && !returns) {   // an end that was agreed on was that of the training before
            e_.asked = false;
            e_.together.go_on();
        }
        const bool goes_on_from_others = step >= 0 && (std::exchange(e_.replaced, false) || e_.open);
        if (step >= 0) e_.set_steps(step, phases);
        // A chief that was started again makes the same calls from the beginning, while the others are in the midst.
        const bool again = returns && !goes_on_from_others;
        e_.open = e_.has_values = true;
        e_.opened_by = incarnation_, e_.openings = number;
        if (!again) e_.open_clock = e_.all_clocks.applied(), e_.open_step = e_.global_step;
        e_.gets_on();
        e_.changed.notify_all();
        // A job that is started again goes on from what was loaded, not from later steps of before.
        if (goes_on_from_others) {   // what was named before would be of values before and after
            e_.saves_to_come.clear();
            e_.saved_agreed = e_.save_agreed;
        }
        if (goes_on_from_others && e_.options.files) {
            ++e_.loads_heard;
            e_.load_step = step;
            e_.changed.notify_all();
            wait_for_load(e_.loads_heard);
        }
        return back(opened());
    }
    if (name == "wait until open") {
        wait(hold, [&] { return e_.open || e_.asked; }, awaited::opening);
        return back(opened());
    }
    if (name == "ticket") {
        k_.now = presence::here;
        auto t = step_tickets::answer::not_yet;
        wait(hold, [&] {
            if (e_.stops(w_)) return true;
            if (!e_.open) return false;
            if (!e_.all_are_back()) return false;
            t = e_.ask_for_step(w_);
            return t != step_tickets::answer::not_yet;
        }, e_.open ? awaited::others : awaited::opening);
        return back({}, true);
    }
    if (name == "renew") {
        if (w_ != 0) throw refused_request{"only the chief overwrites values"};
        wire::archive_reader r(as_bytes(argument));
        std::int64_t version = 0;
        r & version;
        check_number(version, 0, "no number of overwritings", "the beginning of one");
        e_.renewing = true;
        e_.replaced = e_.replaced || (e_.restored && !e_.open);
        wait(hold, [&] { return !e_.applying; });   // updates that were begun before are over
        hold.unlock();
        for (double most = 0.001; !e_.gate.try_lock_for(most); say_wait()) most = e_.who.options.heartbeat_every();
        {
            const std::unique_lock alone(e_.gate, std::adopt_lock);
            hold.lock();
            e_.version = std::max(e_.version, version);
        }
        e_.changed.notify_all();
        return back({});
    }
    if (name == "renewed") {
        if (w_ != 0) throw refused_request{"only the chief overwrites values"};
        wire::archive_reader r(as_bytes(argument));
        std::int64_t step = 0;
        r & step;
        check_number(step, 0, "no global step", "the end of an overwriting");
        e_.renewing = false;
        e_.global_step = e_.begun = step;
        e_.named_at = std::min(e_.named_at, step);
        ++e_.steps_set;
        e_.changed.notify_all();
        return back({});
    }
    if (name == "wait until renewed") {
        wire::archive_reader r(as_bytes(argument));
        std::int64_t version = 0;
        r & version;
        wait(hold, [&] { return !e_.renewing && e_.version >= version; });
        return back({});
    }
    if (name == "rest") {
        e_.hear_before_end(argument);
        e_.take_leave(w_, presence::resting);
        e_.advance(hold);
        if (!argument.empty()) wait_for_clocks(hold);   // else pushes that it asks again come behind this
        return back(argument.empty() ? e_.about_text() : std::string());   // it is a connection's first question
    }
    if (name == "wait for others") {
        e_.hear_before_end(argument);
        wait(hold, [&] {
            for (int i = 0; i < e_.who.size(); ++i) {
                const presence p = e_.at(i).now;
                // Who may yet come counts, so that the end does not depend on who was started
                // first.
                const bool may_come = p == presence::expected && (e_.order.all_join || e_.may_step_still());
                const bool works = p == presence::here || may_come;
                if (i != w_ && works) return false;
            }
            return e_.has_applied_all();
        }, awaited::others);
        return back({});
    }
    if (name == "wait for clock") {
        wire::archive_reader r(as_bytes(argument));
        std::int64_t clock = 0;
        r & clock;
        e_.comes_to(w_, clock, hold);   // its next push is of this clock
        const bool whole = e_.order.all_join;   // elsewhere who stops may leave clocks open
        wait(hold, [&] { return e_.all_clocks.applied() >= clock || (e_.asked && !whole); }, awaited::clock);
        return back({});
    }
    if (name == "reduce") return reduce(argument, hold);
    if (name == "sums") {   // that this server has not made or does not know any more
        wire::archive_reader r(as_bytes(argument));
        std::uint64_t first = 0;
        std::vector<std::vector<double>> sums;
        r & first & sums;
        r.expect_end();
        check_number(static_cast<std::int64_t>(first), 1, "no number of a sum", "what a worker knows", most_count);
        e_.sums.learn_all(first, std::move(sums));
        e_.changed.notify_all();
        return back({});
    }
    if (name == "stop") {
        if (e_.stop_reason.empty())
            e_.stop_reason = e_.who.member(w_).name() + ": " + base::one_line(argument.substr(0, 1000));
        e_.asked = true;
        if (!e_.order.all_join) e_.together.stop_at_once();
        else if (e_.is_first()) e_.together.stop_behind_next();
        e_.changed.notify_all();
        return back({});
    }
    if (name == "save") {
        if (!e_.order.all_join) throw refused_request{"workers with batches of their own save alone"};
        e_.together.files_behind_next(e_.all_clocks.applied());
        return back({});
    }
    if (name == "fail") {
        const cluster_member& m = e_.who.member(w_);
        e_.fail_held({w_, m.name(), text_of(m.address()), "training", e_.global_step, argument.substr(0, 1000)});
        return back({});
    }
    if (name == "phase steps") {
        wire::archive_writer w;
        w & e_.made_of;
        return back(w.bytes());
    }
    if (name == "stop reason") return back(std::string(e_.stop_reason));
    if (name == "counters") {
        hold.unlock();
        return answer(e_.counters_text());
    }
    if (name == "wrong numbers") {
        wrong_numbers found;
        do_meanwhile(hold, [&] { found.all = e_.memory.wrong_numbers(); });
        hold.unlock();
        return answer(wire::archived(found));
    }
    if (name == "some rows") {
        const std::string rows = some_rows(argument, hold);
        hold.unlock();
        return answer(rows);
    }
    if (name == "put rows") {
        hold.unlock();
        put_rows(argument);
        return answer({});
    }
    if (name == "save for the job") return save_job(argument, hold);
    if (name == "load for the job") return load_job(argument, hold);
    if (name == "forget rows") {
        if (w_ != 0) throw refused_request{"only the chief overwrites values"};
        hold.unlock();
        forget_rows(argument);
        return answer({});
    }
    if (name == "checkpoint") {
        if (!e_.options.files) throw refused_request{"this server keeps no checkpoints"};
        const std::int64_t mine = ++e_.save_wanted;
        e_.save_where = argument;
        e_.changed.notify_all();
        wait(hold, [&] { return e_.save_done >= mine; });
        if (!e_.save_fault.empty()) throw refused_request{e_.save_fault};
        return back({});
    }
    if (name == "leave") {
        e_.hear_before_end(argument);
        e_.take_leave(w_, presence::left);
        e_.advance(hold);
        wait_for_clocks(hold);
        return back({});
    }
    throw refused_request{"a call that is not known"};
}
/// Where server 0 says whose pushes make a clock it says to a worker that rests how many are
/// applied; others have come so far before it leaves them. Without this a server might end before
/// the last clock.
inline void server_session::wait_for_clocks(lock& hold) {
    if (e_.agrees()) wait(hold, [&] { return e_.has_applied_all(); });
}
/// Rows of a table of 64-bit keys, in the order of their keys, from the first key of the request
/// on; of those that were there when it was asked for the smallest of all.
inline std::string server_session::some_rows(const std::string& argument, lock& hold) {
    table_rows r = table_rows::of(argument);
    const auto& tables = e_.memory.layout().tables;
    if (r.table < 0 || r.table >= static_cast<std::int64_t>(tables.size()) ||
        tables[static_cast<std::size_t>(r.table)].rows >= 0)
        throw refused_request{"rows of no table of 64-bit keys"};
    const auto number = static_cast<std::size_t>(r.table);
    if (sorted_table_ != r.table || r.first == INT64_MIN)
        do_meanwhile(hold, [&] {
            e_.memory.use_rows(number, [&](const row_store& rows, std::int64_t) {
                sorted_keys_.assign(rows.keys().begin(), rows.keys().end());
            });
            std::sort(sorted_keys_.begin(), sorted_keys_.end());
        });
    sorted_table_ = r.table;
    hold.unlock();
    std::string bytes = e_.memory.use_rows(number, [&](const row_store& rows, std::int64_t) {
        r.clear();
        r.row_floats = rows.row_floats(), r.slots = rows.slots();
        const auto most = static_cast<std::size_t>(table_rows::most(r.row_floats, r.slots));
        auto at = std::lower_bound(sorted_keys_.begin(), sorted_keys_.end(), r.first);
        for (; at != sorted_keys_.end() && r.size() < most; ++at) {
            const std::int32_t k = rows.find(*at);
            if (k < 0) continue;   // given up meanwhile
            r.keys.push_back(*at);
            r.steps.push_back(rows.steps()[static_cast<std::size_t>(k)]);
            const std::int64_t from = std::int64_t{k} * r.row_floats;
            r.values.insert(r.values.end(), rows.values() + from, rows.values() + from + r.row_floats);
            for (int s = 0; s < r.slots; ++s)
                r.values.insert(r.values.end(), rows.slot(s) + from, rows.slot(s) + from + r.row_floats);
        }
        if (at == sorted_keys_.end()) sorted_keys_ = {}, sorted_table_ = -1;
        return r.bytes();
    });
    hold.lock();
    return bytes;
}
inline void server_session::put_rows(const std::string& argument) {
    const table_rows r = table_rows::of(argument);
    const auto changing = changes();
    if (e_.replicated()) {
        lock hold(e_.mutex);
        need_served(hold);
        if (e_.stream) e_.stream->add(copied::put_rows, {}, as_bytes(argument));
    }
    e_.put_rows(r);
}
/// The table whose number this is has no rows but those that its initializer makes.
inline void server_session::forget_rows(const std::string& argument) {
    wire::archive_reader r(as_bytes(argument));
    std::int64_t table = 0;
    r & table;
    check_number(table, 0, "rows of no table", "a table to forget", std::ssize(e_.memory.layout().tables) - 1);
    const auto changing = changes();
    if (e_.replicated()) {
        lock hold(e_.mutex);
        need_served(hold);
        wire::frame_tag t;
        t.bucket = static_cast<std::int32_t>(table);
        if (e_.stream) e_.stream->add(copied::forget, t);
    }
    e_.memory.forget_rows(static_cast<std::size_t>(table));
}
/// Under the mutex: the operator hears whom a worker waits for, after 10 s, 20 s, 40 s, ...
inline void server_session::tell_of_waiting(awaited what, double seconds) {
    if (seconds < 10) told_of_ = 10;
    if (what == awaited::nobody || seconds < told_of_) return;
    const std::string names = e_.whom(what, w_);
    if (!names.empty())
        e_.tell(joined({e_.who.member(w_).name(), " waits for ", names, ", for ",
                        static_cast<std::int64_t>(seconds), " s"}));
    while (told_of_ <= seconds) told_of_ *= 2;
}
/// A worker that waits for nothing here hears that this server has failed as the answer to its heartbeat.
inline void server_session::tell_of_failure() {
    const lock hold(e_.mutex);
    if (e_.failure) throw refused_request{e_.failure->what(), true};
}
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
        amid += k.comes == worker::amid;   // those, too, that have died since: they were told of steps that were lost
        if (e_.lives(k) && k.comes == worker::anew) ++anew, last = i;
    }
    if (amid == 0 || anew <= e_.order.backup) return;
    const cluster_member& m = e_.who.member(last);
    e_.fail_held(cluster_error(last, m.name(), text_of(m.address()), "joining the job again", e_.global_step,
                               joined({"it was started again while others are in the midst of training. This mode can "
                                       "do without ", e_.order.backup, " workers: the job ends"})));
}
/// This worker's numbers of a sum over all.
inline void server_session::reduce(const std::string& argument, lock& hold) {
    std::uint64_t number = 0;
    std::vector<double> x;
    wire::archive_reader r(as_bytes(argument));
    r & number & x;
    if (!e_.sums.give(w_, number, x))
        throw refused_request{sinter::joined({"sum ", static_cast<std::int64_t>(number), " over workers is not known "
                                              "here any more, or not yet to come: the next is ",
                                              static_cast<std::int64_t>(e_.sums.now())})};
    e_.look_at_sums();
    wait(hold, [&] { return e_.sums.done(number); }, awaited::sum);
    if (number < e_.sums.first_kept()) throw refused_request{"a sum over workers that is not known here any more"};
    wire::archive_writer w;
    w & e_.sums.result(number);
    hold.unlock();
    answer(w.bytes());
}

} // namespace sinter::sharded
