// SPDX-License-Identifier: BSL-1.0
// shows servers: clipping by that norm: the same pushes on all servers, also with backup workers and deaths
// needs: distributed
// waits: until workers that died are missed
// Backup workers, several servers, and an optimizer that clips by the norm of all gradients: all
// servers make each clock by the pushes of the same workers.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <latch>
#include <random>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/server/shared_squares.hpp>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::pull_target;

namespace {

constexpr int workers = 3, clocks = 60;
constexpr std::int64_t floats[2] = {32, 48};   // of two tensors

/// What a server has seen of each of its updates.
struct seen_update {
    float first, squares, sum;
    bool operator==(const seen_update&) const = default;
};
class clipped_sgd : public plain_sgd {
public:
    explicit clipped_sgd(std::vector<seen_update>& seen) : seen_(seen) {}
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::all_gradients; }
    void update(int, float* p, const float* g, float*, std::int64_t, std::int64_t n, const float* s,
                float sum) const override {
        seen_.push_back({g[0], squares(g, n), sum});
        const float factor = std::min(1.f, 0.5f / std::sqrt(sum));
        for (std::int64_t i = 0; i < n; ++i) p[i] -= s[0] * factor * g[i];
    }

private:
    std::vector<seen_update>& seen_;
};

/// Gradients: the first float of each tensor tells whose they are.
std::vector<float> gradient(int w, std::int64_t clock, int tensor) {
    std::mt19937 r(static_cast<unsigned>(w * 1000 + clock * 10 + tensor));
    std::vector<float> g(static_cast<std::size_t>(floats[tensor]));
    for (float& x : g) x = static_cast<float>(r() % 2001) / 1000 - 1;
    g[0] = static_cast<float>(1 << w);
    return g;
}
struct outcome {
    std::vector<float> values;                    // of both tensors
    std::vector<seen_update> seen[2];             // by server
    std::int64_t dropped = 0;
};
/// `everybody`: workers 0, 1 and 2 push as fast as they can; otherwise 2 is there and pushes
/// nothing. `damaged`: some of worker 0's gradients are not finite.
outcome run(int servers, bool everybody, unsigned seed, bool damaged = false) {
    outcome o;
    std::vector<parameter_servers::shard_layout> l(static_cast<std::size_t>(servers));
    for (int t = 0; t < 2; ++t) {
        parameter_servers::shard_layout& to = l[static_cast<std::size_t>(t % servers)];
        to.runs.push_back({to.floats, floats[t], 0, t});
        to.floats += floats[t];
    }
    const job j(workers, l);
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads run_servers, run_workers;
    std::latch all_there(workers);
    for (int s = 0; s < servers; ++s) {
        parameter_servers::server_options with;
        with.order = parameter_servers::update_order::sync(1);
        with.parameters = 2;
        all.push_back(std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, s), j.same, l[static_cast<std::size_t>(s)],
            std::make_unique<clipped_sgd>(o.seen[s]), [](std::int64_t, float, float* to) { to[0] = 0.1f; }, with));
    }
    for (auto& s : all) run_servers.start([&s] { s->run(); });
    for (int w = 0; w < workers; ++w)
        run_workers.start([&, w] {
            const auto c = j.client(w);
            all_there.arrive_and_wait();   // nobody is waited for that has not come yet
            if (w == 0) {
                for (int s = 0; s < servers; ++s)
                    c->write(s, 0, 0, std::vector<float>(static_cast<std::size_t>(l[std::size_t(s)].floats)));
                c->open(clocks);
            }
            c->wait_until_open();
            if (w == 2 && !everybody) {
                c->rest();
            } else {
                std::mt19937 random(seed * 3 + static_cast<unsigned>(w));
                std::vector<std::vector<float>> got;
                std::vector<pull_target> to;
                for (const auto& of : l) got.emplace_back(static_cast<std::size_t>(of.floats));
                for (auto& g : got) to.push_back({g.data(), nullptr});
                while (c->may_step()) {
                    if (random() % 3 == 0) ::usleep(random() % 1500);
                    const std::int64_t clock = c->pass_clocks();
                    std::vector<float> g[2] = {gradient(w, clock, 0), gradient(w, clock, 1)};
                    c->begin_push();
                    for (int t = 0; t < 2; ++t) c->push(t % servers, servers == 1 && t == 1 ? floats[0] : 0, g[t]);
                    c->wait(c->commit({.loss = 1, .finite = !(damaged && w == 0 && clock % 5 == 3)}, to));
                }
            }
            if (w == 0) {
                c->wait_for_others();
                for (int t = 0; t < 2; ++t) {
                    std::vector<float> x(static_cast<std::size_t>(floats[t]));
                    c->read(t % servers, 0, servers == 1 && t == 1 ? floats[0] : 0, x);
                    o.values.insert(o.values.end(), x.begin(), x.end());
                }
            }
            c->leave();
        });
    no_fault_of(run_workers);
    no_fault_of(run_servers);
    for (auto& s : all)
        for (const auto& of : s->counters()) o.dropped += of.dropped;
    return o;
}

