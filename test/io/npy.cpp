// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE io_npy
#include "error_parts.hpp"
#include "fixtures/numpy_files.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/npy.hpp>

#include <cstring>
#include <numeric>
#include <span>

namespace npy = sinter::npy;
using namespace std::string_literals;
using extents_list = std::vector<std::int64_t>;

namespace {
template <std::size_t N>
std::string bytes_of(const char (&file)[N]) {
    return {file, N - 1};
}
npy::array parse(std::string_view bytes) {
    sinter::io::memory_source in(std::as_bytes(std::span(bytes)), "mem.npy");
    return npy::parse(in);
}
/// An array must be of this type and extents and hold these elements.
template <class T>
void is(const npy::array& a, npy::dtype type, const extents_list& shape, const std::vector<T>& elements) {
    BOOST_TEST((a.type == type));
    BOOST_TEST(a.shape == shape, boost::test_tools::per_element());
    std::vector<T> got(a.bytes.span().size() / sizeof(T));
    if (!got.empty()) std::memcpy(got.data(), a.bytes.span().data(), got.size() * sizeof(T));
    BOOST_TEST(got == elements, boost::test_tools::per_element());
}
void refused(std::string_view bytes, std::string_view fault, std::string_view where, std::string_view got = {},
             std::string_view needed = {}) {
    check_error<sinter::format_error>([&] { parse(bytes); }, fault, where, got, needed);
}
/// A file of format 1.0 with this dictionary.
std::string with_header(std::string dictionary, std::string_view data = {}) {
    dictionary += '\n';
    std::string out = "\x93NUMPY\1\0"s;
    out += static_cast<char>(dictionary.size() & 0xff);
    out += static_cast<char>(dictionary.size() >> 8);
    return out + dictionary + std::string(data);
}
std::string of_shape(const std::string& shape) {
    return with_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
}
} // namespace

BOOST_AUTO_TEST_CASE(files_that_numpy_wrote) {
    using namespace numpy_files;
    const std::vector<float> quarters{0, .25f, .5f, .75f, 1, 1.25f};
    is(parse(bytes_of(f4)), npy::dtype::f32, {2, 3}, quarters);
    is(parse(bytes_of(f8_big_endian)), npy::dtype::f64, {2, 3}, std::vector<double>(quarters.begin(), quarters.end()));
    is<std::uint16_t>(parse(bytes_of(f2_fortran)), npy::dtype::f16, {2, 3},
                      {0, 0x3400, 0x3800, 0x3a00, 0x3c00, 0x3d00});
    std::vector<std::int32_t> counted(24);
    std::iota(counted.begin(), counted.end(), 0);
    is(parse(bytes_of(i4_cube_fortran_big_endian)), npy::dtype::i32, {2, 3, 4}, counted);
    is<std::int64_t>(parse(bytes_of(i8_scalar)), npy::dtype::i64, {}, {-5});
    is<std::uint8_t>(parse(bytes_of(u1)), npy::dtype::u8, {3}, {1, 2, 255});
    is<std::uint8_t>(parse(bytes_of(boolean)), npy::dtype::boolean, {3}, {1, 0, 1});
    is<float>(parse(bytes_of(empty)), npy::dtype::f32, {0, 7}, {});
    is<float>(parse(bytes_of(version_2)), npy::dtype::f32, {2}, {1.5f, -2});
    is<float>(parse(bytes_of(version_3)), npy::dtype::f32, {2}, {1.5f, -2});
}

