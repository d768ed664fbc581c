// SPDX-License-Identifier: BSL-1.0
// shows servers: the chief overwrites values: others read all or nothing of them
// needs: distributed
// The chief overwrites values of a job that runs: nobody gets some of the new ones and some of the old, and pushes that
// were computed from the old ones are dropped and counted.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/calls.hpp>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::pull_target;
using fate = parameter_servers::answer_info::fate;

namespace {

constexpr int floats = 32;

struct two_servers {
    job j{2, 2, dense_layout(floats)};
    running_servers servers;
    std::unique_ptr<parameter_servers::client> chief, other;
    std::vector<float> values = std::vector<float>(2 * floats), gradient = std::vector<float>(floats, 1.f);

    static parameter_servers::server_options by(const parameter_servers::update_order& order) {
        parameter_servers::server_options o;
        o.order = order;
        return o;
    }
    explicit two_servers(const parameter_servers::update_order& order) : servers(j, by(order)) {
        chief = j.client(0), other = j.client(1);
        for (int s = 0; s < 2; ++s) write(s, 0);
        chief->open(0);
    }
    void write(int server, float x) { chief->write(server, 0, 0, std::vector<float>(floats, x)); }
    void renew(float x) {
        chief->begin_renewal();
        for (int s = 0; s < 2; ++s) write(s, x);
        chief->end_renewal();
        chief->use_newest();
    }
    parameter_servers::ticket start_pull(parameter_servers::client& c) {
        const pull_target to[2] = {{values.data(), nullptr}, {values.data() + floats, nullptr}};
        return c.start_pull(to);
    }
    /// What all floats of both servers are; -1: not the same.
    float pulled(parameter_servers::client& c) {
        c.wait(start_pull(c));
        return common();
    }
    float common() const {
        for (const float x : values)
            if (x != values[0]) return -1;
        return values[0];
    }
    fate push(parameter_servers::client& c) {
        c.begin_push();
        for (int s = 0; s < 2; ++s) c.push(s, 0, gradient);
        c.wait(c.commit({.loss = 1}));
        return c.last().push;
    }
    std::int64_t outdated() const {
        std::int64_t n = 0;
        for (const auto& s : servers.servers) {
            BOOST_TEST(s->counters()[1].dropped == s->counters()[1].outdated);
            n += s->counters()[1].outdated;
        }
        return n;
    }
    void end() {
        chief->leave(), other->leave();
        no_fault_of(servers);
    }
};

BOOST_AUTO_TEST_CASE(a_pull_gets_all_new_values_or_none) {
    two_servers t(parameter_servers::update_order::async());
    BOOST_TEST(t.pulled(*t.other) == 0);
    t.other->use_pulled();
    BOOST_TEST(!t.other->renewed());
    t.chief->begin_renewal();
    t.write(0, 1000);
    const parameter_servers::ticket pull = t.start_pull(*t.other);   // begun while half of them are written
    t.write(1, 1000);
    t.chief->end_renewal();
    t.other->wait(pull);
    BOOST_TEST(t.common() == 1000);
    BOOST_TEST(t.other->renewed());   // those in use are still the first
    BOOST_TEST((t.push(*t.other) == fate::outdated));
    BOOST_TEST(t.outdated() == 2);
    BOOST_TEST(t.other->seen().outdated == 1);
    BOOST_TEST(t.pulled(*t.other) == 1000);
    t.other->use_pulled();
    BOOST_TEST(!t.other->renewed());
    BOOST_TEST((t.push(*t.other) == fate::applied));
    BOOST_TEST(t.pulled(*t.other) == 999);
    BOOST_TEST(t.other->global_step() == 1);   // what is dropped is no step
    t.end();
}
BOOST_AUTO_TEST_CASE(a_pull_that_came_before_is_known_to_be_old) {
    two_servers t(parameter_servers::update_order::async());
    BOOST_TEST(t.pulled(*t.other) == 0);   // prefetched
    t.renew(1000);
    BOOST_TEST((t.push(*t.other) == fate::outdated));   // with values that it has not said to be in use: those pulled
    t.other->use_pulled();
    BOOST_TEST(t.other->renewed());   // as the answer has said
    BOOST_TEST(t.pulled(*t.other) == 1000);
    t.other->use_pulled();
    BOOST_TEST(!t.other->renewed());
    t.end();
}
/// A worker that knows of new values begins to read before all servers know of them.
BOOST_AUTO_TEST_CASE(what_is_read_is_known_to_be_of_one_version_or_not) {
    two_servers t(parameter_servers::update_order::async());
    const auto read = [&](int server, std::int64_t first) {
        t.other->read(server, 0, first, {t.values.data() + server * floats + first, floats / 2});
    };
    const parameter_servers::calls::begin_renewal next{1};
    t.other->begin_reading();
    t.chief->call(0, next);
    t.other->call(0, parameter_servers::calls::get_stop_reason());   // whose answer says so
    BOOST_TEST(t.other->version() == 1);
    read(1, 0);
    t.chief->call(1, next);
    for (int s = 0; s < 2; ++s) t.write(s, 1000);
    t.chief->call_all(parameter_servers::calls::end_renewal());
    read(0, 0), read(0, floats / 2), read(1, floats / 2);
    BOOST_TEST(t.common() == -1);
    BOOST_TEST(!t.other->use_read());
    BOOST_TEST(t.other->renewed());
    BOOST_TEST((t.push(*t.other) == fate::applied));   // server 0's part
    BOOST_TEST(t.outdated() == 1);
    t.other->begin_reading();
    for (int s = 0; s < 2; ++s) read(s, 0), read(s, floats / 2);
    BOOST_TEST(t.other->use_read());
    BOOST_TEST(!t.other->renewed());
    BOOST_TEST(t.values[0] == 999);
    BOOST_TEST(t.values[floats] == 1000);
    t.end();
}
BOOST_AUTO_TEST_CASE(pushes_that_wait_for_their_clock) {
    two_servers t(parameter_servers::update_order::stale(2));
    t.pulled(*t.other);
    for (int clock = 0; clock < 2; ++clock) BOOST_TEST((t.push(*t.other) == fate::staged));
    t.renew(1000);
    for (int clock = 0; clock < 2; ++clock) t.push(*t.chief);   // these clocks are applied without the other's
    t.chief->wait_for_clock();
    BOOST_TEST(t.pulled(*t.chief) == 998);
    BOOST_TEST(t.outdated() == 4);
    BOOST_TEST(t.pulled(*t.other) == 998);
    t.push(*t.other), t.push(*t.chief);
    t.chief->wait_for_clock();
    BOOST_TEST(t.pulled(*t.chief) == 996);
    BOOST_TEST(t.chief->global_step() == 3);
    t.end();
}
BOOST_AUTO_TEST_CASE(again_and_again) {
    two_servers t(parameter_servers::update_order::async());
    for (int k = 1; k < 20; ++k) {
        t.renew(static_cast<float>(100 * k));
        BOOST_TEST(t.pulled(*t.other) == 100 * k);
        BOOST_TEST((t.push(*t.other) == fate::applied));
        BOOST_TEST(t.chief->version() == k);
    }
    t.end();
}
BOOST_AUTO_TEST_CASE(a_chief_that_goes_meanwhile_ends_the_job) {
    two_servers t(parameter_servers::update_order::async());
    t.chief->begin_renewal();
    t.write(0, 1000);
    t.chief->leave();
    BOOST_CHECK_EXCEPTION(t.pulled(*t.other), cluster_error, [](const cluster_error& e) {
        return std::string(e.what()).find("it has gone before all of them were written") != std::string::npos;
    });
    BOOST_TEST(t.servers.join().find("overwriting values") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(only_the_chief_overwrites) {
    two_servers t(parameter_servers::update_order::async());
    BOOST_CHECK_THROW(t.other->begin_renewal(), cluster_error);
}

/// All who have leave for a clock before the agreed one do not know of it; all who get it later do.
BOOST_AUTO_TEST_CASE(agreed_clocks) {
    parameter_servers::agreed_clocks a;
    BOOST_TEST(a.stop_clock() == -1);
    a.give(7), a.give(5);
    BOOST_TEST(!a.stops(100));
    a.stop_after_next();
    BOOST_TEST(a.stop_clock() == 9);   // clock 8 is the last
    a.give(8);
    a.stop_after_next();
    BOOST_TEST(a.stop_clock() == 9);
    BOOST_TEST((!a.stops(8) && a.stops(9)));
    a.go_on();
    BOOST_TEST(!a.stops(9));
    a.stop_at_once();
    BOOST_TEST(a.stops(0));
    a.save_after_next(50, 6);   // clocks 0..5 are applied, as 50 steps
    BOOST_TEST((a.save_clock() == 10 && a.save() == 54));
    a.save_after_next(51, 7);
    BOOST_TEST((a.save_clock() == 10 && a.save() == 54));
    a.save_after_next(54, 10);
    BOOST_TEST((a.save_clock() == 11 && a.save() == 55));
    a.files_after_next(3);
    BOOST_TEST(a.files_clock() == 10);
}

} // namespace
