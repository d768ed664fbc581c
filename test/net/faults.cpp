// SPDX-License-Identifier: BSL-1.0
// shows network: slow, cut up, damaged, half closed and silent connections; handshakes that break off are tried again
// needs: distributed
#define BOOST_TEST_MODULE faults
#include <boost/test/unit_test.hpp>
#include <sinter/net/process_group.hpp>
#include "fault_proxy.hpp"
#include "processes.hpp"

// Two members with a proxy between them that spoils what they say. What arrives is right, or both end in an error.
using namespace sinter;
using wire::process_group;

/// Rank 1 dials rank 0 by way of the proxy. Both send each other numbered payloads, and check them.
struct outcome { std::string zero, one; };
static outcome talk_through(const fault_proxy::faults& f, cluster_options o = quick(5), int rounds = 20,
                            std::size_t bytes = 5000) {
    const auto at = own_addresses(3);   // of rank 0, rank 1, the proxy
    processes p;
    const int proxy = p.start([&] {
        fault_proxy::run(wire::parse_address(at[2], "test"), wire::parse_address(at[0], "test"), f,
                         [] { return true; });
        return std::string();
    });
    const auto member = [&](int rank) {
        return [&, rank] {
            process_group g(cluster::of({rank == 0 ? at[0] : at[2], at[1]}, rank, o), {});
            try {
                std::vector<std::byte> mine(bytes), theirs(bytes);
                for (int i = 0; i < rounds; ++i) {
                    const auto value = [i](int from, std::size_t j) {
                        return static_cast<std::byte>(i * 7 + from + static_cast<int>(j));
                    };
                    for (std::size_t j = 0; j < bytes; ++j) mine[j] = value(rank, j);
                    const wire::frame_tag tag{.operation = static_cast<std::uint32_t>(i), .step = i, .elements = bytes};
                    wire::data_link& link = g.link(1 - rank);
                    link.send(tag, mine);
                    link.receive(tag, theirs);
                    for (bool done = false; !done;) {
                        const bool gone = link.flush();
                        done = link.fill() && gone;
                        pollfd waits[] = {{link.descriptor(), link.wants(), 0}, {g.failed_descriptor(), POLLIN, 0}};
                        if (!done) ::poll(waits, 2, 1000);
                        g.check();
                    }
                    for (std::size_t j = 0; j < bytes; ++j)
                        if (theirs[j] != value(1 - rank, j)) return std::string("WRONG DATA");
                }
                g.exchange("end", "");
            } catch (const cluster_error& e) {
                g.fail(e);
                try {
                    g.check();
                } catch (const cluster_error& first) {
                    return std::string(first.what());
                }
            }
            g.leave();
            return std::string("right");
        };
    };
    const int zero = p.start(member(0)), one = p.start(member(1));
    outcome r{p.result(zero), p.result(one)};
    p.signal(proxy, SIGKILL);
    return r;
}

BOOST_AUTO_TEST_CASE(a_slow_network_that_cuts_everything_up_makes_no_difference) {
    fault_proxy::faults f;
    for (const unsigned seed : {1u, 2u}) {
        f.seed = seed;
        f.most_chunk = 1;   // single bytes
        f.most_delay = 0;
        const outcome bytes = talk_through(f, quick(10), 2, 1500);
        BOOST_TEST(bytes.zero == "right");
        BOOST_TEST(bytes.one == "right");
        f.most_chunk = 1500;
        f.most_delay = 0.005;
        const outcome delayed = talk_through(f, quick(10), 5);
        BOOST_TEST(delayed.zero == "right");
        BOOST_TEST(delayed.one == "right");
    }
}

// A connection begins with the handshake: upwards 456 + 32 bytes, downwards 456 + 384; then come frames.
static constexpr std::ptrdiff_t up = 488, down = 840;

BOOST_AUTO_TEST_CASE(damage_on_the_way_is_found_by_both) {
    for (const bool upwards : {true, false})
        for (const int connection : {0, 1})   // control, data
            for (const std::ptrdiff_t at : {3, 20, 60, 70, 90}) {
                fault_proxy::faults f;
                f.upwards = upwards;
                f.connection = connection;
                f.flip_at = (upwards ? up : down) + at;
                const outcome r = talk_through(f);
                int told = 0;
                for (const std::string& text : {r.zero, r.one}) {
                    const bool damaged = holds(text, "damaged") || holds(text, "not a frame") ||
                                         holds(text, "another version");
                    told += damaged;   // who is told too late of what the other has found sees the connection end
                    BOOST_TEST((damaged || holds(text, "was closed")),
                               upwards << connection << " " << at << ": " << text);
                }
                BOOST_TEST(told >= 1, upwards << connection << " " << at);
            }
    fault_proxy::faults later;   // in the middle of a payload of a later frame
    later.connection = 1;
    later.flip_at = up + 3 * 5080 + 2500;
    const outcome r = talk_through(later);
    for (const std::string& text : {r.zero, r.one})
        BOOST_TEST(holds(text, "a frame was damaged or forged: its MAC is wrong"), text);
}

