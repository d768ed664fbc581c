// SPDX-License-Identifier: BSL-1.0
// shows servers: second copies: the same bits; a killed server costs no acknowledged push; a stopped one leads no
//     more
// needs: distributed
// waits: until killed servers are missed, and are back
#define BOOST_TEST_MODULE copies
#include <boost/test/unit_test.hpp>
#include <random>
#include "job.hpp"
#include <sinter/net/service_client.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/copies.hpp>

// Shards that two servers keep: a server that is killed costs no push that was acknowledged, and none counts twice.
using namespace sinter;
using namespace sinter::server_job;

namespace {

/// What the server that leads the shard has counted of a worker.
std::int64_t counted(const std::string& json, int worker, const std::string& what) {
    std::size_t at = json.find("\"worker\": \"worker/" + std::to_string(worker) + "\"");
    at = json.find("\"" + what + "\": ", at);
    return at == std::string::npos ? -1 : std::atoll(json.c_str() + at + what.size() + 4);
}

std::string push_all(const job& j, int me, int pushes, shared_counts& counts) {
    ::alarm(200);
    return work(j, me, pushes, counts, 0, {.reconnect_within = 20, .replicas = 2}, [](client& c, const job& all) {
        std::string text;
        for (int s = 0; s < all.servers; ++s) {
            text += std::to_string(static_cast<std::int64_t>(common_value(c, all, s)));
            const std::string json = c.call(s, parameter_servers::calls::get_counters()).json;
            for (int w = 0; w < all.workers; ++w)
                text += " " + std::to_string(counted(json, w, "last")) + "/" + std::to_string(counted(json, w, "lost"));
            text += "; ";
        }
        return text;
    });
}

/// A server is killed at some place; the job goes on.
void one_is_killed(job j, int pushes, unsigned seed, int victim, int signal = SIGKILL) {
    j.replicas = 2;
    std::mt19937 random(seed);
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < j.servers; ++s) servers.push_back(p.start([&, s] { return ::alarm(200), j.serve(s); }));
    for (int w = 0; w < j.workers; ++w) workers.push_back(p.start([&, w] { return push_all(j, w, pushes, counts); }));
    const auto from = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(pushes / 2));
    for (int i = 0; i < 60000 && counts.begun[j.workers - 1] < from; ++i) ::usleep(500);
    BOOST_TEST(counts.begun[j.workers - 1] >= from);
    ::usleep(static_cast<useconds_t>(random() % 3000));
    p.signal(servers[static_cast<std::size_t>(victim)], signal);
    if (signal == SIGSTOP) {   // until the others go on without it
        const std::int64_t gone = counts.acknowledged[0];
        for (int i = 0; i < 60000 && counts.acknowledged[0] < gone + 20; ++i) ::usleep(1000);
        p.signal(servers[static_cast<std::size_t>(victim)], SIGCONT);
    }
    std::string each;   // all pushes of all workers, each taken once and none left out
    const std::int64_t all = std::int64_t{pushes} * j.workers;
    for (int s = 0; s < j.servers; ++s) {
        each += std::to_string(all);
        for (int w = 0; w < j.workers; ++w) each += " " + std::to_string(pushes) + "/0";
        each += "; ";
    }
    BOOST_TEST(p.result(workers[0], 100) == each,
               "seed " << seed << ", server " << victim << ": " << p.result(workers[0]));
    for (int w = 1; w < j.workers; ++w) BOOST_TEST(p.result(workers[static_cast<std::size_t>(w)], 60) == "left");
    for (int s = 0; s < j.servers; ++s)
        if (s != victim)
            BOOST_TEST(holds(p.result(servers[static_cast<std::size_t>(s)], 60), "step "),
                       p.result(servers[static_cast<std::size_t>(s)]));
        else if (signal == SIGKILL) BOOST_TEST(p.result(servers[static_cast<std::size_t>(s)]) == "KILLED");
}

