// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/net/archive.hpp>
#include <sinter/net/service_client.hpp>
#include <sinter/net/wait_note.hpp>
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/brief_looks.hpp>
#include <sinter/parameter_server/client/interface.hpp>
#include <sinter/parameter_server/client/save_broadcast.hpp>
#include <sinter/parameter_server/client/server_connection.hpp>
#include <sinter/parameter_server/copies.hpp>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a client is inside: a connection to each server, and a thread that sends signs of life
/// from time to time, and carries on what the caller has begun while it computes. Whoever holds the
/// mutex drives the connections; in wait() that is the caller itself.
struct client::engine {
    using lock = std::unique_lock<std::mutex>;

    wire::service_client dialler;
    client_options options;
    std::vector<shard_layout> layouts;
    std::vector<std::unique_ptr<server_connection>> connections;
    std::mutex mutex;
    std::condition_variable work;
    // Under the mutex:
    std::optional<cluster_error> failure;
    std::vector<double> down_since, next_try;
    std::size_t dialled = 0;                  // which server dial() is busy with
    std::vector<wire::join_failure> why_down;   // since down_since
    std::vector<double> report_after;           // seconds of an outage, of each server, after which a message is next
    about_server about;                         // what server 0 has sent last
    struct shard_copies {   // where two servers keep each shard
        int aim = 0;              // the copy that is dialled, or leads
        std::uint64_t epoch = 0;  // the newest that is known: no leader of an older one is obeyed
        copy_register known;      // the chief's
    };
    std::vector<shard_copies> copies;
    bool waiting = false;                     // the caller drives
    bool ending = false, leaving = false, left = false;
    bool resting = false, joined = false, initialised = false, is_live = false;
    bool ticket = false, no_more = false, open = false;
    bool opened = false;                      // this worker has begun to train in the open job
    bool jumped = false;                      // another server than 0 knows a later clock of this worker
    std::atomic<bool> asked{false}, server_ends{false};
    std::int64_t clock = 0, open_clock = 0, open_step = 0;
    std::uint64_t openings = 0;   // that this process, the chief, has asked for
    std::int64_t stop_clock = -1, files_clock = 0, save_clock = 0, save = 0;   // as server 0 sent last: answer_block
    std::int64_t last_name = 0;               // the latest of `save`
    save_broadcast broadcast;
    std::vector<std::int64_t> used;           // versions of the values that gradients are computed from, by server
    std::uint64_t pushes = 0, sums = 1;
    std::deque<std::vector<double>> past_sums;   // results of those before `sums`, which a server may have lost
    std::size_t past_numbers = 0;
    std::uint64_t others_sum = 1;             // the number of the sum that others made next when this worker came
    std::vector<std::int64_t> all_files;      // all that files_clock has been, and before this worker came
    std::int64_t renewals = 0;                // that this worker has taken part in
    std::optional<std::int64_t> before_renewal;   // the version of before, while the chief overwrites values
    parameter_servers::ticket numbers = 0, last_commit = 0;
    bool pushing = false;
    std::vector<request*> current;            // of the push that is being made, by server
    answer_info info;
    client_counters counters;
    brief_looks brief;
    std::vector<pollfd> polls_of_caller, polls_of_thread;
    int exceptions = std::uncaught_exceptions();
    base::posix_thread thread;

