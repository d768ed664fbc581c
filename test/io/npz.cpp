// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE io_npz
#include "error_parts.hpp"
#include "fixtures/numpy_files.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/npz.hpp>

#include <cstring>
#include <numeric>
#include <span>

namespace npz = sinter::npz;
using sinter::npy::dtype;
using namespace std::string_literals;

namespace {
template <std::size_t N>
std::string bytes_of(const char (&file)[N]) {
    return {file, N - 1};
}
npz::file parse(std::string_view bytes) { return npz::parse(std::as_bytes(std::span(bytes)), "mem.npz"); }
template <class T>
std::vector<T> elements(const sinter::safetensors::tensor_view& t) {
    std::vector<T> x(t.data.size() / sizeof(T));
    if (!x.empty()) std::memcpy(x.data(), t.data.data(), t.data.size());
    return x;
}
void refused(std::string_view bytes, std::string_view fault, std::string_view where = "mem.npz",
             std::string_view got = {}, std::string_view needed = {}) {
    check_error<sinter::format_error>([&] { parse(bytes); }, fault, where, got, needed);
}
/// `bytes` with those at `at` replaced; `at` counts from the n-th occurrence of `mark`.
std::string changed(std::string bytes, const std::string& mark, std::size_t at, std::string_view to) {
    const std::size_t begin = bytes.find(mark);
    BOOST_REQUIRE(begin != std::string::npos);
    return bytes.replace(begin + at, to.size(), to);
}
const std::string local = "PK\3\4", central = "PK\1\2", end_of_table = "PK\5\6";
} // namespace

