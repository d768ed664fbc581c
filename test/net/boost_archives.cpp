// SPDX-License-Identifier: BSL-1.0
// needs: distributed boost_serialization
// alone: it links a library that no other test does
// one thread: functions of bytes alone
#include <boost/test/unit_test.hpp>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sinter/net/control_message.hpp>
#include <sinter/net/elastic/assembly_message.hpp>
#include <sstream>

// Control messages have the form that Boost.Serialization asks for: its own archives take them, too, and what they give
// back has the same fields, told by the bytes of ours.
using namespace sinter::wire;

namespace {
template <class Out, class In, class Message>
void there_and_back(const Message& m) {
    std::stringstream bytes;
    {
        Out out(bytes);
        out << m;
    }
    Message back;
    In in(bytes);
    in >> back;
    BOOST_TEST(archived(back) == archived(m));
    BOOST_TEST((archived(m).empty() || archived(m) != archived(Message{})));   // fields that are not the first ones
}
template <class Message>
void check(const Message& m) {
    there_and_back<boost::archive::text_oarchive, boost::archive::text_iarchive>(m);
    there_and_back<boost::archive::binary_oarchive, boost::archive::binary_iarchive>(m);
}
} // namespace

BOOST_AUTO_TEST_CASE(boosts_archives_take_all_control_messages) {
    check(message::heartbeat{12, 3, 0.5, "all_reduce"});
    check(message::failure{1, 12, "worker/1", "127.0.0.1:7000", "all_reduce", std::string("closed\0by", 9)});
    check(message::stop{"a signal"});
    check(message::leave{12});
    check(message::exchange{2, "program", std::string(300, '\xff')});
    check(message::nothing{});
    check(message::roster{{"10.0.0.1:7000", "", "[::1]:7002"}});
}
BOOST_AUTO_TEST_CASE(boosts_archives_take_messages_of_elastic_jobs) {
    check(assembly_message{assembly_kind::accept, {1, 11, 7}, assembly_state::regrouping, true, 5, 99, 3, 8, 2,
                           {3, {{0, 10, 6}, {1, 11, 7}, {4, 14, -1}}}, {1, 2, 3}, {0, 4}, 4});
}