    SINTER_COLD engine(const cluster& c, const wire::identity& same, std::vector<shard_layout> l, client_options o)
        : dialler(c, same, [this] { send_to_others(); }), options(o), layouts(std::move(l)) {
        const std::size_t n = c.servers().size();
        if (n == 0)
            throw option_error("no parameter servers in the cluster", c.how(), "none", "tasks of type ps");
        if (layouts.size() != n)
            throw option_error("one layout for each server is needed", "parameter_servers::client",
                               std::to_string(layouts.size()), std::to_string(n));
        if (options.replicas != 1 && (options.replicas != 2 || n < 2 || options.reconnect_within <= 0))
            throw option_error("shards cannot be kept so", "client_options::replicas",
                               sinter::to_text({options.replicas, " on ", static_cast<std::int64_t>(n),
                                               " servers, reconnect_within ",
                                               static_cast<std::int64_t>(options.reconnect_within)}),
                               "1, or 2 on 2 or more servers with reconnect_within above 0");
        for (std::size_t i = 0; i < n; ++i) connections.push_back(std::make_unique<server_connection>());
        if (replicated()) copies.resize(n);
        for (std::size_t i = 0; replicated() && i < n; ++i) connections[i]->shard = static_cast<int>(i);
        down_since.assign(n, base::monotonic_seconds());
        next_try.assign(n, 0);
        why_down.assign(n, {});
        report_after.assign(n, first_report);
        polls_of_caller.reserve(n);
        polls_of_thread.reserve(n);
        lock hold(mutex);
        const cluster& job = dialler.roster();
        wire::wait_note note(job.self().name(), job.options.join_within);
        drive(hold, [&] {
            for (const auto& p : connections)
                if (!p->up()) return report_missing(note), false;
            return true;
        });
        agree_on_the_clock(hold);
        if (is_chief() && !replicated()) need_whole_job(hold);
        joined = true;
        std::vector<std::string> all;
        for (const cluster_member& m : job.servers()) all.push_back(m.name() + " at " + text_of(m.address()));
        base::say(message_level::normal,
                  sinter::to_text({job.self().name(), ", one of ", job.size(), " that train, has joined the servers: ",
                                  wire::few_of(all)}), job.self().name());
        thread = base::posix_thread([this] { carry_on(); });
    }
    SINTER_COLD ~engine() {
        {
            const lock hold(mutex);
            ending = true;
            work.notify_all();
        }
        if (thread.joinable()) thread.join();
    }

    static constexpr double first_report = 2;   // seconds that a server may be away without a message

    double heartbeat_every() const { return dialler.roster().options.heartbeat_every(); }
    double dead_after() const { return dialler.roster().options.dead_after; }
    double patience() const { return joined ? options.reconnect_within : dialler.roster().options.join_within; }

    bool replicated() const { return options.replicas == 2; }
    bool is_chief() const { return dialler.roster().is_chief(); }
    /// The process that is dialled for this connection next, or was last.
    int process(std::size_t i) const {
        const int n = static_cast<int>(connections.size()), shard = static_cast<int>(i);
        return replicated() ? process_of_copy(shard, copies[i].aim, n) : shard;
    }

    // ---- Driving
    /// Whether its server is still asked, or will be. One that has answered `leave` must not be joined again.
    bool is_needed(const server_connection& l) const { return !left && !(leaving && l.idle()); }
    /// Does what can be done now; `all`: looks also at servers that owe no answer.
    void progress(bool all = true) {
        const double now = base::monotonic_seconds();
        for (std::size_t i = 0; i < connections.size(); ++i) {
            server_connection& l = *connections[i];
            if (!l.up()) {
                if (!failure && is_needed(l) && now >= next_try[i]) dial(i);
                continue;
            }
            if (!all && l.idle()) continue;
            guarded(i, [&] {
                const auto receive = [&] {
                    l.receive_available([&](request& q, const answer_block& b) { answered(i, q, b); });
                };
                try {
                    l.send_available();
                } catch (const wire::lost_connection&) {   // a refusal that it sent before may still be read
                    receive();
                    if (!l.refused) throw;
                }
                if (!l.refused) receive();
                if (l.refused) {
                    l.refused = false;
                    return fail(dialler.about(static_cast<int>(i), l.oldest(), l.global_step, l.text));
                }
                if (now - l.last_sent >= 0.9 * heartbeat_every()) l.send_heartbeat();
                if (l.is_silent(now, dead_after())) lose(i, "no sign of life");
            });
        }
    }
    /// f() of the connection to a server, which may be lost.
    template <class F>
    void guarded(std::size_t i, F f) {
        try {
            f();
        } catch (const wire::lost_connection& e) {
            lose(i, e.cause());
        } catch (const wire::damaged_connection& e) {   // asked again on another connection, but not for ever
            if (++connections[i]->damaged > 5) fail(e);
            else lose(i, e.cause());
        } catch (const cluster_error& e) {
            fail(e);
        }
    }
    void lose(std::size_t i, std::string why) {
        connections[i]->disconnect();
        why_down[i] = {};
        why_down[i].note(std::move(why), false);
        down_since[i] = base::monotonic_seconds();
        next_try[i] = 0;
        report_after[i] = first_report;
        if (leaving) return connections[i]->forget_all();   // it has ended, as this worker is about to
        ++counters.reconnections;
        if (options.reconnect_within <= 0) give_up(i);
    }
    void fail(const cluster_error& e) { if (!failure) failure.emplace(e); }
    /// To the operator, while this worker joins.
    SINTER_COLD void report_missing(wire::wait_note& note) const {
        if (!note.due()) return;
        std::vector<std::string> whom;
        std::string why;
        for (std::size_t i = 0; i < connections.size(); ++i) {
            if (connections[i]->up()) continue;
            const cluster_member& m = dialler.roster().servers()[static_cast<std::size_t>(process(i))];
            whom.push_back(m.name() + " at " + text_of(m.address()));
            if (!why_down[i].empty() && whom.size() <= 8)
                why += (why.empty() ? "" : "; ") + m.name() + ": " + why_down[i].text();
        }
        note.say(whom, why);
    }

