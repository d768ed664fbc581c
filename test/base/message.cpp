// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE message
#include <boost/test/unit_test.hpp>
#include <sinter/base/message.hpp>
#include <stdexcept>
#include <vector>

using namespace sinter;

namespace {

struct taken {
    message_level level;
    std::string text, place;
};

/// Gives messages to `all` for as long as it lives.
struct listening {
    std::vector<taken> all;
    message_function before;
    listening() {
        before = on_message([this](message_level l, std::string_view text, std::string_view place) {
            all.push_back({l, std::string(text), std::string(place)});
        });
    }
    ~listening() {
        on_message(before);
        set_verbosity(verbosity::normal);
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_function_takes_messages_with_their_level_text_and_place) {
    listening l;
    base::say(message_level::normal, "waits for worker/1", "worker/0");
    base::say(message_level::warning, "no locks");
    BOOST_REQUIRE(l.all.size() == 2);
    BOOST_CHECK(l.all[0].level == message_level::normal);
    BOOST_CHECK(l.all[0].text == "waits for worker/1");
    BOOST_CHECK(l.all[0].place == "worker/0");
    BOOST_CHECK(l.all[1].level == message_level::warning);
    BOOST_CHECK(l.all[1].place.empty());
}

BOOST_AUTO_TEST_CASE(verbosity_decides_which_messages_there_are) {
    const auto taken_at = [](verbosity v) {
        listening l;
        set_verbosity(v);
        std::string levels;
        for (const auto level : {message_level::warning, message_level::normal, message_level::detailed}) {
            base::say(level, "x");
            BOOST_CHECK(base::says(level) == (static_cast<int>(level) <= static_cast<int>(v)));
        }
        for (const taken& t : l.all) levels += std::to_string(static_cast<int>(t.level));
        return levels;
    };
    BOOST_CHECK(taken_at(verbosity::quiet) == "0");
    BOOST_CHECK(taken_at(verbosity::normal) == "01");
    BOOST_CHECK(taken_at(verbosity::detailed) == "012");
}

BOOST_AUTO_TEST_CASE(what_the_function_throws_is_dropped) {
    const message_function before = on_message(
        [](message_level, std::string_view, std::string_view) { throw std::runtime_error("the log is full"); });
    BOOST_CHECK_NO_THROW(base::say(message_level::warning, "x"));
    on_message(before);
}

BOOST_AUTO_TEST_CASE(the_function_may_send_a_message_itself_and_be_replaced) {
    int depth = 0;
    const message_function before =
        on_message([&](message_level, std::string_view, std::string_view) {
            if (++depth < 3) base::say(message_level::normal, "again");
        });
    base::say(message_level::normal, "first");
    BOOST_CHECK(depth == 3);
    on_message(before);
    base::say(message_level::normal, "on standard error");
    BOOST_CHECK(depth == 3);
}

BOOST_AUTO_TEST_CASE(a_message_is_one_line_and_drives_no_terminal) {
    listening l;
    base::say(message_level::normal, "cannot read a\nb\x1b[2J", "run\n");
    BOOST_REQUIRE(l.all.size() == 1);
    BOOST_CHECK(l.all[0].text == "cannot read a\\x0ab\\x1b[2J");
    BOOST_CHECK(l.all[0].place == "run\\x0a");
}
