// SPDX-License-Identifier: BSL-1.0
// needs: zlib
#define BOOST_TEST_MODULE io_idx
#include "error_parts.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/idx.hpp>
#include <span>
#include <zlib.h>


using namespace std::string_literals;
using sinter::format_error;
using sinter::io::idx_array;
using sinter::io::idx_type;

namespace {
idx_array parse(std::string_view bytes) {
    sinter::io::memory_source source(std::as_bytes(std::span(bytes)), "mem.idx");
    return sinter::io::parse_idx(source);
}

std::string gzip(std::string_view bytes) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

template <class T>
T element(const idx_array& a, std::size_t i) {
    T value;
    std::memcpy(&value, a.bytes.data() + i * sizeof value, sizeof value);
    return value;
}

const std::string two_by_three = "\0\0\x08\x02" "\0\0\0\x02" "\0\0\0\x03" "abcdef"s;

void refused(std::string_view bytes, std::string_view fault, std::string_view where, std::string_view got,
             std::string_view needed) {
    check_error<format_error>([&] { parse(bytes); }, fault, where, got, needed);
}
} // namespace

BOOST_AUTO_TEST_CASE(golden_bytes_of_each_type) {
    const idx_array a = parse(two_by_three);
    BOOST_TEST((a.type == idx_type::u8));
    BOOST_TEST(a.extents == (std::vector<std::int64_t>{2, 3}), boost::test_tools::per_element());
    BOOST_TEST(std::string(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size()) == "abcdef");

    const auto one = [](char type, std::string_view big_endian) {
        return parse("\0\0"s + type + "\x01\0\0\0\x01"s + std::string(big_endian));
    };
    BOOST_TEST(element<std::int8_t>(one(0x09, "\xff"), 0) == -1);
    BOOST_TEST(element<std::int16_t>(one(0x0b, "\x01\x02"), 0) == 0x0102);
    BOOST_TEST(element<std::int32_t>(one(0x0c, "\x01\x02\x03\x04"), 0) == 0x01020304);
    BOOST_TEST(element<float>(one(0x0d, "\x3f\xc0\0\0"s), 0) == 1.5f);
    BOOST_TEST(element<double>(one(0x0e, "\xbf\xf8\0\0\0\0\0\0"s), 0) == -1.5);
    BOOST_TEST(parse("\0\0\x08\x02\0\0\0\0\0\0\0\x03"s).bytes.empty());
}

BOOST_AUTO_TEST_CASE(gzip_reads_like_plain) {
    BOOST_TEST((parse(gzip(two_by_three)).bytes == parse(two_by_three).bytes));
    // A file of several members, cut anywhere, is one stream (RFC 1952, 2.2).
    const std::string members = gzip(two_by_three.substr(0, 9)) + gzip(two_by_three.substr(9));
    BOOST_TEST((parse(members).bytes == parse(two_by_three).bytes));

    std::string large = "\0\0\x08\x01\0\x0f\x42\x40"s; // 10^6 elements: many of the reader's buffers
    for (unsigned i = 0; i < 1'000'000; ++i) large += static_cast<char>(i * 2654435761u >> 24);
    BOOST_TEST((parse(gzip(large)).bytes == parse(large).bytes));

    temporary_folder folder;
    BOOST_TEST((sinter::io::read_idx(write_bytes(folder / "a.gz", gzip(large))).bytes == parse(large).bytes));
    BOOST_TEST((sinter::io::read_idx(write_bytes(folder / "a", large)).bytes == parse(large).bytes));
}

BOOST_AUTO_TEST_CASE(wrong_magic) {
    refused("\0\1\x08\x01\0\0\0\0"s, "not an IDX file", "mem.idx, bytes 0 to 3", "0 1 8 1", "0 0, an element type");
    refused("\0\0\x07\x01\0\0\0\0"s, "not an IDX file", "mem.idx", "0 0 7 1", "element type");
    refused("\0\0\x0a\x01\0\0\0\0"s, "not an IDX file", "mem.idx", "0 0 10 1", "element type");
    refused("\0\0\x08\0"s, "not an IDX file", "mem.idx", "0 0 8 0", "number of extents");
    refused("%PDF-1.4", "not an IDX file", "mem.idx", "37 80 68 70", "0 0");
}

BOOST_AUTO_TEST_CASE(cut_short_anywhere) {
    refused("", "cut short in its magic", "mem.idx", "0 bytes", "4 or more");
    refused(two_by_three.substr(0, 7), "cut short in its extents", "mem.idx", "7 bytes", "12 or more");
    refused(two_by_three.substr(0, 17), "cut short in its elements", "mem.idx, from byte 12", "at most 5 bytes",
            "6 bytes for extents [2, 3]");
    const std::string packed = gzip(two_by_three);
    for (std::size_t n = 2; n < packed.size(); ++n) BOOST_CHECK_THROW(parse(packed.substr(0, n)), format_error);
    for (std::size_t n = 0; n < two_by_three.size(); ++n)
        BOOST_CHECK_THROW(parse(two_by_three.substr(0, n)), format_error);
    refused(gzip(two_by_three.substr(0, 15)), "cut short in its elements", "mem.idx, from byte 12", "3 bytes",
            "6 bytes for extents [2, 3]");
}

BOOST_AUTO_TEST_CASE(bytes_after_the_end) {
    refused(two_by_three + "x", "bytes follow the last element", "mem.idx", "more than 6",
            "6 bytes for extents [2, 3]");
    refused(gzip(two_by_three + "x"), "bytes follow the last element", "mem.idx", "more than 6", "6 bytes");
    refused(gzip(two_by_three) + "x", "gzip stream is cut short", "mem.idx", "", "");
    refused(gzip(two_by_three) + "junk", "gzip stream is damaged", "mem.idx", "incorrect header check", "RFC 1952");
}

BOOST_AUTO_TEST_CASE(damaged_gzip) {
    std::string packed = gzip(two_by_three);
    packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1); // in the checksum
    refused(packed, "gzip stream is damaged", "mem.idx, near compressed byte", "incorrect data check", "RFC 1952");
}

BOOST_AUTO_TEST_CASE(extents_that_overflow_or_promise_too_much) {
    refused("\0\0\x08\x03"s.append(12, '\xff'), "extents overflow", "mem.idx", "[4294967295, 4294967295, 4294967295]",
            "less than 2^64");
    refused("\0\0\x0e\x02"s.append(8, '\xff'), "extents overflow", "mem.idx", "of 8 bytes each", "less than 2^64");
    // 2^62 bytes promised by twelve: refused before anything is allocated, gzip or not.
    const std::string exabytes = "\0\0\x08\x02\x80\0\0\0\x80\0\0\0"s;
    refused(exabytes, "cut short", "mem.idx", "at most 0 bytes", "4611686018427387904");
    refused(gzip(exabytes), "cut short", "mem.idx", "at most", "4611686018427387904");
}

BOOST_AUTO_TEST_CASE(missing_file) {
    check_error<sinter::io_error>([] { sinter::io::read_idx("/nowhere/a.idx"); }, "cannot open", "/nowhere/a.idx");
}
