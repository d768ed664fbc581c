// SPDX-License-Identifier: BSL-1.0
// shows data: TFRecord files in a row and by number, plain and compressed, going on at each record
#define BOOST_TEST_MODULE tfrecords
#include <boost/test/unit_test.hpp>
#include "fixtures/tensorflow_records.hpp"
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include "support/stage_places.hpp"
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/tfrecords.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#include <algorithm>
#include <zlib.h>

using namespace sinter;
using tfrecord::compression;

namespace {

using texts = std::vector<std::string>;
std::string same(const std::string& record) { return record; }

template <std::size_t N>
std::string bytes_of(const char (&file)[N]) {
    return {file, N - 1};
}
std::string file_of(const texts& records, compression packed = compression::none) {
    std::string bytes;
    const auto append = [&](span<const std::byte> b) {
        bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
    };
    tfrecord::writer w(append, {.packed = packed});
    for (const std::string& r : records) w.add(r);
    w.finish();
    return bytes;
}
texts without_errors(const data::tfrecord_stream& stages, std::vector<std::string>& where) {
    texts all;
    data::tfrecord_stream::state s{};
    data::tfrecord_stream::cursor c{};
    for (where.clear();;) try {
            data::tfrecord_stream::ticket k{};
            if (!stages.next(s, c, k)) return all;
            all.push_back(stages.get(s, k));
        } catch (const format_error& e) {
            where.push_back(e.where());
            BOOST_TEST_REQUIRE(where.size() < 100u);
        }
}

} // namespace

BOOST_AUTO_TEST_CASE(files_that_tensorflow_wrote) {
    temporary_folder folder;
    std::string all(256, '\0');
    for (std::size_t i = 0; i < 256; ++i) all[i] = static_cast<char>(i);
    const texts records{"", "hello", all, std::string(1000, 'x')};
    const std::string plain = write_bytes(folder / "plain", bytes_of(tensorflow_records::plain)),
                      gzip = write_bytes(folder / "gzip", bytes_of(tensorflow_records::gzip)),
                      zlib = write_bytes(folder / "zlib", bytes_of(tensorflow_records::zlib));
    for (const std::string& path : {plain, gzip, zlib})
        BOOST_TEST((elements_from_everywhere(data::tfrecords(path), same) == records));
    BOOST_TEST((elements_from_everywhere(data::tfrecords(gzip, {.packed = compression::gzip}), same) == records));
    check_error<format_error>([&] { data::tfrecords(zlib, {.packed = compression::gzip}); },
                              "file is not compressed as said", "zlib");
    BOOST_TEST((elements_from_everywhere(data::tfrecords_indexed(plain), same) == records));
    description d;
    data::tfrecords({plain, plain}).describe(d);
    BOOST_TEST(holds(d.text(), "goes on\tat a byte of a file\n"));
    description packed;
    data::tfrecords({plain, zlib}).describe(packed);
    BOOST_TEST(holds(packed.text(), "goes on\tby reading compressed files from their beginning\n"));
}

BOOST_AUTO_TEST_CASE(several_files) {
    temporary_folder folder;
    const texts one{"a", "", std::string(5000, 'b')}, other{"c"};
    const std::string none = write_bytes(folder / "none", ""), a = write_bytes(folder / "a", file_of(one)),
                      b = write_bytes(folder / "b", file_of(other, compression::zlib)),
                      c = write_bytes(folder / "c", file_of(other));
    const texts wanted{"a", "", std::string(5000, 'b'), "c"};
    BOOST_TEST((elements_from_everywhere(data::tfrecords({none, a, none, b, none}), same) == wanted));
    const auto indexed = data::tfrecords_indexed({none, a, none, c, none});
    BOOST_TEST(indexed.size() == 4);
    BOOST_TEST((elements_from_everywhere(indexed, same) == wanted));
    texts shuffled;
    for (const std::string& r : data::elements(indexed | data::shuffle({.seed = 2}))) shuffled.push_back(r);
    BOOST_TEST((std::is_permutation(shuffled.begin(), shuffled.end(), wanted.begin(), wanted.end())));
    BOOST_TEST(indexed.where(3).text() == c + ", byte 0, record 0");
    check_error<option_error>([&] { data::tfrecords_indexed({a, b}); }, "compressed file", b, "", "tfrecords()");
    check_error<io_error>([&] { data::tfrecords_indexed({a, folder / "no"}); }, "cannot open for reading", "/no");
    check_error<io_error>([&] { data::tfrecords({a, folder / "no"}); }, "cannot open for reading", "/no");
    check_error<option_error>([&] { data::tfrecords(std::vector<std::string>{}); }, "no files", "tfrecords");
}

