// SPDX-License-Identifier: BSL-1.0
// shows servers: an answer stays what it was while its connection is replaced
// needs: distributed
#define BOOST_TEST_MODULE answers_on_new_connections
#include <boost/test/unit_test.hpp>
#include "net/linked_pair.hpp"
#include <sinter/parameter_server/calls.hpp>
#include <sinter/parameter_server/client/server_connection.hpp>

// A worker that waits for several servers reads each one's answer when the last has come. Meanwhile the connection to
// the first may have been lost, and replaced, on which that server has said who it is.
using namespace sinter;
using namespace sinter::parameter_servers;

namespace {
/// A server's end sends an answer of this text.
void answer(wire::data_link& from, const std::string& text) {
    std::vector<std::byte> bytes(answer_block::bytes + text.size());
    answer_block{}.encode(bytes.data());
    std::memcpy(bytes.data() + answer_block::bytes, text.data(), text.size());
    wire::frame_tag t;
    t.operation = static_cast<std::uint32_t>(frame_type::answer);
    from.send(t, {bytes.data(), bytes.size()});
    BOOST_TEST_REQUIRE(from.flush());
}
} // namespace

BOOST_AUTO_TEST_CASE(the_text_of_an_answer_outlives_its_connection) {
    server_connection worker;
    linked::pair before = linked::both(false), after = linked::both(false);
    worker.connect(std::move(before.a));
    request& q = worker.ask(1, "a call");
    q.add(frame_type::call, {});
    q.whole = true;
    worker.send_available();
    answer(before.b, "what was asked for");
    int answers = 0;
    while (!worker.answered(1)) worker.receive_available([&](request&, const answer_block&) { ++answers; });
    BOOST_TEST(answers == 1);

    worker.disconnect();
    worker.connect(std::move(after.a));
    answer(after.b, "who the server is");
    BOOST_TEST(worker.first_call(calls::join_resting(), [](int, short) { return true; }));
    BOOST_TEST(worker.first_text == "who the server is");
    BOOST_TEST(worker.text == "what was asked for");
    BOOST_TEST(!worker.refused);
}
