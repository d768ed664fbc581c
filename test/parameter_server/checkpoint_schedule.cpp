// SPDX-License-Identifier: BSL-1.0
// shows servers: all servers write the checkpoints that server 0 names, in simulated jobs
// When servers write checkpoints, and by which names: arithmetic, simulated with requests and answers in random orders,
// slow disks, workers and servers that are lost, and second copies that take over.
#include <array>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <sinter/net/archive.hpp>
#include <sinter/parameter_server/checkpoint_schedule.hpp>
#include <sinter/parameter_server/client/save_broadcast.hpp>

using namespace sinter;
using namespace sinter::parameter_servers;
using notice = checkpoint_schedule::notice;

namespace {

std::string bytes_of(checkpoint_schedule& s) {
    wire::archive_writer w;
    s.serialize(w);
    s.serialize_end(w);
    return w.bytes();
}
void read(checkpoint_schedule& s, const std::string& bytes) {
    wire::archive_reader r(as_bytes(bytes));
    s.serialize(r);
    s.serialize_end(r);
    r.expect_end();
    s.check("the test");
}

/// A checkpoint as it lies in a server's folder.
struct saved {
    std::int64_t name, step, clock;
};

/// A server of a simulation: its schedule, and a disk that takes its time.
struct simulated_server {
    simulated_server(checkpoint_schedule::rule r, update_order o, int workers)
        : rule(r), schedule(r), all(o, workers) {}
    checkpoint_schedule::rule rule;
    checkpoint_schedule schedule;
    clocks all;
    std::int64_t step = 0;
    bool asked = false, at_rest = false, stopping = false;
    double now = 0;
    std::optional<checkpoint_order> writes;
    saved copy{};
    std::vector<saved> files;
    std::set<std::int64_t> lost;

    checkpoint_facts facts() const {
        return {.now = now, .global_step = step, .leads = true, .open = true, .has_files = true,
                .asked_to_stop = asked, .at_rest = at_rest, .stopping = stopping};
    }
    /// Begins what is due: the copy is of this moment.
    bool begin() {
        if (writes || !(writes = schedule.begins(facts()))) return false;
        BOOST_REQUIRE(writes->where == "step-" + std::to_string(writes->step));
        copy = {writes->step, step, all.applied()};
        schedule.copied(step, now, writes->by_steps);
        return true;
    }
    bool end() {
        if (!writes) return false;
        files.push_back(copy);
        schedule.ends(*std::exchange(writes, {}), "");
        return true;
    }
    /// Its process is gone, with what it was writing; another goes on from its newest file, or has none.
    void restart() {
        writes.reset();
        schedule = checkpoint_schedule(rule, now);
        step = 0;
        if (files.empty()) return;
        step = files.back().step;
        schedule.restore(step, files.back().name);
    }
    /// The second copy of its shard goes on with what it has been told. A checkpoint that was being written is written
    /// again where servers have agreed on it; one that is due by steps is lost.
    void is_taken_over() {
        if (writes && writes->by_steps && !writes->agreed) lost.insert(writes->step);
        writes.reset();
        const std::string state = bytes_of(schedule);
        schedule = checkpoint_schedule(rule, now);
        read(schedule, state);
        BOOST_REQUIRE(bytes_of(schedule) == state);
    }
};

/// Workers that push to several servers, each push an update by itself. Server 0 names saves; the others hear of them
/// by pushes, which come at different times, and server 0 hears likewise of what they have written.
struct async_job {
    struct worker {
        std::int64_t save = 0;          // the newest name that server 0 has said
        save_broadcast told;
        std::int64_t pushes = 0;
        std::vector<std::int64_t> made, answered;   // by server: what it has said that it has written; the last push
        struct message {
            std::int64_t named, number;
        };
        std::vector<std::deque<message>> sent;
        std::int64_t made_by_others() const {
            std::int64_t n = save;
            for (std::size_t i = 1; i < made.size(); ++i) n = std::min(n, made[i]);
            return n;
        }
    };
    std::mt19937 random;
    std::vector<simulated_server> servers;
    std::vector<worker> workers;
    agreed_clocks together;
    std::vector<std::int64_t> named;    // by server 0
    std::map<std::size_t, std::int64_t> since;   // of one that was started again: earlier names it may lack