BOOST_AUTO_TEST_CASE(repeated_frames_are_found) {
    for (const int connection : {0, 1}) {
        fault_proxy::faults f;
        f.connection = connection;
        f.repeat_at = up;   // "ready" has no payload, nor have these frames of data: 80 bytes
        const outcome r = talk_through(f, quick(5), 20, 0);
        for (const std::string& text : {r.zero, r.one}) BOOST_TEST(holds(text, "rank "), text);
        for (const std::string& text : {r.zero, r.one}) BOOST_TEST(text != "right");
    }
}

BOOST_AUTO_TEST_CASE(a_handshake_that_breaks_off_is_tried_again) {
    for (const bool upwards : {true, false})
        for (std::ptrdiff_t at = 0; at < (upwards ? up : down); at += 83) {
            fault_proxy::faults f;
            f.upwards = upwards;
            f.connection = at % 2 == 0 ? 0 : 1;   // control or data; the next one passes
            f.cut_at = at;
            const outcome r = talk_through(f, quick(5), 2);
            BOOST_TEST(r.zero == "right", "cut at " << at << ": " << r.zero);
            BOOST_TEST(r.one == "right", "cut at " << at << ": " << r.one);
        }
}

BOOST_AUTO_TEST_CASE(damage_in_a_handshake_is_dialled_again) {
    for (const bool upwards : {true, false})
        for (const int connection : {0, 1})   // control, data
            for (const std::ptrdiff_t at : {2, 4, 16, 24, 58, 70, 130, 200, 459, 470, 500, 700, 830}) {
                if (at >= (upwards ? up : down)) continue;
                fault_proxy::faults f;
                f.upwards = upwards;
                f.connection = connection;
                f.flip_at = at;
                const outcome r = talk_through(f, quick(5), 2);
                BOOST_TEST(r.zero == "right", "bit at " << at << ": " << r.zero);
                BOOST_TEST(r.one == "right", "bit at " << at << ": " << r.one);
            }
}

BOOST_AUTO_TEST_CASE(a_direction_that_falls_silent_is_a_death_for_both) {
    for (const bool upwards : {true, false}) {
        fault_proxy::faults f;
        f.upwards = upwards;
        f.connection = -1;
        f.mute_at = (upwards ? up : down) + 300;
        const outcome r = talk_through(f, quick(1), 200);
        for (const std::string& text : {r.zero, r.one})
            BOOST_TEST((holds(text, "no sign of life") || holds(text, "connection")), text);
    }
}

BOOST_AUTO_TEST_CASE(a_half_closed_connection_is_an_error_for_both) {
    for (const int connection : {0, 1}) {
        fault_proxy::faults f;
        f.connection = connection;
        f.half_close_at = up + (connection == 0 ? 80 : 5080 * 3 + 17);
        const outcome r = talk_through(f, quick(5), 200);
        for (const std::string& text : {r.zero, r.one})   // not by what is waited for in vain
            BOOST_TEST((holds(text, "rank ") && !holds(text, "no sign of life")), text);
    }
}

BOOST_AUTO_TEST_CASE(faults_at_random_never_give_wrong_data) {
    std::mt19937 random(7);
    for (int i = 0; i < 25; ++i) {
        fault_proxy::faults f;
        f.seed = static_cast<unsigned>(i);
        f.most_chunk = 1 + random() % 3000;
        f.connection = static_cast<int>(random() % 2);
        f.upwards = random() % 2 != 0;
        const auto at = static_cast<std::ptrdiff_t>(random() % 60000);
        switch (random() % 4) {
            case 0: f.flip_at = at; break;
            case 1: f.cut_at = at; break;
            case 2: f.repeat_at = at; break;
            default: f.half_close_at = at; break;
        }
        cluster_options o = quick(3);
        o.join_within = 5;
        const outcome r = talk_through(f, o, 8);
        for (const std::string& text : {r.zero, r.one})
            BOOST_TEST((text == "right" || holds(text, "rank ")), i << ": " << text);
        BOOST_TEST((r.zero == "right") == (r.one == "right"), i << ": " << r.zero << " | " << r.one);
    }
}
