// SPDX-License-Identifier: BSL-1.0
// shows servers: a push that the checkpoint has, and whose reply was lost, counts once
// needs: distributed
// waits: until links are dialled again
// Connections that break in the midst of anything, servers that come back, workers that die: each push counts once.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <latch>
#include <net/fault_proxy.hpp>
#include <sinter/parameter_server/calls.hpp>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::pull_target;

namespace {
/// The job as its workers see it: between them and server 0 there is a proxy.
job through_proxy(const job& j) {
    job there = j;
    for (cluster_member& m : there.members)
        if (m.role == cluster_role::ps && m.index == 0) m.port = static_cast<std::uint16_t>(m.port + 500);
    return there;
}
constexpr std::int64_t floats = 12'000, rows = 20;
parameter_servers::shard_layout with_table() {
    parameter_servers::shard_layout l = dense_layout(floats);
    l.tables.push_back({"table", rows, 4, 0});
    return l;
}
/// Pushes of -1 to everything.
struct pusher {
    pusher(const job& j, int w, parameter_servers::client_options o = {})
        : c(j.client(w, o)), g(floats, -1.f), x(floats), r(rows * 4, -1.f) {
        for (std::int64_t k = 0; k < rows; ++k) keys.push_back(k);
        to[0] = {x.data(), nullptr};
    }
    void push() {
        c->begin_push();
        c->push(0, 0, g);
        c->push_rows(0, 0, keys, r);
        c->wait(c->commit({.loss = 1}, to));
    }
    /// Whether all values are this number.
    bool all_are(float n) {
        c->wait(c->start_pull(to));
        std::vector<float> t(rows * 4);
        c->read_rows(0, 0, 0, 0, t);
        bool all = true;
        for (const float v : x) all &= v == n;
        for (const float v : t) all &= v == n;
        return all;
    }
    std::unique_ptr<parameter_servers::client> c;
    std::vector<float> g, x, r;
    std::vector<std::int64_t> keys;
    pull_target to[1];
};

/// Shards that stay in memory.
struct kept_shards : parameter_servers::shard_files {
    struct table {
        std::vector<std::int64_t> keys, steps;
        std::vector<float> values;
        std::vector<std::vector<float>> slots;
    };
    std::mutex mutex;
    bool there = false;
    std::int64_t step = 0, saved = 0;
    std::string log;
    std::vector<float> values, states;
    std::vector<std::vector<float>> slots;
    std::vector<table> tables;

    void save(const parameter_servers::shard_view& v, const std::string&) override {
        const std::lock_guard hold(mutex);
        const auto n = v.layout->floats;
        there = true, ++saved, step = v.global_step, log = v.log;
        values.assign(v.values, v.values + n);
        states.assign(v.states, v.states + v.layout->states);
        slots.clear(), tables.clear();
        for (const float* s : v.slots) slots.emplace_back(s, s + n);
        for (std::size_t i = 0; i < v.tables.size(); ++i) {
            const auto& t = v.tables[i];
            const auto m = t.rows * v.layout->tables[i].row_floats;
            table& to = tables.emplace_back();
            to.keys.resize(std::size_t(t.rows)), to.steps.resize(std::size_t(t.rows));
            t.then->keys(0, {to.keys.data(), to.keys.size()}), t.then->steps(0, {to.steps.data(), to.steps.size()});
            for (std::size_t k = 0; k <= t.slots.size(); ++k) {
                std::vector<float>& x = k == 0 ? to.values : to.slots.emplace_back();
                x.resize(std::size_t(m));
                t.then->floats(int(k), 0, {x.data(), x.size()});
            }
        }
    }
    bool load(parameter_servers::shard_view& v) override {
        const std::lock_guard hold(mutex);
        if (!there) return false;
        v.global_step = step, v.log = log;
        std::copy(values.begin(), values.end(), v.values);
        std::copy(states.begin(), states.end(), v.states);
        for (std::size_t k = 0; k < slots.size(); ++k) std::copy(slots[k].begin(), slots[k].end(), v.slots[k]);
        for (std::size_t i = 0; i < tables.size(); ++i) {
            const auto& t = tables[i];
            const auto width = v.layout->tables[i].row_floats;
            for (std::size_t r = 0; r < t.keys.size(); ++r) {
                std::vector<const float*> s;
                for (const auto& slot : t.slots) s.push_back(slot.data() + r * std::size_t(width));
                v.restore_row(i, t.keys[r], t.steps[r], t.values.data() + r * std::size_t(width), s.data());
            }
        }
        return true;
    }
};
} // namespace