    async_job(unsigned seed, checkpoint_schedule::rule r) : random(seed) {
        const int n = 2 + static_cast<int>(seed % 3);
        for (unsigned s = 0; s < 2 + seed % 2; ++s) servers.emplace_back(r, update_order::async(), n);
        workers.resize(static_cast<std::size_t>(n));
        for (worker& w : workers)
            w.made.resize(servers.size()), w.answered.resize(servers.size()), w.sent.resize(servers.size());
    }
    std::size_t one_of(std::size_t n) { return random() % n; }
    void agree() {
        simulated_server& first = servers[0];
        const std::int64_t before = together.save();
        first.schedule.agree(first.facts(), first.all, together);
        if (together.save() == before) return;
        BOOST_REQUIRE(together.save() > before);
        if (!first.at_rest)   // all have written the last one, or it may be left out by one that is slow
            for (std::size_t s = 0; s < servers.size(); ++s) BOOST_REQUIRE(has_written(s, before));
        named.push_back(together.save());
    }
    bool has_written(std::size_t s, std::int64_t name) const {
        if (name == 0 || (since.contains(s) && name <= since.at(s))) return true;
        return std::any_of(servers[s].files.begin(), servers[s].files.end(),
                           [&](const saved& f) { return f.name == name; });
    }
    void push(worker& w) {
        for (const auto& m : w.sent)
            if (m.size() > 3) return;
        w.told.send(w.save, ++w.pushes, [&](std::int64_t n) {
            return std::all_of(w.answered.begin() + 1, w.answered.end(), [&](std::int64_t a) { return a >= n; });
        });
        for (std::size_t s = 0; s < servers.size(); ++s)
            w.sent[s].push_back({s == 0 ? w.made_by_others() : w.save, w.pushes});
    }
    void arrives(worker& w, std::size_t s) {
        if (w.sent[s].empty()) return;
        const worker::message m = w.sent[s].front();
        w.sent[s].pop_front();
        if (s == 0) together.save_was_named(m.named);
        servers[s].schedule.pushed(m.named, true);
        ++servers[s].step;
        answer(w, s, m.number);
    }
    void answer(worker& w, std::size_t s, std::int64_t number) {
        if (s == 0) agree();
        w.answered[s] = number;
        if (s == 0) w.save = std::max(w.save, together.save());
        else w.made[s] = servers[s].schedule.newest_made();
    }
    void write_something() {
        simulated_server& s = servers[one_of(servers.size())];
        if (random() % 2) s.begin();
        else s.end();
    }
    /// As workers do at the end: each asks server 0 first, and hands on to the others what that has named.
    void ask_before_end(worker& w) {
        together.save_was_named(w.told.known());
        servers[0].schedule.progress_known(w.told.known(), true);
        answer(w, 0, w.pushes);
        for (std::size_t s = 1; s < servers.size(); ++s) {
            while (!w.sent[s].empty()) arrives(w, s);
            servers[s].schedule.progress_known(w.save, true);
            answer(w, s, w.pushes);
        }
        w.told.know(w.save);
    }
    void run(bool restarts, bool copies, bool to_the_end) {
        for (int event = 0; event < 6000; ++event) {
            for (simulated_server& s : servers) s.now += 0.01;
            worker& w = workers[one_of(workers.size())];
            const std::size_t s = one_of(servers.size());
            switch (random() % 8) {
                case 0: push(w); break;
                case 1: write_something(); break;
                default: arrives(w, s);
            }
            if (copies && random() % 300 == 0) servers[s].is_taken_over();
            if (restarts && s > 0 && random() % 700 == 0) {
                servers[s].restart();
                since[s] = named.empty() ? 0 : named.back();
            }
        }
        for (worker& w : workers)   // the others may have pushes of another worker yet when they hear of the last name
            while (!w.sent[0].empty()) arrives(w, 0);
        for (simulated_server& s : servers) s.asked = to_the_end, s.at_rest = true;
        for (int round = 0; round < 3; ++round)   // rest, wait for others, leave
            for (worker& w : workers) {
                ask_before_end(w);
                write_something();
            }
        for (simulated_server& s : servers) s.stopping = true;
        for (simulated_server& s : servers)
            while (s.end() || s.begin()) {}
    }
};

void simulate_async(unsigned seed, checkpoint_schedule::rule r, bool restarts, bool copies) {
    async_job j(seed, r);
    j.run(restarts, copies, true);
    BOOST_REQUIRE(j.named.size() > 5);
    for (std::size_t s = 0; s < j.servers.size(); ++s) {
        const auto& files = j.servers[s].files;
        for (const std::int64_t name : j.named) BOOST_REQUIRE(j.has_written(s, name));
        std::int64_t before = 0;
        for (const saved& f : files) {   // nothing but what server 0 has named, in its order
            BOOST_REQUIRE(f.name >= before);
            BOOST_REQUIRE(std::count(j.named.begin(), j.named.end(), f.name) == 1);
            if (!copies && !restarts && &f != &files.back()) BOOST_REQUIRE(f.name > before);   // once
            before = f.name;
        }
        // The last one has all updates, on every server.
        BOOST_REQUIRE(files.back().name == j.named.back());
        BOOST_REQUIRE(files.back().step == j.servers[s].step);
    }
}

/// Workers by clocks, and several servers, which all write at the same clocks by the same names.
struct clocks_job {
    struct worker {
        std::int64_t clock = 0, save_clock = 0, save = 0;
        bool away = false;
        std::vector<std::deque<std::pair<std::int64_t, std::int64_t>>> sent;   // clock, save
    };
    std::mt19937 random;
    std::int64_t staleness;
    std::vector<simulated_server> servers;
    std::vector<worker> workers;
    agreed_clocks together;
    std::int64_t named = 0;

