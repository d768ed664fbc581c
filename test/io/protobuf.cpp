// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE protobuf
#include <boost/test/unit_test.hpp>
#include "error_parts.hpp"
#include <sinter/io/protobuf/reader.hpp>
#include <limits>
#include <vector>
using namespace sinter;
using protobuf::message;
using protobuf::reader;
using protobuf::wire_type;
using namespace std::string_literals;

namespace {
/// Goes through all of it; the number of fields.
int fields_of(const std::string& bytes) {
    int n = 0;
    for (reader r(as_bytes(bytes), "mem.pb"); r.next();) ++n;
    return n;
}
void refused(const std::string& bytes, std::string_view fault, std::string_view where = "mem.pb, byte ",
             std::string_view got = {}, std::string_view needed = {}) {
    check_error<format_error>([&] { fields_of(bytes); }, fault, where, got, needed);
}
} // namespace

// protobuf.dev/programming-guides/encoding has the first and the third
BOOST_AUTO_TEST_CASE(messages_as_protobuf_writes_them) {
    BOOST_TEST(message().integer(1, 150).bytes() == "\x08\x96\x01");
    BOOST_TEST(message().integer(1, -1).bytes() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    BOOST_TEST(message().text(2, "testing").bytes() == "\x12\x07testing");
    BOOST_TEST(message().nested(3, message().integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01");
    BOOST_TEST(message().integer(20, 7).bytes() == "\xa0\x01\x07");
    BOOST_TEST(message().real(2, 1.f).bytes() == "\x15\0\0\x80\x3f"s);
    BOOST_TEST(message().real64(1, 1.).bytes() == "\x09\0\0\0\0\0\0\xf0\x3f"s);
    const std::vector<std::int64_t> integers{3, 270, 86942};   // the guide's packed list
    BOOST_TEST(message().packed(6, integers).bytes() == "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
    const std::vector<float> floats{1, 2};
    BOOST_TEST(message().packed(1, floats).bytes() == "\x0a\x08\0\0\x80\x3f\0\0\0\x40"s);
    BOOST_TEST(message().packed(1, span<const float>()).packed(1, span<const std::int64_t>()).bytes() == "");
    message m;
    m.integer(1, 1).clear();
    BOOST_TEST(m.bytes() == "");
}

BOOST_AUTO_TEST_CASE(lengths_of_numbers) {
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
                                  std::uint64_t{16383}, std::uint64_t{16384}, UINT64_MAX >> 1, UINT64_MAX}) {
        std::string bytes;
        protobuf::append_varint(bytes, n);
        BOOST_TEST(protobuf::varint_bytes(n) == bytes.size());
        reader r(as_bytes(bytes));
        BOOST_TEST(r.take_varint() == n);
        BOOST_TEST(r.at_end());
    }
}

BOOST_AUTO_TEST_CASE(fields_are_read_as_they_were_written) {
    const std::vector<std::int64_t> numbers{1, -1, 300};
    const std::string bytes = message()
                                  .integer(1, std::numeric_limits<std::int64_t>::min())
                                  .real(2, -0.5f)
                                  .text(536870911, "last")
                                  .real64(3, 1e300)
                                  .nested(4, message().integer(1, 7).text(2, ""))
                                  .packed(5, numbers)
                                  .integer(6, 3)
                                  .bytes();
    reader r(as_bytes(bytes));
    BOOST_TEST(r.next());
    BOOST_TEST(r.field() == 1u);
    BOOST_TEST((r.type() == wire_type::varint));
    BOOST_TEST(r.is(1, wire_type::varint));
    BOOST_TEST(!r.is(1, wire_type::length));
    BOOST_TEST(r.integer() == std::numeric_limits<std::int64_t>::min());
    BOOST_TEST(r.next());
    BOOST_TEST(r.real() == -0.5f);
    BOOST_TEST(r.next());
    BOOST_TEST(r.field() == 536870911u);
    BOOST_TEST(r.text() == "last");
    BOOST_TEST(r.next());
    BOOST_TEST(r.real64() == 1e300);
    BOOST_TEST(r.next());
    reader inner = r.nested();
    BOOST_TEST(inner.next());
    BOOST_TEST(inner.integer() == 7);
    BOOST_TEST(inner.next());
    BOOST_TEST(inner.bytes().empty());
    BOOST_TEST(!inner.next());
    BOOST_TEST(r.next());
    reader packed = r.nested();
    for (const std::int64_t n : numbers) BOOST_TEST(static_cast<std::int64_t>(packed.take_varint()) == n);
    BOOST_TEST(packed.at_end());
    BOOST_TEST(r.next());
    BOOST_TEST(r.zigzag() == -2);
    BOOST_TEST(!r.next());
    BOOST_TEST(!r.next());
    BOOST_TEST(!reader({}).next());
}

BOOST_AUTO_TEST_CASE(what_nobody_takes_is_skipped) {
    const std::string inner = "\x0b\x08\x01\x13\x14\x0c"s;   // group 1 {1: 1, group 2 {}}
    const std::string bytes = message().integer(9, 1).real(9, 1).text(9, "abc").real64(9, 1).bytes() + inner +
                              message().integer(1, 5).bytes();
    reader r(as_bytes(bytes));
    std::int64_t found = 0;
    while (r.next())
        if (r.is(1, wire_type::varint)) found = r.integer();
    BOOST_TEST(found == 5);
    BOOST_TEST(fields_of(bytes) == 6);
    // As deep as it may be, and one more.
    BOOST_TEST(fields_of(std::string(100, '\x0b') + std::string(100, '\x0c')) == 1);
    refused(std::string(101, '\x0b') + std::string(101, '\x0c'), "groups are too deep", "byte 101", "more than 100");
    refused(std::string(1'000'000, '\x0b'), "groups are too deep");
}

BOOST_AUTO_TEST_CASE(damaged_messages_are_refused) {
    refused("\x08", "message is cut short", "mem.pb, byte 1", "its end within a number");
    refused("\x80", "message is cut short");
    refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "a number is too long", "byte 11", "more than 64 bits");
    refused("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "a number is too long");
    refused("\x12\x07testin", "message is cut short", "byte 2", "6 bytes", "7 bytes");
    refused("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "message is cut short", {}, {}, "18446744073709551615");
    refused("\x15\0\0\x80"s, "message is cut short", {}, "3 bytes", "4 bytes");
    refused("\x09\0\0\0\0\0\0\xf0"s, "message is cut short", {}, "7 bytes", "8 bytes");
    refused("\0"s, "message is damaged", {}, "field 0 of wire type 0");
    refused("\x0e", "message is damaged", {}, "field 1 of wire type 6");
    refused("\x0c", "message is damaged", {}, "field 1 of wire type 4");
    refused("\x80\x80\x80\x80\x10\x01", "message is damaged", {}, "field 536870912");
    refused("\x0b\x14", "a group ends that was not begun", {}, "field 2", "field 1");
    refused("\x0b\x08\x01", "message is cut short", {}, "within a group");
    refused("\x0b", "message is cut short", {}, "within a group");
    refused("\x0b\x0f", "message is damaged", {}, "wire type 7");
}

BOOST_AUTO_TEST_CASE(values_are_taken_once_and_as_what_they_are) {
    const std::string bytes = message().integer(3, 1).text(4, "abcd").bytes();
    reader r(as_bytes(bytes), "mem.pb");
    BOOST_TEST(r.next());
    check_error<format_error>([&] { r.text(); }, "field is of another wire type", "mem.pb", "field 3 of wire type 0",
                              "wire type 2");
    BOOST_TEST(r.integer() == 1);
    check_error<format_error>([&] { r.integer(); }, "field is of another wire type", "mem.pb", "taken before");
    BOOST_TEST(r.next());
    reader inner = r.nested();   // its errors count bytes from where the outermost begins
    check_error<format_error>([&] { while (inner.next()) {} }, "message is cut short", "mem.pb, byte 5");
}

// Whatever is cut off or changed: an error, or a message; no byte beyond it is looked at (as sanitizers see).
BOOST_AUTO_TEST_CASE(any_damage) {
    const std::string whole = message().integer(1, 300).real(2, 1).text(3, "abc").real64(4, 2).bytes() + "\x2b\x2c";
    const auto read = [](const std::string& bytes) {
        const std::vector<char> exact(bytes.begin(), bytes.end());
        try {
            for (reader r({reinterpret_cast<const std::byte*>(exact.data()), exact.size()}); r.next();) {}
        } catch (const format_error&) {}
    };
    for (std::size_t n = 0; n <= whole.size(); ++n) read(whole.substr(0, n));
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (int other = 0; other < 256; ++other) {
            std::string bytes = whole;
            bytes[i] = static_cast<char>(other);
            read(bytes);
        }
    BOOST_TEST(fields_of(whole) == 5);
}
