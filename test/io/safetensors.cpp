// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE io_safetensors
#include "error_parts.hpp"
#include "temporary_folder.hpp"

#include <sinter/io/safetensors.hpp>

#include <csignal>
#include <cstdint>
#include <span>
#include <sys/resource.h>

namespace st = sinter::safetensors;
using namespace std::string_literals;
using sinter::format_error;

namespace {
std::string in_file(std::string_view json, std::string_view data = {}) {
    std::string out;
    for (unsigned shift = 0; shift < 64; shift += 8)
        out += static_cast<char>(static_cast<std::uint64_t>(json.size()) >> shift & 0xff);
    return out + std::string(json) + std::string(data);
}

st::contents parse(std::string_view bytes) { return st::parse(std::as_bytes(std::span(bytes)), "mem.st"); }

void refused(std::string_view bytes, std::string_view fault, std::string_view where, std::string_view got = {},
             std::string_view needed = {}) {
    check_error<format_error>([&] { parse(bytes); }, fault, where, got, needed);
}
void refused_json(std::string_view json, std::string_view got = {}, std::string_view needed = {}) {
    refused(in_file(json), "header is not the JSON it must be", "mem.st, byte ", got, needed);
}

std::string tensor(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return '"' + std::string(name) + R"(":{"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
           R"(,"data_offsets":)" + std::string(offsets) + '}';
}
} // namespace

// What safetensors 0.8.0 (Python) wrote for the same tensors: save({"b": ones(2), ...}, {"z": "1", "a": "2"}).
BOOST_AUTO_TEST_CASE(writes_the_bytes_of_the_reference) {
    const std::string golden =
        "\xe0\x01\0\0\0\0\0\0"s
        R"({"__metadata__":{"a":"2","z":"1"},"i":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
        R"("e":{"dtype":"F64","shape":[0,3],"data_offsets":[8,8]},)"
        R"("a":{"dtype":"F32","shape":[3],"data_offsets":[8,20]},)"
        R"("b":{"dtype":"F32","shape":[2],"data_offsets":[20,28]},)"
        R"("h":{"dtype":"F16","shape":[1],"data_offsets":[28,30]},)"
        "\"q\\\"\\n\x7f\xc3\xa9\""
        R"(:{"dtype":"I8","shape":[3],"data_offsets":[30,33]},"u":{"dtype":"U8","shape":[5],"data_offsets":[33,38]},)"
        R"("bo":{"dtype":"BOOL","shape":[3],"data_offsets":[38,41]}}   )"
        "\x07\0\0\0\0\0\0\0\0\0\x80?\0\0\x80?\0\0\x80?\0\0\x80?\0\0\x80?\0\0\0\0\0\0\0\0\0\0\0\0\0"s;
    const float ones[3] = {1, 1, 1};
    const std::int64_t seven = 7;
    const std::byte zeros[8]{};
    std::vector<st::entry> entries{
        {"b", st::dtype::f32, {2}, ones},       {"a", st::dtype::f32, {3}, ones},
        {"i", st::dtype::i64, {}, &seven},      {"u", st::dtype::u8, {5}, zeros},
        {"h", st::dtype::f16, {1}, zeros},      {"e", st::dtype::f64, {0, 3}, nullptr},
        {"bo", st::dtype::boolean, {3}, zeros}, {"q\"\n\x7f\xc3\xa9", st::dtype::i8, {3}, zeros}};
    temporary_folder folder;
    st::write(folder / "a", entries, {{"z", "1"}, {"a", "2"}});
    BOOST_TEST(read_bytes(folder / "a") == golden);
    std::swap(entries.front(), entries.back());
    st::write(folder / "b", entries, {{"a", "2"}, {"z", "1"}});
    BOOST_TEST(read_bytes(folder / "b") == golden);
    BOOST_TEST(parse(golden).at("q\"\n\x7f\xc3\xa9").shape.at(0) == 3);
}

BOOST_AUTO_TEST_CASE(round_trip) {
    std::vector<float> kernel(6);
    for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = static_cast<float>(i) / 3.0f;
    const std::uint64_t step = 12345678901234567890u;
    temporary_folder folder;
    st::write(folder / "a", {{"dense/kernel", st::dtype_of<float>, {2, 3}, kernel.data()},
                             {"step", st::dtype_of<std::uint64_t>, {}, &step}},
              {{"note", "tab\tquote\" \\ \x01 \xe2\x82\xac"}});
    const st::file saved = st::read(folder / "a");
    BOOST_TEST(saved.metadata.at("note") == "tab\tquote\" \\ \x01 \xe2\x82\xac");
    const st::tensor_view& view = saved.at("dense/kernel");
    BOOST_TEST((view.type == st::dtype::f32));
    BOOST_TEST(view.shape == (std::vector<std::int64_t>{2, 3}), boost::test_tools::per_element());
    BOOST_TEST(view.data.size() == 24u);
    BOOST_TEST(std::memcmp(view.data.data(), kernel.data(), 24) == 0);
    BOOST_TEST(std::memcmp(saved.at("step").data.data(), &step, 8) == 0);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(saved.at("step").data.data()) % 64 == 0u);

