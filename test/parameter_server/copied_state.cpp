// SPDX-License-Identifier: BSL-1.0
// shows servers: any bytes from workers, copies, manifests and changes of tables change nothing
// needs: distributed
// What a server reads of a checkpoint or of another copy is looked at before it is used: all that servers come to is
// taken, and what they cannot come to is refused in words, and changes nothing.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace sinter;
using namespace sinter::ps_test;
using namespace sinter::parameter_servers;

namespace {

template <class T>
std::string bytes_of(T& x) {
    wire::archive_writer w;
    x.serialize(w, 0u);
    return w.bytes();
}
/// What reading these bytes as clocks says; empty: they are some.
std::string fault_of_clocks(const std::string& bytes, std::int64_t staleness, int workers) {
    try {
        clocks c(update_order::stale(staleness), workers);
        wire::archive_reader r(as_bytes(bytes));
        c.serialize(r, 0u);
        r.expect_end();
        c.check("the test");
        return bytes_of(c) == bytes ? "" : "other clocks";
    } catch (const error& e) {
        return e.what();
    }
}
/// Clocks as an archive has them, written by hand.
struct by_hand {
    std::int64_t applied = 5, closed = 5;
    struct worker {
        std::int64_t next;
        std::uint8_t live;
        std::vector<std::int64_t> pushed;   // staleness 2: of clocks 0, 1, 2 modulo 3
    };
    std::vector<worker> workers{{7, 1, {6, 4, 5}}, {5, 0, {-1, 1, 2}}};
    std::string bytes() const {
        wire::archive_writer w;
        w & applied & closed;
        for (const worker& k : workers) w & k.next & k.live & k.pushed;
        return w.bytes();
    }
};
std::string fault_of(const std::function<void(by_hand&)>& change) {
    by_hand b;
    change(b);
    return fault_of_clocks(b.bytes(), 2, 2);
}
server_log log_of(const std::function<void(server_log&)>& change) {
    server_log l{.global_step = 9, .clocks = 9, .max_steps = 20, .version = 1, .open = true,
                 .pushes = {{1, 2, 0}, {3, 4, 0}}};
    change(l);
    return server_log::of(l.bytes());
}

} // namespace

BOOST_AUTO_TEST_CASE(whatever_clocks_come_to_is_taken) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const std::int64_t staleness = seed % 4;
        const int workers = 1 + static_cast<int>(seed % 5);
        update_order order = update_order::stale(staleness);
        if (seed % 3 == 0 && workers > 1 && staleness == 0) order = update_order::sync(1);
        clocks c(order, workers);
        if (seed % 2) c.restore(seed);
        for (int k = 0; k < 400; ++k) {
            const int w = static_cast<int>(random() % static_cast<unsigned>(workers));
            switch (random() % 8) {
                case 0: c.join(w, c.next(w) + static_cast<std::int64_t>(random() % 3)); break;
                case 1: c.retire(w); break;
                case 2: c.pass(w, c.applied() + static_cast<std::int64_t>(random() % 2)); break;
                default: c.push(w, std::max<std::int64_t>(0, c.next(w) - static_cast<std::int64_t>(random() % 2)));
            }
            if (c.ready()) {
                c.close();
                BOOST_TEST(fault_of_clocks(bytes_of(c), c.workers() ? staleness : 0, workers) == "");
                c.apply();
            }
            BOOST_TEST_REQUIRE(fault_of_clocks(bytes_of(c), staleness, workers) == "", seed);
        }
    }
}
BOOST_AUTO_TEST_CASE(what_clocks_cannot_come_to_is_refused) {
    BOOST_TEST(fault_of([](by_hand&) {}) == "");
    const auto says = [](const std::string& what, const std::string& words) {
        BOOST_TEST(what.find(words) != what.npos, what << ", and not: " << words);
    };
    says(fault_of([](by_hand& b) { b.applied = -1; }), "-1");
    says(fault_of([](by_hand& b) { b.applied = b.closed = INT64_MAX; }), "no number of clocks");
    says(fault_of([](by_hand& b) { b.closed = 4; }), "5 to 6");
    says(fault_of([](by_hand& b) { b.closed = 7; }), "5 to 6");
    says(fault_of([](by_hand& b) { b.workers[0].next = -3; }), "-3");
    says(fault_of([](by_hand& b) { b.workers[0].next = INT64_MAX; }), "no clock of a worker's");
    says(fault_of([](by_hand& b) { b.workers[0].pushed = {6}; }), "another staleness");
    says(fault_of([](by_hand& b) { b.workers[0].pushed.push_back(9); }), "another staleness");
    says(fault_of([](by_hand& b) { b.workers[0].pushed[0] = 4; }), "another clock's place");
    says(fault_of([](by_hand& b) { b.workers[0].pushed[1] = 7; }), "no clock of a push");     // its next one
    says(fault_of([](by_hand& b) { b.workers[0] = {100, 1, {6, 4, 98}}; }), "0 to 7");        // nobody may be there yet
    says(fault_of([](by_hand& b) { b.workers[0].pushed[2] = -4; }), "no clock of a push");
    says(fault_of([](by_hand& b) { b.workers.pop_back(); }), "fewer bytes");
    says(fault_of([](by_hand& b) { b.workers.push_back(b.workers[0]); }), "more bytes");
}
BOOST_AUTO_TEST_CASE(the_log_of_a_checkpoint) {
    BOOST_TEST(log_of([](server_log&) {}).clocks == 9);
    BOOST_CHECK_THROW(log_of([](server_log& l) { l.clocks = INT64_MAX; }), format_error);   // and one more is none
    BOOST_CHECK_THROW(log_of([](server_log& l) { l.global_step = INT64_MAX; }), format_error);
    BOOST_CHECK_THROW(log_of([](server_log& l) { l.max_steps = -1; }), format_error);
    BOOST_CHECK_THROW(log_of([](server_log& l) { l.version = INT64_MAX; }), format_error);
    BOOST_CHECK_THROW(log_of([](server_log& l) { l.phases = {3, -3}; }), format_error);
    try {
        log_of([](server_log& l) { l.clocks = -7; });
        BOOST_ERROR("taken");
    } catch (const format_error& e) {
        const std::string said = e.what();
        for (const char* const words : {"no number of clocks", "-7", "0 to "})
            BOOST_TEST(said.find(words) != said.npos, said);
    }
}