BOOST_AUTO_TEST_CASE(files_that_numpy_wrote) {
    const npz::file stored = parse(bytes_of(numpy_files::stored));
    BOOST_TEST(stored.tensors.size() == 2u);
    BOOST_TEST((elements<float>(stored.at("dense/kernel")) == std::vector<float>{0, 1, 2, 3, 4, 5}));
    BOOST_TEST((stored.at("dense/kernel").shape == std::vector<std::int64_t>{2, 3}));
    BOOST_TEST((elements<std::int64_t>(stored.at("b")) == std::vector<std::int64_t>{7}));
    const npz::file compressed = parse(bytes_of(numpy_files::compressed));
    const std::vector<float> x = elements<float>(compressed.at("x"));
    BOOST_TEST(x.size() == 120u);
    for (std::size_t i = 0; i < x.size(); ++i) BOOST_TEST(x[i] == static_cast<float>(i % 3 + 1));
    BOOST_TEST((elements<std::uint16_t>(compressed.at("y")) == std::vector<std::uint16_t>{0x4200}));
    check_error<sinter::mismatch_error>([&] { compressed.at("z"); }, "no such tensor", "mem.npz", "2 other", "z");
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    const temporary_folder folder;
    std::vector<double> many(50'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i * i % 1013);
    const std::int32_t one = 1;
    for (const auto how : {npz::compression::none, npz::compression::deflate}) {
        const std::string path = folder / "x.npz";
        npz::write(path,
                   {{"a/b.c", dtype::f64, {500, 100}, many.data()},
                    {"\xc3\xa9", dtype::i32, {}, &one},
                    {"none", dtype::f32, {0, 3}, nullptr}},
                   how);
        const npz::file f = npz::read(path);
        BOOST_TEST(f.tensors.size() == 3u);
        BOOST_TEST((elements<double>(f.at("a/b.c")) == many));
        BOOST_TEST((f.at("a/b.c").shape == std::vector<std::int64_t>{500, 100}));
        BOOST_TEST((elements<std::int32_t>(f.at("\xc3\xa9")) == std::vector<std::int32_t>{1}));
        BOOST_TEST(f.at("none").data.empty());
        const std::size_t bytes = read_bytes(path).size();
        if (how == npz::compression::none) BOOST_TEST(bytes > 400'000u);
        else BOOST_TEST(bytes < 200'000u);
    }
    npz::write(folder / "x.npz", {});
    BOOST_TEST(npz::read(folder / "x.npz").tensors.empty());
    const auto twice = [&] {
        npz::write(folder / "y.npz", {{"a", dtype::i32, {}, &one}, {"a", dtype::i32, {}, &one}});
    };
    check_error<sinter::format_error>(twice, "two arrays have one name", "y.npz", "a");
    const auto huge = [&] { npz::write(folder / "y.npz", {{"a", dtype::u8, {std::int64_t{1} << 32}, nullptr}}); };
    check_error<sinter::format_error>(huge, "too large", "y.npz, array 'a'");
    BOOST_TEST(folder.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(damaged_archives) {
    const std::string stored = bytes_of(numpy_files::stored), compressed = bytes_of(numpy_files::compressed);
    for (const std::string& file : {stored, compressed})
        for (std::size_t n = 0; n < file.size(); ++n) refused(std::string_view(file).substr(0, n), "");
    refused("", "not a zip archive");
    refused(bytes_of(numpy_files::f4), "not a zip archive");
    refused(changed(stored, "\x93NUMPY", 130, "x"), "checksum does not hold", "mem.npz, member 'dense/kernel.npy'");
    // One flipped byte anywhere in compressed data is seen.
    const std::size_t data = compressed.find("x.npy") + 5 + 20, table = compressed.find(central);
    for (std::size_t i = data; i + 260 < table; ++i) {
        std::string bad = compressed;
        bad[i] = static_cast<char>(bad[i] ^ 0x10);
        refused(bad, "");
    }
    refused(bytes_of(numpy_files::zip64), "zip64", "mem.npz, member 'x.npy'", {}, "below 4 GiB");
    refused(changed(stored, end_of_table, 16, "\xff\xff\xff\xff"), "zip64");
    refused(changed(stored, end_of_table, 4, "\1"), "several disks");
    refused(changed(stored, end_of_table, 16, "\0"s), "table of contents does not end");
    refused(changed(stored, end_of_table, 8, "\1\0\1\0"s), "another length than its entries");
    refused(changed(stored, end_of_table, 8, "\3\0\3\0"s), "entry is not one");
    refused(changed(stored, central, 8, "\1"), "encrypted", "'dense/kernel.npy'");
    refused(changed(stored, central, 10, "\x0c"), "another method", "'dense/kernel.npy'", "12");
    refused(changed(stored, central, 24, "\1"), "two lengths", "'dense/kernel.npy'");
    refused(changed(stored, central, 28, "\xff\xff"), "longer than the table");
    refused(changed(stored, central, 42, "\7"), "no header", "'dense/kernel.npy'");
    refused(changed(stored, central, 42, "\xf0\xff\xff\x7f"), "no header", "'dense/kernel.npy'");
    refused(changed(stored, local, 30, "D"), "differs from the table", "'dense/kernel.npy'", "Dense");
    refused(changed(stored, central, 46 + 13, "x"), "differs from the table");
    refused(changed(stored, local, 28, "\xff\xff"), "longer than its archive");
    refused(changed(stored, central, 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f"), "reaches beyond");
}

BOOST_AUTO_TEST_CASE(members_that_lie) {
    const std::string compressed = bytes_of(numpy_files::compressed);
    // More than deflate can yield is refused before memory is asked for; a little more or less, when it is unpacked.
    refused(changed(compressed, central, 24, "\xff\xff\xff\x7f"), "more than its bytes can hold", "member 'x.npy'");
    refused(changed(compressed, central, 24, "\x61"), "another length", "member 'x.npy'");
    refused(changed(compressed, central, 24, "\x5f"), "another length", "member 'x.npy'");
    // Two entries that share one member's bytes.
    const std::string stored = bytes_of(numpy_files::stored);
    std::string bomb = stored.substr(0, stored.find(central));
    const std::size_t entry = stored.find(central), length = stored.find(central, entry + 4) - entry;
    const std::string table = stored.substr(entry, length) + stored.substr(entry, length);
    std::string end = stored.substr(stored.find(end_of_table));
    end[12] = static_cast<char>(table.size());
    refused(bomb + table + end, "members overlap", "mem.npz", "dense/kernel");
}