    // ---- Dialling (client/dialling.hpp)
    inline void give_up(std::size_t i);
    inline void send_to_others();
    inline void dial(std::size_t i);
    /// How long the answer to the first call on a connection is waited for.
    double until_an_answer() const { return base::monotonic_seconds() + std::max(1.0, dead_after()); }
    inline bool join_server(std::size_t i);
    inline bool leads(std::size_t i);
    inline void met(std::size_t i);
    inline bool restore_sums(std::size_t i);
    inline void need_whole_job(lock& hold);
    inline void report_trouble(std::size_t i, double now);
    inline void report_return(std::size_t i, const about_server&, bool other_process);

    // ---- What servers say
    void take(std::size_t i, const answer_block& b) {
        jumped = jumped || (i != 0 && b.info.clock > clock);
        clock = std::max(clock, b.info.clock);
        if ((b.flags & answer_block::asked_to_stop) != 0) asked = true;
        if ((b.flags & answer_block::ends_soon) != 0) server_ends = true;
        open = open || (b.flags & answer_block::open) != 0;
        if (open)
            for (const auto& l : connections) l->gave_values = true;
    }
    void take_agreed(const answer_block& b) {
        stop_clock = b.stop_clock;
        if (b.files_clock > files_clock) {
            files_clock = b.files_clock;
            if (all_files.empty() || all_files.back() < files_clock) all_files.push_back(files_clock);
            if (all_files.size() > agreed_clocks::most_files_clocks) all_files.erase(all_files.begin());
        }
        // Without clocks names of saves never fall: a server 0 that was started again learns the last.
        save = b.save_clock == 0 && save_clock == 0 ? std::max(save, b.save) : b.save;
        save_clock = b.save_clock;
        last_name = std::max(last_name, save);
    }
    /// Where each push is an update by itself: the last save that all servers but the first have made.
    std::int64_t made_by_others() const {
        std::int64_t made = save;
        for (std::size_t i = 1; i < connections.size(); ++i) made = std::min(made, connections[i]->last.save);
        return made;
    }
    /// Whether this worker is to begin no other step.
    bool stops() const { return asked && stop_clock >= 0 && clock >= stop_clock; }
    void answered(std::size_t i, request& q, const answer_block& b) {
        take(i, b);
        const auto push = b.info.push;
        if (q.commits) {
            const bool outdated = push == answer_info::fate::outdated;
            counters.dropped += i == 0 && (push == answer_info::fate::late || outdated);
            counters.outdated += i == 0 && outdated;
            counters.repeated += push == answer_info::fate::repeated;
        }
        if (i != 0) return;
        take_agreed(b);
        info = b.info;
        info.clock = clock;
        no_more = (b.flags & answer_block::no_more_steps) != 0;
        if (q.number >= last_commit && (b.flags & answer_block::ticket) != 0) ticket = true;
        if (q.commits) {
            counters.staleness_sum += b.info.staleness;
            counters.staleness_max = std::max(counters.staleness_max, b.info.staleness);
        }
    }