BOOST_AUTO_TEST_CASE(an_index_beside_the_file) {
    temporary_folder folder;
    const std::string path = folder / "a.tfrecord";
    const texts all{"zero", "one", "two"};
    tfrecord::write(path, [&](tfrecord::writer& w) { for (const std::string& r : all) w.add(r); }, {.index = true});
    BOOST_TEST((elements_from_everywhere(data::tfrecords_indexed(path), same) == all));
    const std::string index = read_bytes(path + ".idx");
    write_bytes(path + ".idx", index.substr(0, index.find('\n') + 1));   // it may leave records out
    BOOST_TEST((elements_from_everywhere(data::tfrecords_indexed(path), same) == texts{"zero"}));
    write_bytes(path + ".idx", "5 20\n");
    const auto other = data::tfrecords_indexed(path);
    data::indexed_tfrecord_stage::state s{};
    check_error<format_error>([&] { other.get(s, 0); }, "corrupted record", "byte 5, record 0");
    write_bytes(path + ".idx", "0 9999999\n");
    check_error<format_error>([&] { data::tfrecords_indexed(path); }, "record ends behind the file", "a.tfrecord.idx");
}

BOOST_AUTO_TEST_CASE(damaged_records) {
    temporary_folder folder;
    const std::string next = write_bytes(folder / "next", file_of({"n"})), path = folder / "a";
    const std::string whole = file_of({"first", "second", "third"});
    const std::size_t second = 16 + 5, third = second + 16 + 6;
    std::vector<std::string> where;
    const auto read = [&](std::string bytes, data::tfrecord_options o = {}) {
        return without_errors(data::tfrecords({write_bytes(path, bytes), next}, o), where);
    };
    const texts at_second{path + ", byte 21, record 1"};
    std::string data = whole, head = whole;
    data[second + 13] ^= 1;
    head[second] ^= 1;
    BOOST_TEST((read(data) == texts{"first", "third", "n"}));   // only that one's data are wrong
    BOOST_TEST((where == at_second));
    BOOST_TEST((read(data, {.check_data = false}) == texts{"first", "sdcond", "third", "n"}));
    BOOST_TEST(where.empty());
    BOOST_TEST((read(head) == texts{"first", "n"}));   // nobody knows where the next one begins
    BOOST_TEST((where == at_second));
    BOOST_TEST((read(whole.substr(0, second + 11)) == texts{"first", "n"}));
    BOOST_TEST((where == at_second));
    BOOST_TEST((read(whole.substr(0, third - 1)) == texts{"first", "n"}));
    BOOST_TEST((where == at_second));
    BOOST_TEST((read(whole, {.most_record_bytes = 5}) == texts{"first", "n"}));
    BOOST_TEST((where == at_second));

    for (const compression c : {compression::gzip, compression::zlib}) {
        const std::string packed = file_of({"first", "second", "third", "fourth"}, c);
        BOOST_TEST((read(packed) == texts{"first", "second", "third", "fourth", "n"}));
        BOOST_TEST((read(packed.substr(0, packed.size() - 3)).back() == "n"));
        BOOST_TEST(where.size() == 1u);
        BOOST_TEST((read(packed, {.most_unpacked_bytes = 30}).back() == "n"));
        BOOST_TEST(where.size() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(records_behind_a_damaged_one_in_a_compressed_file) {
    temporary_folder folder;
    std::string whole = file_of({"first", "second", "third", "fourth"});
    whole[16 + 5 + 13] ^= 1;
    z_stream z{};   // what the writer makes is never damaged
    BOOST_TEST_REQUIRE(deflateInit(&z, 6) == Z_OK);
    std::string packed(deflateBound(&z, whole.size()), '\0');
    z.next_in = reinterpret_cast<Bytef*>(whole.data());
    z.avail_in = static_cast<uInt>(whole.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    const auto records = data::tfrecords(write_bytes(folder / "a", packed));
    data::tfrecord_stream::state s{};
    data::tfrecord_stream::cursor c{};
    data::tfrecord_stream::ticket k{};
    BOOST_TEST(records.next(s, c, k));
    check_error<format_error>([&] { records.next(s, c, k); }, "corrupted record", "unpacked byte 21, record 1");
    BOOST_TEST(records.next(s, c, k));
    BOOST_TEST(k.record == "third");
    BOOST_TEST(records.where(k).text() == folder / "a, unpacked byte 43, record 2");
    data::tfrecord_stream::state fresh{};
    BOOST_TEST((rest_of_pass(records, fresh, c, same) == texts{"fourth"}));
    auto between = c;
    between.byte -= 1;
    check_error<option_error>([&] { records.next(fresh, between, k); }, "no record of the file begins", "/a");
}

BOOST_AUTO_TEST_CASE(hostile_lengths) {
    temporary_folder folder;
    for (const std::uint64_t n : {UINT64_MAX, UINT64_MAX - 15, std::uint64_t{1} << 63, std::uint64_t{1} << 40}) {
        std::string head(8, '\0');
        std::memcpy(head.data(), &n, 8);
        const std::uint32_t crc = base::masked_crc32c(as_bytes(head));
        head.append(reinterpret_cast<const char*>(&crc), 4);
        std::vector<std::string> where;
        const std::string path = write_bytes(folder / "a", head + std::string(100, 'x'));
        BOOST_TEST(without_errors(data::tfrecords(path), where).empty());
        BOOST_TEST(where.size() == 1u);
        BOOST_TEST(without_errors(data::tfrecords(path, {.most_record_bytes = UINT64_MAX}), where).empty());
        BOOST_TEST(where.size() == 1u);
        check_error<format_error>([&] { data::tfrecords_indexed(path); }, "record", "a, byte 0, record 0");
    }
}
