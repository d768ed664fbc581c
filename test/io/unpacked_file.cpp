// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE unpacked_file
#include <boost/test/unit_test.hpp>
#include "error_parts.hpp"
#include "support/gzipped.hpp"
#include "temporary_folder.hpp"
#include <sinter/io/unpacked_file.hpp>

using namespace sinter;

namespace {

std::string rest_of(io::byte_source& source) {
    std::string all;
    char some[1000];
    while (const std::size_t n = source.read_some(as_writable_bytes(some))) all.append(some, n);
    return all;
}

BOOST_AUTO_TEST_CASE(from_any_byte) {
    temporary_folder folder;
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += static_cast<char>('a' + i * 7 % 26);
    const std::string plain = write_bytes(folder / "plain", text);
    const std::string packed = write_bytes(folder / "packed", gzipped(text));
    for (const std::size_t begin : {0u, 1u, 65'535u, 65'536u, 199'999u, 200'000u}) {
        io::unpacked_file a(plain, begin), b(packed, begin);
        BOOST_TEST(!a.is_packed());
        BOOST_TEST(b.is_packed());
        BOOST_TEST(a.size() == text.size());
        BOOST_TEST(b.size() < 2000u);
        BOOST_TEST(b.name() == packed);
        BOOST_TEST(a.at_most_left() == text.size() - begin);
        BOOST_TEST(b.at_most_left() >= text.size() - begin);
        BOOST_TEST((rest_of(a) == text.substr(begin)));
        BOOST_TEST((rest_of(b) == text.substr(begin)));
    }
    for (const std::string& path : {plain, packed})
        check_error<option_error>([&] { io::unpacked_file(path, 200'001); }, "file ends before the byte to begin with",
                                  path, "byte 200001", "0 to 200000");
    for (const char* const bytes : {"", "x", "\x1f", "\x1f\x8a"}) {
        io::unpacked_file few(write_bytes(folder / "few", bytes));
        BOOST_TEST(rest_of(few) == bytes);
    }
    check_error<io_error>([&] { io::unpacked_file(folder / "no"); }, "cannot open for reading", "no");
    check_error<io_error>([&] { io::unpacked_file{folder.path()}; }, "cannot read", "", "a folder", "a regular file");
}

BOOST_AUTO_TEST_CASE(what_unpacks_to_too_much) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "a.gz", gzipped(std::string(5000, 'x')));
    io::unpacked_file fits(path, 0, 5000);
    BOOST_TEST(rest_of(fits).size() == 5000u);
    io::unpacked_file more(path, 0, 4999);
    check_error<format_error>([&] { rest_of(more); }, "file unpacks to more than allowed", "a.gz", "",
                              "at most 4999");
    check_error<format_error>([&] { io::unpacked_file(path, 4000, 100); }, "file unpacks to more than allowed", "a.gz");
}

} // namespace