    /// Drives until done() holds or something is wrong, under the mutex.
    template <class Done>
    void drive(lock& hold, Done done) {
        waiting = true;
        for (int looks = 0; !failure && !done(); ++looks) {
            progress(looks > 0);
            if (failure || done()) break;
            if (!brief.again(looks)) poll_connections(hold, false);
        }
        waiting = false;
        if (failure) throw cluster_error(*failure);
    }
    /// Waits until a connection can go on, or it is time for a heartbeat.
    void poll_connections(lock& hold, bool unlocked) {
        std::vector<pollfd>& polls = unlocked ? polls_of_thread : polls_of_caller;
        polls.clear();
        double most = heartbeat_every() / 4;
        const double now = base::monotonic_seconds();
        for (std::size_t i = 0; i < connections.size(); ++i) {
            if (!connections[i]->up()) {
                if (is_needed(*connections[i])) most = std::min(most, std::max(0.0, next_try[i] - now));
                continue;
            }
            if (connections[i]->has_more()) return;
            polls.push_back({connections[i]->descriptor(), connections[i]->events(), 0});
        }
        if (unlocked) hold.unlock();
        ::poll(polls.data(), static_cast<nfds_t>(polls.size()), static_cast<int>(most * 1000) + 1);
        if (unlocked) hold.lock();
        std::size_t k = 0;
        for (const auto& l : connections) {
            if (!l->up() || k >= polls.size() || polls[k].fd != l->descriptor()) continue;
            if ((polls[k++].revents & POLLIN) != 0) l->note_bytes();
        }
    }
    /// The thread: carries on while the caller computes.
    void carry_on() {
        lock hold(mutex);
        while (!ending) {
            bool busy = false;
            for (const auto& l : connections) busy |= !l->idle() || !l->up();
            if (waiting || failure || left || !busy || !options.overlap) {
                work.wait_for(hold, std::chrono::microseconds(static_cast<std::int64_t>(heartbeat_every() * 0.25e6)));
                if (ending || waiting || failure || left) continue;
                if (!busy || !options.overlap) {
                    progress();
                    continue;
                }
            }
            progress();
            bool now = false;
            for (const auto& l : connections) now |= !l->idle() || !l->up();
            if (now && !failure) poll_connections(hold, true);
        }
    }

    /// Where server 0 says that the job was opened.
    void note_opening() {
        const auto o = decode<calls::opening>(as_bytes(connections[0]->text));
        open_clock = o.clock, open_step = o.step;
        if (!opened) {   // what servers have sent of clocks before may have been lost with one of them
            clock = open_clock;
            for (const auto& l : connections) clock = std::max(clock, l->last.info.clock);
        }
        opened = true;
        asked = (connections[0]->last.flags & answer_block::asked_to_stop) != 0;
        take_agreed(connections[0]->last);
    }

