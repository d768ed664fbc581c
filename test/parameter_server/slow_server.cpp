// SPDX-License-Identifier: BSL-1.0
// shows servers: a server that answers nothing: its workers are not taken for dead
// needs: distributed
// waits: for servers that do not answer
// A server that answers slowly, or not at all, costs a worker no other server.
#include "job_of_threads.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>

using namespace sinter;
using namespace sinter::ps_test;

namespace {

/// Listens as a server of the job, and answers nothing behind the handshake.
class silent_server {
public:
    silent_server(const cluster& who, const wire::identity& same)
        : who_(who), door_(who_, wire::service_greeting(who_, same),
                           {.objection = [](const wire::greeting&) { return std::string(); },
                            .joined =
                                [this](const wire::greeting&, wire::data_link link) {
                                    const std::lock_guard hold(mutex_);
                                    links_.push_back(std::move(link));
                                },
                            .failed = [](const std::string&) {}},
                           {}, {}) {}
    ~silent_server() { door_.close(); }
    std::size_t connections() {
        const std::lock_guard hold(mutex_);
        return links_.size();
    }

private:
    cluster who_;
    std::mutex mutex_;
    std::vector<wire::data_link> links_;
    wire::service door_;
};

/// A server that answers everything at once, and to "leave" only once the worker has said so many times that it lives.
/// Behind that it hangs up.
class polite_server {
public:
    polite_server(const cluster& who, const wire::identity& same, int beats)
        : who_(who), door_(who_, wire::service_greeting(who_, same),
                           {.objection = [](const wire::greeting&) { return std::string(); },
                            .joined =
                                [this, beats](const wire::greeting&, wire::data_link link) {
                                    ++connections;
                                    serving_.start([beats, l = std::make_shared<wire::data_link>(std::move(link))] {
                                        try {
                                            serve(*l, beats);
                                        } catch (const cluster_error&) {   // the worker has hung up
                                        }
                                    });
                                },
                            .failed = [](const std::string&) {}},
                           {}, {}) {}
    ~polite_server() { door_.close(); }
    std::atomic<int> connections{0};

private:
    cluster who_;
    threads serving_;
    wire::service door_;

    static void serve(wire::data_link& link, int beats) {
        constexpr auto heartbeat = static_cast<std::uint32_t>(parameter_servers::frame_type::heartbeat);
        std::vector<char> bytes(parameter_servers::most_frame);
        for (bool leaves = false; !(leaves && beats <= 0);) {
            const wire::frame_header* h = nullptr;
            while (!(h = link.next())) ::usleep(200);
            const wire::frame_tag asked = h->tag;
            link.receive(asked, {reinterpret_cast<std::byte*>(bytes.data()), static_cast<std::size_t>(h->bytes)});
            while (!link.fill()) ::usleep(200);
            if (asked.operation == heartbeat) beats -= leaves;
            else leaves = asked.elements == static_cast<std::uint64_t>(parameter_servers::call_id::leave);
            if (leaves && beats > 0) continue;
            std::vector<std::byte> answer(parameter_servers::answer_block::bytes);
            parameter_servers::answer_block().encode(answer.data());
            wire::frame_tag t;
            t.operation = static_cast<std::uint32_t>(parameter_servers::frame_type::answer);
            if (!leaves && asked.operation == heartbeat) continue;
            link.send(t, answer);
            while (!link.flush()) ::usleep(200);
        }
    }
};

} // namespace

/// A worker that leaves has said so to server 1, which ends, and waits for server 0: server 1 would take it for one
/// that works again, and wait for it.
BOOST_AUTO_TEST_CASE(a_server_that_a_worker_has_left_is_not_dialled_again) {
    job j(1, 2, dense_layout(16));
    j.options.heartbeat = 0.05;
    polite_server first(j.as(cluster_role::ps, 0), j.same, 5), second(j.as(cluster_role::ps, 1), j.same, 0);
    const auto c = j.client(0, {.reconnect_within = 100});
    c->leave();
    BOOST_TEST(first.connections == 1);
    BOOST_TEST(second.connections == 1);
}

BOOST_AUTO_TEST_CASE(worker_sends_heartbeats_while_dialling_a_silent_server) {
    job j(1, 2, dense_layout(16)), of_worker = j;
    j.options.dead_after = 1.8;
    of_worker.options.dead_after = 2;   // so long the worker waits for an answer, and again
    of_worker.options.heartbeat = 0.1;
    const auto server = j.server(0, {});
    auto other = j.server(1, {});
    threads serving, serving_other;
    serving.start([&] { server->run(); });
    serving_other.start([&] { other->run(); });
    {
        const auto c = of_worker.client(0, {.reconnect_within = 100});
        const std::vector<float> zeros(16);
        for (int s = 0; s < 2; ++s) c->write(s, 0, 0, zeros);
        c->open(0);
        other->stop();
        serving_other.join();
        other.reset();
        silent_server silent(j.as(cluster_role::ps, 1), j.same);
        for (int i = 0; i < 60'000 && silent.connections() < 3; ++i) ::usleep(1000);
        BOOST_TEST(silent.connections() >= 3u);           // the worker has given up twice
        BOOST_TEST(server->counters()[0].connections == 1);   // server 0 would have ended it, and taken another one
    }
    server->stop();
    no_fault_of(serving);
}