    clocks_job(unsigned seed, std::int64_t s, checkpoint_schedule::rule r)
        : random(seed), staleness(s), skips(seed % 4 == 1) {
        const int n = 2 + static_cast<int>(seed % 3);
        for (unsigned i = 0; i < 2 + seed % 2; ++i) servers.emplace_back(r, update_order::stale(s), n);
        workers.resize(static_cast<std::size_t>(n));
        for (worker& w : workers) w.sent.resize(servers.size());
    }
    void ask_server_0(worker& w, int rank) {
        const std::int64_t before = together.save_clock();
        servers[0].schedule.agree(servers[0].facts(), servers[0].all, together);
        named += together.save_clock() != before;
        together.give(servers[0].all.next(rank));   // it has leave to begin its next step, and knows as it begins
        w.save_clock = together.save_clock(), w.save = together.save();
    }
    bool may_begin(const worker& w, int rank) const {
        for (const auto& m : w.sent)
            if (!m.empty()) return false;
        return std::all_of(servers.begin(), servers.end(),
                           [&](const simulated_server& s) { return s.all.may_read(rank); });
    }
    void apply(simulated_server& s) {
        checkpoint_facts f = s.facts();
        f.now = 0;
        while (s.all.ready() && !s.schedule.due(f)) {
            std::int64_t save = 0;
            for (int w = 0; w < s.all.workers(); ++w)
                if (s.all.in_next(w)) save = std::max(save, saves[{w, s.all.applied()}]);
            s.step += makes_an_update(s.all.applied());
            s.all.apply();
            s.schedule.agreed_by_clock(save);
            f.global_step = s.step;
        }
    }
    std::map<std::pair<int, std::int64_t>, std::int64_t> saves;   // as a push has said

    /// Some clocks are no update, as where a gradient is not finite: then names are later than steps.
    bool skips;
    bool makes_an_update(std::int64_t clock) const { return !skips || clock % 5 != 3; }