/// What depends on the order of updates, to the last bit; with a slot.
class decaying : public updater {
public:
    int scalars() const override { return 1; }
    int slots(int) const override { return 1; }
    void first_slot(int, int, float* to, const float*, std::int64_t n) const override { std::fill_n(to, n, 0.f); }
    norm_need needs() const override { return norm_need::none; }
    void update(int, float* p, const float* g, float* slot, std::int64_t, std::int64_t n, const float*,
                float) const override {
        for (std::int64_t i = 0; i < n; ++i) one(p[i], slot[i], g[i]);
    }
    void update_rows(int, float* table, float* slot, std::int64_t, const row_list& list, const float*,
                     float) const override {
        for (int k = 0; k < list.size(); ++k)
            for (int i = 0; i < list.row_floats; ++i) {
                const std::int64_t at = std::int64_t{list.key(k)} * list.row_floats + i;
                one(table[at], slot[at], list.row(k)[i]);
            }
    }

private:
    static void one(float& p, float& slot, float g) {
        slot = 0.9f * slot + g;
        p = 0.99f * p - 0.1f * slot;
    }
};

/// All that a shard has, by whoever leads it.
std::vector<float> all_of(client& c, const job& j, int server) {
    std::vector<float> all;
    for (int array = 0; array < 2; ++array) {
        std::vector<float> x(static_cast<std::size_t>(j.floats)), rows(static_cast<std::size_t>(j.rows * 16));
        c.read(server, array, 0, x);
        c.read_rows(server, 0, array, 0, rows);
        all.insert(all.end(), x.begin(), x.end());
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}
void push_numbers(client& c, const job& j, std::mt19937& random) {
    std::vector<float> g(static_cast<std::size_t>(j.floats)), rows(3 * 16);
    for (float& x : g) x = static_cast<float>(random() % 1000) / 977.f;
    for (float& x : rows) x = static_cast<float>(random() % 1000) / 977.f;
    const std::int64_t first = static_cast<std::int64_t>(random() % static_cast<unsigned>(j.rows - 2));
    const std::int64_t keys[] = {first + 1, first, first + 2};
    c.begin_push();
    for (int s = 0; s < j.servers; ++s) {
        c.push(s, 0, g);
        c.push_rows(s, 0, keys, rows);
    }
    c.wait(c.commit({.loss = 1}));
}

} // namespace

