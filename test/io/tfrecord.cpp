// SPDX-License-Identifier: BSL-1.0
// shows files: TFRecord files that are damaged, cut short, or ask for more than there is
#define BOOST_TEST_MODULE tfrecord
#include <boost/test/unit_test.hpp>
#include "error_parts.hpp"
#include "fixtures/tensorflow_records.hpp"
#include "temporary_folder.hpp"
#include <sinter/io/tfrecord/reader.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#include <limits>
#include <vector>
using namespace sinter;
using namespace std::string_literals;
using tfrecord::compression;

namespace {
template <std::size_t N>
std::string bytes_of(const char (&file)[N]) {
    return {file, N - 1};
}
std::string text_of(span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// The records of the files that TensorFlow wrote (test/fixtures/tensorflow_records.py).
std::vector<std::string> the_records() {
    std::string all(256, '\0');
    for (std::size_t i = 0; i < 256; ++i) all[i] = static_cast<char>(i);
    return {"", "hello", all, std::string(1000, 'x')};
}
std::vector<std::string> rest_of(tfrecord::reader& r) {
    std::vector<std::string> all;
    while (r.next()) all.push_back(text_of(r.record()));
    return all;
}
std::vector<std::string> read(const std::string& bytes, const tfrecord::reader_options& options = {}) {
    io::memory_source source(as_bytes(bytes), "mem.tfrecord");
    tfrecord::reader r(source, options);
    return rest_of(r);
}
std::string written(const std::vector<std::string>& records, const tfrecord::writer_options& options = {}) {
    std::string bytes;
    const auto append = [&](span<const std::byte> b) { bytes += text_of(b); };
    tfrecord::writer w(append, options);
    for (const std::string& r : records) w.add(r);
    w.finish();
    BOOST_TEST(w.records() == records.size());
    return bytes;
}
std::string some_bytes(std::size_t n) {
    std::string s(n, '\0');
    for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>(i * 0x9E3779B97F4A7C15u >> 56);
    return s;
}
void refused(const std::string& bytes, std::string_view fault, std::string_view where, std::string_view got = {},
             std::string_view needed = {}, const tfrecord::reader_options& options = {}) {
    check_error<format_error>([&] { read(bytes, options); }, fault, where, got, needed);
}
} // namespace

BOOST_AUTO_TEST_CASE(files_that_tensorflow_wrote) {
    for (const std::string& file : {bytes_of(tensorflow_records::plain), bytes_of(tensorflow_records::gzip),
                                    bytes_of(tensorflow_records::zlib)}) {
        BOOST_TEST(read(file) == the_records());
        BOOST_TEST(read(file, {.check_data = false}) == the_records());
        BOOST_TEST(read(file, {.buffer_bytes = 1}) == the_records());
    }
    BOOST_TEST(read(bytes_of(tensorflow_records::plain), {.packed = compression::none}) == the_records());
    BOOST_TEST(read(bytes_of(tensorflow_records::gzip), {.packed = compression::gzip}) == the_records());
    BOOST_TEST(read(bytes_of(tensorflow_records::zlib), {.packed = compression::zlib}) == the_records());
}

BOOST_AUTO_TEST_CASE(the_same_bytes_as_tensorflow_writes) {
    BOOST_TEST((written(the_records()) == bytes_of(tensorflow_records::plain)));
    BOOST_TEST((written(the_records(), {.packed = compression::automatic}) == bytes_of(tensorflow_records::plain)));
    BOOST_TEST((written({""}) == "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"s));
    BOOST_TEST((written({"hello"}) == "\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19"s));
    BOOST_TEST(written({}).empty());
}

// What compressed bytes are depends on zlib's version; what they hold does not.
BOOST_AUTO_TEST_CASE(compressed_files_hold_the_same) {
    for (const compression how : {compression::gzip, compression::zlib}) {
        for (const int level : {-1, 0, 1, 9}) {
            const std::string bytes = written(the_records(), {.packed = how, .level = level});
            BOOST_TEST(read(bytes) == the_records());
            BOOST_TEST(read(bytes, {.packed = how}) == the_records());
        }
        BOOST_TEST(read(written({}, {.packed = how})).empty());
        const std::vector<std::string> large{some_bytes(300'000), std::string(3'000'000, 'a'), "end"};
        BOOST_TEST((read(written(large, {.packed = how})) == large));
    }
    // Two streams in a row, as `cat` makes them of two files.
    for (const std::string& file : {bytes_of(tensorflow_records::gzip), bytes_of(tensorflow_records::zlib)})
        BOOST_TEST(read(file + file).size() == 8u);
}

BOOST_AUTO_TEST_CASE(records_of_all_sizes_through_buffers_of_all_sizes) {
    std::vector<std::string> records;
    for (std::size_t n = 0; n < 60; ++n) records.push_back(some_bytes(n * n * 37 % 9000));
    records.push_back(some_bytes(1'000'000));
    records.push_back(some_bytes(1'000'001));
    records.push_back("x");
    records.push_back(some_bytes(700'000));
    const std::string bytes = written(records);
    for (const std::size_t buffer : {4096u, 5000u, 9016u, 1u << 18, 1u << 23})
        BOOST_TEST((read(bytes, {.buffer_bytes = buffer}) == records));
}

BOOST_AUTO_TEST_CASE(places_of_records_and_beginning_at_one) {
    const temporary_folder folder;
    const std::string path = write_bytes(folder / "x.tfrecord", bytes_of(tensorflow_records::plain));
    std::vector<std::uint64_t> begins;
    tfrecord::reader r(path);
    BOOST_TEST(r.next_byte() == 0u);
    while (r.next()) {
        BOOST_TEST(r.number() == begins.size());
        begins.push_back(r.byte());
        BOOST_TEST(r.next_byte() == r.byte() + 16 + r.record().size());
    }
    BOOST_TEST((begins == std::vector<std::uint64_t>{0, 16, 37, 309}));
    BOOST_TEST(r.record().empty());
    begins.push_back(r.next_byte());
    BOOST_TEST(begins.back() == sizeof tensorflow_records::plain - 1);
    for (std::size_t i = 0; i < begins.size(); ++i) {
        tfrecord::reader from(path, {.begin_byte = begins[i], .begin_record = i});
        if (from.next()) BOOST_TEST(from.where().text() == to_text({path, ", byte ", begins[i], ", record ", i}));
        const std::vector<std::string> all = the_records();
        tfrecord::reader again(path, {.begin_byte = begins[i], .begin_record = i});
        const std::vector<std::string> rest(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
        BOOST_TEST((rest_of(again) == rest));
    }
    check_error<format_error>([&] { tfrecord::reader(path, {.begin_byte = 17}).next(); }, "corrupted record",
                              path + ", byte 17, record 0");
    check_error<option_error>([&] { tfrecord::reader(path, {.begin_byte = 5000}); }, "file ends before", path,
                              "byte 5000", "0 to 1325");
    check_error<io_error>([&] { tfrecord::reader(folder / "none"); }, "cannot open", "none");
    check_error<option_error>(
        [&] { tfrecord::reader(path, {.packed = compression::gzip, .begin_byte = 16}); },
        "a compressed file cannot be read from within", path, "byte 16", "byte 0");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_and_where) {
    const std::string file = bytes_of(tensorflow_records::plain);
    std::string bytes = file;
    bytes[49 + 3] = 'y';   // in the data of the third record
    refused(bytes, "corrupted record", "mem.tfrecord, byte 37, record 2", "CRC 0xd31a2360 of its data", "CRC 0x");
    BOOST_TEST(read(bytes, {.check_data = false}).size() == 4u);
    bytes = file;
    bytes[37] = '\1';   // in its length
    refused(bytes, "corrupted record", "mem.tfrecord, byte 37, record 2", "of its length", "of the length");
    refused(bytes, "corrupted record", "byte 37", {}, {}, {.check_data = false});
    refused(file.substr(0, 40), "truncated record", "mem.tfrecord, byte 37, record 2", "3 bytes to the end",
            "12, its length and the CRC of that");
    refused(file.substr(0, 100), "truncated record", "mem.tfrecord, byte 37, record 2", "63 bytes to the end",
            "272, a record of 256");
    refused("no TFRecord file at all", "corrupted record", "byte 0, record 0");
    refused("short", "truncated record", "byte 0, record 0", "5 bytes");
    refused(file, "record is larger than allowed", "byte 309, record 3", "1000 bytes", "at most 999",
            {.most_record_bytes = 999});
    BOOST_TEST(read(file, {.most_record_bytes = 1000}).size() == 4u);
}

BOOST_AUTO_TEST_CASE(going_on_after_an_error) {
    std::string bytes = bytes_of(tensorflow_records::plain);
    bytes[49 + 3] = 'y';
    io::memory_source source(as_bytes(bytes), "mem.tfrecord");
    tfrecord::reader r(source);
    BOOST_TEST(r.next());
    BOOST_TEST(r.next());
    BOOST_CHECK_THROW(r.next(), format_error);
    BOOST_TEST(r.record().empty());
    BOOST_TEST(r.next());   // the record behind it
    BOOST_TEST(r.number() == 3u);
    BOOST_TEST(r.record().size() == 1000u);
    BOOST_TEST(!r.next());
    bytes[37] = '\1';
    io::memory_source damaged(as_bytes(bytes), "mem.tfrecord");
    tfrecord::reader s(damaged);
    BOOST_TEST(s.next());
    BOOST_TEST(s.next());
    BOOST_CHECK_THROW(s.next(), format_error);
    for (int i = 0; i < 3; ++i) BOOST_TEST(!s.next());   // where the next would be nobody knows
}

// The length's CRC holds; there is nothing behind it.
BOOST_AUTO_TEST_CASE(lengths_are_held_against_what_there_is) {
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{1} << 29, std::uint64_t{1} << 40, UINT64_MAX - 3,
                                  UINT64_MAX}) {
        std::byte head[12];
        tfrecord::detail::put_little(head, n);
        tfrecord::detail::put_little(head + 8, base::masked_crc32c({head, 8}));
        const std::string bytes = text_of({head, 12});
        refused(bytes, n <= std::uint64_t{1} << 30 ? "truncated record" : "record is larger than allowed", "byte 0");
        refused(bytes, "record", "byte 0", {}, {}, {.most_record_bytes = UINT64_MAX});
    }
}

BOOST_AUTO_TEST_CASE(compressed_files_that_are_damaged) {
    const std::string gzip = bytes_of(tensorflow_records::gzip), zlib = bytes_of(tensorflow_records::zlib);
    refused(gzip.substr(0, 200), "gzip stream is cut short", "mem.tfrecord, near compressed byte 200");
    refused(zlib.substr(0, 200), "zlib stream is cut short", "mem.tfrecord, near compressed byte 200");
    std::string bytes = zlib;
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    refused(bytes, "zlib stream is damaged", "near compressed byte", "incorrect data check");
    refused(zlib + "x", "zlib stream is", "near compressed byte");
    refused(zlib, "file is not compressed as said", "mem.tfrecord", "zlib", "gzip", {.packed = compression::gzip});
    refused(bytes_of(tensorflow_records::plain), "file is not compressed as said", "mem.tfrecord", "neither", "zlib",
            {.packed = compression::zlib});
    refused(gzip, "corrupted record", "byte 0", {}, {}, {.packed = compression::none});
    // 3 MB of zeros in a few kilobytes.
    const std::string bomb = written({std::string(3'000'000, '\0')}, {.packed = compression::zlib});
    BOOST_TEST(bomb.size() < 4000u);
    BOOST_TEST(read(bomb).size() == 1u);
    refused(bomb, "record is larger than allowed", "mem.tfrecord, unpacked byte 0, record 0", "3000000 bytes", {},
            {.most_record_bytes = 1'000'000});
    refused(bomb, "file unpacks to more than allowed", "unpacked byte 0", "more than 2", "at most 2000000",
            {.most_unpacked_bytes = 2'000'000});
    BOOST_TEST(read(bomb, {.most_unpacked_bytes = 3'000'016}).size() == 1u);
    refused(bomb, "file unpacks to more than allowed", {}, {}, {}, {.most_unpacked_bytes = 3'000'015});
    // A length that nothing is behind, compressed.
    std::byte head[12];
    tfrecord::detail::put_little(head, std::uint64_t{1} << 29);
    tfrecord::detail::put_little(head + 8, base::masked_crc32c({head, 8}));
    const std::string cut = written({text_of({head, 12})}, {.packed = compression::gzip, .level = 0});
    BOOST_TEST(read(cut).size() == 1u);
}

// Every change of a bit, and every end that comes too early: an error, or the same records as far as they go.
BOOST_AUTO_TEST_CASE(any_damage) {
    const std::vector<std::string> records{"", "hello", "some more bytes", "x"};
    const auto check = [&](const std::string& bytes, bool may_be_shorter) {
        std::vector<std::string> got;
        try {
            const std::vector<char> exact(bytes.begin(), bytes.end());
            io::memory_source source({reinterpret_cast<const std::byte*>(exact.data()), exact.size()}, "mem.tfrecord");
            tfrecord::reader r(source);
            while (r.next()) got.push_back(text_of(r.record()));
            BOOST_REQUIRE(may_be_shorter || got.size() == records.size());
        } catch (const format_error&) {}
        BOOST_REQUIRE(got.size() <= records.size());
        for (std::size_t i = 0; i < got.size(); ++i) BOOST_REQUIRE(got[i] == records[i]);
    };
    for (const compression how : {compression::none, compression::gzip, compression::zlib}) {
        const std::string whole = written(records, {.packed = how});
        for (std::size_t n = 0; n <= whole.size(); ++n) check(whole.substr(0, n), true);
        for (std::size_t i = 0; i < whole.size(); ++i)
            for (int change = 1; change < 256; how == compression::none ? ++change : change *= 2) {
                std::string bytes = whole;
                bytes[i] = static_cast<char>(bytes[i] ^ change);
                check(bytes, false);
            }
    }
    // A plain file that ends between two records is one with fewer. All other ends are seen.
    const std::string plain = written(records);
    std::size_t accepted = 0;
    for (std::size_t n = 0; n <= plain.size(); ++n) {
        try {
            read(plain.substr(0, n));
            ++accepted;
        } catch (const format_error&) {}
    }
    BOOST_TEST(accepted == records.size() + 1);
}

BOOST_AUTO_TEST_CASE(a_file_is_written_whole_or_not_at_all) {
    const temporary_folder folder;
    const std::string path = folder / "train.tfrecord";
    const auto fill = [](tfrecord::writer& w) {
        for (const std::string& r : the_records()) w.add(r);
        BOOST_TEST(w.bytes() == sizeof tensorflow_records::plain - 1);
    };
    tfrecord::write(path, fill);
    BOOST_TEST((read_bytes(path) == bytes_of(tensorflow_records::plain)));
    BOOST_TEST(folder.entries() == 1u);
    const auto fails = [](tfrecord::writer& w) {
        w.add(std::string(1 << 20, 'x'));
        throw data_error("no more", "there");
    };
    BOOST_CHECK_THROW(tfrecord::write(path, fails), data_error);
    BOOST_TEST((read_bytes(path) == bytes_of(tensorflow_records::plain)));
    BOOST_TEST(folder.entries() == 1u);
    check_error<option_error>([&] { tfrecord::write(path, fill, {.packed = compression::gzip, .level = 10}); },
                              "level of compression", path, "10", "-1 to 9");
    check_error<option_error>([&] { tfrecord::write(path, fill, {.packed = compression::gzip, .index = true}); },
                              "a compressed file has no index", path);
    tfrecord::write(path, fill, {.packed = compression::gzip});
    tfrecord::reader r(path);
    BOOST_TEST(rest_of(r) == the_records());
}

BOOST_AUTO_TEST_CASE(shards) {
    BOOST_TEST(tfrecord::shard_name("NAME", 3, 10) == "NAME-00003-of-00010.tfrecord");
    BOOST_TEST(tfrecord::shard_name("a/b", 123456, 1000000, "") == "a/b-123456-of-1000000");
    const temporary_folder folder;
    tfrecord::write_shards(folder / "train", 3, [](tfrecord::writer& w, int shard) { w.add(to_text({shard})); });
    BOOST_TEST(folder.entries() == 3u);
    tfrecord::reader r(folder / "train-00002-of-00003.tfrecord");
    BOOST_TEST(rest_of(r) == std::vector<std::string>{"2"});
    check_error<option_error>([&] { tfrecord::write_shards("x", 0, [](tfrecord::writer&, int) {}); },
                              "number of shards", "x", "0", "1 or more");
}
