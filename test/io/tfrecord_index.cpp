// SPDX-License-Identifier: BSL-1.0
// shows files: indices of TFRecord files that are of another file, or damaged
#define BOOST_TEST_MODULE tfrecord_index
#include <boost/test/unit_test.hpp>
#include "error_parts.hpp"
#include "temporary_folder.hpp"
#include <sinter/io/tfrecord/record_file.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#include <thread>
using namespace sinter;
using namespace std::string_literals;

namespace {
const std::vector<std::string> records{"", "hello", std::string(300, 'x'), "end"};
// What tfrecord2idx of NVIDIA DALI writes for these: where a record begins, and its bytes with its length and CRCs.
const std::string index_of_records = "0 16\n16 21\n37 316\n353 19\n";

constexpr auto fill = [](tfrecord::writer& w) {
    for (const std::string& r : records) w.add(r);
};
std::string text_of(span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
void all_are_there(const tfrecord::record_file& f) {
    tfrecord::record_file::buffer b;
    BOOST_TEST(f.size() == 4u);
    for (const std::size_t i : {2u, 0u, 3u, 1u, 2u}) BOOST_TEST(text_of(f.read(i, b)) == records[i]);
}
void refused(std::string_view index, std::string_view fault, std::string_view where, std::string_view got = {},
             std::string_view needed = {}) {
    check_error<format_error>([&] { tfrecord::parse_index(index, 372, "x.idx"); }, fault, where, got, needed);
}
} // namespace

BOOST_AUTO_TEST_CASE(the_same_index_as_dali_writes) {
    const temporary_folder folder;
    const std::string path = folder / "x.tfrecord";
    tfrecord::write(path, fill, {.index = true});
    BOOST_TEST(read_bytes(path + ".idx") == index_of_records);
    BOOST_TEST(read_bytes(path).size() == 372u);
    BOOST_TEST(tfrecord::index_text(tfrecord::make_index(path)) == index_of_records);
    BOOST_TEST(tfrecord::index_text(tfrecord::read_index(path + ".idx", 372)) == index_of_records);
}

BOOST_AUTO_TEST_CASE(records_in_any_order) {
    const temporary_folder folder;
    const std::string path = folder / "x.tfrecord";
    tfrecord::write(path, fill);
    all_are_there(tfrecord::record_file(path));   // without an index
    write_bytes(path + ".idx", index_of_records);
    const tfrecord::record_file f(path);
    all_are_there(f);
    BOOST_TEST(f.where(2).text() == path + ", byte 37, record 2");
    const tfrecord::record_file part(path, {{16, 21}, {353, 19}});   // it may leave records out
    tfrecord::record_file::buffer b;
    BOOST_TEST(text_of(part.read(1, b)) == "end");
    std::vector<std::thread> threads;
    std::vector<int> right(4, 0);
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            tfrecord::record_file::buffer own;
            for (std::size_t i = 0; i < 100; ++i) right[t] += text_of(f.read((i + t) % 4, own)) == records[(i + t) % 4];
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST((right == std::vector<int>(4, 100)));
    BOOST_TEST(tfrecord::record_file(write_bytes(folder / "empty", "")).size() == 0u);
}

BOOST_AUTO_TEST_CASE(an_index_that_cannot_be) {
    BOOST_TEST(tfrecord::parse_index("", 0, "x.idx").empty());
    BOOST_TEST(tfrecord::parse_index("0 16\r\n16 21", 372, "x.idx").size() == 2u);
    for (const char* text : {"0", "0 ", " 16", "a 16", "0 16 1", "0  16", "-1 16", "0\t16", "\n", "0 16\n\n16 21\n",
                             "0 99999999999999999999"})
        refused(text, "not an index of a TFRecord file", "x.idx, line ", {}, "two numbers");
    refused("0 16\n16 x\n", "not an index", "x.idx, line 2", "'16 x'");
    refused("0 15", "record is shorter than any", "line 1", "'0 15'", "16 bytes or more");
    refused("16 21\n0 16", "records are out of order", "line 2", "'0 16'", "byte 37 or later");
    refused("16 21\n36 16", "records are out of order", "line 2");
    refused("357 16", "record ends behind the file", "line 1", "'357 16'", "at most 372");
    refused("18446744073709551615 18446744073709551615", "record ends behind the file", "line 1");
    refused("16 18446744073709551615", "record ends behind the file", "line 1");
}

BOOST_AUTO_TEST_CASE(an_index_of_another_file) {
    const temporary_folder folder;
    const std::string path = folder / "x.tfrecord";
    tfrecord::write(path, fill);
    tfrecord::record_file::buffer b;
    // Of the right size, and between records; a whole record of another length; two records as one.
    check_error<format_error>([&] { tfrecord::record_file(path, {{17, 21}}).read(0, b); }, "corrupted record",
                              path + ", byte 17, record 0");
    check_error<format_error>([&] { tfrecord::record_file(path, {{16, 20}}).read(0, b); }, "index is of another file",
                              path + ", byte 16, record 0", "a record of 5 bytes", "4, as it says");
    check_error<format_error>([&] { tfrecord::record_file(path, {{0, 37}}).read(0, b); }, "index is of another file",
                              path, "a record of 0 bytes", "21");
    for (const tfrecord::record_extent r : {tfrecord::record_extent{357, 16}, {0, 15}, {UINT64_MAX, UINT64_MAX}})
        check_error<format_error>([&] { tfrecord::record_file(path, {r}); }, "index has a record", path);
    // A file that changes while it is read.
    const tfrecord::record_file f(path);
    std::string bytes = read_bytes(path);
    bytes[30] = 'H';
    write_bytes(path, bytes);   // into the same file
    check_error<format_error>([&] { f.read(1, b); }, "corrupted record", path + ", byte 16, record 1", "of its data");
    BOOST_TEST(text_of(tfrecord::record_file(path, {{16, 21}}, false).read(0, b)) == "heHlo");
    write_bytes(path, bytes.substr(0, 360));
    check_error<format_error>([&] { f.read(3, b); }, "truncated record", path + ", byte 353, record 3", "7 bytes",
                              "19, as the index says");
}