BOOST_AUTO_TEST_CASE(the_second_copy_has_the_bits_of_the_first) {
    for (const update_order& order : {update_order::async(), update_order::stale(2), update_order::sync(1)}) {
        const job j{.servers = 2, .workers = 3, .floats = 40000, .order = order, .rows = 50, .replicas = 2};
        shared_counts& counts = shared_counts::make();
        processes p;
        std::vector<int> servers;
        for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve<decaying>(s); }));
        std::vector<int> workers;
        for (int w = 0; w < 3; ++w)
            workers.push_back(p.start([&, w]() -> std::string {
                client c(j.worker(w), j.identity(), j.layout(), {.replicas = 2});
                if (w == 0) j.begin(c);
                c.wait_until_open();
                std::mt19937 random(static_cast<unsigned>(w));
                for (int k = 0; k < 40; ++k) push_numbers(c, j, random);
                if (w != 0) return c.leave(), "left";
                c.rest();   // others that came later have later clocks
                c.wait_for_others();
                const std::vector<float> before = all_of(c, j, 1);
                counts.enough = true;
                while (counts.other[0] == 0) ::usleep(1000);
                const std::vector<float> after = all_of(c, j, 1);
                const bool moved = before[0] != 0 && before.back() == before.back();
                c.leave();
                return before == after && moved ? "the same" : "other values";
            }));
        for (int i = 0; i < 40000 && !counts.enough; ++i) ::usleep(1000);
        p.signal(servers[1], SIGKILL);
        BOOST_TEST(p.result(servers[1]) == "KILLED");
        counts.other[0] = 1;
        BOOST_TEST(p.result(workers[0], 40) == "the same");
        for (int w = 1; w < 3; ++w) BOOST_TEST(p.result(workers[static_cast<std::size_t>(w)]) == "left");
        BOOST_TEST(holds(p.result(servers[0]), "step "), p.result(servers[0]));
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_again_is_the_second_copy) {
    job j{.servers = 2, .workers = 2, .options = quick(20), .replicas = 2};
    // A copy that a busy machine lets wait is not to be taken for dead: if its leader were killed
    // then, the values would be lost. One that is killed is noticed at once.
    j.options.join_within = 60;
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return ::alarm(200), j.serve(s); }));
    const auto both_copies = [&](client& c) {   // of each shard; as long as it takes
        for (int s = 0; s < 2;)
            if (holds(c.call(s, parameter_servers::calls::get_counters()).json, "\"copies\": 2")) ++s;
            else ::usleep(2000);
    };
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w]() -> std::string {
            ::alarm(200);
            client c(j.worker(w), j.identity(), j.layout(), {.replicas = 2});
            if (w == 0) j.begin(c);
            c.wait_until_open();
            pusher mine(c, j, w);
            while (!counts.enough && c.may_step()) {
                mine.push(counts);
                if (w == 0 && counts.other[0] > counts.other[1]) both_copies(c), ++counts.other[1];
            }
            if (w != 0) return c.leave(), "left";
            c.wait_for_others();
            std::string text;
            for (int s = 0; s < 2; ++s) text += std::to_string(static_cast<std::int64_t>(common_value(c, j, s))) + " ";
            c.leave();
            return text;
        }));
    const auto goes_on = [&](std::int64_t n) {
        const std::int64_t from = counts.acknowledged[0];
        for (int i = 0; i < 60000 && counts.acknowledged[0] < from + n; ++i) ::usleep(1000);
        BOOST_TEST(counts.acknowledged[0] >= from + n);
    };
    for (int k = 0; k < 4; ++k) {
        goes_on(20);
        const auto victim = static_cast<std::size_t>(k % 2);
        p.signal(servers[victim], SIGKILL);
        BOOST_TEST(p.result(servers[victim]) == "KILLED");
        goes_on(20);
        servers[victim] = p.start([&, victim] { return ::alarm(200), j.serve(static_cast<int>(victim)); });
        ++counts.other[0];
        for (int i = 0; i < 60000 && counts.other[1] < counts.other[0]; ++i) ::usleep(1000);
        BOOST_TEST(counts.other[1] == counts.other[0], "the second copy is back");
    }
    goes_on(20);
    counts.enough = true;
    BOOST_TEST(p.result(workers[1], 60) == "left");
    const std::string found = p.result(workers[0], 60);
    const std::int64_t all = counts.acknowledged[0] + counts.acknowledged[1];
    BOOST_TEST(found == std::to_string(all) + " " + std::to_string(all) + " ");
    for (const int s : servers) BOOST_TEST(!holds(p.result(s), "error"), p.result(s));
}

/// The step behind which all stop is known to the second copy of the first shard.
BOOST_AUTO_TEST_CASE(what_was_agreed_on_outlives_a_server) {
    job j{.servers = 2, .workers = 2, .replicas = 2};
    j.order = update_order::stale(0);
    j.order.all_join = true;
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w]() -> std::string {
            client c(j.worker(w), j.identity(), j.layout(), {.replicas = 2});
            if (w == 0) j.begin(c);
            c.wait_until_open();
            pusher mine(c, j, w);
            std::vector<float> x(static_cast<std::size_t>(j.floats));
            const std::vector<pull_target> to(2, pull_target{x.data()});
            int steps = 0;
            for (; c.may_step(); ++steps) {
                mine.push(counts, to);
                if (w != 1 || steps != 9) continue;
                c.ask_all_to_stop("enough");
                counts.enough = true;
                while (counts.other[0] == 0) ::usleep(500);
            }
            c.leave();
            return std::to_string(steps);
        }));
    for (int i = 0; i < 40000 && !counts.enough; ++i) ::usleep(500);
    p.signal(servers[0], SIGKILL);
    BOOST_TEST(p.result(servers[0]) == "KILLED");
    counts.other[0] = 1;
    const std::string steps = p.result(workers[0], 40);
    BOOST_TEST((steps == "11" || steps == "12" || steps == "13"), steps);
    BOOST_TEST(p.result(workers[1], 40) == steps);
    BOOST_TEST(holds(p.result(servers[1]), "step " + steps), p.result(servers[1]));
}