BOOST_AUTO_TEST_CASE(the_bits_of_one_server) {
    const outcome one = run(1, false, 1), two = run(2, false, 2);
    BOOST_TEST(one.values.size() == 80u);
    BOOST_TEST((one.values == two.values));
    BOOST_TEST(two.seen[0].size() == std::size_t{clocks});
    BOOST_TEST(two.seen[0][0].first == 1.5f);   // the mean of 1 and 2
}
/// A clock that makes no update is one that all servers pass.
BOOST_AUTO_TEST_CASE(gradients_that_are_not_finite_stop_nobody) {
    const outcome one = run(1, false, 1, true), two = run(2, false, 2, true);
    BOOST_TEST((one.values == two.values));
    BOOST_TEST((two.seen[0].size() > clocks / 2 && two.seen[0].size() == two.seen[1].size()));
    const outcome all = run(2, true, 3, true);
    BOOST_TEST_REQUIRE(all.seen[0].size() == all.seen[1].size());
    for (std::size_t k = 0; k < all.seen[0].size(); ++k) BOOST_TEST(all.seen[0][k].sum == all.seen[1][k].sum);
}
BOOST_AUTO_TEST_CASE(whoever_comes_first_does_on_all_servers) {
    std::int64_t dropped = 0;
    for (unsigned seed = 1; seed < 6; ++seed) {
        const outcome o = run(2, true, seed);
        dropped += o.dropped;
        BOOST_TEST(o.seen[0].size() == std::size_t{clocks});
        BOOST_TEST_REQUIRE(o.seen[1].size() == o.seen[0].size());
        for (std::size_t k = 0; k < o.seen[0].size(); ++k) {
            const seen_update &a = o.seen[0][k], &b = o.seen[1][k];
            BOOST_TEST(a.first == b.first);   // the same workers'
            BOOST_TEST(a.sum == b.sum);
            BOOST_TEST(a.sum == static_cast<float>(double{a.squares} + double{b.squares}));
        }
    }
    BOOST_TEST(dropped > 0);
}