/// A copy's engine by itself, that is told a leader's state.
BOOST_AUTO_TEST_CASE(a_leaders_state_is_taken_whole_or_not_at_all) {
    const job j(2, 2, dense_layout(16));
    for (const bool by_clocks : {false, true}) {
        server_options o;
        o.order = by_clocks ? update_order::stale(2) : update_order::async();
        o.replicas = 2;
        const auto copy = [&](int index) {
            server_options mine = o;
            mine.other = std::make_shared<other_shard>(
                other_shard{dense_layout(16), std::make_unique<plain_sgd>(), {}});
            return std::make_unique<server::engine>(j.as(cluster_role::ps, index), j.same, dense_layout(16),
                                                    std::make_unique<plain_sgd>(),
                                                    [](std::int64_t, float, float* to) { to[0] = 1; }, std::move(mine));
        };
        const auto leader = copy(0), follower = copy(1);
        const auto text = [](server::engine& e) {
            const server::engine::lock hold(e.mutex);
            return e.state_text();
        };
        const auto fault = [&](const std::string& state) -> std::string {
            const server::engine::lock hold(follower->mutex);
            try {
                follower->take_state(as_bytes(state));
                return {};
            } catch (const error& e) {
                return e.what();
            }
        };
        {
            const server::engine::lock hold(leader->mutex);
            leader->set_steps(12, {});
            leader->progress.open(1, 1);
            leader->progress.ask_to_stop();
            leader->workers.rests(1);
            leader->all_clocks.join(0, 3), leader->all_clocks.restore(3);
            leader->all_clocks.push(0, 4);
            leader->log.take(0, 7, 5);
            leader->tickets.limit(100);
            if (!by_clocks) leader->together.save_soon(12), leader->saves.pushed(12, true);
        }
        const std::string state = text(*leader);
        BOOST_TEST(fault(state) == "");
        BOOST_TEST(text(*follower) == state);
        BOOST_TEST(follower->progress.global_step() == 12);
        // Cut short, too long, or with a byte changed: refused with nothing changed, or another state that is one.
        for (std::size_t n = 0; n < state.size(); ++n) {
            BOOST_TEST(fault(state.substr(0, n)) != "", n);
            BOOST_TEST_REQUIRE(text(*follower) == state, n);
        }
        BOOST_TEST(fault(state + "x") != "");
        BOOST_TEST(text(*follower) == state);
        std::mt19937 random(5);
        int refused = 0;
        for (int k = 0; k < 3000; ++k) {
            std::string other = state;
            for (unsigned n = 1 + random() % 2; n > 0; --n)
                other[random() % other.size()] = static_cast<char>(random());
            if (fault(other) == "") {
                BOOST_TEST_REQUIRE(text(*follower).size() == state.size());
                BOOST_TEST_REQUIRE(fault(state) == "");
            } else {
                ++refused;
            }
            BOOST_TEST_REQUIRE(text(*follower) == state);
        }
        BOOST_TEST(refused > 500);
    }
}