BOOST_AUTO_TEST_CASE(connections_are_cut_anywhere_and_each_push_counts_once) {
    std::int64_t torn = 0, repeated = 0, connections = 0;
    for (const bool upwards : {true, false})
        for (const std::ptrdiff_t cut : {60'123, 77'777, 101'001})
            for (const auto& order :
                 {parameter_servers::update_order::async(), parameter_servers::update_order::stale(1)}) {
                const job j(2, 1, with_table()), seen = through_proxy(j);
                parameter_servers::server_options o;
                o.order = order;
                o.order.all_join = order.mode == parameter_servers::update_mode::clocks;
                running_servers servers(j, o, 1, 1);
                fault_proxy::faults f;
                f.upwards = upwards;
                (upwards ? f.half_close_at : f.cut_at) = cut;   // the first lets a part of a frame arrive
                f.most_chunk = 20'000;
                std::atomic<bool> over{false};
                threads proxy, workers;
                proxy.start([&] {
                    fault_proxy::run(seen.members[2].address(), j.members[2].address(), f, [&] { return !over; });
                });
                constexpr int each = 12;
                for (int w = 0; w < 2; ++w)
                    workers.start([&, w] {
                        pusher p(seen, w, {.overlap = w == 0});
                        if (w == 0) p.c->open(0);
                        else p.c->wait_until_open();
                        for (int i = 0; i < each; ++i) p.push();
                        p.c->rest();
                        if (w == 0) {
                            p.c->wait_for_others();
                            BOOST_TEST(p.all_are(float(2 * each)));
                            std::vector<float> updates(floats);   // slot 0 counts updates
                            p.c->read(0, 1, 0, updates);
                            const bool async = order.mode == parameter_servers::update_mode::async;
                            BOOST_TEST(updates[77] == float(async ? 2 * each : each));
                        }
                        p.c->leave();
                    });
                no_fault_of(workers);
                no_fault_of(servers);
                over = true;
                no_fault_of(proxy);
                for (const auto& c : servers.servers[0]->counters()) {
                    BOOST_TEST(c.applied == each);
                    torn += c.torn, repeated += c.repeated, connections += c.connections;
                }
            }
    BOOST_TEST(torn > 0);
    BOOST_TEST(repeated > 0);   // applied, and the answer was lost
    BOOST_TEST(connections > 50);
}

BOOST_AUTO_TEST_CASE(damage_on_the_way_is_noticed_and_the_push_sent_again) {
    const job j(1, 1, with_table()), seen = through_proxy(j);
    int lines = 0;
    parameter_servers::server_options o;
    o.log = [&](const std::string& line) { lines += holds(line, "damaged"); };
    running_servers servers(j, o);
    fault_proxy::faults f;
    f.connection = 0;
    f.flip_at = 30'000;
    std::atomic<bool> over{false};
    threads proxy, workers;
    proxy.start([&] { fault_proxy::run(seen.members[1].address(), j.members[1].address(), f, [&] { return !over; }); });
    workers.start([&] {
        pusher p(seen, 0);
        p.c->open(0);
        for (int i = 0; i < 5; ++i) p.push();
        BOOST_TEST(p.all_are(5));
        BOOST_TEST(p.c->seen().reconnections == 1);
        p.c->leave();
    });
    no_fault_of(workers);
    no_fault_of(servers);
    over = true;
    proxy.join();
    BOOST_TEST(lines == 1);
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_back_from_its_checkpoint_goes_on_with_the_same_workers) {
    for (const auto& order : {parameter_servers::update_order::async(), parameter_servers::update_order::stale(0)}) {
        const job j(2, 1, with_table());
        parameter_servers::server_options o;
        o.order = order;
        o.order.all_join = order.mode == parameter_servers::update_mode::clocks;
        const auto files = std::make_shared<kept_shards>();
        o.files = files;
        auto servers = std::make_unique<running_servers>(j, o, 1, 1);
        threads workers;
        std::atomic<int> stage{0};
        std::latch all_there(2);   // nobody is waited for that has not come yet
        for (int w = 0; w < 2; ++w)
            workers.start([&, w] {
                pusher p(j, w);
                if (w == 0) p.c->open(0);
                else p.c->wait_until_open();
                all_there.arrive_and_wait();
                for (int i = 0; i < 10; ++i) p.push();
                double x[1] = {1};
                p.c->reduce(x);
                if (w == 0) p.c->call(0, parameter_servers::calls::checkpoint());
                p.c->reduce(x);
                for (int i = 0; i < 3; ++i) p.push();   // these are lost
                ++stage;
                while (stage < 3) ::usleep(1000);
                for (int i = 0; i < 5; ++i) p.push();
                p.c->rest();
                if (w == 0) {
                    p.c->wait_for_others();
                    BOOST_TEST(p.all_are(30));
                    BOOST_TEST(p.c->global_step() == (order.mode == parameter_servers::update_mode::async ? 30 : 15));
                    BOOST_TEST(holds(p.c->call(0, parameter_servers::calls::get_counters()).json, "\"lost\": 3"));
                }
                p.c->leave();
            });
        while (stage < 2) ::usleep(1000);
        BOOST_TEST(files->saved == 1);
        servers.reset();
        servers = std::make_unique<running_servers>(j, o, 1, 1);
        ++stage;
        no_fault_of(workers);
        no_fault_of(*servers);
    }
}

// What the log within a checkpoint is for: a push that the checkpoint has, but whose answer never
// came. The server dies and comes back with it, is sent the push again, and does not take it twice.
BOOST_AUTO_TEST_CASE(a_push_that_the_checkpoint_has_and_whose_answer_was_lost) {
    for (const auto& order : {parameter_servers::update_order::async(), parameter_servers::update_order::stale(0)}) {
        const job j(1, 1, with_table(), quick(15)), seen = through_proxy(j);   // nobody notices silence meanwhile
        const auto files = std::make_shared<kept_shards>();
        parameter_servers::server_options o;
        o.order = order;
        o.files = files;
        o.save_every_steps = 1;
        auto servers = std::make_unique<running_servers>(j, o, 1, 1);
        fault_proxy::faults f;
        f.upwards = false;
        f.connection = 0;
        f.mute_at = 250'000;   // within the values of some answer
        std::atomic<bool> over{false};
        std::atomic<std::int64_t> begun{0}, answered{0};
        constexpr int each = 12;
        threads proxy, workers;
        proxy.start(
            [&] { fault_proxy::run(seen.members[1].address(), j.members[1].address(), f, [&] { return !over; }); });
        workers.start([&] {
            pusher p(seen, 0);
            p.c->open(0);
            for (int i = 0; i < each; ++i) ++begun, p.push(), ++answered;
            const std::string counted = p.c->call(0, parameter_servers::calls::get_counters()).json;
            SINTER_NEED(p.all_are(each));
            SINTER_NEED(holds(counted, "\"repeated\": 1"));
            SINTER_NEED(holds(counted, "\"lost\": 0"));
            p.c->leave();
        });
        int still = 0;   // milliseconds for which the worker has waited for a push that is saved
        for (int i = 0; i < 30'000 && still < 500; ++i, ::usleep(1000)) {
            const std::lock_guard hold(files->mutex);
            still = files->there && files->step == begun && begun == answered + 1 ? still + 1 : 0;
        }
        BOOST_TEST(still == 500);
        BOOST_TEST(answered < each);
        servers.reset();
        servers = std::make_unique<running_servers>(j, o, 1, 1);
        no_fault_of(workers);
        no_fault_of(*servers);
        over = true;
        no_fault_of(proxy);
    }
}

BOOST_AUTO_TEST_CASE(by_clocks_all_servers_save_after_the_very_same_one) {
    struct named : kept_shards {
        std::vector<std::pair<std::string, std::int64_t>> all;
        void save(const parameter_servers::shard_view& v, const std::string& where) override {
            kept_shards::save(v, where);
            all.emplace_back(where, static_cast<std::int64_t>(v.values[3]));
            ::usleep(20'000);
        }
    };
    const job j(2, 2, dense_layout(floats));
    std::vector<std::shared_ptr<named>> files;
    std::vector<std::unique_ptr<parameter_servers::server>> servers;
    threads serving, workers;
    for (int s = 0; s < 2; ++s) {
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::stale(2);
        o.files = files.emplace_back(std::make_shared<named>());
        o.save_every_steps = 5;
        servers.push_back(j.server(s, o));
        serving.start([server = servers.back().get()] { server->run(); });
    }
    for (int w = 0; w < 2; ++w)
        workers.start([&, w] {
            auto c = j.client(w);
            if (w == 0) c->open(0);
            else c->wait_until_open();
            const std::vector<float> g(floats, -0.5f);
            double x[1] = {0};
            while (x[0] != 2) x[0] = 1, c->reduce(x);
            for (int i = 0; i < 23; ++i) {
                c->begin_push();
                for (int s = 0; s < 2; ++s) c->push(s, 0, g);
                c->wait(c->commit({}));
                c->wait(c->start_pull({}));
            }
        });
    no_fault_of(workers);
    no_fault_of(serving);
    servers.clear();
    for (const auto& f : files) {
        BOOST_TEST(f->all.size() == 4u);
        for (std::size_t i = 0; i < f->all.size(); ++i) {
            BOOST_TEST(f->all[i].first == "step-" + std::to_string(5 * (i + 1)));
            BOOST_TEST(f->all[i].second == std::int64_t(5 * (i + 1)));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_stays_dead_is_named) {
    const job j(1, 2, dense_layout(floats), quick(1));
    processes servers;
    for (int s = 0; s < 2; ++s)
        servers.start([&, s] {
            j.server(s, {})->run();
            return std::string("over");
        });
    auto c = j.client(0, {.reconnect_within = 1});
    c->open(0);
    const std::vector<float> g(floats);
    const auto push = [&] {
        c->begin_push();
        for (int s = 0; s < 2; ++s) c->push(s, 0, g);
        c->wait(c->commit({}));
    };
    push();
    servers.signal(1, SIGKILL);
    std::string text;
    try {
        for (;;) push();
    } catch (const cluster_error& e) {
        text = e.what();
        BOOST_TEST(e.role() == "ps/1");
        BOOST_TEST(holds(e.cause(), "it has not answered for"));
    }
    BOOST_TEST(holds(text, "ps/1 at "));
    BOOST_CHECK_THROW(c->may_step(), cluster_error);
}

BOOST_AUTO_TEST_CASE(dead_or_stopped_worker_is_waited_for_within_limit) {
    for (const int how : {SIGKILL, SIGSTOP}) {
        const job j(2, 1, dense_layout(floats), quick(1.5));
        parameter_servers::server_options o;
        o.order = parameter_servers::update_order::stale(1);
        processes all;
        const int server = all.start([&] {
            const auto s = j.server(0, o);
            s->run();
            return "over " + std::to_string(s->global_step());
        });
        shared_flag there;
        const int victim = all.start([&]() -> std::string {
            auto c = j.client(1);
            c->wait_until_open();
            there.set();
            for (;;) ::pause();
        });
        auto c = j.client(0);
        c->open(0);
        there.wait();
        std::vector<float> g(floats), x(floats);
        const pull_target to[1] = {{x.data(), nullptr}};
        all.signal(victim, how);
        for (int i = 0; i < 20; ++i) {
            c->begin_push();
            c->push(0, 0, g);
            c->wait(c->commit({}, to));
        }
        BOOST_TEST(c->global_step() >= 19);
        c->leave();
        BOOST_TEST(holds(all.result(server), "over 20"));
        all.signal(victim, SIGKILL);
    }
}