    st::write(folder / "empty", {});
    BOOST_TEST(read_bytes(folder / "empty") == in_file("{}      "));
    BOOST_TEST(st::read(folder / "empty").tensors.empty());
}

BOOST_AUTO_TEST_CASE(every_dtype_is_read) {
    for (std::size_t i = 0; i < st::detail::dtype_table.size(); ++i) {
        const auto type = static_cast<st::dtype>(i);
        const std::size_t bytes = st::dtype_bits(type); // eight elements
        const auto read =
            parse(in_file("{" + tensor("t", st::dtype_name(type), "[2,4]", "[0," + std::to_string(bytes) + "]") + "}",
                          std::string(bytes, 'x')));
        BOOST_TEST((read.at("t").type == type));
        BOOST_TEST(read.at("t").data.size() == bytes);
    }
    refused(in_file("{" + tensor("t", "F4", "[3]", "[0,2]") + "}", "xx"), "no size in whole bytes", "tensor 't'",
            "F4 [3]");
}

BOOST_AUTO_TEST_CASE(json_of_other_writers_is_read) {
    const std::string bytes =
        in_file("{ \"b\\u00e9\\ud83d\\ude00\" : {\"data_offsets\":[ 2 , 3 ],\n\"shape\":[1],\t\"dtype\":\"U8\"} ,"
                "\"__metadata__\":{},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}  \n",
                "xyz");
    const auto read = parse(bytes);
    BOOST_TEST(read.tensors.size() == 2u);
    // The data need not lie in the order of the header.
    BOOST_TEST((read.at("b\xc3\xa9\xf0\x9f\x98\x80").data[0] == std::byte{'z'}));
}

BOOST_AUTO_TEST_CASE(hostile_lengths) {
    refused("1234567", "too short", "mem.st", "7 bytes", "8 or more");
    // A header that claims 10^9 bytes, and one that claims 2^64 - 1.
    refused("\x00\xca\x9a\x3b\0\0\0\0{}"s, "header length is too large", "mem.st, bytes 0 to 7", "1000000000",
            "at most 100000000");
    refused(std::string(8, '\xff') + "{}", "header length is too large", "mem.st", "18446744073709551615");
    refused("\x03\0\0\0\0\0\0\0{}"s, "header is longer than the file", "mem.st", "3", "at most 2");
    refused(in_file(""), "does not begin with a brace", "mem.st, byte 8", "nothing", "{");
    refused(in_file(" {}"), "does not begin with a brace", "mem.st, byte 8", "' {}'", "{");
}

BOOST_AUTO_TEST_CASE(hostile_offsets) {
    const auto two = [](std::string_view a, std::string_view b) {
        return in_file("{" + tensor("a", "U8", "[4]", a) + "," + tensor("b", "U8", "[4]", b) + "}", "12345678");
    };
    BOOST_TEST((parse(two("[4,8]", "[0,4]")).at("a").data[0] == std::byte{'5'}));
    refused(two("[0,4]", "[3,7]"), "overlaps", "mem.st, tensor 'b'", "[3, 7]", "begin of 4");
    refused(two("[0,4]", "[0,4]"), "overlaps", "mem.st, tensor 'b'", "[0, 4]", "begin of 4");
    refused(two("[0,4]", "[5,9]"), "beyond the file", "mem.st, tensor 'b'", "[5, 9]", "at most 8");
    refused(two("[1,5]", "[5,8]"), "leaves a hole", "mem.st, tensor 'a'", "[1, 5]", "begin of 0");
    refused(two("[0,4]", "[4,3]"), "run backwards", "mem.st, tensor 'b'", "[4, 3]", "begin <= end");
    refused(two("[0,4]", "[4,18446744073709551615]"), "beyond the file", "tensor 'b'", "18446744073709551615",
            "at most 8");
    refused(two("[0,4]", "[4,7]"), "do not fit the shape", "tensor 'b'", "3 bytes", "4 for U8 [4]");
    refused(in_file("{" + tensor("a", "U8", "[4]", "[0,4]") + "}", "12345"), "do not cover", "mem.st", "5 bytes", "4");
    refused(in_file("{}", "1"), "do not cover", "mem.st", "1 bytes", "0");
}