BOOST_AUTO_TEST_CASE(writes_the_bytes_of_numpy) {
    const temporary_folder folder;
    const auto written = [&](npy::dtype type, const extents_list& shape, const void* data) {
        npy::write(folder / "x.npy", type, shape, data);
        return read_bytes(folder / "x.npy");
    };
    const float quarters[] = {0, .25f, .5f, .75f, 1, 1.25f};
    const std::int64_t five = -5;
    const std::uint8_t bytes[] = {1, 2, 255}, truths[] = {1, 0, 1};
    BOOST_TEST(written(npy::dtype::f32, {2, 3}, quarters) == bytes_of(numpy_files::f4));
    BOOST_TEST(written(npy::dtype::i64, {}, &five) == bytes_of(numpy_files::i8_scalar));
    BOOST_TEST(written(npy::dtype::u8, {3}, bytes) == bytes_of(numpy_files::u1));
    BOOST_TEST(written(npy::dtype::boolean, {3}, truths) == bytes_of(numpy_files::boolean));
    BOOST_TEST(written(npy::dtype::f32, {0, 7}, nullptr) == bytes_of(numpy_files::empty));
    is<float>(npy::read(folder / "x.npy"), npy::dtype::f32, {0, 7}, {});
    BOOST_TEST(folder.entries() == 1u);
    // Every length of header ends on a multiple of 64, with at least one space before the newline.
    for (std::int64_t extent = 1; extent < 1'000'000'000'000'000'000; extent *= 10) {
        const std::string head = npy::encode_header(npy::dtype::u8, extents_list{1, extent, extent});
        BOOST_TEST(head.size() % 64 == 0u);
        BOOST_TEST(head.ends_with(" \n"));
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written) {
    const temporary_folder folder;
    const auto fails = [&](npy::dtype type, const extents_list& shape, const char* fault) {
        check_error<sinter::format_error>([&] { npy::write(folder / "x", type, shape, nullptr); }, fault, folder / "x");
    };
    fails(npy::dtype::bf16, {0}, "NumPy has no such type");
    fails(npy::dtype::f32, {INT64_MAX, 8}, "cannot have these extents");
    fails(npy::dtype::f32, {-1}, "cannot have these extents");
    fails(npy::dtype::f32, extents_list(65, 0), "cannot have these extents");
    BOOST_TEST(folder.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(hostile_files) {
    const std::string good = bytes_of(numpy_files::f4);
    for (std::size_t n = 0; n < good.size(); ++n) BOOST_TEST_CONTEXT(n << " bytes")
        refused(std::string_view(good).substr(0, n), "cut short", "mem.npy");
    refused(good + "x", "bytes follow the last element", "mem.npy", "more than 24", "24 for <f4 [2, 3]");
    refused("PK\3\4 not an array at all", "not a NumPy file", "mem.npy", "PK");
    refused("\x93NUMPY\4\0\0\0\0\0"s, "unknown format", "bytes 6 and 7", "4.0");
    refused("\x93NUMPY\1\1\0\0\0\0"s, "unknown format", "bytes 6 and 7", "1.1");
    refused("\x93NUMPY\2\0\xff\xff\xff\xff"s, "header is too long", "mem.npy", "4294967295 bytes", "at most 65535");
    // Lengths that overflow, or that no file so short can hold.
    refused(of_shape("(4611686018427387904, 8)"), "extents overflow", "mem.npy", "[4611686018427387904, 8]");
    refused(of_shape("(9223372036854775808,)"), "dictionary", "mem.npy, byte ", {}, "below 2^63");
    refused(of_shape("(1000000000000,)"), "cut short", "mem.npy", "at most 0 bytes", "4000000000000");
    std::string axes;
    for (int i = 0; i < 65; ++i) axes += "1, ";
    refused(of_shape("(" + axes + ")"), "dictionary", "mem.npy", {}, "at most 64 extents");
    BOOST_TEST(parse(of_shape("(0, 4611686018427387904, 8)")).bytes.span().empty());   // NumPy reads this, too
}

BOOST_AUTO_TEST_CASE(malformed_dictionaries) {
    using namespace numpy_files;
    const auto malformed = [](const std::string& text, const char* needed) {
        refused(with_header(text), "header is not the dictionary", "mem.npy, byte ", {}, needed);
    };
    refused(bytes_of(records), "header is not the dictionary", "mem.npy", "('a'", "not of records");
    refused(bytes_of(text), "elements cannot be read", "mem.npy", "<U2");
    for (const char* type : {"|O", "<f16", "<c16", "<M8[s]", "=f4", "|f4", "f4", "<", "", "<f4 "})
        refused(with_header("{'descr': '"s + type + "', 'fortran_order': False, 'shape': (), }"),
                "elements cannot be read", "mem.npy");
    malformed("", "{");
    malformed("{", "'");
    malformed("{'descr", "a closing quote");
    malformed("{'descr' '<f4'}", ":");
    malformed("{'descr': '<f4', 'descr': '<f4'}", "once each");
    malformed("{'descr': '<f4', 'colour': 1}", "not 'colour'");
    malformed("{'descr': '<f4', 'fortran_order': 0}", "True or False");
    malformed("{'descr': '<f4', 'fortran_order': False}", "all of");
    malformed("{'shape': (3)}", "comma after a lone extent");
    malformed("{'shape': (3,}", "an extent");
    malformed("{'shape': (-3,)}", "an extent");
    malformed("{'shape': (3, 4}", ")");
    malformed("{'shape': (3 4)}", "a comma");
    malformed("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", "only spaces");
    // Other spellings of the same: double quotes, another order, no last comma.
    is<float>(parse(with_header(R"({"shape":(1 , ),"descr":"<f4" , "fortran_order":True})", "\0\0\x80\x3f"s)),
              npy::dtype::f32, {1}, {1});
}