    void run(bool copies) {
        for (int event = 0; event < 5000; ++event) {
            for (simulated_server& s : servers) s.now += 0.01;
            const int rank = static_cast<int>(random() % workers.size());
            worker& w = workers[static_cast<std::size_t>(rank)];
            simulated_server& s = servers[random() % servers.size()];
            switch (random() % 6) {
                case 0:
                    if (!may_begin(w, rank)) break;
                    ask_server_0(w, rank);
                    w.clock = servers[0].all.next(rank);
                    for (auto& to : w.sent) to.emplace_back(w.clock, w.clock + 1 == w.save_clock ? w.save : 0);
                    break;
                case 1:
                    if (random() % 2) s.begin();
                    else s.end();
                    break;
                default: {
                    auto& from = w.sent[static_cast<std::size_t>(&s - servers.data())];
                    if (from.empty() || !s.all.may_push(from.front().first)) break;
                    saves[{rank, from.front().first}] = from.front().second;
                    BOOST_REQUIRE((s.all.push(rank, from.front().first) == clocks::verdict::taken));
                    if (&s == servers.data()) together.give(from.front().first);
                    from.pop_front();
                }
            }
            apply(s);
            if (copies && random() % 200 == 0) s.is_taken_over();
        }
        end();
    }
    void end() {
        for (bool more = true; more;) {   // what is under way comes to its end; nobody begins
            more = false;
            for (simulated_server& s : servers)
                for (std::size_t k = 0; k < workers.size(); ++k) {
                    auto& from = workers[k].sent[static_cast<std::size_t>(&s - servers.data())];
                    if (from.empty() || !s.all.may_push(from.front().first)) continue;
                    saves[{static_cast<int>(k), from.front().first}] = from.front().second;
                    s.all.push(static_cast<int>(k), from.front().first);
                    from.pop_front();
                    more = true;
                }
            for (simulated_server& s : servers) {
                apply(s);
                while (s.end() || s.begin()) more = true;
                apply(s);
            }
        }
        for (simulated_server& s : servers) {
            for (std::size_t k = 0; k < workers.size(); ++k) s.all.retire(static_cast<int>(k));
            while (s.end() || s.begin()) apply(s);
            apply(s);
            while (s.end() || s.begin()) apply(s);
            s.asked = s.at_rest = s.stopping = true;
            while (s.end() || s.begin()) {}
        }
    }
};

void simulate_clocks(unsigned seed, std::int64_t staleness, checkpoint_schedule::rule r, bool copies) {
    clocks_job j(seed, staleness, r);
    j.run(copies);
    std::set<std::int64_t> lost;
    for (const simulated_server& s : j.servers) lost.insert(s.lost.begin(), s.lost.end());
    const auto written = [&](const simulated_server& s) {
        std::set<std::array<std::int64_t, 3>> all;   // each once, also where both copies have written it
        for (const saved& f : s.files)
            if (!lost.contains(f.name)) all.insert({f.clock, f.name, f.step});
        return all;
    };
    const auto of_first = written(j.servers[0]);
    BOOST_REQUIRE(of_first.size() + lost.size() > 4);
    BOOST_REQUIRE(std::ssize(of_first) + std::ssize(lost) >= j.named);
    std::set<std::int64_t> names;
    std::int64_t clock = -1, agreed = 0;
    for (const auto& [at, name, step] : of_first) {
        BOOST_REQUIRE(at >= clock);
        BOOST_REQUIRE(name >= step);
        if (name != step || r.every_steps == 0) BOOST_REQUIRE(name > std::exchange(agreed, name));
        if (!j.skips) BOOST_REQUIRE(name == step);
        clock = at;
        names.insert(name);
    }
    for (const simulated_server& s : j.servers) {
        BOOST_REQUIRE((written(s) == of_first));
        BOOST_REQUIRE(s.files.back().step == s.step);   // the last has all
        if (r.every_steps > 0)
            for (std::int64_t n = r.every_steps; n <= s.step; n += r.every_steps)
                BOOST_REQUIRE(names.contains(n) != lost.contains(n));
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(whatever_server_0_names_all_servers_write) {
    for (unsigned seed = 0; seed < 24; ++seed) {
        const bool by_time = seed % 2;
        const checkpoint_schedule::rule r{.by_clocks = false, .alone = false, .every_steps = by_time ? 0 : 20 + seed,
                                          .every_seconds = by_time ? 2. : 0.};
        simulate_async(seed, r, false, false);
        simulate_async(seed, r, false, true);
        simulate_async(seed, r, true, seed % 3 == 0);
    }
}
BOOST_AUTO_TEST_CASE(by_clocks_all_servers_write_at_the_same_ones) {
    for (const std::int64_t staleness : {0, 1, 4})
        for (unsigned seed = 0; seed < 18; ++seed) {
            const checkpoint_schedule::rule r{.by_clocks = true, .alone = false,
                                              .every_steps = seed % 3 == 0 ? 0 : 5 + seed % 7,
                                              .every_seconds = seed % 3 == 1 ? 0. : 2.};
            simulate_clocks(seed, staleness, r, seed % 2);
        }
}

/// One server: it has nobody to agree with, and comes again from what it has written.
BOOST_AUTO_TEST_CASE(one_server_by_itself_that_is_killed_now_and_then) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const bool by_clocks = seed % 2;
        const std::int64_t every = seed % 3 == 0 ? 0 : 1 + seed % 9;
        const double seconds = seed % 3 == 1 ? 0 : 1;
        simulated_server s({by_clocks, true, every, seconds}, update_order::async(), 1);
        std::set<std::int64_t> begun;   // since it was started last
        for (int event = 0; event < 2000; ++event) {
            s.now += 0.01;
            const bool waits = by_clocks && s.schedule.due({0, s.step, true, true, true, false, false, false});
            if (random() % 3 == 0 && !waits) ++s.step;
            if (random() % 20 == 0 && s.begin()) {
                BOOST_REQUIRE(s.copy.name <= s.step);
                BOOST_REQUIRE(begun.insert(s.copy.name).second);
            }
            if (random() % 20 == 0) s.end();
            if (random() % 500 == 0) {
                s.restart();
                begun.clear();
                for (const saved& f : s.files) begun.insert(f.name);
            }
        }
        while (s.end() || s.begin()) {}
        const std::int64_t last = s.files.empty() ? 0 : s.files.back().step;
        if (every > 0) BOOST_TEST(last / every == s.step / every);   // no multiple of it is left out
        else BOOST_TEST(s.files.size() >= 1u);
        if (seconds > 0 && s.step > last) {
            s.now += seconds + 1;
            BOOST_TEST(s.begin());
            s.end();
        }
        s.asked = s.at_rest = true;   // the last one has all
        while (s.end() || s.begin()) {}
        BOOST_TEST(s.files.back().step == s.step);
        BOOST_TEST(!s.schedule.due(s.facts()).has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_request_is_answered_by_a_checkpoint_that_was_begun_after_it) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        checkpoint_schedule s({.alone = true});
        checkpoint_facts f{.leads = true, .open = true, .has_files = true};
        std::map<std::int64_t, int> asked, loaded;   // requests and loads, by how many checkpoints had been begun
        int begun = 0, ended = 0, ended_loads = 0, load_begun = 0;
        std::optional<checkpoint_order> writes;
        for (int event = 0; event < 2000; ++event) {
            switch (random() % 5) {
                case 0: asked[s.request("here")] = begun; break;
                case 1:
                    if (random() % 4 == 0) loaded[s.loaded(static_cast<std::int64_t>(random() % 100))] = begun;
                    break;
                case 2:
                    if (!writes && (writes = s.begins(f))) {
                        ++begun;
                        if (writes->begins_anew) load_begun = begun;
                    }
                    break;
                case 3:
                    if (!writes) break;
                    s.ends(*writes, random() % 3 == 0 ? "no room" : "");
                    ended = writes->requested ? begun : ended;
                    ended_loads = writes->begins_anew ? load_begun : ended_loads;
                    writes.reset();
                    break;
                default: f.global_step += 1;
            }
            // Done is what was asked for before one that is written was begun; nothing else.
            std::erase_if(asked, [&](const auto& a) {
                if (s.is_done(a.first)) BOOST_REQUIRE(ended > a.second);
                return s.is_done(a.first);
            });
            std::erase_if(loaded, [&](const auto& a) {
                if (s.is_saved(a.first)) BOOST_REQUIRE(ended_loads > a.second);
                return s.is_saved(a.first);
            });
        }
        for (int i = 0; i < 4; ++i) {   // nobody waits for ever
            if (writes) s.ends(*writes, "");
            writes = s.begins(f);
        }
        for (const auto& [request, before] : asked) BOOST_REQUIRE(s.is_done(request));
        for (const auto& [load, before] : loaded) BOOST_REQUIRE(s.is_saved(load));
    }
}
BOOST_AUTO_TEST_CASE(request_gets_the_error_of_its_save) {
    checkpoint_schedule s({.alone = true, .every_steps = 10});
    checkpoint_facts f{.global_step = 12, .leads = true, .open = true, .has_files = true};
    const std::int64_t mine = s.request("by/hand");
    auto o = s.begins(f);
    BOOST_TEST_REQUIRE(o.has_value());
    BOOST_TEST(o->where == "by/hand");   // before what is due by itself
    BOOST_TEST(!s.is_done(mine));
    s.ends(*o, "no room");
    BOOST_TEST(s.is_done(mine));
    BOOST_TEST(s.fault_of_request() == "no room");
    o = s.begins(f);
    BOOST_TEST_REQUIRE(o.has_value());
    BOOST_TEST(o->where == "step-10");
    s.copied(12, 0, o->by_steps);
    s.ends(*o, "no room");
    BOOST_TEST(!s.begins(f).has_value());   // it is not tried again
    const std::int64_t load = s.loaded(7);
    f.global_step = 8;
    o = s.begins(f);
    BOOST_TEST_REQUIRE(o.has_value());
    BOOST_TEST(o->where == "step-7");
    BOOST_TEST(o->begins_anew);
    s.ends(*o, "");
    BOOST_TEST(s.is_saved(load));
    BOOST_TEST(s.fault_of_load() == "");
}
BOOST_AUTO_TEST_CASE(nothing_is_due_where_nothing_can_be_written) {
    checkpoint_schedule s({.alone = true, .every_steps = 1});
    for (int without = 0; without < 3; ++without) {
        checkpoint_facts f{.global_step = 5, .leads = without != 0, .open = without != 1, .has_files = without != 2};
        BOOST_TEST(!s.due(f).has_value());
        BOOST_TEST(!s.begins(f).has_value());
    }
}
BOOST_AUTO_TEST_CASE(late_or_missing_checkpoints_are_reported_once) {
    const checkpoint_schedule::rule r{.alone = false, .every_steps = 10};
    const clocks none(update_order::async(), 1);
    agreed_clocks together;
    checkpoint_schedule first(r), other(r);
    checkpoint_facts f{.global_step = 10, .leads = true, .open = true, .has_files = true};
    BOOST_TEST((first.agree(f, none, together) == notice::none));
    BOOST_TEST(together.save() == 10);
    f.global_step = 20;
    BOOST_TEST((first.agree(f, none, together) == notice::this_one_late));
    BOOST_TEST((first.agree(f, none, together) == notice::none));
    BOOST_TEST(together.save() == 10);
    checkpoint_schedule fast(r);
    agreed_clocks of_fast;
    f.global_step = 10;
    fast.agree(f, none, of_fast);
    auto o = fast.begins(f);
    BOOST_TEST_REQUIRE(o.has_value());
    fast.ends(*o, "");
    f.global_step = 20;
    BOOST_TEST((fast.agree(f, none, of_fast) == notice::another_one_late));
    fast.pushed(10, true);   // a worker says that all others have written it
    BOOST_TEST((fast.agree(f, none, of_fast) == notice::none));
    BOOST_TEST(of_fast.save() == 20);
    BOOST_TEST((other.pushed(10, false) == notice::no_folder));
    BOOST_TEST((other.pushed(20, false) == notice::none));
}
BOOST_AUTO_TEST_CASE(what_is_named_while_another_is_written_is_written_next) {
    checkpoint_schedule s({.alone = false});
    const checkpoint_facts f{.global_step = 30, .leads = true, .open = true, .has_files = true};
    s.pushed(10, true);
    const auto o = s.begins(f);
    BOOST_TEST_REQUIRE(o.has_value());
    s.progress_known(20, true);
    s.progress_known(25, true);
    s.ends(*o, "");
    BOOST_TEST(s.newest_made() == 10);
    BOOST_TEST(s.due(f).value_or(-1) == 20);
}
BOOST_AUTO_TEST_CASE(a_load_ends_what_was_named_before) {
    checkpoint_schedule s({.alone = false});
    checkpoint_facts f{.global_step = 30, .leads = true, .open = true, .has_files = true};
    s.pushed(10, true);
    s.pushed(20, true);
    BOOST_TEST(s.due(f).value_or(-1) == 10);
    s.forget_named();
    BOOST_TEST(!s.due(f).has_value());
    s.pushed(20, true);   // said again: of values of before
    BOOST_TEST(!s.due(f).has_value());
    s.pushed(30, true);
    BOOST_TEST(s.due(f).value_or(-1) == 30);
}
BOOST_AUTO_TEST_CASE(a_state_that_no_schedule_comes_to_is_refused) {
    checkpoint_schedule s({.alone = false});
    s.pushed(10, true);
    s.pushed(20, true);
    const std::string state = bytes_of(s);
    checkpoint_schedule other({.alone = false});
    read(other, state);
    BOOST_TEST(bytes_of(other) == state);
    const auto changed = [&](std::size_t number, std::int64_t to) {   // in their order: agreed, written, ...
        std::string bytes = state;
        std::memcpy(bytes.data() + 8 * number, &to, 8);
        return bytes;
    };
    BOOST_TEST(changed(0, 20) == state);
    BOOST_CHECK_THROW(read(other, changed(0, -1)), format_error);
    BOOST_CHECK_THROW(read(other, changed(0, 15)), format_error);          // a name to come is later than the newest
    BOOST_CHECK_THROW(read(other, changed(1, 10)), format_error);          // it is written already
    BOOST_CHECK_THROW(read(other, changed(2, INT64_MAX)), format_error);   // no step
    BOOST_CHECK_THROW(read(other, state.substr(0, state.size() - 1)), error);
    BOOST_CHECK_THROW(read(other, state + "x"), error);
}