/// A worker pushes by hand, and then one clock more to server `alone` only, and is dead. The other one has left by
/// then, or rests and leaves later.
void one_push_comes_to_one_server_alone(const parameter_servers::update_order& order, int alone) {
    std::vector<parameter_servers::shard_layout> l(2, dense_layout(32));
    l[0].runs[0].tensor = 0, l[1].runs[0].tensor = 1;
    const job j(2, l);
    std::vector<seen_update> seen[2];
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads serving;
    for (int s = 0; s < 2; ++s) {
        parameter_servers::server_options with;
        with.order = order;
        with.parameters = 2;
        all.push_back(std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, s), j.same, l[static_cast<std::size_t>(s)], std::make_unique<clipped_sgd>(seen[s]),
            [](std::int64_t, float, float* to) { to[0] = 0.1f; }, with));
    }
    for (auto& s : all) serving.start([&s] { s->run(); });
    const std::vector<float> g(32, 1.f);
    {
        const auto c = j.client(0);
        for (int s = 0; s < 2; ++s) c->write(s, 0, 0, std::vector<float>(32));
        c->open(0);
        {
            wire::service_client dialler(j.as(cluster_role::worker, 1), j.same);
            std::unique_ptr<parameter_servers::server_connection> connections[2];
            const auto wait = [&](parameter_servers::server_connection& to) {
                while (!to.answered(1)) {
                    to.send_available();
                    to.receive_available([](parameter_servers::request&, const parameter_servers::answer_block&) {});
                    SINTER_NEED(!to.refused);
                    ::usleep(100);
                }
            };
            const auto push_to = [&](int s, std::uint64_t number) {
                parameter_servers::request& q = connections[s]->ask(1, "pushing by hand");
                auto& bytes = q.next_block();
                bytes.resize(parameter_servers::commit_block::bytes + parameter_servers::section::header +
                             g.size() * 4);
                parameter_servers::commit_block b;
                b.number = number, b.clock = static_cast<std::int64_t>(number) - 1;
                b.info.loss = 1;
                b.encode(bytes.data());
                parameter_servers::section{parameter_servers::section::dense, 0, 0, 32}.encode(bytes.data() + b.bytes);
                std::memcpy(bytes.data() + b.bytes + parameter_servers::section::header, g.data(), g.size() * 4);
                q.commits = q.whole = true;
                q.add(parameter_servers::frame_type::commit, bytes);
                wait(*connections[s]);
            };
            for (int s = 0; s < 2; ++s) {
                auto link = dialler.dial(s, 10);
                BOOST_REQUIRE(link.has_value());
                connections[s] = std::make_unique<parameter_servers::server_connection>();
                connections[s]->connect(std::move(*link));
                BOOST_REQUIRE(connections[s]->first_call(parameter_servers::calls::join(), [&](int d, short events) {
                    return dialler.poll_until(d, events, base::monotonic_seconds() + 30);
                }));
            }
            for (int s = 0; s < 2; ++s) push_to(s, 1);
            c->begin_push();
            for (int s = 0; s < 2; ++s) c->push(s, 0, g);
            c->wait(c->commit({.loss = 1}));
            c->wait_for_clock();
            c->rest();
            push_to(alone, 2);
        }   // its connections break
        const auto of_dead = [&] { return all[std::size_t(alone)]->counters()[1]; };
        while (!of_dead().staged && of_dead().applied < 2) ::usleep(1000);
        BOOST_TEST(of_dead().applied == 1);   // not by that server alone
    }
    no_fault_of(serving);
    for (int s = 0; s < 2; ++s) {
        BOOST_TEST(all[std::size_t(s)]->global_step() == 1, "server " << s << ", " << alone << " alone");
        BOOST_TEST(seen[s].size() == 1u);
    }
}
BOOST_AUTO_TEST_CASE(the_last_push_of_the_dead_came_to_one_server_alone) {
    for (const int alone : {0, 1}) {
        one_push_comes_to_one_server_alone(parameter_servers::update_order::stale(0), alone);
        one_push_comes_to_one_server_alone(parameter_servers::update_order::stale(2), alone);
    }
}

/// Server 1 never gets the push of a worker that server 0 has named: both do without.
BOOST_AUTO_TEST_CASE(a_push_that_came_to_one_server_alone) {
    const job j(3, 2, dense_layout(16));
    const auto never = [] { return false; };
    const cluster first = j.as(cluster_role::ps, 0), second = j.as(cluster_role::ps, 1);
    parameter_servers::shared_squares a(first, j.same, 2, never, 5);
    threads both;
    {
        threads serving;
        parameter_servers::shared_squares* const to = &a;
        wire::service door(first, wire::service_greeting(first, j.same),
                           {.objection = [](const wire::greeting&) { return std::string(); },
                            .joined =
                                [&](const wire::greeting&, wire::data_link link) {
                                    serving.start([to, l = std::make_shared<wire::data_link>(std::move(link))] {
                                        try {
                                            to->serve(1, *l);
                                        } catch (const cluster_error&) {   // its connection has ended
                                        }
                                    });
                                },
                            .failed = [](const std::string&) {}},
                           {}, {});
        std::vector<float> x(32), y(32);
        both.start([&] {
            a.decide(7, 0b111);
            x[0] = 1;
            SINTER_NEED(a.exchange(7, x, 0b111) == 0b011);
            a.decide(7, 0b011);
            x[0] = 3;
            SINTER_NEED(a.exchange(7, x, 0b011) == 0b011);
            SINTER_NEED(x[0] == 3 && x[16] == 5);
        });
        both.start([&] {
            auto mine = std::make_unique<parameter_servers::shared_squares>(second, j.same, 2, never, 5);
            SINTER_NEED(mine->decision(7) == 0b111u);
            SINTER_NEED(mine->decision_without(7, 0b100) == 0b011u);
            y[16] = 5;
            SINTER_NEED(mine->exchange(7, y, 0b011) == 0b011);
            SINTER_NEED(y[0] == 3 && y[16] == 5);
        });
        no_fault_of(both);
        door.close();
    }
}

} // namespace