BOOST_AUTO_TEST_CASE(shapes_that_overflow) {
    const auto shape = [](std::string_view text) { return in_file("{" + tensor("a", "F32", text, "[0,0]") + "}"); };
    refused(shape("[4294967296,4294967296]"), "no size", "tensor 'a'", "F32 [4294967296, 4294967296]",
            "fewer than 2^61");
    refused(shape("[2305843009213693952]"), "no size", "tensor 'a'");
    refused(shape("[9223372036854775808]"), "not the JSON", "mem.st, byte", "", "an extent below 2^63");
    refused(shape("[18446744073709551616]"), "not the JSON", "mem.st, byte", "'18446744073709551616", "below 2^64");
    BOOST_TEST(parse(shape("[0,9223372036854775807]")).at("a").data.empty());
}

BOOST_AUTO_TEST_CASE(header_that_is_not_its_json) {
    const std::string good = tensor("a", "U8", "[0]", "[0,0]");
    refused_json("{", "the header's end", "\"");
    refused_json("{}x", "'x'", "only spaces");
    refused_json("{}\0"s, "'\\x00'", "only spaces");
    refused_json("{" + good + ",}", "'}'", "\"");
    refused_json("{" + good, "the header's end", "}");
    refused_json(R"({"a":[]})", "'[]}'", "{");
    refused_json(R"({"a":{}})", "'}'", "dtype, shape and data_offsets of 'a'");
    refused_json(R"({"a":{"dtype":"U8","shape":[0]}})", "", "dtype, shape and data_offsets of 'a'");
    refused_json("{" + tensor("a", "U7", "[0]", "[0,0]") + "}", "", "a dtype of the format, not 'U7'");
    refused_json("{" + tensor("a", "U8", "[-1]", "[0,0]") + "}", "'-1]", "a non-negative integer");
    refused_json("{" + tensor("a", "U8", "[1.5]", "[0,0]") + "}", "'1.5]", "a non-negative integer");
    refused_json("{" + tensor("a", "U8", "[1e3]", "[0,0]") + "}", "'1e3]", "a non-negative integer");
    refused_json("{" + tensor("a", "U8", "[01]", "[0,0]") + "}", "'01]", "a non-negative integer");
    refused_json("{" + tensor("a", "U8", "[0]", "[0]") + "}", "", "two offsets");
    refused_json("{" + tensor("a", "U8", "[0]", "[0,0,0]") + "}", "", "two offsets");
    refused_json(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "",
                 "once each, not the field 'dtype'");
    refused_json(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})", "", "not the field 'x'");
    refused_json(R"({"__metadata__":{"k":1}})", "'1}}'", "\"");
    refused_json(R"({"__metadata__":{"k":"1","k":"2"}})", "", "not 'k' again");
    refused_json(R"({"__metadata__":{},"__metadata__":{}})", "", "__metadata__ once");
    refused_json("{\"a\nb\":{}}", "", "a closing quote");
    refused_json(R"({"\x":{}})", "", "an escape that JSON knows");
    refused_json(R"({"\ud800":{}})", "", "a pair of surrogates");
    refused_json(R"({"\ud800\u0041":{}})", "", "a pair of surrogates");
    refused_json(R"({"\u12g4":{}})", "", "four hexadecimal digits");
    refused(in_file("{\"\xc0\x80\":{}}"), "not UTF-8", "mem.st, byte 8");
    refused(in_file("{" + good + "," + good + "}"), "two tensors have one name", "mem.st", "'a' twice",
            "each name once");
    refused_json("{\"" + std::string(100'000, '[') + "\":" + std::string(100'000, '['), "'[[[[", "{"); // no recursion
}

BOOST_AUTO_TEST_CASE(no_prefix_of_a_file_is_a_file) {
    const std::string whole = in_file("{" + tensor("a", "U8", "[4]", "[0,4]") + "}", "1234");
    for (std::size_t n = 0; n < whole.size(); ++n) BOOST_CHECK_THROW(parse(whole.substr(0, n)), format_error);
}

BOOST_AUTO_TEST_CASE(hostile_names_are_harmless_in_messages) {
    const std::string name(1000, 'n');
    refused(in_file("{" + tensor("\\u001b[2J" + name, "U8", "[9]", "[0,0]") + "}"), "do not fit",
            "tensor '\\x1b[2Jnnn");
    check_error<format_error>([&] { parse(in_file("{" + tensor(name, "U8", "[9]", "[0,0]") + "}")); }, "",
                              "(1000 bytes)");
}

