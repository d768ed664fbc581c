// SPDX-License-Identifier: BSL-1.0
// shows members: what comes and nobody has asked for is bounded for each sender; a late message's error lists what came
#include "support/pairs.hpp"
#include <boost/test/unit_test.hpp>
#include <sinter/collective/first_error.hpp>
#include <sinter/collective/mailbox.hpp>

// Where messages are matched, without anything that carries them: a message that comes in stretches while it is not,
// or only in its midst, awaited; what may be kept; what ends.
using namespace sinter;
using namespace sinter::collective;
using namespace sinter::test;

namespace {

struct three_members final : membership {
    int rank() const override { return 0; }
    int size() const override { return 3; }
    void check() override {
        if (error) error.rethrow();
    }
    void fail(const cluster_error& e) noexcept override { error.set(e); }
    std::string role(int r) const override { return "worker/" + std::to_string(r); }
    collective::first_error error;
};
struct box_of_0 {
    std::shared_ptr<three_members> members = std::make_shared<three_members>();
    mailbox box{members};
};
constexpr message_name from_1{0, 1, 7};

void bring(mailbox& box, mailbox::arrival& a, const std::vector<std::byte>& all, std::size_t first, std::size_t end) {
    const auto to = box.place(a, static_cast<std::int64_t>(end - first));
    std::copy(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(end),
              to.begin());
    BOOST_TEST(box.placed(a, static_cast<std::int64_t>(end - first)) == (end == all.size()));
}

} // namespace

BOOST_AUTO_TEST_CASE(awaited_before_within_and_after) {
    const auto sent = bytes_of_message(100, 5);
    for (const std::size_t awaited_at : {0u, 30u, 60u, 100u}) {
        box_of_0 b;
        std::vector<std::byte> got(100);
        message m = 0;
        const auto await_at = [&](std::size_t at) {
            if (at == awaited_at) m = b.box.begin_receive(from_1, got);
        };
        await_at(0);
        auto& a = b.box.begin_arrival(from_1, 100);
        bring(b.box, a, sent, 0, 30), await_at(30);
        bring(b.box, a, sent, 30, 60), await_at(60);
        bring(b.box, a, sent, 60, 100), await_at(100);
        b.box.wait(m, 0);
        BOOST_TEST(got == sent);
    }
}
BOOST_AUTO_TEST_CASE(the_first_of_one_name_goes_to_the_first_that_awaits) {
    box_of_0 b;
    std::vector<std::byte> got[4] = {std::vector<std::byte>(8), std::vector<std::byte>(8), std::vector<std::byte>(8),
                                     std::vector<std::byte>(8)};
    b.box.deliver(from_1, bytes_of_message(8, 0));
    b.box.deliver({0, 1, 8}, bytes_of_message(9, 9));   // of another tag, member or group: none of these
    b.box.deliver({0, 2, 7}, bytes_of_message(9, 9));
    b.box.deliver({1, 1, 7}, bytes_of_message(9, 9));
    std::vector<message> m;
    for (auto& g : got) m.push_back(b.box.begin_receive(from_1, g));
    for (int k = 1; k < 4; ++k) b.box.deliver(from_1, bytes_of_message(8, k));
    for (std::size_t k : {3u, 1u, 0u, 2u}) {
        b.box.wait(m[k], 0);
        BOOST_TEST(got[k] == bytes_of_message(8, static_cast<int>(k)));
    }
    BOOST_CHECK_THROW(b.box.wait(m[0], 0), device_error);   // each once
}
BOOST_AUTO_TEST_CASE(what_nobody_awaits_is_bounded_for_each_sender) {
    box_of_0 b;
    std::vector<std::byte> got(100);
    b.box.deliver(from_1, bytes_of_message(100, 1));
    BOOST_TEST(!b.box.has_room({0, 1, 9}, nullptr, 1, 100));
    BOOST_TEST(b.box.has_room({0, 1, 9}, nullptr, 1, 101));
    BOOST_TEST(b.box.has_room({0, 2, 9}, nullptr, 1000, 100));   // of another sender, who has nothing there
    const message m = b.box.begin_receive({0, 1, 9}, got);
    BOOST_TEST(b.box.has_room({0, 1, 9}, nullptr, 1, 100));   // it is awaited
    const message first = b.box.begin_receive(from_1, got);
    b.box.wait(first, 0);
    BOOST_TEST(b.box.has_room({0, 1, 10}, nullptr, 1, 100));   // there is room again
    b.box.deliver({0, 1, 9}, bytes_of_message(100, 2));
    b.box.wait(m, 0);
}
BOOST_AUTO_TEST_CASE(a_wrong_tag_is_seen_by_what_has_come) {
    box_of_0 b;
    std::vector<std::byte> got(4);
    for (int tag = 1; tag <= 6; ++tag) b.box.deliver({0, 1, tag}, bytes_of_message(tag, 0));
    b.box.deliver({0, 2, 20}, bytes_of_message(1, 0));
    const message m = b.box.begin_receive(from_1, got), other = b.box.begin_receive({0, 2, 1}, got);
    BOOST_CHECK_EXCEPTION(b.box.wait(m, 0.01), cluster_error, [](const cluster_error& e) {
        return std::string(e.what()) ==
               "rank 1, worker/1, message from rank 1 with tag 7: the message did not come within 0.01 s; not awaited "
               "here have come: tag 1 (1 bytes), tag 2 (2 bytes), tag 3 (3 bytes), tag 4 (4 bytes) and 2 more";
    });
    BOOST_CHECK_THROW(b.box.wait(other, 60), cluster_error);   // the job has failed: nobody waits any more
    BOOST_CHECK_THROW(b.box.begin_receive(from_1, got), cluster_error);
    BOOST_TEST(!b.box.work([] {}));
}