    // ---- Asking
    /// Bytes of answers that the system's buffers hold while nobody listens.
    static constexpr std::int64_t most_unread = std::int64_t{1} << 18;
    /// What has been asked leaves: now as far as it can, the rest by the thread or in wait(). The
    /// thread is woken only where there is a rest, or a long answer to take in.
    void start(lock&) {
        bool left_over = false;
        for (std::size_t i = 0; i < connections.size(); ++i) {
            server_connection& l = *connections[i];
            if (l.up() && l.has_to_send()) guarded(i, [&] { l.send_available(); });
            left_over |= !l.up() || l.has_to_send() || l.awaits() > most_unread;
        }
        check();
        if (options.overlap && left_over) work.notify_one();
    }
    void check() {
        if (failure) throw cluster_error(*failure);
        if (left) throw error("this worker has left the job", "parameter_servers::client");
    }
    request& ask(lock& hold, std::size_t i, parameter_servers::ticket number, const char* name) {
        check();
        if (connections[i]->full()) drive(hold, [&] { return !connections[i]->full(); });
        return connections[i]->ask(number, name);
    }
    void wait_for(lock& hold, parameter_servers::ticket t) {
        drive(hold, [&] {
            for (const auto& l : connections)
                if (!l->answered(t)) return false;
            return true;
        });
    }
    void call(lock& hold, std::size_t i, parameter_servers::ticket number, call_id id, const std::string& arguments) {
        if (arguments.size() > most_frame)
            throw error("a call of more than a frame holds", name_of(id), std::to_string(arguments.size()), "1 MiB");
        request& q = ask(hold, i, number, name_of(id));
        auto& bytes = q.next_block();
        bytes.resize(arguments.size());
        if (!arguments.empty()) std::memcpy(bytes.data(), arguments.data(), arguments.size());
        wire::frame_tag t;
        t.elements = static_cast<std::uint64_t>(id);
        q.add(frame_type::call, bytes, t);
        q.whole = true;
    }
    void call_some(lock& hold, std::size_t first, std::size_t end, call_id id, const std::string& arguments) {
        const auto t = ++numbers;
        for (std::size_t i = first; i < end; ++i) call(hold, i, t, id, arguments);
        wait_for(hold, t);
    }
    /// One server's answer.
    template <class Call>
    typename Call::answer call_and_wait(lock& hold, std::size_t i, const Call& c) {
        call_some(hold, i, i + 1, Call::id, encode(c));
        return decode<typename Call::answer>(as_bytes(connections[i]->text));
    }
    /// Of all servers; their answers are in their connections' text.
    template <class Call>
    void call_all(lock& hold, const Call& c) {
        call_some(hold, 0, connections.size(), Call::id, encode(c));
    }
    /// Asks server 0 first, and then the others, who learn from its answer what they are to do before
    /// they end: clocks that are applied there, and the save that it has named last.
    void ask_server_0_first(lock& hold, call_id first, call_id others) {
        call_some(hold, 0, 1, first, encode(calls::progress{info.applied, broadcast.known()}));
        const std::int64_t named = save_clock == 0 ? save : 0;
        call_some(hold, 1, connections.size(), others, encode(calls::progress{info.applied, named}));
        broadcast.know(named);
    }
    /// What a worker that joins a server says; `next`: the clock of its next push there.
    calls::join joining(std::int64_t next, std::uint64_t epoch) const {
        return {next, epoch, last_name, settled(), known()};
    }
    /// What a server that was started again may lack.
    known_to_worker known() const {
        known_to_worker k{sums, opened, asked ? stop_clock : -1, 0, 0, all_files, open_clock, open_step, openings};
        for (const auto& l : connections)
            if (l->last.info.applied > k.applied) k.applied = l->last.info.applied, k.step = l->last.info.global_step;
        return k;
    }
    /// The newest version of values that a server has sent.
    std::int64_t newest() const {
        std::int64_t v = 0;
        for (const auto& l : connections) v = std::max(v, l->version);
        return v;
    }
    /// The version of the values that all servers have, or will have again.
    std::int64_t settled() const { return before_renewal.value_or(newest()); }
    /// A worker that rested works again, at the clock that the others have come to.
    void come_back(lock& hold) {
        if (std::exchange(resting, false)) agree_on_the_clock(hold);
    }
    /// All servers get the same next clock.
    void agree_on_the_clock(lock& hold) {
        for (int round = 0; round < 2; ++round) {
            const std::int64_t before = clock;
            call_all(hold, joining(clock, 0));
            for (std::size_t i = 0; i < connections.size(); ++i) met(i);
            check();
            if (clock == before) return;
        }
    }
};

} // namespace sinter::parameter_servers