BOOST_AUTO_TEST_CASE(a_file_is_refused_before_memory_for_it_is_taken) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "sparse", in_file("{}"));
    std::filesystem::resize_file(path, std::uintmax_t{1} << 34); // takes no room on the disk
    check_error<format_error>([&] { st::read(path); }, "do not cover", path, std::to_string((1ull << 34) - 10), "0");
    const std::string billion = write_bytes(folder / "billion", "\x00\xca\x9a\x3b\0\0\0\0{}"s);
    std::filesystem::resize_file(billion, std::uintmax_t{1} << 31);
    check_error<format_error>([&] { st::read(billion); }, "header length is too large", billion, "1000000000");
    check_error<sinter::io_error>([&] { st::read(folder / "none"); }, "cannot open", folder / "none");
}

BOOST_AUTO_TEST_CASE(writer_refuses_what_no_reader_takes) {
    temporary_folder folder;
    const std::string path = write_bytes(folder / "a", "old");
    const float x[4]{};
    const auto refuses = [&](const std::vector<st::entry>& entries, std::string_view fault,
                             const st::metadata_map& meta = {}) {
        check_error<format_error>([&] { st::write(path, entries, meta); }, fault, path);
    };
    refuses({{"a", st::dtype::f32, {4}, x}, {"a", st::dtype::u8, {4}, x}}, "cannot have this name");
    refuses({{"__metadata__", st::dtype::f32, {4}, x}}, "cannot have this name");
    refuses({{"\xff", st::dtype::f32, {4}, x}}, "not UTF-8");
    refuses({}, "not UTF-8", {{"k", "\xff"}});
    refuses({{"a", st::dtype::f32, {-4}, x}}, "no size");
    refuses({{"a", st::dtype::f32, {std::int64_t{1} << 62, 4}, x}}, "no size");
    BOOST_TEST(read_bytes(path) == "old");
}

BOOST_AUTO_TEST_CASE(full_disk_while_saving_keeps_the_old_weights) {
    temporary_folder folder;
    const std::string path = folder / "net.safetensors";
    std::vector<float> weights(1 << 16, 0.5f);
    st::write(path, {{"w", st::dtype::f32, {1 << 16}, weights.data()}}, {{"step", "1"}});
    const std::string before = read_bytes(path);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const rlimit limit{1 << 16, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    check_error<sinter::io_error>(
        [&] {
            st::write(path, {{"w", st::dtype::f32, {1 << 16}, weights.data()}}, {{"step", "2"}});
        },
        "cannot write", path);
    setrlimit(RLIMIT_FSIZE, &old);
    BOOST_TEST((read_bytes(path) == before));
    BOOST_TEST(folder.entries() == 1u);
    check_error<sinter::io_error>([&] { st::write(path + "/below", {}); }, "cannot open the folder", path,
                                  "Not a directory");
}

BOOST_AUTO_TEST_CASE(check_matches_lists_every_difference_and_no_other) {
    const std::string bytes =
        in_file("{" + tensor("same", "U8", "[2]", "[0,2]") + "," + tensor("shape", "U8", "[2,1]", "[2,4]") + "," +
                    tensor("type", "U8", "[4]", "[4,8]") + "," + tensor("both", "I8", "[1]", "[8,9]") + "," +
                    tensor("extra", "BOOL", "[1]", "[9,10]") + "}",
                "0123456789");
    const auto file = parse(bytes);
    const std::vector<st::expected_tensor> expected{{"same", st::dtype::u8, {2}},
                                                    {"shape", st::dtype::u8, {1, 2}},
                                                    {"type", st::dtype::f32, {4}},
                                                    {"both", st::dtype::f32, {}},
                                                    {"gone", st::dtype::f32, {3, 3}}};
    try {
        st::check_matches(expected, file);
        BOOST_ERROR("no mismatch_error");
    } catch (const sinter::mismatch_error& e) {
        BOOST_TEST(e.what() == "mem.st: tensors do not fit the program, 5 differences:\n"
                               "  'both': type: got I8, needed F32; shape: got [1], needed []\n"
                               "  'extra': unexpected, got BOOL [1]\n"
                               "  'gone': missing, needed F32 [3, 3]\n"
                               "  'shape': shape: got [2, 1], needed [1, 2]\n"
                               "  'type': type: got U8, needed F32");
    }
    BOOST_CHECK_NO_THROW(
        st::check_matches({{"a", st::dtype::u8, {0}}}, parse(in_file("{" + tensor("a", "U8", "[0]", "[0,0]") + "}"))));
    check_error<sinter::mismatch_error>([&] { file.at("gone"); }, "no such tensor", "mem.st", "5 other tensors",
                                        "'gone'");
}