/// So are how often values have been overwritten, and which of them a gradient is of.
BOOST_AUTO_TEST_CASE(a_renewal_outlives_a_server) {
    const job j{.servers = 2, .workers = 1, .replicas = 2};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    const int worker = p.start([&]() -> std::string {
        client c(j.worker(0), j.identity(), j.layout(), {.replicas = 2});
        j.begin(c);
        pusher mine(c, j, 0);
        std::vector<float> x(static_cast<std::size_t>(j.floats));
        const std::vector<pull_target> to(2, pull_target{x.data()});
        mine.push(counts, to);
        c.begin_renewal();
        const std::vector<float> sevens(static_cast<std::size_t>(j.floats), 7.f);
        for (int s = 0; s < 2; ++s) c.write(s, client::parameters, 0, sevens);
        c.end_renewal();
        c.use_newest();
        counts.enough = true;
        while (counts.other[0] == 0) ::usleep(500);
        for (int k = 0; k < 3; ++k) mine.push(counts, to), c.use_pulled();
        std::string said = std::to_string(c.version()) + (c.renewed() ? ", other values" : "");
        for (int s = 0; s < 2; ++s) said += " " + std::to_string(static_cast<int>(common_value(c, j, s)));
        c.leave();
        return said;
    });
    for (int i = 0; i < 40000 && !counts.enough; ++i) ::usleep(500);
    p.signal(servers[0], SIGKILL);
    BOOST_TEST(p.result(servers[0]) == "KILLED");
    counts.other[0] = 1;
    BOOST_TEST(p.result(worker, 40) == "1 10 10");
    BOOST_TEST(holds(p.result(servers[1]), "step "), p.result(servers[1]));
}

BOOST_AUTO_TEST_CASE(a_server_that_was_stopped_is_obeyed_no_more) {
    for (const int victim : {0, 1})
        one_is_killed({.servers = 2, .workers = 2, .options = quick(0.5)}, 300, 5, victim, SIGSTOP);
}

BOOST_AUTO_TEST_CASE(only_chief_decides_leader_and_garbage_is_ignored) {
    const job j{.servers = 2, .workers = 2, .replicas = 2};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    const int chief = p.start([&] { return push_all(j, 0, 60, counts); });
    for (int i = 0; i < 20000 && counts.acknowledged[0] < 5; ++i) ::usleep(1000);
    const int stranger = p.start([&]() -> std::string {
        std::mt19937 random(3);
        // As worker 1, and as server 1, which is one of the two that keep each shard.
        for (const cluster& as : {j.worker(1), j.as(cluster_role::ps, 1)}) {
            wire::service_client dialler(as, j.identity());
            for (int k = 0; k < 40; ++k) {
                auto link = dialler.dial(0, 2);
                if (!link) continue;
                wire::frame_tag t;
                wire::archive_writer w;
                w & (random() % 3 ? std::uint64_t{random() % 5} : ~std::uint64_t{0});
                using parameter_servers::call_id;
                const call_id ids[] = {call_id::lead, call_id::follow, call_id::join, call_id::join_resting, {}};
                const call_id id = ids[random() % 5];
                std::string text = w.bytes() + std::string(random() % 40, static_cast<char>(random()));
                t.operation = random() % 4 ? static_cast<std::uint32_t>(frame_type::call)
                    : 75 + static_cast<std::uint32_t>(random() % 20);
                t.elements = random() % 4 ? static_cast<std::uint64_t>(id) : random();
                t.bucket = static_cast<std::int32_t>(random() % 4) - 1;
                // As worker 1 may, with an epoch that it has not been sent.
                if (id == call_id::join && t.bucket == 0) continue;
                try {
                    link->send(t, as_bytes(text));
                    for (int i = 0; i < 100 && !link->flush(); ++i) ::usleep(100);
                    ::usleep(2000);
                } catch (const error&) {   // it has hung up
                }
            }
        }
        return "done";
    });
    BOOST_TEST(p.result(stranger, 60) == "done");
    const int worker = p.start([&] { return push_all(j, 1, 60, counts); });
    BOOST_TEST(p.result(worker, 60) == "left");
    BOOST_TEST(p.result(chief, 60) == "120 60/0 60/0; 120 60/0 60/0; ");
    for (const int s : servers) BOOST_TEST(holds(p.result(s), "step 120 "), p.result(s));
}

