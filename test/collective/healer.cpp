// SPDX-License-Identifier: BSL-1.0
// shows elastic: memory to send a state is bounded by the model
#include "support/members.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/healer.hpp>
#include <sinter/collective/thread_group.hpp>

// What a process that joins an elastic job takes from the member that heals it: messages in their order, and none that
// claims to be longer than the model allows.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

namespace {

/// What be_healed() throws where it is told this; empty: nothing.
std::string told(healing what, std::int64_t bytes, std::int64_t most) {
    thread_group group(2);
    std::string text;
    on_members(2, [&](int r) {
        communicator& c = group.member(r);
        if (r == 0) {
            try {
                be_healed(c, most, [](healing, const std::vector<std::byte>&) {}, [] { return true; });
            } catch (const cluster_error& e) {
                text = e.cause();
                c.fail("it makes no sense");
            }
            return;
        }
        healing_message m{what, bytes};
        try {
            c.send(0, healing_message::announced, m.as_bytes());
            std::vector<std::byte> x(bytes > 0 && bytes <= most ? static_cast<std::size_t>(bytes) : 1u);
            if (bytes > 0) c.send(0, healing_message::content, x);
            c.recv(0, healing_message::done, m.as_bytes());
        } catch (const cluster_error&) {   // of the other one
        }
    });
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(messages_come_in_their_order) {
    thread_group group(2);
    std::string got;
    bool ready = false;
    on_members(2, [&](int r) {
        if (r == 1) {
            healer h([&] { return group.take(1); }, 1000);
            h.add(healing::image, std::vector<std::byte>(300, std::byte{7}));
            h.add(healing::step, std::vector<std::byte>(20, std::byte{9}));
            while (!h.is_ready()) std::this_thread::yield();
            ready = h.is_ready() && !h.is_broken();
            h.add(healing::step, std::vector<std::byte>(30, std::byte{1}));
            h.finish();
            return;
        }
        be_healed(group.member(0), 1000, [&](healing what, const std::vector<std::byte>& bytes) {
            const char* const names[] = {"nothing", "image", "step", "come", "last"};
            if (what == healing::nothing) return;
            got += std::string(names[static_cast<int>(what)]) + " " + std::to_string(bytes.size()) + " ";
            if (!bytes.empty()) got += std::to_string(static_cast<int>(bytes.back())) + ", ";
        }, [] { return false; });
    });
    BOOST_TEST(ready);
    BOOST_TEST(got == "image 300 7, step 20 9, come 0 step 30 1, last 0 ");
}
BOOST_AUTO_TEST_CASE(invalid_messages_are_refused) {
    BOOST_TEST(told(healing::step, 64, 64) == "");
    for (const std::int64_t bytes : {std::int64_t{65}, std::int64_t{-1}, std::int64_t{1} << 50, INT64_MIN}) {
        const std::string text = told(healing::step, bytes, 64);
        BOOST_TEST(text.find(" and " + std::to_string(bytes) + " bytes; needed") != text.npos, text);
    }
    for (const std::int64_t kind : {std::int64_t{-1}, std::int64_t{5}, INT64_MAX})
        BOOST_TEST(told(static_cast<healing>(kind), 0, 64).find("a message of kind " + std::to_string(kind)) == 0u);
}