BOOST_AUTO_TEST_CASE(what_both_copies_had_is_lost_by_name) {
    const job j{.servers = 2, .workers = 1, .replicas = 2};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    const int worker = p.start([&] {
        client c(j.worker(0), j.identity(), j.layout(), {.reconnect_within = 2, .replicas = 2});
        j.begin(c);
        pusher mine(c, j, 0);
        for (;;) mine.push(counts);
        return std::string();
    });
    for (int i = 0; i < 20000 && counts.acknowledged[0] < 10; ++i) ::usleep(1000);
    for (const int s : servers) p.signal(s, SIGKILL);
    const std::string said = p.result(worker);
    BOOST_TEST((holds(said, "error: ") && holds(said, "ps/") && holds(said, "second copy")), said);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
    const job one{.servers = 1, .workers = 1, .replicas = 2};
    BOOST_CHECK_THROW(one.serve(0), option_error);
    BOOST_CHECK_THROW(client(one.worker(0), one.identity(), one.layout(), {.replicas = 2}), option_error);
    const job three{.servers = 2, .workers = 1, .replicas = 3};
    BOOST_CHECK_THROW(three.serve(0), option_error);
    const job two{.servers = 2, .workers = 1, .replicas = 2};
    BOOST_CHECK_THROW(client(two.worker(0), two.identity(), two.layout(), {.reconnect_within = 0, .replicas = 2}),
                      option_error);
}

BOOST_AUTO_TEST_CASE(the_chief_gives_each_epoch_to_one_copy) {
    using enum copy_role;
    copy_register r;
    r.met(0, {});
    BOOST_TEST(r.decide(0, false) == 0u);   // the other one may have led
    r.met(1, {});
    BOOST_TEST(r.decide(1, false) == 0u);
    r.met(0, {});
    BOOST_TEST(r.decide(0, false) == 1u);
    r.leads(0, {2, leading, true});
    r.missed(0, false);
    r.met(1, {2, following});
    BOOST_TEST(r.decide(1, false) == 0u);   // the leader may only be slow
    BOOST_TEST(r.decide(1, true) == 3u);
    r.met(0, {2, cut_off});                 // it lives: too late
    BOOST_TEST(r.decide(0, false) == 0u);
    r.met(1, {2, following});               // it did not hear
    BOOST_TEST(r.decide(1, false) == 3u);
    r.leads(1, {3, leading, false});
    r.missed(1, true);
    r.met(0, {2, following});               // has an older state
    BOOST_TEST(r.decide(0, true) == 0u);
    copy_register alone;                    // a chief that came later, and knows of no leader
    alone.missed(0, true);
    alone.met(1, {7, following});
    BOOST_TEST(alone.decide(1, true) == 0u);
    alone.leads(0, {7, leading, true});
    alone.met(0, {7, cut_off});
    BOOST_TEST(alone.decide(0, false) == 8u);
    alone.met(1, {7, following});
    BOOST_TEST(alone.decide(1, true) == 0u);
    BOOST_TEST(!alone.lost());
    alone.leads(0, {8, leading, false});
    alone.met(0, {});                       // its process was started anew
    BOOST_TEST(!alone.lost());              // the other copy may have followed it since
    alone.met(1, {7, following});
    BOOST_TEST(alone.decide(1, true) == 0u);
    BOOST_TEST(alone.lost());
}

/// A copy that leads alone takes a follower by itself, which begins an epoch. The chief may learn
/// of that from either of them, when the connections between all three break before it has met the
/// leader again.
BOOST_AUTO_TEST_CASE(epoch_unknown_to_chief_can_end) {
    using enum copy_role;
    const auto told = [] {                  // copy 0 is told to lead alone from epoch 3 on
        copy_register r;
        r.leads(0, {2, leading, true});
        r.met(0, {2, cut_off});
        BOOST_TEST(r.decide(0, false) == 3u);
        return r;
    };
    copy_register r = told();
    r.met(0, {4, cut_off});                 // it has led, was followed and lost its follower since
    BOOST_TEST(r.decide(0, false) == 5u);
    r = told();
    r.met(1, {4, following});               // the leader may live
    BOOST_TEST(r.decide(1, false) == 0u);
    r.missed(0, true);
    r.met(1, {4, following});
    BOOST_TEST(!r.lost());
    BOOST_TEST(r.decide(1, false) == 5u);
    r = told();
    r.leads(0, {3, leading, false});        // the same where the chief has met it as it led alone
    r.met(0, {});
    r.met(1, {4, following});
    BOOST_TEST(!r.lost());
    BOOST_TEST(r.decide(1, false) == 5u);
    r = told();
    r.missed(0, true);
    r.met(1, {2, following});               // has not what copy 0 may have answered since
    BOOST_TEST(r.decide(1, true) == 0u);
    r.met(1, {3, following});
    BOOST_TEST(r.decide(1, true) == 0u);
    r.met(1, {5, following});
    BOOST_TEST(r.decide(1, true) == 0u);
}

BOOST_AUTO_TEST_CASE(nobody_is_killed) {
    job j{.servers = 2, .workers = 2};
    j.replicas = 2;
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> all;
    for (int s = 0; s < 2; ++s) all.push_back(p.start([&, s] { return ::alarm(60), j.serve(s); }));
    for (int w = 0; w < 2; ++w) all.push_back(p.start([&, w] { return push_all(j, w, 40, counts); }));
    BOOST_TEST(p.result(all[2]) == "80 40/0 40/0; 80 40/0 40/0; ");
    BOOST_TEST(p.result(all[3]) == "left");
    for (int s = 0; s < 2; ++s)
        BOOST_TEST(holds(p.result(all[static_cast<std::size_t>(s)]), "step 80 "),
                   p.result(all[static_cast<std::size_t>(s)]));
}

BOOST_AUTO_TEST_CASE(no_push_is_lost_when_a_server_is_killed) {
    for (unsigned seed = 1; seed <= 4; ++seed)
        one_is_killed({.servers = 2, .workers = 3, .floats = 40000}, 60, seed, static_cast<int>(seed % 2));
    one_is_killed({.servers = 3, .workers = 2}, 100, 11, 2);
}
update_order all_together(int staleness) {
    update_order o = update_order::stale(staleness);
    o.all_join = true;
    return o;
}
BOOST_AUTO_TEST_CASE(nor_by_clocks) {
    for (unsigned seed = 1; seed <= 4; ++seed)
        one_is_killed({.servers = 2, .workers = 3, .floats = 4096, .order = all_together(seed % 2 ? 0 : 3)}, 60, seed,
                      static_cast<int>(seed / 2 % 2));
}
